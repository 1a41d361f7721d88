//! Tests how `evaluate` reads labels: their spellings, the labels that count, and the messages about the others.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};

use crate::evaluate::{evaluate, evaluation, near};
use crate::kit::{Table, done, ended, names_in, numbered, record, write_columns, write_docs};

#[test]
fn what_the_truth_cannot_say_is_counted_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs.parquet");
    // The ids 3 and 30 occur twice, and the text of 7 is null.
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3, 4, 3, 5, 6, 7, 30, 30]));
    let texts: Vec<Option<String>> = (0..10).map(|n| (n != 7).then(|| format!("Текст номер {}.", n / 2))).collect();
    write_columns(&docs, &[("id", ids), ("text", Arc::new(StringArray::from(texts)))], 3);
    let done = ended(&docs, &["--algorithms", "exact"], 3);
    assert_eq!(record(&done.out())["algorithms"][0]["pairs"], 4);
    let truth = folder.path().join("truth.jsonl");
    let lines = [
        "{\"id_a\": \"1\", \"id_b\": 2}",
        "{\"id_a\": 2, \"id_b\": 1}",
        "{\"id_a\": 4, \"id_b\": 4}",
        "{\"id_a\": 4, \"id_b\": \"3\"}",
        "{\"id_a\": 5, \"id_b\": 99}",
        "{\"id_a\": 98, \"id_b\": \"Ж\"}",
        "{\"id_a\": 7, \"id_b\": 6}",
        "{\"id_a\": null, \"id_b\": 6}",
        "{\"id_a\": 97, \"id_b\": 96}",
        "{\"id_a\": 95, \"id_b\": 99}",
    ];
    std::fs::write(&truth, lines.join("\n")).unwrap();
    let ran = evaluate(&done.out(), &[&truth], &[]).ends_with(3);
    let told = evaluation(&done.out());
    let expected = serde_json::json!({
        "form": "pairs", "files": [truth.display().to_string()], "rows": 10, "null_rows": 1, "rejected": 1,
        "rejected_broken": 1, "rejected_by_kind": 0, "rejected_reasons": { "null id": 1 }, "ids": 13, "unknown_ids": 7,
        "unknown": ["99", "98", "Ж", "7", "97"], "ambiguous_ids": 1, "unknown_rows": 5, "repeated_rows": 1,
        "self_pairs": 1, "pairs": 2, "clusters": 2, "pages": 4,
    });
    assert_eq!(told["truth"], expected);
    assert_eq!(told["documents"], 9);
    // The pairs found are 0-1, 2-3, 4-5 and 8-9. The true pairs are the ids 1-2 and 3-4, which are the documents 0-1 and 2-3: an id refers
    // to the first document that has it.
    assert_eq!(told["algorithms"][0]["pairs_true"], 2);
    near("P", &told["algorithms"][0]["pairwise"]["precision"], Some(0.5));
    near("R", &told["algorithms"][0]["pairwise"]["recall"], Some(1.0));
    for said in [
        "truth: 7 of 13 ids not in the corpus, so 5 rows skipped: \"99\", \"98\", \"Ж\", \"7\", \"97\" ...",
        "truth: 1 row rejected: 1 null id; see evaluation/rejected",
        "truth: skipped rows with the same document twice: 1",
        "truth: skipped repeated rows: 1",
        "ids in the truth that belong to several documents: 1; for each such id, the first document is used",
    ] {
        assert!(ran.stdout.contains(said), "{said:?} is not in\n{}", ran.stdout);
    }
    std::fs::write(&truth, "{\"id_a\": \"x\", \"id_b\": \"y\"}").unwrap();
    evaluate(&done.out(), &[&truth], &[]).ends_with(2).says(&["none of the 2 ids in the truth", "\"x\", \"y\""]);
}

/// Checks that in every format, each unreadable label affects only its own row, which is counted, listed and reported, and that all other
/// rows are used.
#[test]
fn labels_that_cannot_be_read_are_rejected_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs.parquet");
    write_docs(&docs, &numbered(["one text", "one text", "another text"]), 10);
    let done = done(&docs, &["--algorithms", "exact"]);
    let good = ["{\"id_a\": \"d0\", \"id_b\": \"d1\"}", "{\"id_a\": \"d1\", \"id_b\": \"d2\"}"];
    let plain = folder.path().join("plain.jsonl");
    std::fs::write(&plain, good.join("\n")).unwrap();
    evaluate(&done.out(), &[&plain], &[]).ends_with(0);
    let (expected, table) = (evaluation(&done.out()), done.out().join("evaluation/rejected/part-00000.parquet"));
    assert!(!table.exists());
    let lines = [
        b"{\"id_a\": \"d0\", \"id_b".to_vec(),
        good[0].into(),
        b"{\"id_a\": \"\xe9\", \"id_b\": \"d1\"}".to_vec(),
        b"{\"id_a\": 1.5, \"id_b\": \"d1\"}".to_vec(),
        b"[1]".to_vec(),
        b"".to_vec(),
        good[1].into(),
    ];
    let json = folder.path().join("truth.jsonl");
    std::fs::write(&json, lines.join(&b"\r\n"[..])).unwrap();
    let csv = folder.path().join("truth.csv");
    std::fs::write(&csv, b"id_a,id_b\nd0,d1\nd0\n\xe9,d1\nd1,d2\n").unwrap();
    for (file, rows, reasons) in [
        (&json, vec![0, 2, 3, 4], vec!["not JSON", "not UTF-8", "wrong type", "not JSON"]),
        (&csv, vec![1, 2], vec!["broken record", "broken record"]),
    ] {
        // If too many rows are invalid, an earlier evaluation is not replaced.
        if rows.len() > 2 {
            let said = evaluate(&done.out(), &[file], &[]).ends_with(2);
            said.says(&["`--truth", "4 of 6 rows cannot be used", "the previous evaluation is kept"]);
            assert_eq!(evaluation(&done.out()), expected);
        }
        std::fs::remove_dir_all(done.out().join("evaluation")).unwrap();
        let told = evaluate(&done.out(), &[file], &[]).ends_with(3).stdout;
        assert!(told.contains(&format!("truth: {} rows rejected", rows.len())), "{told}");
        let rejected = Table::read(&table);
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(rejected.texts("input").iter().all(|input| input == "truth"));
        assert!(rejected.texts("file").iter().all(|file| file == name), "{:?}", rejected.texts("file"));
        assert_eq!(
            (rejected.numbers("row"), rejected.texts("reason")),
            (rows.clone(), reasons.iter().map(ToString::to_string).collect())
        );
        let found = evaluation(&done.out());
        assert_eq!(found["algorithms"], expected["algorithms"]);
        assert_eq!(found["truth"]["rejected"].as_u64(), Some(rows.len() as u64));
    }
    // In a truncated file, the rows before the damage are used.
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gz, (good.join("\n") + "\n").as_bytes()).unwrap();
    let bytes = gz.finish().unwrap();
    let cut = folder.path().join("cut.jsonl.gz");
    std::fs::write(&cut, &bytes[..bytes.len() - 4]).unwrap();
    let told = evaluate(&done.out(), &[&cut], &[]).ends_with(3).stdout;
    assert!(told.contains("cut.jsonl.gz was read: "), "{told}");
    let found = evaluation(&done.out());
    assert_eq!(found["algorithms"], expected["algorithms"]);
    assert!(found["truth"]["bad_inputs"][0]["why"].as_str().unwrap().contains("truncated"), "{}", found["truth"]);
    let rejected = Table::read(&table);
    assert_eq!((rejected.texts("file"), rejected.texts("row")), (vec!["cut.jsonl.gz".into()], vec!["null".into()]));
    // It is an error if nothing in a file can be read.
    std::fs::write(&json, "torn\n").unwrap();
    evaluate(&done.out(), &[&json], &[]).ends_with(1).says(&["truth.jsonl", "row 1 is not a JSON object"]);
}

#[test]
fn rows_without_ids_go_by_file_and_row_and_large_groups_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let texts = |from: usize| (from..from + 10).map(|n| Some(format!("Текст номер {}.", n % 3))).collect::<Vec<_>>();
    for (name, from) in [("a", 0), ("b", 10)] {
        let path = folder.path().join(format!("docs/{name}.parquet"));
        write_columns(&path, &[("text", Arc::new(StringArray::from(texts(from))) as ArrayRef)], 4);
    }
    let done = done(&folder.path().join("docs"), &["--algorithms", "exact,tf", "--max-group", "3"]);
    let truth = folder.path().join("truth.jsonl");
    let row = |n: usize| if n < 10 { format!("a.parquet#{n}") } else { format!("b.parquet#{}", n - 10) };
    let line = |n: usize| format!("{{\"id\": {:?}, \"cluster\": {}}}\n", row(n), n % 3);
    std::fs::write(&truth, (0..20).map(line).collect::<String>()).unwrap();
    let ran = evaluate(&done.out(), &[&truth], &[]).ends_with(0);
    let told = evaluation(&done.out());
    assert_eq!((&told["truth"]["unknown_ids"], &told["truth"]["clusters"]), (&0.into(), &3.into()));
    let exact = &told["algorithms"][0];
    // There are groups of 7, 7 and 6 copies. Each copy is in a pair with the best document that has the same text.
    assert_eq!((&exact["pairs"], &exact["pairs_not_written"]), (&17.into(), &0.into()));
    near("P", &exact["pairwise"]["precision"], Some(1.0));
    near("R", &exact["pairwise"]["recall"], Some(1.0));
    near("pages", &exact["pagewise"]["recall"], Some(1.0));
    near("ARI", &exact["ari"], Some(1.0));
    assert!(!ran.stdout.contains("`--max-group`"), "{}", ran.stdout);
}

/// Checks that JSON lines may omit a field that is null, and that a file may be empty, like a table without rows.
#[test]
fn the_form_of_json_lines_does_not_hang_on_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs.parquet");
    write_docs(&docs, &numbered(["один текст", "один текст", "другой текст"]), 10);
    let done = done(&docs, &["--algorithms", "exact"]);
    let (lines, table) = (folder.path().join("truth.jsonl"), folder.path().join("truth.parquet"));
    std::fs::write(&lines, "{\"id_b\": \"d2\"}\n{}\n{\"id_a\": \"d0\", \"id_b\": \"d1\"}\n").unwrap();
    evaluate(&done.out(), &[&lines], &[]).ends_with(3);
    let told = evaluation(&done.out());
    let truth = &told["truth"];
    assert_eq!((&truth["rows"], &truth["null_rows"], &truth["pairs"]), (&3.into(), &2.into(), &1.into()));
    assert_eq!(told["algorithms"][0]["pairs_true"], 1);

    let none = || Arc::new(StringArray::from(Vec::<&str>::new())) as ArrayRef;
    write_columns(&table, &[("id_a", none()), ("id_b", none())], 10);
    std::fs::write(&lines, "").unwrap();
    evaluate(&done.out(), &[&table], &[]).ends_with(2).says(&["no row of the truth contains two values"]);
    evaluate(&done.out(), &[&lines], &[]).ends_with(2).says(&["truth.jsonl`: it has no rows"]);
    // If another file has rows, an empty file is assumed to have the same format.
    let clusters = folder.path().join("clusters.jsonl");
    std::fs::write(&clusters, "{\"id\": \"d0\", \"cluster\": 1}\n{\"id\": \"d1\", \"cluster\": 1}\n").unwrap();
    evaluate(&done.out(), &[&lines, &clusters], &[]).ends_with(0);
    let truth = &evaluation(&done.out())["truth"];
    assert_eq!((&truth["form"], &truth["pairs"]), (&"clusters".into(), &1.into()));
    std::fs::write(&lines, "{\"id\": 1, \"cluster\": 2, \"id_a\": \"d0\", \"id_b\": \"d1\"}").unwrap();
    evaluate(&done.out(), &[&lines], &[]).ends_with(2).says(&["it has columns for both pairs"]);
}

#[test]
fn what_cannot_be_evaluated_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs.parquet");
    write_docs(&docs, &numbered(["один текст", "один текст", "другой текст"]), 10);
    let done = done(&docs, &["--algorithms", "exact"]);
    let truth = folder.path().join("truth.parquet");
    let column = || Arc::new(StringArray::from(vec!["d0"])) as ArrayRef;
    write_columns(&truth, &[("idA", column()), ("id_b", column())], 10);
    evaluate(&done.out(), &[&truth], &[]).ends_with(2).says(&["available: idA, id_b", "should \"idA\" be named id_a"]);
    evaluate(&done.out(), &[&folder.path().join("none.parquet")], &[])
        .ends_with(2)
        .says(&["`--truth", "does not exist"]);
    evaluate(folder.path(), &[&truth], &[]).ends_with(2).says(&["not the output of a finished run"]);
    let clusters = folder.path().join("clusters.parquet");
    write_columns(&clusters, &[("id", column()), ("cluster", column())], 10);
    let pairs = folder.path().join("pairs.jsonl");
    std::fs::write(&pairs, "{\"id_a\": \"d0\", \"id_b\": \"d1\"}").unwrap();
    evaluate(&done.out(), &[&clusters, &pairs], &[]).ends_with(2).says(&["expected the same columns in all files"]);
    // No cluster has two documents, so there is nothing to find.
    let single = folder.path().join("single.jsonl");
    std::fs::write(&single, "{\"id\": \"d0\", \"cluster\": 0}\n{\"id\": \"d2\", \"cluster\": 1}\n").unwrap();
    evaluate(&done.out(), &[&single], &[])
        .ends_with(2)
        .says(&["no cluster of the truth contains two documents in the corpus"]);
    assert!(!done.out().join("evaluation").exists());
    assert_eq!(
        names_in(&done.out()),
        ["README.md", "_SUCCESS", "clusters", "pairs", "rejected", "removed", "report.html", "run.json"]
    );
    // The user's own folder with the same name is kept.
    std::fs::create_dir(done.out().join("evaluation")).unwrap();
    std::fs::write(done.out().join("evaluation/notes"), "mine").unwrap();
    evaluate(&done.out(), &[&pairs], &[]).ends_with(2).says(&["it contains \"notes\""]);
    std::fs::remove_dir_all(done.out().join("evaluation")).unwrap();
    evaluate(&done.out(), &[&pairs], &[]).ends_with(0);
    // Tests a damaged table and a changed corpus.
    std::fs::write(done.out().join("pairs/algorithm=exact/part-00000.parquet"), "PAR1").unwrap();
    evaluate(&done.out(), &[&pairs], &[])
        .ends_with(1)
        .says(&["algorithm=exact", "expected a table written by dupsift"]);
    write_docs(&docs, &numbered(["один текст", "один текст"]), 10);
    evaluate(&done.out(), &[&pairs], &[]).ends_with(2).says(&["has changed since the run"]);
}

/// Checks that a pair with two labels counts neither way and is named, whatever the order of its ids, and that its ids are not unknown.
#[test]
fn a_pair_that_is_labeled_in_both_ways_is_named_and_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs.parquet");
    write_docs(&docs, &numbered((0..8).map(|number| format!("text of {}", number / 2))), 10);
    let done = done(&docs, &["--algorithms", "exact"]);
    let labels = folder.path().join("labels.csv");
    let evaluated = |rows: &str| {
        std::fs::write(&labels, format!("id_a,id_b,label\n{rows}")).unwrap();
        evaluate(&done.out(), &[&labels], &[])
    };
    for rows in ["d0,d1,1\nd1,d0,0\nd2,d3,1\nd4,nowhere,0\n", "d4,d7,0\nd1,d0,0\nd2,d3,1\nd0,d1,1\nd1,d0,1\n"] {
        let told = evaluated(rows).ends_with(0).stdout;
        let expected = "1 pair of the truth is labeled both as duplicates and as different documents, such as d0 and d1; they count neither way";
        assert!(told.contains(expected), "{told}");
        let report = evaluation(&done.out());
        let truth = &report["truth"];
        assert_eq!(
            (&truth["pairs"], &truth["contradictory_pairs"], &truth["unknown_ids"]),
            (&1.into(), &1.into(), &0.into())
        );
        assert_eq!(&truth["unknown_rows"], &0);
        let one = &report["algorithms"][0];
        assert_eq!((&one["pairs"], &one["pairs_true"], &one["pairs_undecided"]), (&3.into(), &1.into(), &1.into()));
    }
    evaluated("d0,d1,1\nd1,d0,0\n").ends_with(2).says(&["labeled as different documents, too, such as d0 and d1"]);
}

/// Checks that rows labeled as different, unsure or without a label are not true pairs, in every format and spelling.
#[test]
fn pairs_that_are_not_labeled_as_duplicates_are_not_true() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs.parquet");
    write_docs(&docs, &numbered((0..8).map(|number| format!("text of {}", number / 2))), 10);
    let done = done(&docs, &["--algorithms", "exact"]);
    let at = |name: &str| folder.path().join(name);
    let pairs = |number: usize| (format!("d{}", 2 * number), format!("d{}", 2 * number + 1));
    let of = |labels: [&str; 4], line: &dyn Fn(String, String, &str) -> String| {
        (0..4).map(|number| line(pairs(number).0, pairs(number).1, labels[number])).collect::<String>()
    };
    let json = |name: &'static str| {
        move |a: String, b: String, label: &str| format!("{{\"id_a\":\"{a}\",\"id_b\":\"{b}\",\"{name}\":{label}}}\n")
    };
    let csv = |a: String, b: String, label: &str| format!("{a},{b},{label},a note\n");
    let tsv = |a: String, b: String, label: &str| format!("{a}\t{b}\t{label}\n");
    std::fs::write(at("a.jsonl"), of(["true", "false", "null", "\"unsure\""], &json("duplicate"))).unwrap();
    std::fs::write(at("b.jsonl"), of(["1", "0", "\"\"", "\"Unsure\""], &json("label"))).unwrap();
    std::fs::write(at("c.csv"), format!("id_a,id_b,is_duplicate,note\n{}", of(["yes", "no", "", "unsure"], &csv)))
        .unwrap();
    std::fs::write(at("d.tsv"), format!("id_a\tid_b\tlabel\n{}", of(["same", "different", "", "unsure"], &tsv)))
        .unwrap();
    let column = |values: Vec<String>| Arc::new(StringArray::from(values)) as ArrayRef;
    let ids = || {
        [column((0..4).map(|number| pairs(number).0).collect()), column((0..4).map(|number| pairs(number).1).collect())]
    };
    let booleans = Arc::new(arrow::array::BooleanArray::from(vec![Some(true), Some(false), None, None])) as ArrayRef;
    let floats =
        Arc::new(arrow::array::Float64Array::from(vec![Some(1.0), Some(0.0), Some(f64::NAN), None])) as ArrayRef;
    for (name, labels) in [("e.parquet", booleans), ("f.parquet", floats)] {
        let [a, b] = ids();
        write_columns(&at(name), &[("duplicate", labels), ("id_a", a), ("id_b", b)], 3);
    }
    for name in ["a.jsonl", "b.jsonl", "c.csv", "d.tsv", "e.parquet", "f.parquet"] {
        let told = evaluate(&done.out(), &[&at(name)], &[]).ends_with(0).stdout;
        let report = evaluation(&done.out());
        let truth = &report["truth"];
        assert_eq!(
            (&truth["pairs"], &truth["rows"], &truth["different_rows"]),
            (&1.into(), &4.into(), &1.into()),
            "{name}"
        );
        assert_eq!(truth["unknown_rows"], 0, "{name}");
        let (unsure, empty) = (truth["unsure_rows"].as_u64().unwrap_or(0), truth["unlabeled_rows"].as_u64().unwrap());
        assert_eq!(unsure + empty, 2, "{name}");
        // The pairs that are unsure or without a label are found, and count neither way.
        for one in [&report["algorithms"][0], &report["run"], &report["removed"]] {
            assert_eq!((&one["pairs"], &one["pairs_true"], &one["pairs_undecided"]), (&2.into(), &1.into(), &2.into()));
            near("precision", &one["pairwise"]["precision"], Some(0.5));
            near("recall", &one["pairwise"]["recall"], Some(1.0));
        }
        near("precision of pages", &report["algorithms"][0]["pagewise"]["precision"], Some(0.5));
        assert!(told.contains("count neither as right nor as wrong: exact 2, (run) 2, (removed) 2"), "{told}");
        let line = if name.ends_with("parquet") {
            "1 different documents, 2 without a label"
        } else {
            "1 different documents, 1 unsure, 1 without a label"
        };
        assert!(told.contains(&format!("truth: rows that are not labeled as duplicates: {line}")), "{told}");
        assert_eq!(told.contains("columns of the truth that are not read: note"), name == "c.csv", "{told}");
    }
    std::fs::write(at("a.jsonl"), of(["true", "false", "true", "\"maybe\""], &json("duplicate"))).unwrap();
    let kept = evaluation(&done.out());
    evaluate(&done.out(), &[&at("a.jsonl")], &[])
        .ends_with(2)
        .says(&["a.jsonl`: line 4 has the duplicate \"maybe\"", "expected 1, true, yes"]);
    assert_eq!(evaluation(&done.out()), kept);
    std::fs::write(at("a.jsonl"), of(["null", "null", "null", "\"unsure\""], &json("duplicate"))).unwrap();
    evaluate(&done.out(), &[&at("a.jsonl")], &[])
        .ends_with(2)
        .says(&["no row of the truth is labeled (4 rows: 0 different documents, 1 unsure, 3 without a label)"]);
    assert_eq!(evaluation(&done.out()), kept);
    // Labels that all say "different" say how many of the labeled removals are right.
    std::fs::write(at("a.jsonl"), of(["false", "0", "null", "\"unsure\""], &json("duplicate"))).unwrap();
    let said = evaluate(&done.out(), &[&at("a.jsonl")], &[]).ends_with(0).stdout;
    assert!(said.contains("no figures for the algorithms") && said.contains("\nremovals: "), "{said}");
    assert!(evaluation(&done.out())["algorithms"].as_array().unwrap().is_empty());
    // In JSON lines, the label may be missing in some of the first rows, but not in all of them.
    let late =
        format!("{}{}", "{\"id_a\":\"d0\",\"id_b\":\"d1\"}\n".repeat(1200), of(["1", "0", "0", "1"], &json("label")));
    std::fs::write(at("a.jsonl"), &late).unwrap();
    evaluate(&done.out(), &[&at("a.jsonl")], &[]).ends_with(2).says(&["a.jsonl`: line 1201 is the first with a label"]);
    std::fs::write(at("a.jsonl"), &late[500 * 26..]).unwrap();
    evaluate(&done.out(), &[&at("a.jsonl")], &[]).ends_with(0);
    let truth = &evaluation(&done.out())["truth"];
    assert_eq!(
        (&truth["pairs"], &truth["unlabeled_rows"], &truth["different_rows"]),
        (&2.into(), &700.into(), &2.into())
    );
}

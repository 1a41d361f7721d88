//! Tests bad input of each kind: columns, rows and ids. Bad input is either rejected and counted, or reported with the file, the expected
//! value, the value found and a suggestion. No row is lost silently, and no rows are merged merely because they are empty.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, DictionaryArray, Int32Array, Int64Array, LargeStringArray, StringArray, StringViewArray,
    UInt64Array,
};
use arrow::datatypes::Int32Type;

use crate::kit::{
    ALL, Doc, Table, doc_pairs, done, ended, json_lines, labels, made_docs, members, numbered, pairs, record,
    removed_ids, run, signing_labels, write_columns, write_docs,
};

fn texts(texts: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(texts))
}

/// A text with more than six words, so that every algorithm computes a signature for it.
const LONG: &str = "The quick brown fox jumps over the lazy dog near the old stone bridge. It then sleeps all day long, \
    while seven other animals watch from behind some trees.";

#[test]
fn a_missing_column_names_the_columns_that_are_there_and_the_likely_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    let uids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    write_columns(&file, &[("uid", uids), ("raw_content", texts(&["a", "b"]))], 10);
    let out = folder.path().join("out");
    let ran = run(&[&file], &out, &[]).ends_with(2);
    ran.says(&["a.parquet", "no column \"text\"", "uid (Int64)", "raw_content (Utf8)", "`--text-column raw_content`"]);
    let ran = run(&[&file], &out, &["--text-column", "raw_content", "--id-column", "uidd"]).ends_with(2);
    ran.says(&["a.parquet", "no column \"uidd\"", "`--id-column uid`"]);
    let ran = run(&[&file], &out, &["--text-column", "raw_content", "--keep", "score desc"]).ends_with(2);
    ran.says(&["`--keep", "\"score\"", "no input file has"]);
    assert!(!out.exists());
    run(&[&file], &out, &["--text-column", "raw_content", "--id-column", "uid"]).ends_with(0);
}

#[test]
fn a_column_of_a_wrong_type_says_what_came_and_what_was_expected() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    write_columns(&file, &[("id", texts(&["x", "y"])), ("text", numbers), ("body", texts(&["a", "b"]))], 10);
    let ran = run(&[&file], &folder.path().join("out"), &[]).ends_with(2);
    ran.says(&["a.parquet", "column \"text\" is Int64; expected strings", "`--text-column body`"]);
}

#[test]
fn files_of_no_bytes_and_of_no_rows() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    write_docs(&docs.join("none.parquet"), &[], 10);
    std::fs::write(docs.join("none.jsonl"), b"").unwrap();
    // If there is no earlier output, an empty result is published with a warning.
    let nothing = ended(&docs, &["--algorithms", ALL], 3);
    for table in ["pairs", "clusters", "removed", "rejected"] {
        assert_eq!(Table::read(&nothing.out().join(table)).len(), 0, "{table}");
    }
    assert_eq!(labels(&nothing.out()).len(), members());

    std::fs::write(docs.join("empty.parquet"), b"").unwrap();
    write_docs(&docs.join("z.parquet"), &numbered([LONG, LONG]), 10);
    let rest = ended(&docs, &[], 3);
    assert_eq!(doc_pairs(&rest.out(), "exact"), [(0, 1)]);
    let bad = record(&rest.out())["bad_inputs"].clone();
    assert_eq!((bad.as_array().unwrap().len(), bad[0]["file"].as_str()), (1, Some("empty.parquet")));
    assert!(bad[0]["why"].as_str().unwrap().contains("0 bytes; expected a Parquet file"), "{bad}");
    let rejected = Table::read(&rest.out().join("rejected"));
    assert_eq!((rejected.texts("file"), rejected.texts("row")), (vec!["empty.parquet".into()], vec!["null".into()]));

    let alone = run(&[&docs.join("empty.parquet")], &folder.path().join("out"), &[]).ends_with(1);
    alone.says(&["empty.parquet", "0 bytes", "it is the only input file"]);
    assert!(!folder.path().join("out").exists());
}

#[test]
fn a_null_text_is_set_aside_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    let ids = texts(&["a", "b", "c", "d"]);
    let nullable: ArrayRef = Arc::new(StringArray::from(vec![Some(LONG), None, Some(LONG), None]));
    write_columns(&file, &[("id", ids), ("text", nullable)], 2);
    let done = ended(&file, &["--algorithms", ALL], 3);
    let rejected = Table::read(&done.out().join("rejected"));
    assert_eq!(
        (rejected.texts("row"), rejected.texts("id")),
        (vec!["1".into(), "3".into()], vec!["b".into(), "d".into()])
    );
    assert_eq!(rejected.texts("reason"), ["null text", "null text"]);
    let documents = record(&done.out())["documents"].clone();
    assert_eq!((documents["used"].as_u64(), documents["rejected"].as_u64()), (Some(2), Some(2)));
    for label in signing_labels(&done.out()) {
        assert_eq!(doc_pairs(&done.out(), &label), [(0, 2)], "{label}");
    }
    let strict = run(&[&file], &folder.path().join("out"), &["--strict"]).ends_with(1);
    strict.says(&["a.parquet, row 1: null text", "`--strict"]);
    assert!(!folder.path().join("out").exists());
}

#[test]
fn lines_that_are_not_utf8_or_not_json_are_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.jsonl");
    let mut lines = json_lines(&numbered([LONG, LONG]));
    lines.extend(b"{\"id\": \"bad\", \"text\": \"\xFF\xFE\"}\n");
    lines.extend(b"{\"id\": \"cut\", \"text\": \"no end\n");
    lines.extend(b"{\"id\": \"no text\"}\n");
    lines.extend(b"{\"id\": \"wrong\", \"text\": 7}\n");
    lines.extend(json_lines(&[Doc { id: "last".into(), text: LONG.into(), title: None }]));
    std::fs::write(&file, lines).unwrap();
    let done = ended(&file, &[], 3);
    assert_eq!(doc_pairs(&done.out(), "exact"), [(0, 1), (0, 6)]);
    let rejected = Table::read(&done.out().join("rejected"));
    assert_eq!(rejected.texts("row"), ["2", "3", "4", "5"]);
    assert_eq!(rejected.texts("reason"), ["not UTF-8", "not JSON", "null text", "wrong type"]);
    let details = rejected.texts("detail");
    assert!(details[0].contains("byte") && details[2] == "null" && details[3].contains("an integer"), "{details:?}");
    let reasons = serde_json::json!({ "not UTF-8": 1, "not JSON": 1, "null text": 1, "wrong type": 1 });
    let documents = record(&done.out())["documents"].clone();
    assert_eq!((&documents["rejected_reasons"], &documents["rejected_broken"]), (&reasons, &4.into()));
    let summary = "4 rows rejected: 1 not JSON, 1 not UTF-8, 1 null text, 1 wrong type; see rejected/";
    let again = run(&[&file], &folder.path().join("again"), &["--algorithms", "exact"]).ends_with(3);
    assert!(again.stdout.contains(summary), "{}", again.stdout);
    run(&[&file], &folder.path().join("out"), &["--strict"]).ends_with(1).says(&["a.jsonl, row 2", "UTF-8"]);
}

#[test]
fn one_document_of_fifty_megabytes_among_small_ones() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    let mut docs = numbered((0..99).map(|n| format!("{LONG} Number {} of the small ones.", n % 40)));
    let mut long = String::with_capacity(50 << 20);
    let mut number = 0;
    while long.len() < 50 << 20 {
        long.push_str(&format!("Sentence {number} of a very long text, another word of it. "));
        if number % 10 == 0 {
            long.push_str("这句话很长。");
        }
        number += 1;
    }
    docs.push(Doc { id: "long".into(), text: long, title: None });
    write_docs(&file, &docs, 1000);
    let done = done(&file, &["--algorithms", ALL]);
    let documents = record(&done.out())["documents"].clone();
    assert_eq!((documents["used"].as_u64(), documents["rejected"].as_u64()), (Some(100), Some(0)));
    assert!(doc_pairs(&done.out(), "exact").iter().all(|&(a, b)| b < 99 && b - a >= 40));
    assert!(labels(&done.out()).iter().all(|label| doc_pairs(&done.out(), label).iter().all(|pair| pair.1 < 99)));
}

#[test]
fn ten_thousand_equal_documents_cost_a_star_and_are_counted_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    write_docs(&file, &numbered(vec![LONG; 10_000]), 3_000);
    // All documents but one are removed, which would trigger a guard.
    let done = done(&file, &["--algorithms", ALL, "--max-removed-share", "1"]);
    let record = record(&done.out());
    let signing = signing_labels(&done.out());
    let all = record["algorithms"].as_array().unwrap().iter();
    for one in all.filter(|one| signing.iter().any(|label| one["label"] == **label)) {
        let label = one["label"].as_str().unwrap();
        let count = |name: &str| one[name].as_u64().unwrap();
        assert_eq!((count("pairs"), count("pairs_written")), (9_999, 9_999), "{label}");
        assert_eq!((count("large_groups"), count("clusters"), count("largest_cluster")), (0, 1, 10_000), "{label}");
        assert!(doc_pairs(&done.out(), label).iter().enumerate().all(|(at, pair)| *pair == (0, at + 1)), "{label}");
    }
    assert_eq!(record["removal"]["removed"].as_u64(), Some(9_999));
    assert!(
        !record["warnings"].to_string().contains("`max-group"),
        "copies are no large group: {}",
        record["warnings"]
    );
}

#[test]
fn more_than_half_of_a_large_file_removed_fires_the_guard() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    write_docs(&file, &numbered(vec![LONG; 10_001]), 20_000);
    let done = ended(&file, &["--algorithms", "exact"], 3);
    let guards = record(&done.out())["guards"].clone();
    assert!(
        guards[0]["sentence"].as_str().unwrap().contains("10,000 of the 10,001 documents in a.parquet"),
        "{guards}"
    );
    assert_eq!((&guards[0]["name"], &guards[0]["held"]), (&"max-removed-share".into(), &false.into()));
}

#[test]
fn tiny_documents_merge_with_their_equals_alone_and_are_counted_by_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    let letters =
        "abcdefghijklmnopqrstuvwxyzабвгдежзийклмнопрстуфхцчшщъыьэюя的一是不了人我在有他".chars().map(String::from);
    let signs = ["!", "?", "...", "—", "!!", "。", "，", "«»", "#", "-"].map(String::from);
    let blank = ["", " ", "\n\n", "\u{3000}"].map(String::from);
    let all: Vec<String> = letters.chain(signs).chain(blank).flat_map(|text| [text.clone(), text]).collect();
    write_docs(&file, &numbered(all.clone()), 1000);
    let done = ended(&file, &["--algorithms", ALL], 3);
    for label in labels(&done.out()) {
        for (a, b) in doc_pairs(&done.out(), &label) {
            assert_eq!(all[a], all[b], "{label} merged what is not equal");
        }
    }
    // Blank documents are rejected, because there is nothing to compare.
    let blank = all.iter().filter(|text| text.trim().is_empty()).count();
    let documents = record(&done.out())["documents"].clone();
    assert_eq!(documents["rejected_reasons"], serde_json::json!({ "empty text": blank }));
    assert_eq!(documents["without_words"], 20, "{documents}");
    assert_eq!(doc_pairs(&done.out(), "exact").len(), (all.len() - blank) / 2);
    for one in record(&done.out())["algorithms"].as_array().unwrap() {
        let reasons: BTreeMap<String, u64> = serde_json::from_value(one["unsigned"].clone()).unwrap();
        let unsigned: u64 = reasons.values().sum();
        assert_eq!(one["signed"].as_u64().unwrap() + unsigned, (all.len() - blank) as u64, "{}", one["label"]);
        assert!(reasons.keys().all(|reason| !reason.is_empty()), "{reasons:?}");
    }
}

#[test]
fn blank_texts_are_rejected_in_every_format_and_by_the_same_guard_as_nulls() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let texts: Vec<String> = (0..200)
        .map(|n| {
            ["", " \t ", "\u{a0}\n"].get(n % 4).map_or_else(|| format!("Text number {n}."), |blank| blank.to_string())
        })
        .collect();
    let docs = numbered(texts.clone());
    write_docs(&at("a.parquet"), &docs, 64);
    std::fs::write(at("b.jsonl"), json_lines(&docs)).unwrap();
    let csv: String = docs.iter().map(|doc| format!("{},\"{}\"\n", doc.id, doc.text)).collect();
    std::fs::write(at("c.csv"), format!("id,text\n{csv}")).unwrap();
    let pages: String = texts.iter().map(|text| serde_json::json!({ "html": text }).to_string() + "\n").collect();
    std::fs::write(at("d.jsonl"), pages).unwrap();
    std::fs::write(at("good.jsonl"), json_lines(&made_docs(200))).unwrap();
    for (name, more) in
        [("a.parquet", &[][..]), ("b.jsonl", &[]), ("c.csv", &[]), ("d.jsonl", &["--html-column", "html"])]
    {
        let out = at(&format!("out-{name}"));
        run(&[&at(name)], &out, &[more, &["--algorithms", "exact"]].concat()).ends_with(3);
        let documents = record(&out)["documents"].clone();
        assert_eq!(documents["rejected_reasons"]["empty text"], 150, "{name}: {documents}");
        assert_eq!(documents["rejected_broken"], 150, "{name}: {documents}");
        assert_eq!(record(&out)["guards"][0]["name"], "max-rejected-share", "{name}");
    }
    // A result with too many of them does not replace an earlier result.
    let out = at("out");
    run(&[&at("good.jsonl")], &out, &["--algorithms", "exact"]).ends_with(0);
    let ran = run(&[&at("b.jsonl")], &out, &["--algorithms", "exact", "--overwrite"]).ends_with(4);
    assert!(ran.stdout.contains("held back:") && ran.stdout.contains("150 empty text"), "{}", ran.stdout);
    // They are rejected in the other inputs too.
    let (good, bad, reference) = (at("good.jsonl"), at("b.jsonl"), at("reference"));
    let against = ["--reference", bad.to_str().unwrap(), "--algorithms", "exact"];
    let ran = run(&[&good], &reference, &against);
    assert!(ran.code == 3 && ran.stdout.contains("150 empty text"), "{} {}", ran.code, ran.stdout);
}

#[test]
fn a_text_is_never_lost_because_of_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let words = ["The ferry leaves at noon.", "The ferry leaves at noon.", "Other words are here."];
    for (name, ids) in [
        ("float", ["0.0", "1.0", "2.0"]),
        ("big", ["18446744073709551616", "18446744073709551617", "18446744073709551618"]),
        ("mixed", ["true", "{\"a\":1}", "[7]"]),
        ("twice", ["1,\"id\":2", "3", "4"]),
    ] {
        let lines: String =
            ids.iter().zip(words).map(|(id, text)| format!("{{\"id\":{id},\"text\":\"{text}\"}}\n")).collect();
        let input = at(&format!("{name}.jsonl"));
        std::fs::write(&input, lines).unwrap();
        for named in [&[][..], &["--id-column", "id"]] {
            let out = at(&format!("out-{name}-{}", named.len()));
            let ran = run(&[&input], &out, &[named, &["--algorithms", "exact"]].concat()).ends_with(0);
            let count = if name == "twice" { "1 row has an id" } else { "3 rows have ids" };
            assert!(ran.stdout.contains(&format!("{count} that cannot be used")), "{}", ran.stdout);
            let first = if name == "twice" { "3".to_owned() } else { format!("{name}.jsonl#1") };
            assert_eq!(Table::read(&out.join("removed")).texts("id"), [first]);
        }
    }
    let floats: ArrayRef = Arc::new(arrow::array::Float64Array::from(vec![0.0, 1.0, 2.0]));
    write_columns(&at("a.parquet"), &[("id", floats), ("text", texts(&words))], 10);
    for named in [&[][..], &["--id-column", "id"]] {
        let out = at(&format!("out-parquet-{}", named.len()));
        let ran = run(&[&at("a.parquet")], &out, &[named, &["--algorithms", "exact"]].concat()).ends_with(0);
        assert!(ran.stdout.contains("column \"id\" is Float64"), "{}", ran.stdout);
        assert_eq!(Table::read(&out.join("removed")).texts("id"), ["a.parquet#1"]);
    }
}

#[test]
fn lone_surrogates_and_numbers_that_json_lacks_are_read_and_copied_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let lines = [
        r#"{"id":"a","text":"cut \ud83d The ferry leaves at noon.","score":NaN}"#,
        r#"{"id":"b","text":"cut \ud83d The ferry leaves at noon.","score":1}"#,
        r#"{"id":"c\udc00","text":"Other words are here.","score":-Infinity,"more":[{"deep":Infinity}]}"#,
    ];
    std::fs::write(at("a.jsonl"), lines.join("\n") + "\n").unwrap();
    let more = ["--algorithms", "exact", "--corpus", "keep", "--keep", "score desc"];
    let out = at("out");
    run(&[&at("a.jsonl")], &out, &more).ends_with(0);
    // NaN counts as null, and nulls come last.
    assert_eq!(removed_ids(&out), ["a"]);
    let kept = std::fs::read_to_string(out.join("deduped/a.jsonl")).unwrap();
    assert_eq!(kept.lines().collect::<Vec<_>>(), lines[1..]);
    // Labels and columns that are added to the copy.
    std::fs::write(at("truth.jsonl"), "{\"id_a\":\"a\",\"id_b\":\"b\",\"weight\":NaN}\n").unwrap();
    let mut command = crate::kit::program();
    command.arg("evaluate").arg(&out).arg("--truth").arg(at("truth.jsonl"));
    let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(said.contains("1.000"), "{said}");
    run(&[&at("a.jsonl")], &at("added"), &[&more[..4], &["--add", "copies"]].concat()).ends_with(0);
    let added = std::fs::read_to_string(at("added/deduped/a.jsonl")).unwrap();
    assert!(added.starts_with(&lines[0][..lines[0].len() - 1]), "{added}");
}

#[test]
fn duplicate_ids_are_counted_and_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    write_columns(&file, &[("id", texts(&["x", "y", "x", "x"])), ("text", texts(&[LONG, "other", LONG, "third"]))], 10);
    let done = done(&file, &[]);
    let record = record(&done.out());
    assert_eq!(record["ids"]["duplicates"].as_u64(), Some(2));
    assert!(
        record["warnings"].to_string().contains("2 rows have the same id as an earlier row"),
        "{}",
        record["warnings"]
    );
    let pair = &pairs(&done.out(), "exact")[0];
    assert_eq!((pair.id_a.as_str(), pair.id_b.as_str(), pair.doc_a, pair.doc_b), ("x", "x", 0, 2));
}

#[test]
fn documents_without_an_id_are_called_by_file_and_row() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    let ids: ArrayRef = Arc::new(StringArray::from(vec![Some("x"), None]));
    write_columns(&docs.join("deep/a.parquet"), &[("id", ids), ("text", texts(&[LONG, LONG]))], 10);
    write_columns(&docs.join("b.parquet"), &[("text", texts(&["other", LONG]))], 10);
    let done = done(&docs, &[]);
    let found: Vec<(String, String)> =
        pairs(&done.out(), "exact").into_iter().map(|pair| (pair.id_a, pair.id_b)).collect();
    let expected = [("b.parquet#1", "x"), ("b.parquet#1", "deep/a.parquet#1")];
    assert_eq!(found, expected.map(|(a, b)| (a.to_string(), b.to_string())));
    let ids = record(&done.out())["ids"].clone();
    assert_eq!(ids["missing"].as_u64(), Some(3));
    assert!(ids["note"].as_str().unwrap().contains("FILE#ROW"), "{ids}");
}

#[test]
fn ids_come_out_in_the_type_that_they_came_in() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["x\ny", "ё", "x\ny#1"];
    let dictionary: DictionaryArray<Int32Type> = words.into_iter().collect();
    let cases: Vec<(&str, ArrayRef, &str)> = vec![
        ("int32", Arc::new(Int32Array::from(vec![7, -8, 9])), "Int32"),
        ("int64", Arc::new(Int64Array::from(vec![i64::MIN, 1, i64::MAX])), "Int64"),
        ("uint64", Arc::new(UInt64Array::from(vec![7, 8, i64::MAX as u64])), "Int64"),
        ("large_uint64", Arc::new(UInt64Array::from(vec![7, 8, u64::MAX])), "Utf8"),
        ("binary", Arc::new(BinaryArray::from_vec(vec![b"\xFF\x00", b"b", b""])), "Binary"),
        ("utf8", texts(&words), "Utf8"),
        ("large_utf8", Arc::new(LargeStringArray::from_iter_values(words)), "Utf8"),
        ("utf8_view", Arc::new(StringViewArray::from_iter_values(words)), "Utf8"),
        ("dictionary", Arc::new(dictionary), "Utf8"),
    ];
    for (name, ids, expected) in cases {
        let file = folder.path().join(format!("{name}.parquet"));
        write_columns(&file, &[("id", ids.clone()), ("text", texts(&[LONG, "other", LONG]))], 10);
        let done = done(&file, &["--algorithms", "exact"]);
        let table = Table::read(&done.out().join("pairs"));
        assert_eq!(table.0.column(0).data_type().to_string(), expected, "{name}");
        let as_written = arrow::compute::cast(&ids, table.0.column(0).data_type()).unwrap();
        assert_eq!(
            (table.0.column(0), table.0.column(1)),
            (&as_written.slice(0, 1), &as_written.slice(2, 1)),
            "{name}"
        );
        let note = record(&done.out())["ids"]["note"].clone();
        assert_eq!(note.is_null(), !name.contains("uint64"), "{name}: {note}");
    }
}

#[test]
fn texts_of_every_string_type_are_the_same_texts() {
    let folder = tempfile::tempdir().unwrap();
    let words = [LONG, "другой текст", LONG];
    let dictionary: DictionaryArray<Int32Type> = words.into_iter().collect();
    let cases: Vec<ArrayRef> = vec![
        texts(&words),
        Arc::new(LargeStringArray::from_iter_values(words)),
        Arc::new(StringViewArray::from_iter_values(words)),
        Arc::new(dictionary),
        Arc::new(BinaryArray::from_iter_values(words)),
    ];
    for (at, column) in cases.into_iter().enumerate() {
        let file = folder.path().join(format!("{at}.parquet"));
        write_columns(&file, &[("text", column)], 2);
        assert_eq!(doc_pairs(&done(&file, &["--algorithms", "minhash"]).out(), "minhash"), [(0, 2)], "case {at}");
    }
}

#[test]
fn wrong_numbers_names_and_places() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    write_docs(&file, &numbered([LONG]), 10);
    let out = folder.path().join("out");
    let refused = |inputs: &[&Path], more: &[&str], parts: &[&str]| {
        run(inputs, &out, more).ends_with(2).says(parts);
        assert!(!out.exists());
    };
    refused(&[&file], &["--memory", "1MiB"], &["`--memory 1.0MiB` is too small", "the minimum is 48.0 MiB"]);
    refused(&[&file], &["--algorithms", "mihnash"], &["no algorithm \"mihnash\"", "did you mean \"minhash\"?"]);
    refused(&[&file], &["--algorithms", "minhash:band=3"], &["no parameter \"band\"", "did you mean \"bands\"?"]);
    refused(&[&folder.path().join("none.parquet")], &[], &["none.parquet", "does not exist"]);
    refused(&[&folder.path().join("*.jsonl")], &[], &["nothing to read in", ".jsonl.zst"]);
    let work = file.join("work").to_string_lossy().into_owned();
    refused(
        &[&file],
        &["--work", &work],
        &["`--work ", "a.parquet/work`: cannot be read", "expected an existing folder"],
    );
    run(&[&file], &out, &["--memory", "48MiB"]).ends_with(0);
}

//! Tests `--cut`, which finds repeated passages in kept documents and cuts them out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use arrow::array::{ArrayRef, AsArray, Int64Array, StringArray};
use std::sync::Arc;

use crate::kit::{
    Doc, Done, Numbers, Ran, Table, assert_same_bytes, done, ended, json_lines, numbered, python, record, run, samples,
    write_columns, write_docs,
};
use crate::resume::Place;

const EXACT: [&str; 4] = ["--algorithms", "exact", "--max-cut-share", "1"];
const BOILER: &str = "All rights reserved by the owners of this site, 版权所有 и все права защищены.";

/// Returns unique text with about this many characters.
fn own(number: usize, characters: usize) -> String {
    (0..characters / 8)
        .map(|word| format!("w{:06}", number * 7919 + word * 104_729 % 999_983))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns documents with the same lines at their ends and within them, longest document first.
fn documents(count: usize) -> Vec<Doc> {
    let text = |number: usize| {
        let own = own(number, 900 - number % 50 * 8);
        match number % 4 {
            0 => format!("{own}\n{BOILER}\n"),
            1 => format!("{BOILER}\n\n{own}"),
            2 => format!("{own}\n{BOILER}\n{}", own.to_uppercase()),
            _ => format!("\"quoted\", {own}\r\n  {BOILER}  \r\n{number} end"),
        }
    };
    numbered((0..count).map(text))
}

fn cut(input: &Path, what: &str, more: &[&str]) -> Done {
    done(input, &[&EXACT[..], &["--cut", what, "--corpus", "annotate,keep,drop"], more].concat())
}

fn texts(folder: &Path) -> BTreeMap<String, String> {
    let table = Table::read(folder);
    table.texts("id").into_iter().zip(table.texts("text")).collect()
}

/// Checks that in every format, one copy of a passage is kept and everything else is unchanged.
#[test]
fn every_format_is_written_back_without_the_passages() {
    let folder = tempfile::tempdir().unwrap();
    let docs = documents(40);
    let at = |name: &str| folder.path().join(name);
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter((0..40).map(|n| (n % 3 > 0).then_some(n))));
    let ids: ArrayRef = Arc::new(StringArray::from_iter_values(docs.iter().map(|doc| &doc.id)));
    let text: ArrayRef = Arc::new(StringArray::from_iter_values(docs.iter().map(|doc| &doc.text)));
    write_columns(&at("parquet/a.parquet"), &[("number", numbers.clone()), ("id", ids), ("text", text)], 7);
    std::fs::create_dir(at("jsonl")).unwrap();
    std::fs::write(at("jsonl/a.jsonl"), json_lines(&docs)).unwrap();
    std::fs::create_dir(at("csv")).unwrap();
    let record = |doc: &Doc| format!("{},\"{}\",x\n", doc.id, doc.text.replace('"', "\"\""));
    std::fs::write(at("csv/a.csv"), format!("id,text,more\n{}", docs.iter().map(record).collect::<String>())).unwrap();

    for what in ["lines", "runs:60"] {
        let parquet = cut(&at("parquet"), what, &[]);
        let kept = texts(&parquet.out().join("deduped"));
        assert_eq!(kept.len(), 40);
        let boilers: usize = kept.values().map(|text| text.matches(BOILER).count()).sum();
        assert_eq!(boilers, 1, "{what}");
        for doc in &docs {
            let lost = doc.text.replace(BOILER, "");
            assert_eq!(
                kept[&doc.id].replace(BOILER, "").split_whitespace().collect::<Vec<_>>(),
                lost.split_whitespace().collect::<Vec<_>>()
            );
        }
        let Table(batch) = Table::read(&parquet.out().join("deduped"));
        assert_eq!(batch.column_by_name("number").unwrap(), &numbers);

        let lines = cut(&at("jsonl"), what, &[]);
        let written = std::fs::read_to_string(lines.out().join("deduped/a.jsonl")).unwrap();
        let expected = docs.iter().map(|doc| Doc { text: kept[&doc.id].clone(), ..doc.clone() });
        assert_eq!(written.into_bytes(), json_lines(&expected.collect::<Vec<_>>()));

        let records = cut(&at("csv"), what, &[]);
        let written = std::fs::read_to_string(records.out().join("deduped/a.csv")).unwrap();
        let expected = docs.iter().map(|doc| Doc { text: kept[&doc.id].clone(), ..doc.clone() });
        assert_eq!(written, format!("id,text,more\n{}", expected.map(|doc| record(&doc)).collect::<String>()));
    }
}

#[test]
fn threads_and_memory_change_no_byte() {
    let folder = tempfile::tempdir().unwrap();
    write_docs(&folder.path().join("a.parquet"), &documents(200), 30);
    for what in ["lines", "paragraphs", "sentences:1", "runs:60"] {
        let first = cut(folder.path(), what, &["--threads", "1", "--memory", "4GiB"]);
        assert!(record(&first.out())["cut"]["passages"].as_u64().unwrap() > 40, "{what}");
        for (threads, memory) in [("2", "160MiB"), ("5", "160MiB")] {
            let other = cut(folder.path(), what, &["--threads", threads, "--memory", memory]);
            assert_same_bytes(&first.out(), &other.out(), what);
            for folder in ["passages", "deduped", "attributes"] {
                let bytes = |done: &Done| {
                    crate::kit::files_below(&done.out().join(folder))
                        .iter()
                        .map(|file| std::fs::read(file).unwrap())
                        .collect::<Vec<_>>()
                };
                assert!(bytes(&first) == bytes(&other), "{what}: {folder}/ differs with {threads} threads");
            }
            assert_eq!(record(&first.out())["cut"], record(&other.out())["cut"], "{what}");
        }
    }
}

#[test]
fn a_second_run_cuts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    write_docs(&folder.path().join("a.parquet"), &documents(60), 30);
    for what in ["lines", "paragraphs"] {
        let first = cut(folder.path(), what, &[]);
        let second = cut(&first.out().join("deduped"), what, &[]);
        let passages = |done: &Done| record(&done.out())["cut"]["passages"].as_u64().unwrap();
        assert!(passages(&first) > 10 && passages(&second) == 0, "{what}");
        let bytes = |out: PathBuf| std::fs::read(out.join("deduped/a.parquet")).unwrap();
        assert!(bytes(first.out()) == bytes(second.out()), "{what}");
    }
}

#[test]
fn the_first_copy_is_that_of_the_preferred_document() {
    let folder = tempfile::tempdir().unwrap();
    write_docs(&folder.path().join("a.parquet"), &documents(12), 30);
    for (keep, first) in [("length desc", "d2"), ("doc desc", "d11"), ("id desc", "d9")] {
        for what in ["lines", "runs:60"] {
            let done = cut(folder.path(), what, &["--keep", keep]);
            let passages = Table::read(&done.out().join("passages"));
            assert_eq!(passages.len(), 11, "{keep} {what}");
            assert!(
                passages.texts("first_id").iter().all(|id| id == first)
                    && !passages.texts("id").contains(&first.to_owned())
            );
            assert!(passages.numbers("copies").iter().all(|&copies| copies == 12));
            let docs = documents(12);
            for ((doc, start), end) in passages
                .numbers("doc")
                .into_iter()
                .zip(passages.numbers("start_byte"))
                .zip(passages.numbers("end_byte"))
            {
                assert_eq!(docs[doc as usize].text[start as usize..end as usize].trim(), BOILER);
            }
        }
    }
    let all = cut(folder.path(), "lines", &["--cut-first"]);
    let Table(batch) = Table::read(&all.out().join("passages"));
    assert_eq!((batch.num_rows(), batch.column_by_name("first_id").unwrap().null_count()), (12, 12));
    assert!(texts(&all.out().join("deduped")).values().all(|text| !text.contains(BOILER)));
    assert_eq!(record(&cut(folder.path(), "lines", &["--cut-copies", "13"]).out())["cut"]["passages"], 0);
    assert_eq!(record(&cut(folder.path(), "lines", &["--cut-min-chars", "100"]).out())["cut"]["passages"], 0);
}

#[test]
fn documents_of_which_too_little_is_left_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("{}\n{BOILER}\n{}", own(1, 400), own(2, 300));
    let docs = numbered([
        long.clone(),
        format!("{BOILER}\nshort"),
        format!("{}\n{BOILER}", own(1, 400)),
        own(5, 100),
        format!("{}\n{BOILER}", own(9, 390)),
    ]);
    write_docs(&folder.path().join("a.parquet"), &docs, 30);
    let done = cut(folder.path(), "lines", &[]);
    let removed = Table::read(&done.out().join("removed"));
    let rows: Vec<_> =
        removed.texts("id").into_iter().zip(removed.texts("kept_id")).zip(removed.texts("reason")).collect();
    let row = |id: &str| ((id.to_owned(), "d0".to_owned()), "emptied".to_owned());
    // d2 has no unique line; d3 is equally short, but nothing was cut from it.
    assert_eq!(rows, [row("d1"), row("d2")]);
    let record = record(&done.out());
    assert_eq!(
        (&record["removal"]["removed"], &record["removal"]["kept"], &record["cut"]["emptied"]),
        (&2.into(), &3.into(), &2.into())
    );
    assert_eq!(record["removal"]["reasons"]["emptied"], 2);
    assert_eq!(texts(&done.out().join("deduped")).len(), 3);
    // Removed documents are written unchanged.
    assert_eq!(texts(&done.out().join("dropped"))["d1"], docs[1].text);
    let marks = Table::read(&done.out().join("attributes"));
    assert_eq!(
        marks.numbers("left"),
        [long.chars().count() as i64, 5, 0, docs[3].text.chars().count() as i64, own(9, 390).chars().count() as i64]
    );
    let share: Vec<f32> = marks.floats("cut").into_iter().flatten().collect();
    assert!(share[0] == 0.0 && share[2] == 1.0 && share[1] > 0.9 && share[4] < 0.2, "{share:?}");
    // A document with nothing left is never kept.
    let all = cut(folder.path(), "lines", &["--min-chars-left", "0"]);
    assert_eq!(removals(&all), (BTreeSet::from(["d2".to_owned()]), BTreeSet::from(["d0".to_owned()])));
}

#[test]
fn a_large_share_that_is_cut_holds_the_result_back() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("in/a.parquet"), folder.path().join("out"));
    let docs = |lines: usize| {
        let common = (0..lines).map(|line| format!("{line} {}\n", own(line, 80))).collect::<String>();
        numbered((0..4).map(|number| format!("{}\n{common}", own(100 + number, 900))))
    };
    write_docs(&input, &docs(1), 30);
    let run = |more: &[&str]| {
        run(&[&input], &out, &[&["--algorithms", "exact", "--cut", "lines", "--overwrite"], more].concat())
    };
    run(&[]).ends_with(0);
    write_docs(&input, &docs(60), 30);
    run(&[])
        .ends_with(4)
        .says(&["of the text in the kept documents would be cut, more than the 50% allowed by", "max-cut-share"]);
    run(&["--max-cut-share", "0.9"]).ends_with(0);
}

#[test]
fn what_cannot_be_cut_is_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_docs(&at("a.parquet"), &documents(4), 30);
    std::fs::write(at("a.html"), "<p>text</p>").unwrap();
    std::fs::write(at("lists.jsonl"), "{\"id\":\"a\",\"text\":[\"one\",\"two\"]}\n").unwrap();
    let rows = arrow::array::RecordBatch::try_from_iter([("text", Arc::new(StringArray::from(vec!["a"])) as ArrayRef)]);
    let mut arrow = arrow::ipc::writer::FileWriter::try_new(
        std::fs::File::create(at("a.arrow")).unwrap(),
        &rows.as_ref().unwrap().schema(),
    )
    .unwrap();
    arrow.write(&rows.unwrap()).and_then(|()| arrow.finish()).unwrap();
    std::fs::write(at("gbk.jsonl"), b"{\"id\":\"a\",\"text\":\"\xd6\xd0\xce\xc4\"}\n").unwrap();
    let index = at("index").display().to_string();
    let refused = |input: &str, more: &[&str], parts: &[&str]| {
        let more = [&["--algorithms", "exact"], more].concat();
        for dry in [&[][..], &["--dry-run"]] {
            run(&[&at(input)], &at("out"), &[&more, dry].concat()).ends_with(2).says(parts);
            assert!(!at("out").exists());
        }
    };
    refused("lists.jsonl", &["--cut", "lines"], &["cannot be cut if the text is a list"]);
    refused("a.arrow", &["--cut", "lines", "--corpus", "keep"], &["a.arrow", "cannot be changed"]);
    refused("a.parquet", &["--cut", "lines", "--index", &index], &["with `--index` cannot cut passages"]);
    refused("a.parquet", &["--cut", "lines", "--reference", &index], &["with `--reference` cannot cut passages"]);
    refused("a.parquet", &["--cut", "lines", "--html-column", "text"], &["cannot be cut from HTML pages"]);
    refused("a.html", &["--cut", "lines", "--whole-files"], &["cannot be cut from HTML pages or web archives"]);
    refused(
        "a.parquet",
        &["--cut", "lines", "--text-column", "id,text"],
        &["cannot be cut if the text comes from several columns"],
    );
    refused(
        "gbk.jsonl",
        &["--cut", "lines", "--corpus", "keep", "--encoding", "gbk"],
        &["its text is in GBK", "UTF-8"],
    );
    refused("a.parquet", &["--cut", "runs:5"], &["expected lines, paragraphs, sentences:N"]);
    refused("a.parquet", &["--cut-first"], &["has no effect without `--cut`; add `--cut lines`"]);
    refused("a.parquet", &["--cut", "lines", "--cut-at", "sentence"], &["remove `--cut-at`"]);
    refused("a.parquet", &["--cut", "runs:100", "--cut-min-chars", "9"], &["remove `--cut-min-chars`"]);
}

/// Checks that a dry run lists the passes over the kept documents and the temporary files that they require.
#[test]
fn a_dry_run_says_what_would_be_cut() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_docs(&at("a.parquet"), &documents(400), 100);
    let dry = |more: &[&str]| {
        let more = [&["--algorithms", "exact", "--dry-run"], more].concat();
        let ran = run(&[&at("a.parquet")], &at("out"), &more).ends_with(0);
        assert!(!at("out").exists());
        ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (plain, reported) = (dry(&["--corpus", "keep"]), dry(&["--cut", "lines"]));
    let (lines, runs) = (dry(&["--cut", "lines", "--corpus", "keep"]), dry(&["--cut", "runs:100", "--corpus", "keep"]));
    assert!(!plain.contains("passages"), "{plain}");
    assert!(reported.contains("kept documents: lines") && reported.contains("only reported"), "{reported}");
    assert!(lines.contains("kept documents: lines") && lines.contains("cut from deduped/"), "{lines}");
    assert!(runs.contains("kept documents: runs:100"), "{runs}");
    let place = |plan: &str, what: &str| plan.find(what).unwrap_or_else(|| panic!("{what} is not in {plan}"));
    assert!(place(&lines, "decide") < place(&lines, "passages") && place(&lines, "passages") < place(&lines, "tables"));
}

#[test]
fn a_killed_run_resumes_with_the_repeats_that_it_found() {
    let place = Place::new();
    let more = ["--algorithms", "exact", "--cut", "lines", "--corpus", "keep", "--max-cut-share", "1"];
    place.killed_in("write passages/", &more);
    let ran = place.run(&more).ends_with(0);
    assert!(
        record(&place.out())["resumed"].as_array().unwrap().iter().any(|what| what == "repeated passages"),
        "{}",
        ran.stderr
    );
    let resumed = std::fs::read(place.out().join("passages/part-00000.parquet")).unwrap();
    std::fs::remove_dir_all(place.out()).unwrap();
    place.run(&more).ends_with(0);
    assert!(resumed == std::fs::read(place.out().join("passages/part-00000.parquet")).unwrap());
}

/// Checks that the work grows with the number of documents and not with the number of pairs: a line that is in all documents forms one
/// group of rows.
#[test]
fn a_hot_line_costs_a_row_a_document() {
    let folder = tempfile::tempdir().unwrap();
    let count = 20_000;
    let docs = numbered((0..count).map(|number| format!("{number} is the only line of its own here\n{BOILER}")));
    write_docs(&folder.path().join("a.parquet"), &docs, 5000);
    for (what, most) in [("lines", 2), ("runs:60", 80)] {
        let done = cut(folder.path(), what, &["--min-chars-left", "0", "--no-report"]);
        let record = record(&done.out());
        assert_eq!(record["cut"]["passages"], count - 1);
        let rows = |name: &str| {
            let stage = record["stages"].as_array().unwrap().iter().find(|stage| stage["stage"] == name).unwrap();
            stage["rows_in"].as_u64().unwrap()
        };
        assert!(rows("find repeats") <= count as u64 * most, "{what}: {}", rows("find repeats"));
    }
}

/// Checks that a long passage has a row for many consecutive runs, in documents that have it once and in one that has parts of it.
#[test]
fn a_long_passage_has_no_row_for_each_character() {
    let folder = tempfile::tempdir().unwrap();
    let (count, long) = (400, own(0, 2000));
    let text = |number: usize| format!("{} {long} {}", own(number, 600), own(count + number, 600));
    let parts = format!("{} {} {}", own(7 * count, 900), &long[..700], &long[900..]);
    let docs = numbered((1..count).map(text).chain([parts]));
    write_docs(&folder.path().join("a.parquet"), &docs, 90);
    let done = cut(folder.path(), "runs:200", &["--min-chars-left", "0", "--no-report"]);
    let record = record(&done.out());
    assert_eq!(record["cut"]["passages"], count);
    let stages = record["stages"].as_array().unwrap();
    let rows: Vec<u64> = stages
        .iter()
        .filter(|stage| stage["stage"] == "find repeats")
        .map(|stage| stage["rows_in"].as_u64().unwrap())
        .collect();
    assert!(rows.len() > 1 && rows.iter().all(|&rows| rows <= count as u64 * 300), "{rows:?}");
    assert_eq!(first_copies_are_written(&done, &docs, |text| text.chars().take(200).collect()), count);
}

/// Compares the result with a script that cuts the samples according to the definition.
#[test]
fn passages_of_the_samples_are_those_of_the_definition() {
    let runs = ["lines", "runs:100", "runs:500"]
        .map(|what| done(samples(), &[&EXACT[..], &["--cut", what, "--corpus", "keep"]].concat()));
    let mut command = python("tests/cut.py");
    runs.iter().for_each(|done| _ = command.arg(done.out()));
    Ran::of(command.output().unwrap()).ends_with(0);
}

#[test]
fn without_a_copy_of_the_corpus_passages_are_only_reported() {
    let folder = tempfile::tempdir().unwrap();
    write_docs(&folder.path().join("a.parquet"), &documents(8), 30);
    let done = ended(folder.path(), &[&EXACT[..], &["--cut", "lines"]].concat(), 0);
    assert_eq!(Table::read(&done.out().join("passages")).len(), 7);
    assert!(!done.out().join("deduped").exists());
    let page = std::fs::read_to_string(done.out().join("report.html")).unwrap();
    assert!(page.contains("All rights reserved by the owners"), "report.html does not show the passage");
}

/// Returns the documents that are removed, and the documents that are named as kept in their place.
fn removals(done: &Done) -> (BTreeSet<String>, BTreeSet<String>) {
    let removed = Table::read(&done.out().join("removed"));
    (removed.texts("id").into_iter().collect(), removed.texts("kept_id").into_iter().collect())
}

/// Checks that documents removed in favor of an emptied document are removed in favor of a kept document.
#[test]
fn an_emptied_document_is_not_kept_instead_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let lines =
        |from: usize, count: usize| (from..from + count).map(|line| own(line, 90)).collect::<Vec<_>>().join(".\n\n");
    let near = format!("{} and a few more words", lines(10, 20));
    let docs = numbered([lines(0, 40), lines(10, 20), lines(10, 20), lines(10, 20), near, lines(100, 5)]);
    write_docs(&folder.path().join("a.parquet"), &docs, 30);
    for (what, algorithms) in [
        ("lines", "exact"),
        ("runs:60", "exact"),
        ("paragraphs", "exact,minhash:threshold=0.7"),
        ("sentences:1", "exact"),
    ] {
        let options = [
            "--algorithms",
            algorithms,
            "--cut",
            what,
            "--corpus",
            "annotate,keep",
            "--max-cut-share",
            "1",
            "--remove-if",
            "pair",
        ];
        let done = done(folder.path(), &options);
        let (removed, kept) = removals(&done);
        assert!(removed.contains("d1") && removed.contains("d2"), "{what}: {removed:?}");
        assert!(kept.is_disjoint(&removed), "{what}: {removed:?} in favor of {kept:?}");
        let table = Table::read(&done.out().join("removed"));
        let reasons: BTreeMap<String, String> = table.texts("id").into_iter().zip(table.texts("reason")).collect();
        let emptied = record(&done.out())["cut"]["emptied"].as_u64().unwrap();
        assert_eq!(reasons.values().filter(|reason| *reason == "emptied").count() as u64, emptied, "{reasons:?}");
        assert!(reasons.values().any(|reason| reason == "chain"), "{reasons:?}");
        let Table(marks) = Table::read(&done.out().join("attributes"));
        let ids = marks.column_by_name("kept_id").unwrap().as_string::<i32>().clone();
        assert!(ids.iter().flatten().all(|id| !removed.contains(id)), "{ids:?}");
    }
}

/// Checks that no document is written without text, also if the first copies of its lines are cut.
#[test]
fn no_blank_document_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (own(1, 300), own(2, 300));
    let docs = numbered([
        one.clone(),
        format!("{one}\n\n{other}"),
        other.clone(),
        format!("\u{a0}\n{one}\n \t"),
        format!("{one}\n{}", own(7, 40)),
        own(9, 300),
    ]);
    write_docs(&folder.path().join("a.parquet"), &docs, 30);
    for what in ["lines", "paragraphs", "sentences:1", "runs:60"] {
        for more in [&["--cut-first"][..], &["--cut-first", "--min-chars-left", "0"], &["--min-chars-left", "0"]] {
            let options = [&["--algorithms", "exact", "--max-cut-share", "1", "--cut", what, "--corpus", "keep"], more];
            let done = done(folder.path(), &options.concat());
            let left = texts(&done.out().join("deduped"));
            assert!(left.values().all(|text| !text.trim().is_empty()), "{what} {more:?}: {left:?}");
            let is_cut = ["lines", "runs:60"].contains(&what) && more == ["--cut-first"];
            assert!(left.contains_key("d5") && left.contains_key("d4") != is_cut, "{what} {more:?}: {left:?}");
            let (removed, kept) = removals(&done);
            assert_eq!(removed.len() + left.len(), docs.len(), "{what} {more:?}");
            if more.contains(&"--cut-first") {
                let table = Table::read(&done.out().join("removed"));
                let pairs = table.texts("id").into_iter().zip(table.texts("kept_id"));
                assert!(pairs.into_iter().all(|(id, kept)| id == kept || !removed.contains(&kept)), "{what} {more:?}");
            } else {
                assert!(kept.is_disjoint(&removed), "{what}: {removed:?} in favor of {kept:?}");
            }
        }
    }
}

/// Checks that documents of one site do not take each other's place if only documents of different sites are compared.
#[test]
fn a_document_is_kept_instead_of_others_only_if_it_is_compared_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let lines =
        |from: usize, count: usize| (from..from + count).map(|line| own(line, 90)).collect::<Vec<_>>().join(".\n\n");
    // The copies d1 and d2 are removed in favor of one another, and all of their lines are in d0.
    for (sites, gone) in [(["y", "x", "y"], 1), (["z", "x", "y"], 2)] {
        let docs = numbered([lines(0, 40), lines(10, 20), lines(10, 20)]);
        let line = |(doc, site): (&Doc, &&str)| {
            format!("{{\"id\":{:?},\"site\":\"{site}\",\"text\":{:?}}}\n", doc.id, doc.text)
        };
        std::fs::write(&path, docs.iter().zip(&sites).map(line).collect::<String>()).unwrap();
        for what in ["lines", "paragraphs", "runs:60"] {
            let options = ["--algorithms", "exact", "--scope", "across:site", "--cut", what, "--max-cut-share", "1"];
            let done = done(&path, &[&options[..], &["--corpus", "keep"]].concat());
            let table = Table::read(&done.out().join("removed"));
            let rows: Vec<_> = table.texts("id").into_iter().zip(table.texts("kept_id")).collect();
            let site = |id: &str| sites[docs.iter().position(|doc| doc.id == id).unwrap()];
            // With `runs`, nothing is left of d1, so it cannot be kept.
            if what != "runs:60" {
                assert_eq!(rows.len(), gone, "{what}: {rows:?}");
                assert!(rows.iter().all(|(id, kept)| site(id) != site(kept)), "{what}: {rows:?}");
            }
            let (removed, kept) = removals(&done);
            assert!(kept.is_disjoint(&removed), "{what}: {removed:?} in favor of {kept:?}");
        }
    }
}

/// Returns the text with each run of white space replaced by one space.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Checks that every passage that is reported as a first copy is completely in the text that is written.
fn first_copies_are_written(done: &Done, docs: &[Doc], length: impl Fn(&str) -> String) -> usize {
    let written = texts(&done.out().join("deduped"));
    let passages = Table::read(&done.out().join("passages"));
    let by_id: BTreeMap<&str, &str> = docs.iter().map(|doc| (doc.id.as_str(), doc.text.as_str())).collect();
    for (first, start) in passages.texts("first_id").into_iter().zip(passages.numbers("first_start")) {
        let text: String = by_id[first.as_str()].chars().skip(start as usize).collect();
        let copy = length(&folded(&text));
        assert!(folded(&written[&first]).contains(copy.trim()), "{first}: {copy:?} is not in {:?}", written[&first]);
    }
    passages.len()
}

#[test]
fn the_first_copy_of_a_passage_is_not_cut_as_part_of_another() {
    let folder = tempfile::tempdir().unwrap();
    // The second document begins with a passage of the first. Its end and the notice after it are a passage of all the others.
    let (long, notice) = (own(7, 120) + " and this is the end.", "Call us before you visit the park!");
    let docs = numbered([
        format!("{} {long}", own(1, 900)),
        format!("{long} {notice} {}", own(2, 800)),
        format!("And this is the end. {notice} {}", own(3, 700)).replacen('A', "a", 1),
        format!("{} and this is the end. {notice}", own(4, 600)),
        format!("{} and this is the end. {notice}", own(5, 500)),
    ]);
    write_docs(&folder.path().join("a.parquet"), &docs, 30);
    let done = cut(folder.path(), "runs:50", &["--min-chars-left", "0"]);
    let passages = Table::read(&done.out().join("passages"));
    assert_eq!(passages.texts("id"), ["d1", "d3", "d4"]);
    assert_eq!(passages.texts("first_id"), ["d0", "d2", "d2"]);
    assert_eq!(first_copies_are_written(&done, &docs, |text| text.chars().take(50).collect()), 3);
    assert!(texts(&done.out().join("deduped"))["d1"].starts_with(notice));

    // Random documents share sentences in many ways.
    let mut numbers = Numbers(5);
    let sentence = |number: usize| format!("{}.", own(number, 40));
    let docs = numbered((0..60).map(|_| (0..12).map(|_| sentence(numbers.below(40))).collect::<Vec<_>>().join(" ")));
    write_docs(&folder.path().join("a.parquet"), &docs, 7);
    let two = |text: &str| text.split_inclusive('.').take(2).collect::<String>();
    let sentences = cut(folder.path(), "sentences:2", &["--min-chars-left", "0"]);
    assert!(first_copies_are_written(&sentences, &docs, two) > 60);
    let runs = cut(folder.path(), "runs:60", &["--min-chars-left", "0"]);
    assert!(first_copies_are_written(&runs, &docs, |text| text.chars().take(60).collect()) > 60);
    let other = cut(folder.path(), "runs:60", &["--min-chars-left", "0", "--threads", "3"]);
    let bytes = |done: &Done| std::fs::read(done.out().join("passages/part-00000.parquet")).unwrap();
    assert!(bytes(&runs) == bytes(&other));
}

#[test]
fn documents_that_are_not_compared_do_not_cut_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let sites = ["x", "y", "x", "y", "x"];
    let docs = numbered((0..5).map(|number| format!("{BOILER}\n\n{}", own(number, 900 - 80 * number))));
    let line =
        |(doc, site): (&Doc, &&str)| format!("{{\"id\":{:?},\"site\":\"{site}\",\"text\":{:?}}}\n", doc.id, doc.text);
    std::fs::write(&path, docs.iter().zip(&sites).map(line).collect::<String>()).unwrap();
    for what in ["lines", "paragraphs", "sentences:1", "runs:60"] {
        let of = |more: &[&str]| {
            let passages = Table::read(&cut(&path, what, more).out().join("passages"));
            let rows = passages.texts("id").into_iter().zip(passages.texts("first_id")).zip(passages.numbers("copies"));
            rows.map(|((id, first), copies)| format!("{id} {first} {copies}")).collect::<Vec<_>>()
        };
        assert_eq!(of(&[]), ["d1 d0 5", "d2 d0 5", "d3 d0 5", "d4 d0 5"], "{what}");
        assert_eq!(of(&["--scope", "within:site"]), ["d2 d0 3", "d3 d1 2", "d4 d0 3"], "{what}");
        // The copies of the site that has the first copy are kept; those of the other site are cut.
        assert_eq!(of(&["--scope", "across:site"]), ["d1 d0 5", "d3 d0 5"], "{what}");
        assert_eq!(of(&["--scope", "within:site", "--cut-copies", "3"]), ["d2 d0 3", "d4 d0 3"], "{what}");
    }
    let first = Table::read(&cut(&path, "lines", &["--scope", "within:site", "--cut-first"]).out().join("passages"));
    assert_eq!(first.len(), 5);
    std::fs::write(&path, docs.iter().zip(&["x"; 5]).map(line).collect::<String>()).unwrap();
    for what in ["lines", "runs:60"] {
        assert_eq!(Table::read(&cut(&path, what, &["--scope", "across:site"]).out().join("passages")).len(), 0);
        assert_eq!(Table::read(&cut(&path, what, &["--scope", "within:site"]).out().join("passages")).len(), 4);
    }
}

#[test]
fn lines_with_different_exponents_are_different_lines() {
    let folder = tempfile::tempdir().unwrap();
    let pairs = [
        ("A cell has 2⁵ states in this model.", "A cell has 25 states in this model."),
        ("В клетке 10⁶ бактерий на миллилитр.", "В клетке 106 бактерий на миллилитр."),
        ("Add 1½ cups of flour to the bowl.", "Add 11⁄2 cups of flour to the bowl."),
        ("二进制数是一百零一即101₂等于五个单位。", "二进制数是一百零一即1012等于五个单位。"),
        ("In this group, the teams took part 3⑤ times.", "In this group, the teams took part 35 times."),
        ("本次会议的日期定在1㋁请大家准时参加会议。", "本次会议的日期定在12月请大家准时参加会议。"),
    ];
    for (one, other) in pairs {
        let docs = numbered([
            format!("{}\n\n{one}", own(1, 400)),
            format!("{}\n\n{other}", own(2, 300)),
            format!("{}\n\n{one}", own(3, 250)),
        ]);
        write_docs(&folder.path().join("a.parquet"), &docs, 30);
        for what in ["lines", "paragraphs"] {
            let done = cut(folder.path(), what, &["--min-chars-left", "0", "--cut-min-chars", "10"]);
            let passages = Table::read(&done.out().join("passages"));
            let cut = passages.texts("id").into_iter().zip(passages.texts("first_id")).collect::<Vec<_>>();
            assert_eq!(cut, [("d2".to_owned(), "d0".to_owned())], "{what}: {one}");
        }
    }
}

#[test]
fn every_line_end_ends_a_line() {
    let folder = tempfile::tempdir().unwrap();
    for end in ["\n", "\r\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"] {
        let docs =
            numbered((0..3).map(|number| {
                format!("{}{end}{BOILER}{end}{} end", own(number, 400 - 50 * number), own(number + 9, 200))
            }));
        write_docs(&folder.path().join("a.parquet"), &docs, 30);
        let done = cut(folder.path(), "lines", &[]);
        let written = texts(&done.out().join("deduped"));
        assert_eq!(written["d0"], docs[0].text);
        for doc in &docs[1..] {
            assert_eq!(written[&doc.id], doc.text.replacen(&format!("{BOILER}{end}"), "", 1), "{end:?}");
        }
    }
}

#[test]
fn texts_without_blank_lines_get_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let docs = |separator: &str| {
        numbered((0..6).map(|number| [&own(number, 400), BOILER, &own(number + 9, 200)].join(separator)))
    };
    let hint = |separator: &str, what: &str| {
        write_docs(&folder.path().join("a.parquet"), &docs(separator), 30);
        let done = cut(folder.path(), what, &[]);
        let warnings = record(&done.out())["warnings"].to_string();
        warnings
            .contains("6 documents have several lines and no blank line; if each line is a paragraph, use `cut=lines`")
    };
    assert!(hint("\n", "paragraphs") && hint("\u{2028}", "paragraphs"));
    assert!(!hint("\n\n", "paragraphs") && !hint(" ", "paragraphs") && !hint("\n", "lines"));
    write_docs(&folder.path().join("a.parquet"), &docs("\n"), 30);
    let out = folder.path().join("out");
    let ran =
        run(&[&folder.path().join("a.parquet")], &out, &[&EXACT[..], &["--cut", "paragraphs"]].concat()).ends_with(0);
    let hint = "0 repeated paragraphs; 6 documents have no blank lines: use --cut lines";
    assert!(ran.stdout.contains(hint), "{}", ran.stdout);
}

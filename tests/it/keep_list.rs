//! `scripts/keep_list.py`: the corpus without what was removed, as a dataset and as a list, for ids of every kind.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray};

use crate::kit::{Done, Ran, Table, done, names_in, python, record, sample_docs, samples, write_columns};
use crate::scripts::{rows, script, text};

/// What is left of a corpus without the rows that go, file by file.
fn kept(files: &[PathBuf], removed: &BTreeSet<usize>) -> Vec<RecordBatch> {
    let mut first = 0;
    let mut kept = Vec::new();
    for file in files {
        let whole = rows(file);
        let stay = (first..first + whole.num_rows()).map(|doc| !removed.contains(&doc));
        kept.push(arrow_select::filter::filter_record_batch(&whole, &stay.collect::<Vec<_>>().into()).unwrap());
        first += whole.num_rows();
    }
    kept
}

fn removed_docs(done: &Done) -> BTreeSet<usize> {
    Table::read(&done.out().join("removed")).numbers("doc").into_iter().map(|doc| doc as usize).collect()
}

#[test]
fn a_keep_list_becomes_a_dataset_with_all_columns() {
    let folder = tempfile::tempdir().unwrap();
    let (to, list) = (folder.path().join("kept"), folder.path().join("keep.txt"));
    let done = done(samples(), &["--algorithms", "exact,minhash"]);
    let removed = removed_docs(&done);
    assert!(!removed.is_empty());
    let out = done.out();
    script("keep_list", &[text(&out), "--to", text(&to), "--list", text(&list)]).ends_with(0);
    let names = ["train-00000-of-00003.parquet", "train-00001-of-00003.parquet", "train-00002-of-00003.parquet"];
    assert_eq!(
        (names_in(&to), names_in(&to.join("data"))),
        (vec!["data".to_string()], names.map(String::from).to_vec())
    );
    let files = ["en", "ru", "zh"].map(|language| samples().join(format!("{language}.parquet")));
    for (expected, name) in kept(&files, &removed).into_iter().zip(names) {
        let came = rows(&to.join("data").join(name));
        assert_eq!(came.schema().fields(), expected.schema().fields());
        assert!(came == expected, "{name}: other rows");
    }
    let docs = sample_docs();
    let ids: Vec<&str> =
        (0..docs.len()).filter(|doc| !removed.contains(doc)).map(|doc| docs[doc].id.as_str()).collect();
    assert!(std::fs::read_to_string(&list).unwrap().lines().eq(ids.iter().copied()));
    // The dataset is a corpus without duplicates.
    let again = done_with(&to.join("data"));
    assert_eq!(record(&again.out())["removal"]["removed"], 0);
    // Nothing is written over.
    script("keep_list", &[text(&out), "--to", text(&to)]).ends_with(1).says(&["is there already"]);
    script("keep_list", &[text(&out)]).ends_with(2).says(&["expected --to DIR, --list FILE"]);
}

fn done_with(input: &Path) -> Done {
    done(input, &["--algorithms", "exact,minhash"])
}

#[test]
fn rows_without_ids_and_rejected_rows_go_by_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let texts = |from: usize| (from..from + 8).map(|n| (n != 5).then(|| format!("Текст номер {}.", n % 6)));
    for (name, from) in [("a", 0), ("b", 8)] {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(from as i64..from as i64 + 8));
        let texts: ArrayRef = Arc::new(texts(from).collect::<StringArray>());
        write_columns(&path(&format!("docs/{name}.parquet")), &[("text", texts), ("n", numbers)], 3);
    }
    let done = crate::kit::ended(&path("docs"), &["--algorithms", "exact"], 3);
    let removed = removed_docs(&done);
    assert_eq!(removed, BTreeSet::from_iter([6, 7, 8, 9, 10, 12, 13, 14, 15]));
    let out = done.out();
    let numbers = |more: &[&str], name: &str| {
        let to = path(name);
        script("keep_list", &[&[text(&out), "--to", text(&to)], more].concat()).ends_with(0);
        Table::read(&to).numbers("n")
    };
    assert_eq!(numbers(&[], "with"), [0, 1, 2, 3, 4, 5, 11]);
    assert_eq!(numbers(&["--drop-rejected"], "without"), [0, 1, 2, 3, 4, 11]);
    let list = path("keep.parquet");
    script("keep_list", &[text(&out), "--list", text(&list)]).ends_with(0);
    let names =
        ["a.parquet#0", "a.parquet#1", "a.parquet#2", "a.parquet#3", "a.parquet#4", "a.parquet#5", "b.parquet#3"];
    assert_eq!(Table::read(&list).texts("id"), names);
    // Another list, and one that belongs to another corpus.
    let other = path("other.parquet");
    write_columns(&other, &[("doc", Arc::new(Int64Array::from(vec![0, 15])) as ArrayRef)], 10);
    assert_eq!(numbers(&["--removed", text(&other)], "other"), (1..15).collect::<Vec<i64>>());
    write_columns(&other, &[("doc", Arc::new(Int64Array::from(vec![16])) as ArrayRef)], 10);
    let arguments = [text(&out), "--list", text(&list), "--removed", text(&other)];
    script("keep_list", &arguments).ends_with(1).says(&["belongs to another run"]);
}

#[test]
fn where_ids_repeat_exactly_the_removed_documents_go() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // A crawl keyed by address: each page was fetched twice, and of some the second text is another page's copy.
    let address = |n: usize| format!("http://x/{}", n % 20);
    let content = |n: usize| format!("Text number {} of the crawl.", if n.is_multiple_of(3) { n / 2 } else { n });
    for (name, from) in [("a", 0), ("b", 20)] {
        let rows = from..from + 20;
        let ids: ArrayRef = Arc::new(rows.clone().map(|n| Some(address(n))).collect::<StringArray>());
        let texts: ArrayRef = Arc::new(rows.clone().map(|n| Some(content(n))).collect::<StringArray>());
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.map(|n| n as i64)));
        write_columns(&path(&format!("docs/{name}.parquet")), &[("id", ids), ("text", texts), ("n", numbers)], 7);
    }
    let out = path("out");
    let ran = crate::kit::run(&[&path("docs")], &out, &["--algorithms", "exact"]).ends_with(0);
    let told =
        "20 rows carry an id that stood before: removing by id takes kept documents of the same id away too; go by doc";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    assert!(std::fs::read_to_string(out.join("report.html")).unwrap().contains(told), "the page tells of it");
    let removed: BTreeSet<i64> = Table::read(&out.join("removed")).numbers("doc").into_iter().collect();
    let kept: Vec<i64> = (0..40).filter(|n| !removed.contains(n)).collect();
    let by_id: BTreeSet<String> = removed.iter().map(|&n| address(n as usize)).collect();
    let twins = kept.iter().filter(|&&n| by_id.contains(&address(n as usize))).count();
    assert!(removed.len() > 5 && twins > 5, "{} removed, {twins} kept of the same ids", removed.len());

    // The recipe in README, as it stands there.
    let readme = include_str!("../../README.md");
    let recipe =
        readme.split("```").find(|block| block.contains("import pandas") && block.contains("removed")).unwrap();
    let recipe = recipe.trim_start_matches("python").replace("data-samples/docs", text(&path("docs")));
    let recipe = recipe.replace("out/docs", text(&out)) + "print(*kept[\"n\"])\n";
    std::fs::write(path("recipe.py"), recipe).unwrap();
    let ran = Ran::of(python(text(&path("recipe.py"))).output().unwrap()).ends_with(0);
    let shown: Vec<i64> = ran.stdout.lines().last().unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
    assert_eq!(shown, kept);

    script("keep_list", &[text(&out), "--to", text(&path("to"))]).ends_with(0);
    assert_eq!(Table::read(&path("to")).numbers("n"), kept);
    let list = path("keep.txt");
    script("keep_list", &[text(&out), "--list", text(&list)])
        .ends_with(0)
        .says(&["cannot tell a kept one from a removed"]);
}

#[test]
fn a_list_of_ids_holds_any_id_or_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let made = |name: &str, last: &[u8]| {
        let ids: BinaryArray = [Some(&[0xFF, 1][..]), Some(b"ok"), None, Some(last)].into_iter().collect();
        let texts = StringArray::from_iter_values(["one", "one", "two", "three"]);
        let file = path(&format!("{name}.parquet"));
        write_columns(&file, &[("id", Arc::new(ids) as ArrayRef), ("text", Arc::new(texts) as ArrayRef)], 10);
        done(&file, &["--algorithms", "exact"])
    };
    let (plain, lines) = (made("plain", b"z"), made("lines", b"z\nz"));
    let (list, table) = (path("keep.txt"), path("keep.pq.parquet"));
    script("keep_list", &[text(&plain.out()), "--list", text(&list)]).ends_with(0);
    assert_eq!(std::fs::read_to_string(&list).unwrap(), "0xff01\nplain.parquet#2\nz\n");
    // What stood there stays, and nothing else is left.
    let before = names_in(folder.path());
    script("keep_list", &[text(&lines.out()), "--list", text(&list)]).ends_with(1).says(&["has an end of line in it"]);
    assert_eq!(std::fs::read_to_string(&list).unwrap(), "0xff01\nplain.parquet#2\nz\n");
    assert_eq!(names_in(folder.path()), before);
    script("keep_list", &[text(&lines.out()), "--list", text(&table)]).ends_with(0);
    let kept = rows(&table);
    let kept = kept.column(0).as_any().downcast_ref::<BinaryArray>().unwrap();
    assert!(kept.iter().flatten().eq([&[0xFF, 1][..], b"lines.parquet#2", b"z\nz"]));
}

#[test]
fn numbers_beside_the_name_of_a_rejected_row_are_text() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("docs.jsonl");
    std::fs::write(&file, "{\"id\":1,\"text\":\"a\"}\nno json\n{\"id\":2,\"text\":\"a\"}\n").unwrap();
    let done = crate::kit::ended(&file, &["--algorithms", "exact"], 3);
    let (out, list) = (done.out(), folder.path().join("keep.parquet"));
    script("keep_list", &[text(&out), "--list", text(&list)]).ends_with(0);
    assert_eq!(Table::read(&list).texts("id"), ["1", "docs.jsonl#1"]);
}

//! Tests `--add`, which adds columns about clusters to the rows of `deduped/`, in every format.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::kit::{Doc, Ran, Table, files_below, json_lines, made_docs, program, run, write_docs};

const ALL: [&str; 2] = ["--add", "cluster_size,copies,sources"];

fn corpus(folder: &Path) {
    let docs: Vec<Doc> = made_docs(120);
    fs::create_dir_all(folder.join("deep")).unwrap();
    write_docs(&folder.join("a.parquet"), &docs[..50], 7);
    let mut lines = json_lines(&docs[30..90]);
    lines.extend_from_slice(b"{\"id\": \"broken\", \"text\": \n");
    fs::write(folder.join("deep/b.jsonl"), lines).unwrap();
    let record = |doc: &Doc| format!("{},\"{}\nend\"\r\n", doc.id, doc.text.replace('"', "\"\""));
    let records: String = docs[60..].iter().map(record).collect();
    fs::write(folder.join("c.csv"), format!("id,text\r\n{records}")).unwrap();
}

/// Returns the expected values of the three columns for each kept row, by file and id, computed from `attributes/`.
fn attributes(out: &Path) -> BTreeMap<(String, String), [i64; 3]> {
    let mut all = BTreeMap::new();
    for file in files_below(&out.join("attributes")) {
        let table = Table::read(&file);
        let (ids, kept) = (table.texts("id"), table.flags_or_null("removed"));
        let (sizes, copies) = (table.numbers("cluster_size"), table.numbers("copies"));
        let (clusters, name) = (table.texts("cluster_id"), file.file_name().unwrap().to_str().unwrap().to_owned());
        for row in (0..table.len()).filter(|&row| kept[row] == Some(false)) {
            all.insert(
                (name.replace(".jsonl.parquet", ".jsonl").replace(".csv.parquet", ".csv"), ids[row].clone()),
                [sizes[row], copies[row], 0],
            );
        }
        drop(clusters);
    }
    // Collects the files of each cluster from all rows.
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut of: BTreeMap<(String, String), String> = BTreeMap::new();
    for file in files_below(&out.join("attributes")) {
        let table = Table::read(&file);
        let name = file
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .replace(".jsonl.parquet", ".jsonl")
            .replace(".csv.parquet", ".csv");
        let there = table.flags_or_null("removed");
        for (row, (cluster, id)) in table.texts("cluster_id").into_iter().zip(table.texts("id")).enumerate() {
            if there[row].is_some() {
                files.entry(cluster.clone()).or_default().push(name.clone());
                of.insert((name.clone(), id), cluster);
            }
        }
    }
    files.values_mut().for_each(|names| {
        names.sort();
        names.dedup();
    });
    for (key, values) in &mut all {
        values[2] = files[&of[key]].len() as i64;
    }
    all
}

fn added(out: &Path) -> BTreeMap<(String, String), [i64; 3]> {
    let mut all = BTreeMap::new();
    let table = Table::read(&out.join("deduped/a.parquet"));
    let columns = ["cluster_size", "copies", "sources"].map(|name| table.numbers(name));
    for (row, id) in table.texts("id").into_iter().enumerate() {
        all.insert(("a.parquet".to_owned(), id), [0, 1, 2].map(|at| columns[at][row]));
    }
    for line in fs::read_to_string(out.join("deduped/deep/b.jsonl")).unwrap().lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let values = ["cluster_size", "copies", "sources"].map(|name| value[name].as_i64().unwrap());
        all.insert(("b.jsonl".to_owned(), value["id"].as_str().unwrap().to_owned()), values);
    }
    let records = fs::read_to_string(out.join("deduped/c.csv")).unwrap();
    let mut records = records.split_terminator("\r\n");
    assert_eq!(records.next(), Some("id,text,cluster_size,copies,sources"));
    for record in records {
        let mut values = record.rsplit(',').take(3).map(|value| value.parse().unwrap()).collect::<Vec<i64>>();
        values.reverse();
        let id = record.split(',').next().unwrap().to_owned();
        all.insert(("c.csv".to_owned(), id), [values[0], values[1], values[2]]);
    }
    all
}

#[test]
fn kept_rows_get_the_columns_of_their_cluster() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    corpus(&at("docs"));
    let more = ["--corpus", "keep,annotate", "--max-rejected-share", "1"];
    run(&[&at("docs")], &at("out"), &[&more[..], &ALL].concat()).ends_with(3);
    let (found, expected) = (added(&at("out")), attributes(&at("out")));
    assert_eq!(found, expected);
    for (at, largest) in [(0, 3), (1, 2), (2, 2)] {
        assert!(found.values().any(|values| values[at] >= largest), "column {at} has only small values");
    }
    // If a run did not add the columns, `apply` adds the same columns.
    run(&[&at("docs")], &at("plain"), &more[2..]).ends_with(3);
    let apply = |out: &str, more: &[&str]| Ran::of(program().arg("apply").arg(at(out)).args(more).output().unwrap());
    apply("plain", &ALL).ends_with(0);
    for file in ["a.parquet", "deep/b.jsonl", "c.csv"] {
        let bytes = |out: &str| fs::read(at(out).join("deduped").join(file)).unwrap();
        assert_eq!(bytes("out"), bytes("plain"), "{file}");
    }
    run(&[&at("docs")], &at("without"), &more).ends_with(3);
    let line = |out: &str| {
        fs::read_to_string(at(out).join("deduped/deep/b.jsonl")).unwrap().lines().next().unwrap().to_owned()
    };
    let (with, without) = (line("out"), line("without"));
    assert!(with.starts_with(without.trim_end_matches('}')), "{with}");
    let texts = |out: &str| Table::read(&at(out).join("deduped/a.parquet")).texts("text");
    assert_eq!(texts("out"), texts("without"));
}

#[test]
fn columns_that_cannot_be_added_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    corpus(&at("docs"));
    let refused =
        |docs: &str, more: &[&str], says: &[&str]| drop(run(&[&at(docs)], &at("no"), more).ends_with(2).says(says));
    refused("docs", &ALL, &["`--corpus keep`"]);
    refused("docs", &["--add", "copy", "--corpus", "keep"], &["is not cluster_size, copies, sources or duplicates"]);
    fs::create_dir(at("again")).unwrap();
    fs::write(at("again/a.jsonl"), "{\"text\": \"one\", \"copies\": 1}\n").unwrap();
    refused("again", &["--add", "copies", "--corpus", "keep"], &["a.jsonl", "already has a column \"copies\""]);
    fs::create_dir(at("pages")).unwrap();
    fs::write(at("pages/a.txt"), "one text").unwrap();
    refused("pages", &["--add", "copies", "--corpus", "keep", "--whole-files"], &["a.txt", "columns cannot be added"]);
    assert!(!at("no").exists());
}

//! Runs the scripts that read output folders on the output of a run on the samples, and compares what they print with the tables of this
//! run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};
use serde_json::Value;

use crate::kit::{
    Ran, Table, doc_pairs, done, json_lines, labels, numbered, program, python, sample_docs, samples, write_columns,
};

fn script(name: &str, arguments: &[&str]) -> Ran {
    let output = python(&format!("scripts/{name}.py")).args(arguments).output();
    Ran::of(output.unwrap_or_else(|error| panic!("cannot start Python: {error}; try `make venv`")))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Returns whether a figure has the expected value, or whether both are undefined. Printed decimals may differ in the last bit.
fn near(told: &Value, expected: Option<f64>) -> bool {
    match (told.as_f64(), expected) {
        (Some(told), Some(expected)) => (told - expected).abs() < 1e-12,
        (told, expected) => told.is_none() && expected.is_none(),
    }
}

#[test]
fn overlap_counts_what_the_tables_of_pairs_have_in_common() {
    let done = done(samples(), &["--algorithms", "exact,minhash,three_plus_five,opt_freq"]);
    let ran = script("overlap", &[text(&done.out()), "--json"]).ends_with(0);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    let found: BTreeMap<String, BTreeSet<(usize, usize)>> = labels(&done.out())
        .into_iter()
        .map(|label| (label.clone(), doc_pairs(&done.out(), &label).into_iter().collect()))
        .collect();
    for (a, in_a) in &found {
        let others: BTreeSet<(usize, usize)> =
            found.iter().filter(|(b, _)| *b != a).flat_map(|(_, b)| b).copied().collect();
        assert_eq!(told["alone"][a].as_u64().unwrap() as usize, in_a.difference(&others).count(), "{a}");
        for (b, in_b) in &found {
            let common = in_a.intersection(in_b).count();
            assert_eq!(told["common"][a][b].as_u64().unwrap() as usize, common, "{a} {b}");
            let share = (!in_a.is_empty()).then(|| common as f64 / in_a.len() as f64);
            assert!(near(&told["share"][a][b], share), "{a} {b}");
            let all = in_a.union(in_b).count();
            let jaccard = (all > 0).then(|| common as f64 / all as f64);
            assert!(near(&told["jaccard"][a][b], jaccard), "{a} {b}");
        }
    }
    let shown = script("overlap", &[text(&done.out()), "--algorithms", "minhash,exact"]).ends_with(0).stdout;
    assert!(shown.contains("Jaccard") && !shown.contains("opt_freq"), "{shown}");
    script("overlap", &[text(&done.out()), "--algorithms", "minhash,exct"]).ends_with(1).says(&["'exct'"]);
}

#[test]
fn clusters_are_shown_with_the_texts_of_their_documents() {
    let done = done(samples(), &["--algorithms", "minhash"]);
    let docs = sample_docs();
    let out = done.out();
    let told = |more: &[&str]| -> Vec<Value> {
        let ran = script("clusters", &[&[text(&out), "--json"], more].concat()).ends_with(0);
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let table = Table::read(&out.join("clusters"));
    let (ids, clusters, sizes) = (table.texts("id"), table.texts("cluster_id"), table.numbers("cluster_size"));
    let mut largest: Vec<i64> =
        sizes.iter().zip(table.flags("is_representative")).filter(|(_, head)| *head).map(|(size, _)| *size).collect();
    largest.sort_by_key(|size| std::cmp::Reverse(*size));
    let glob = format!("{}/*.parquet", text(samples()));
    let shown = told(&["--largest", "7", "--documents", "1000", "--input", &glob]);
    let shown_sizes: Vec<i64> = shown.iter().map(|cluster| cluster["size"].as_i64().unwrap()).collect();
    assert_eq!(shown_sizes, largest[..7]);
    for cluster in &shown {
        let members = cluster["documents"].as_array().unwrap();
        assert_eq!(members.len() as u64, cluster["size"].as_u64().unwrap());
        assert_eq!(members[0]["id"], cluster["cluster"], "the representative comes first");
        for member in members {
            let doc = &docs[member["doc"].as_u64().unwrap() as usize];
            assert_eq!(
                (member["id"].as_str(), member["text"].as_str()),
                (Some(doc.id.as_str()), Some(doc.text.as_str()))
            );
        }
    }
    let by_id = told(&["--id", &ids[5], "--documents", "2"]);
    assert_eq!((by_id.len(), by_id[0]["cluster"].as_str()), (1, Some(clusters[5].as_str())));
    let page = script("clusters", &[text(&out), "--id", &ids[5], "--chars", "20"]).ends_with(0).stdout;
    assert!(
        page.contains(&format!("cluster {} of {} documents", clusters[5], sizes[5])) && page.contains(&ids[5]),
        "{page}"
    );
    script("clusters", &[text(&out), "--id", "none"]).ends_with(1).says(&["'none' is in no cluster"]);
    script("clusters", &[text(&out), "--input", text(&out)]).ends_with(1).says(&["pass its inputs as --input"]);
}

#[test]
fn json_lines_are_read_by_row_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let docs = numbered((0..40).map(|n| format!("Текст номер {} из многих.", n % 15)));
    let lines = String::from_utf8(json_lines(&docs)).unwrap().replacen('\n', "\n\nno json\n", 1);
    let path = folder.path().join("docs.jsonl");
    std::fs::write(&path, lines).unwrap();
    let done = crate::kit::ended(&path, &["--algorithms", "exact"], 3);
    let ran = script("clusters", &[text(&done.out()), "--json", "--largest", "100"]).ends_with(0);
    let shown: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(shown.len(), 15);
    for member in shown.iter().flat_map(|cluster| cluster["documents"].as_array().unwrap()) {
        let doc = docs.iter().find(|doc| doc.id == member["id"].as_str().unwrap()).unwrap();
        assert_eq!(member["text"].as_str(), Some(doc.text.as_str()));
    }
}

#[test]
fn clusters_of_documents_with_one_id_stay_apart_and_steer_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("docs.parquet");
    let ids = ["same\u{1B}", "b", "same\u{1B}", "d\u{202E}", "e"];
    let texts = ["one \u{1B}[31m\u{7}", "one \u{1B}[31m\u{7}", "two \u{9B}1m", "two \u{9B}1m", "three"];
    let column = |values: [&str; 5]| Arc::new(StringArray::from_iter_values(values)) as ArrayRef;
    write_columns(&file, &[("id", column(ids)), ("text", column(texts))], 10);
    let done = done(&file, &["--algorithms", "exact"]);
    let out = done.out();
    let told = |more: &[&str]| script("clusters", &[&[text(&out)], more].concat()).ends_with(0).stdout;
    let page = told(&[]);
    assert_eq!(page.matches("cluster same\u{241B} of 2 documents").count(), 2, "{page}");
    assert!(page.contains("one \u{241B}[31m\u{2407}") && page.contains("two <U+009B>1m"), "{page}");
    assert!(page.contains("d<U+202E>\n"), "{page}");
    assert_eq!(told(&["--id", "same\u{1B}"]), page);
    assert_eq!(told(&["--id", "b"]).matches(" of 2 documents").count(), 1);
    let json = told(&["--json"]);
    for shown in [&page, &json] {
        assert!(!shown.contains(|letter: char| (letter.is_control() && letter != '\n') || letter == '\u{202E}'));
    }
    let clusters: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(clusters.as_array().unwrap().len(), 2);
    assert_eq!(clusters[1]["documents"][1]["id"], "d\u{202E}");
    assert_eq!(clusters[1]["documents"][1]["text"], "two \u{9B}1m");
}

#[test]
fn a_reader_that_has_seen_enough_ends_a_script_quietly() {
    let done = done(samples(), &["--algorithms", "exact,minhash"]);
    for name in ["overlap", "clusters", "pairs_by_score"] {
        let mut command = python(&format!("scripts/{name}.py"));
        command.arg(done.out()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let ended = Ran::of(child.wait_with_output().unwrap());
        assert_eq!(ended.stderr, "", "{name}");
    }
}

#[test]
fn the_output_of_a_comparison_is_analyzed_like_that_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut command = program();
    command.arg("compare").arg(samples()).arg("--out").arg(&out).args(["--algorithms", "exact,tf", "--no-progress"]);
    Ran::of(command.output().unwrap()).ends_with(0);
    let told = script("pairs_by_score", &[text(&out)]).ends_with(0).stdout;
    assert!(told.starts_with("2,455 documents\n") && told.contains("clusters by size"), "{told}");
    script("overlap", &[text(&out)]).ends_with(0);
}

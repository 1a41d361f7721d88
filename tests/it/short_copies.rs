//! Tests that every algorithm reports identical texts as a pair, even if they are too short to be signed. Texts that consist of white space
//! are rejected.

use std::collections::BTreeMap;
use std::path::Path;

use crate::kit::{ALL, Table, done, ended, numbered, pairs, program, record, sample_docs, write_docs};

/// Short texts, each of which occurs twice in a row in the corpus.
const SHORT: [&str; 8] = ["a", "你好", "...", "да", "😀", "1", "\u{300}", " x\n"];
/// Blank texts, each of which also occurs twice.
const BLANK: [&str; 4] = [" ", "", "\u{3000}\n", "\t\r\n\u{a0}"];

/// Writes the short texts, the blank texts, and enough documents for counting and for learning.
fn write(path: &Path) {
    let twice = SHORT.iter().chain(&BLANK).flat_map(|text| [text.to_string(), text.to_string()]);
    write_docs(path, &numbered(twice.chain(sample_docs().into_iter().map(|doc| doc.text).take(300))), 100);
}

fn check(more: &[&str]) -> BTreeMap<String, u64> {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a.parquet");
    write(&input);
    let done = ended(&input, more, 3);
    let record = record(&done.out());
    let reasons = &record["documents"]["rejected_reasons"];
    assert_eq!(*reasons, serde_json::json!({ "empty text": 2 * BLANK.len() }), "{record}");
    let mut unsigned = BTreeMap::new();
    for one in record["algorithms"].as_array().unwrap() {
        let label = one["label"].as_str().unwrap();
        let lines = pairs(&done.out(), label);
        let short = |doc: i64| doc < 2 * SHORT.len() as i64;
        let blank = |doc: i64| !short(doc) && doc < 2 * (SHORT.len() + BLANK.len()) as i64;
        let copies: Vec<(i64, i64)> = lines
            .iter()
            .filter(|line| line.matched_by == "copy" && short(line.doc_a))
            .map(|line| (line.doc_a, line.doc_b))
            .collect();
        let expected: Vec<(i64, i64)> = (0..SHORT.len() as i64).map(|at| (2 * at, 2 * at + 1)).collect();
        assert_eq!(copies, expected, "{label} {more:?}");
        assert!(!lines.iter().any(|line| blank(line.doc_a) || blank(line.doc_b)), "{label} {more:?}");
        let count = one["unsigned"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
        unsigned.insert(label.to_string(), count);
    }
    let removed = Table::read(&done.out().join("removed"));
    let gone: Vec<(i64, i64)> = removed.numbers("doc").into_iter().zip(removed.numbers("kept_doc")).collect();
    let expected: Vec<(i64, i64)> = (0..SHORT.len() as i64).map(|at| (2 * at + 1, 2 * at)).collect();
    let of_short: Vec<(i64, i64)> =
        gone.into_iter().filter(|(doc, _)| *doc < 2 * (SHORT.len() + BLANK.len()) as i64).collect();
    assert_eq!(of_short, expected, "{more:?}");
    unsigned
}

#[test]
fn equal_short_texts_are_a_pair_of_every_member_and_blank_ones_of_none() {
    let unsigned = check(&["--algorithms", ALL]);
    // Most short texts have no signature. The pairs do not change these counts.
    assert_eq!((unsigned["exact"], unsigned["simhash"]), (0, 2 * SHORT.len() as u64));
    // All algorithms agree on the short copies, and the prefilter lets these copies pass.
    assert_eq!(check(&["--algorithms", ALL, "--decide", "all"]), unsigned);
    assert_eq!(
        check(&["--algorithms", ALL, "--prefilter", "--count-copies", "false", "--remove-if", "pair"])["simhash"],
        unsigned["simhash"]
    );
}

#[test]
fn a_check_on_the_texts_lets_copies_pass() {
    let typed: Vec<String> = ["simhash", "minhash", "cosine", "three_plus_five", "repeats"]
        .iter()
        .flat_map(|name| ["jaccard:0.9", "lcs:0.9", "cosine:0.9"].map(|check| (name, check)))
        .enumerate()
        .map(|(at, (name, check))| format!("{name}:verify={check},as=c{at}"))
        .collect();
    check(&["--algorithms", &typed.join(",")]);
    check(&["--algorithms", "cosine:margin=0.02,simhash:margin=either:0.02:0.2"]);
}

#[test]
fn explain_says_that_they_are_copies() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a.parquet");
    write(&input);
    let explained = |out: &Path, a: &str, b: &str, algorithm: &str| {
        let mut command = program();
        command.args(["explain", "--no-progress", "--threads", "2"]).arg(out).args([a, b, "--docs", "--json"]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let algorithms = told["algorithms"].as_array().unwrap().clone();
        algorithms.into_iter().find(|one| one["label"] == algorithm).unwrap()
    };
    let small = ended(&input, &["--algorithms", "simhash,exact"], 3);
    let one = explained(&small.out(), "0", "1", "simhash");
    assert_eq!((&one["verdict"], &one["why"]), (&"pair".into(), &"they are exact copies".into()), "{one}");
    assert!(one["unsigned"][0].is_string(), "{one}");
}

/// Checks that in a large group, only the pairs with the best document are written, and that `explain` also recognizes the other pairs.
#[test]
fn copies_of_a_large_group_are_explained_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a.parquet");
    write_docs(&input, &numbered((0..6).map(|_| "да")), 100);
    let done = done(&input, &["--algorithms", "simhash", "--max-group", "3"]);
    assert_eq!(pairs(&done.out(), "simhash").len(), 5);
    let mut command = program();
    command.args(["explain", "--no-progress", "--threads", "2"]).arg(done.out()).args(["2", "4", "--docs"]);
    let said = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("exact copies, and pairs/ lists each copy only with the"), "{said}");
}

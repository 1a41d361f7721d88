//! Tests texts that are too long to be compared. A pair of these texts is not reported, but every algorithm that compares pairs word by
//! word counts the pair.

use std::fs::read_to_string;

use dupsift_core::hash::splitmix64;
use serde_json::Value;

use crate::kit::{Ran, numbered, pairs, program, record, write_docs};

/// Returns a text that consists of two words, repeated in a unique order. Any two of these texts have the same amount of text in
/// common, so nothing rules out a pair early.
fn words(seed: u64) -> String {
    (0..600_000).map(|at| if splitmix64(seed, at).is_multiple_of(2) { "да " } else { "нет " }).collect()
}

#[test]
fn pairs_that_cannot_be_compared_in_time_are_counted_and_near_duplicates_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("docs.parquet"), folder.path().join("out"));
    let first = words(1);
    let near = format!("нет {}", &first[..first.len() - 20]);
    write_docs(&file, &numbered([first, near, words(2)]), 10);
    // All three texts have the same five-word windows, so `minhash` considers them identical.
    let ran = program()
        .args(["compare".as_ref(), file.as_os_str(), "--out".as_ref(), out.as_os_str()])
        .args(["--algorithms", "decomposition,minhash", "--judge", "words:0.85", "--no-progress", "--threads", "2"])
        .output();
    let ran = Ran::of(ran.unwrap()).ends_with(0);
    let record = record(&out);
    let found = |at: usize, name: &str| record["algorithms"][at][name].as_u64();
    assert_eq!((found(0, "candidates"), found(0, "undecided"), found(0, "pairs")), (Some(3), Some(2), Some(1)));
    assert_eq!((found(1, "candidates"), found(1, "undecided"), found(1, "pairs")), (Some(3), Some(0), Some(3)));
    let of_near: Vec<_> = pairs(&out, "decomposition").iter().map(|pair| (pair.doc_a, pair.doc_b)).collect();
    assert_eq!(of_near, [(0, 1)]);
    let warnings = record["warnings"].to_string();
    assert!(warnings.contains("decomposition: 2 pairs were not checked"), "{warnings}");

    let comparison = read_to_string(out.join("compare/comparison.json")).unwrap();
    let judge = &serde_json::from_str::<Value>(&comparison).unwrap()["judge"];
    assert_eq!((judge["judged"].as_u64(), judge["undecided"].as_u64()), (Some(3), Some(2)));
    assert!(ran.stdout.contains("too long to judge, and not counted as duplicates: 2 pairs"), "{}", ran.stdout);
}

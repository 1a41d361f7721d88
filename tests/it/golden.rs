//! Runs each algorithm on the samples with default parameters, and compares the results with stored files, so that no code change can alter
//! a result unnoticed.
//!
//! `UPDATE_EXPECT=1 cargo test --release --test it golden` updates the files; review the difference before you commit it.

use std::fmt::Write;

use dupsift::algorithm::ALGORITHMS;
use dupsift_core::hash::hash64;
use expect_test::expect_file;

use crate::kit::{done, names_in, pairs, record, samples};

#[test]
fn each_algorithm_finds_what_it_found() {
    let done = done(samples(), &["--algorithms", "all"]);
    let record = record(&done.out());
    for (algorithm, report) in ALGORITHMS.iter().zip(record["algorithms"].as_array().unwrap()) {
        let name = algorithm.name();
        assert_eq!(report["label"].as_str(), Some(name));
        let pairs = pairs(&done.out(), name);
        let lines: String = pairs.iter().map(|pair| format!("{}\t{}\n", pair.id_a, pair.id_b)).collect();
        let mut golden = format!("recipe    {}\n", report["recipe"].as_str().unwrap());
        for count in ["signed", "rows", "candidates", "pairs", "clusters", "clustered", "largest_cluster"] {
            writeln!(golden, "{count:<16} {}", report[count]).unwrap();
        }
        writeln!(golden, "unsigned         {}", report["unsigned"]).unwrap();
        writeln!(golden, "flagged          {}", report["flagged"]).unwrap();
        writeln!(golden, "digest of all    {:016x}\n", hash64(lines.as_bytes())).unwrap();
        for pair in pairs.iter().take(20) {
            let distance = pair.distance.map_or("-".to_string(), |distance| distance.to_string());
            writeln!(golden, "{} {} {:.4} {distance} {}", pair.id_a, pair.id_b, pair.similarity, pair.matched_by)
                .unwrap();
        }
        expect_file![format!("../golden/{name}.txt")].assert_eq(&golden);
    }
}

#[test]
fn no_golden_file_is_left_over() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let expected: Vec<String> = ALGORITHMS.iter().map(|algorithm| format!("{}.txt", algorithm.name())).collect();
    assert_eq!(names_in(&folder), expected);
}

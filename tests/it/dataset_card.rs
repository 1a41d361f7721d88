//! Tests the dataset card. The card lets `load_dataset("OUT", "pairs")` from Hugging Face `datasets` find each table, with one split per
//! algorithm. `python/tests/test_frames.py` loads the tables with `datasets` itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::kit::{Table, done, files_below, samples};

/// Returns the path patterns in the card, by configuration and split; a table without splits has the split "".
fn card(out: &Path) -> BTreeMap<String, BTreeMap<String, String>> {
    let text = std::fs::read_to_string(out.join("README.md")).unwrap();
    let header = text.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n")).expect("a YAML header").0;
    let mut configurations: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let (mut configuration, mut split) = (String::new(), String::new());
    for line in header.lines() {
        let (key, value) = line.trim_start_matches([' ', '-']).split_once(':').unwrap();
        let value = value.trim().to_owned();
        match key {
            "config_name" => configuration = value,
            "split" => split = value,
            "path" => _ = configurations.entry(configuration.clone()).or_default().insert(split.clone(), value),
            "data_files" if !value.is_empty() => {
                configurations.entry(configuration.clone()).or_default().insert(String::new(), value);
            }
            _ => {}
        }
    }
    configurations
}

#[test]
fn the_card_names_every_table_and_every_algorithm() {
    let run = done(samples(), &["--algorithms", "exact,minhash,simhash:distance=2,as=near"]);
    let out = run.out();
    let card = card(&out);
    let names: Vec<&str> = card.keys().map(String::as_str).collect();
    assert_eq!(names, ["clusters", "pairs", "rejected", "removed"]);
    let mut listed = BTreeSet::new();
    for (table, splits) in &card {
        let labels: Vec<&str> = splits.keys().map(String::as_str).collect();
        let expected: &[&str] =
            if ["clusters", "pairs"].contains(&&**table) { &["exact", "minhash", "near"] } else { &[""] };
        assert_eq!(labels, expected, "{table}");
        for (split, pattern) in splits {
            let folder = out.join(pattern.strip_suffix("/*.parquet").expect("all files of a folder"));
            assert_eq!(
                folder.file_name().unwrap().to_str().unwrap().strip_prefix("algorithm="),
                (!split.is_empty()).then_some(&**split)
            );
            let files = files_below(&folder);
            assert!(!files.is_empty(), "{table} {split}: no files in {pattern}");
            listed.extend(files);
            // All splits of a table have the same columns, as `datasets` requires.
            let of_first = out.join(splits.values().next().unwrap().strip_suffix("/*.parquet").unwrap());
            assert_eq!(Table::read(&folder).0.schema().fields(), Table::read(&of_first).0.schema().fields(), "{table}");
        }
    }
    let tables =
        ["clusters", "pairs", "rejected", "removed"].into_iter().flat_map(|table| files_below(&out.join(table)));
    assert_eq!(listed, tables.collect(), "a table is not on the card");
}

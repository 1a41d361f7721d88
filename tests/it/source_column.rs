//! Tests `--source-column`: removals are reported and limited by a guard for each value, and the number of values in each cluster is
//! reported.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};

use crate::kit::{Table, assert_same_bytes, names_in, record, run, write_columns};
use crate::resume::Place;

/// Writes rows for each value. For each value, the first rows are copies of the same text.
fn corpus(folder: &Path, sources: &[(Option<&str>, usize, usize)]) {
    let (mut values, mut texts) = (Vec::new(), Vec::new());
    for (at, &(source, rows, copies)) in sources.iter().enumerate() {
        for row in 0..rows {
            values.push(source);
            texts.push(if row < copies { format!("one text {at}") } else { format!("a text of its own {at} {row}") });
        }
    }
    let columns: [(&str, ArrayRef); 2] =
        [("site", Arc::new(StringArray::from(values))), ("text", Arc::new(StringArray::from(texts)))];
    write_columns(&folder.join("a.parquet"), &columns, 7);
}

#[test]
fn what_goes_of_each_value_is_reported_and_guarded_at_its_bound() {
    let folder = tempfile::tempdir().unwrap();
    let (docs, out) = (folder.path().join("docs"), folder.path().join("out"));
    let limits = ["--algorithms", "exact", "--overwrite", "--guard-rows", "20", "--max-removed-share", "0.25"];
    let more = [&limits[..], &["--source-column", "site"]].concat();
    corpus(&docs, &[(Some("b"), 20, 6), (None, 30, 2), (Some("a \"quoted\""), 40, 1), (Some("c"), 19, 19)]);
    run(&[&docs], &out, &more).ends_with(0);
    let expected = serde_json::json!([
        { "source": "a \"quoted\"", "rows": 40, "removed": 0 },
        { "source": "b", "rows": 20, "removed": 5 },
    ]);
    // Values with too few rows and rows without a value are neither listed nor checked by a guard.
    assert_eq!(record(&out)["sources"], expected);
    corpus(&docs, &[(Some("b"), 20, 7), (None, 30, 2), (Some("a \"quoted\""), 40, 1), (Some("c"), 19, 19)]);
    run(&[&docs], &out, &more).ends_with(4).says(&["6 of the 20 documents in site \"b\" would be removed (30.0%)"]);
    assert_eq!(record(&out)["sources"], expected, "what stands has changed");
    // The file as a whole is within the limit.
    run(&[&docs], &out, &limits).ends_with(0);
}

#[test]
fn numbers_are_values_and_a_column_that_is_not_there_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (docs, out) = (folder.path().join("docs"), folder.path().join("out"));
    let columns: [(&str, ArrayRef); 2] = [
        ("host", Arc::new(Int64Array::from(vec![Some(7), Some(7), None, Some(8)]))),
        ("text", Arc::new(StringArray::from(vec!["one", "one", "one", "two"]))),
    ];
    write_columns(&docs.join("a.parquet"), &columns, 2);
    run(&[&docs], &out, &["--algorithms", "exact", "--guard-rows", "2", "--source-column", "host"]).ends_with(0);
    assert_eq!(record(&out)["sources"], serde_json::json!([{ "source": "7", "rows": 2, "removed": 1 }]));
    let said = run(&[&docs], &folder.path().join("other"), &["--source-column", "hosts"]).ends_with(2);
    assert!(said.stderr.contains("`--source-column") && said.stderr.contains("did you mean"), "{}", said.stderr);
}

/// Checks that the number of values in a cluster equals the number counted from the tables, and that the bytes are the same with little
/// memory and a different number of threads.
#[test]
fn values_of_a_cluster_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (docs, out, small) = (folder.path().join("docs"), folder.path().join("out"), folder.path().join("small"));
    let rows = 0..400;
    // A text occurs in one, two or three sources, or only in rows without a source.
    let sites: Vec<Option<&str>> =
        rows.clone().map(|row| if row % 5 == 0 { None } else { Some(["a", "b", "c"][row / 100 % 3]) }).collect();
    let texts: Vec<String> = rows.map(|row| format!("text number {}", row % (100 + row / 100 * 7))).collect();
    let columns: [(&str, ArrayRef); 2] =
        [("site", Arc::new(StringArray::from(sites.clone()))), ("text", Arc::new(StringArray::from(texts)))];
    write_columns(&docs.join("a.parquet"), &columns, 30);
    let more = ["--algorithms", "exact", "--corpus", "annotate", "--source-column", "site"];
    run(&[&docs], &out, &more).ends_with(0);
    let marks = Table::read(&out.join("attributes/a.parquet"));
    let (clusters, told) = (marks.texts("cluster_id"), marks.numbers("sources"));
    let mut values: BTreeMap<&String, BTreeSet<&str>> = BTreeMap::new();
    for (cluster, site) in clusters.iter().zip(&sites) {
        values.entry(cluster).or_default().extend(site);
    }
    assert!(clusters.iter().zip(&told).all(|(cluster, told)| values[cluster].len() as i64 == *told));
    assert_eq!(told.iter().collect::<BTreeSet<_>>(), [0, 1, 2, 3].iter().collect());
    run(&[&docs], &small, &[&more[..], &["--threads", "1", "--memory", "40MiB"]].concat()).ends_with(0);
    for name in names_in(&out.join("attributes")) {
        let bytes = |out: &Path| std::fs::read(out.join("attributes").join(&name)).unwrap();
        assert!(bytes(&out) == bytes(&small), "{name}");
    }
}

/// Checks that if the column changes, only its values are recorded again, and that otherwise the recorded values are
/// restored.
#[test]
fn values_are_taken_up() {
    let more = ["--algorithms", "exact,minhash", "--guard-rows", "1", "--max-removed-share", "1"];
    let with = |column| [&more[..], &["--source-column", column]].concat();
    for (column, noted) in [("source", true), ("lang", false)] {
        let (place, whole) = (Place::new(), Place::new());
        place.killed_in("write tables", &with("source"));
        place.run(&with(column)).ends_with(0);
        whole.run(&[&with(column)[..], &["--checkpoint", "never"]].concat()).ends_with(0);
        assert_eq!(place.resumed().contains("notes"), noted, "{column}: {:?}", place.resumed());
        assert!(place.resumed().contains("near minhash"));
        assert_eq!(record(&place.out())["sources"], record(&whole.out())["sources"]);
        assert_same_bytes(&whole.out(), &place.out(), column);
    }
}

/// Checks that long values are truncated in messages and records.
#[test]
fn long_values_are_cut_in_what_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.jsonl");
    let source = "s".repeat(1_000_000);
    let rows = (0..20)
        .map(|row| serde_json::json!({ "id": row, "text": "one text", "source": format!("{}{source}", row % 2) }));
    std::fs::write(&file, rows.map(|row| format!("{row}\n")).collect::<String>()).unwrap();
    let out = folder.path().join("out");
    let ran =
        run(&[&file], &out, &["--algorithms", "exact", "--source-column", "source", "--guard-rows", "1"]).ends_with(3);
    let told = [ran.stdout.clone(), ran.stderr.clone(), std::fs::read_to_string(out.join("run.json")).unwrap()];
    ran.says(&["in source \"0sss", "(1,000,001 characters)"]);
    assert!(told.iter().all(|told| told.len() < 50_000 && !told.contains(&"s".repeat(300))));
    let sources = record(&out)["sources"].clone();
    assert_eq!(sources.as_array().unwrap().len(), 2, "{sources}");
}

//! `--scope within:COLUMN`: documents are only compared with those with the same value.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};

use crate::kit::{
    Doc, assert_same_bytes, id_pairs, labels, pairs, program, record, removed_ids, run, sample_docs, write_columns,
};
use crate::kit::{Ran, members};
use crate::resume::Place;

const SCOPE: [&str; 2] = ["--scope", "within:site"];

/// A document with its scope value.
type Placed = (Option<&'static str>, Doc);

/// Returns samples in three scopes: every text twice, in one or in two of them.
fn placed() -> Vec<Placed> {
    let sites = [Some("a"), Some("b"), None];
    let mut placed: Vec<Placed> = Vec::new();
    for (at, doc) in sample_docs().into_iter().step_by(7).enumerate() {
        let copy = Doc { id: format!("{} again", doc.id), ..doc.clone() };
        placed.push((sites[at % 3], doc));
        placed.push((sites[(at + at / 3 % 2) % 3], copy));
    }
    placed
}

fn write(folder: &Path, docs: &[&Placed]) {
    let text = |value: fn(&Placed) -> Option<&str>| -> ArrayRef {
        Arc::new(docs.iter().map(|doc| value(doc)).collect::<StringArray>())
    };
    let columns = [
        ("id", text(|(_, doc)| Some(&doc.id))),
        ("site", text(|(site, _)| *site)),
        ("title", text(|(_, doc)| doc.title.as_deref())),
        ("text", text(|(_, doc)| Some(&doc.text))),
    ];
    write_columns(&folder.join("a.parquet"), &columns, 40);
}

/// Returns the pairs of an algorithm with their scores, by ids.
fn scored(out: &Path, label: &str) -> BTreeMap<(String, String), String> {
    let line = |pair: crate::kit::PairLine| {
        (
            (pair.id_a, pair.id_b),
            format!("{} {:?} {} {}", pair.similarity, pair.distance, pair.matched_by, pair.verified),
        )
    };
    pairs(out, label).into_iter().map(line).collect()
}

/// For all algorithms: no pair has two values, and the pairs are those of separate runs over the rows with each value, with the counts, the
/// models and the planned size of the complete corpus.
#[test]
fn pairs_are_those_of_each_value_alone() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let placed = placed();
    write(&at("docs"), &placed.iter().collect::<Vec<_>>());
    let all = ["--algorithms", "all", "--no-report"];
    run(&[&at("docs")], &at("out"), &[&all[..], &SCOPE].concat()).ends_with(0);
    run(&[&at("docs")], &at("open"), &all).ends_with(0);
    let stats = at("out").display().to_string();
    let sites: BTreeSet<Option<&str>> = placed.iter().map(|(site, _)| *site).collect();
    let mut alone: BTreeMap<String, BTreeMap<(String, String), String>> = BTreeMap::new();
    let mut removed = BTreeSet::new();
    for site in sites {
        let (docs, out) = (at(site.unwrap_or("none")), at(&format!("out-{}", site.unwrap_or("none"))));
        write(&docs, &placed.iter().filter(|(of, _)| *of == site).collect::<Vec<_>>());
        run(&[&docs], &out, &[&all[..], &["--stats", &stats]].concat()).ends_with(0);
        for label in labels(&out) {
            alone.entry(label.clone()).or_default().extend(scored(&out, &label));
        }
        removed.extend(removed_ids(&out));
    }
    let mut fewer = 0;
    assert_eq!(labels(&at("out")).len(), members());
    for label in labels(&at("out")) {
        assert_eq!(scored(&at("out"), &label), alone[&label], "{label}");
        fewer += usize::from(alone[&label].len() < id_pairs(&at("open"), &label).len());
    }
    // Without scopes, nearly every algorithm finds the copies in other scopes.
    assert!(fewer + 2 >= members(), "{fewer} find more where all meet");
    assert_eq!(removed_ids(&at("out")).into_iter().collect::<BTreeSet<_>>(), removed);
}

#[test]
fn threads_memory_and_a_kill_change_nothing() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    write(&at("docs"), &placed().iter().collect::<Vec<_>>());
    let more = ["--algorithms", "exact,versions,minhash,simhash,three_plus_five,lsi", "--no-report"];
    let more = [&more[..], &SCOPE].concat();
    run(&[&at("docs")], &at("one"), &[&more[..], &["--threads", "1", "--memory", "64MiB"]].concat()).ends_with(0);
    run(&[&at("docs")], &at("four"), &[&more[..], &["--threads", "4", "--memory", "1GiB"]].concat()).ends_with(0);
    assert_same_bytes(&at("one"), &at("four"), "threads and memory");
    // Signed from words that an earlier process kept, which recorded the scopes.
    let resumed = Place::new();
    let docs = at("docs");
    let command = |more: &[&str]| {
        let mut command = program();
        command.arg("run").arg(&docs).arg("--out").arg(resumed.out()).args(["--checkpoint", "0s", "--threads", "2"]);
        command.args(["--memory", "512MiB", "--no-progress"]).args(more);
        command
    };
    let mut limited = std::process::Command::new("sh");
    let typed = command(&more);
    limited.args(["-c", "ulimit -f 40; exec \"$0\" \"$@\""]).arg(typed.get_program()).args(typed.get_args());
    let stopped = Ran::of(limited.output().unwrap());
    assert!(!resumed.out().exists(), "{}", stopped.stderr);
    Ran::of(command(&more).output().unwrap()).ends_with(0);
    assert_same_bytes(&at("one"), &resumed.out(), "resumed");
}

#[test]
fn a_run_that_was_killed_takes_up_its_scopes() {
    let place = Place::new();
    // The samples have a column of languages.
    let more = ["--algorithms", "exact,cosine", "--scope", "within:id"];
    place.killed_in("recall kept words", &more);
    place.run(&more).ends_with(0);
    assert!(place.taken_up().contains("notes") && place.taken_up().contains("words"), "{:?}", place.taken_up());
    assert_eq!(record(&place.out())["options"]["scope"], "within:id");
    // Each row has a unique value.
    for label in labels(&place.out()) {
        assert!(pairs(&place.out(), &label).is_empty(), "{label}");
    }
    // With another scope, nothing is reused.
    let place = Place::new();
    place.killed_in("recall kept words", &more);
    place.run(&["--algorithms", "exact,cosine"]).ends_with(0);
    assert!(place.taken_up().is_empty(), "{:?}", place.taken_up());
}

#[test]
fn rows_without_a_value_are_one_scope_and_numbers_are_values() {
    let place = tempfile::tempdir().unwrap();
    let (docs, out) = (place.path().join("docs"), place.path().join("out"));
    let texts = StringArray::from(vec!["one text"; 6]);
    let sites = Int64Array::from(vec![Some(1), None, Some(2), Some(1), None, Some(3)]);
    let columns: [(&str, ArrayRef); 2] = [("site", Arc::new(sites)), ("text", Arc::new(texts.clone()))];
    write_columns(&docs.join("a.parquet"), &columns, 4);
    // A file without the column: its rows have no value.
    write_columns(&docs.join("b.parquet"), &[("text", Arc::new(texts.slice(0, 1)))], 4);
    run(&[&docs], &out, &[&["--algorithms", "exact"], &SCOPE[..]].concat()).ends_with(0);
    let found: Vec<(i64, i64)> = pairs(&out, "exact").iter().map(|pair| (pair.doc_a, pair.doc_b)).collect();
    assert_eq!(found, [(0, 3), (1, 4), (1, 6)]);
    let explained = Ran::of(program().arg("explain").arg(&out).args(["--docs", "0", "2"]).output().unwrap());
    let explained = explained.ends_with(0);
    assert!(explained.stdout.contains("they have different values in the `scope` column"), "{}", explained.stdout);
}

#[test]
fn what_is_typed_wrong_is_told() {
    let place = tempfile::tempdir().unwrap();
    let (docs, out) = (place.path().join("docs"), place.path().join("out"));
    write(&docs, &placed().iter().take(9).collect::<Vec<_>>());
    let refused = |more: &[&str], says: &str| drop(run(&[&docs], &out, more).ends_with(2).says(&["`scope", says]));
    refused(&["--scope", "site"], "expected within:COLUMN or all");
    refused(&["--scope", "across:site"], "expected within:COLUMN or all");
    refused(&["--scope", "within:sites"], "did you mean");
    let index = place.path().join("index").display().to_string();
    refused(&["--scope", "within:site", "--index", &index], "remove one of them");
    run(&[&docs], &out, &["--scope", "all"]).ends_with(0);
}

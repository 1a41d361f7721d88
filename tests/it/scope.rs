//! Tests `--scope within:COLUMN`, which limits comparisons to documents with the same value, and `across:COLUMN`, which limits comparisons
//! to documents with different values.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};

use crate::invariants::{components, removals, survivors};
use crate::kit::{
    Doc, Numbers, Table, assert_same_bytes, doc_pairs, id_pairs, labels, made_docs, of_documents, pairs, program,
    record, removed_ids, run, sample_docs, write_columns,
};
use crate::kit::{Ran, members};
use crate::resume::Place;

const SCOPE: [&str; 2] = ["--scope", "within:site"];

/// A document with its scope value.
pub(crate) type Placed = (Option<&'static str>, Doc);

/// Returns samples in three scopes. Every text occurs twice, in the same scope or in two different scopes.
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

pub(crate) fn write(folder: &Path, docs: &[&Placed]) {
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

/// Returns the pairs of an algorithm with their scores, by document ids.
fn scored(out: &Path, label: &str) -> BTreeMap<(String, String), String> {
    let line = |pair: crate::kit::PairLine| {
        (
            (pair.id_a, pair.id_b),
            format!("{} {:?} {} {}", pair.similarity, pair.distance, pair.matched_by, pair.verified),
        )
    };
    pairs(out, label).into_iter().map(line).collect()
}

/// Checks for all algorithms that the two documents of each pair have the same value. The pairs must be the same as in separate runs on the
/// rows with each value; these runs use the counts, the models and the planned size of the complete corpus.
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
    // In this run, signatures are computed from words that an earlier process kept, together with the scopes.
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
    // The samples have a language column.
    let more = ["--algorithms", "exact,cosine", "--scope", "within:id"];
    place.killed_in("read saved words", &more);
    place.run(&more).ends_with(0);
    assert!(place.resumed().contains("notes") && place.resumed().contains("words"), "{:?}", place.resumed());
    assert_eq!(record(&place.out())["options"]["scope"], "within:id");
    // Each row has a unique value.
    for label in labels(&place.out()) {
        assert!(pairs(&place.out(), &label).is_empty(), "{label}");
    }
    // No saved state is reused if the scope is different.
    let place = Place::new();
    place.killed_in("read saved words", &more);
    place.run(&["--algorithms", "exact,cosine"]).ends_with(0);
    assert!(place.resumed().is_empty(), "{:?}", place.resumed());
}

#[test]
fn rows_without_a_value_are_one_scope_and_numbers_are_values() {
    let place = tempfile::tempdir().unwrap();
    let (docs, out) = (place.path().join("docs"), place.path().join("out"));
    let texts = StringArray::from(vec!["one text"; 6]);
    let sites = Int64Array::from(vec![Some(1), None, Some(2), Some(1), None, Some(3)]);
    let columns: [(&str, ArrayRef); 2] = [("site", Arc::new(sites)), ("text", Arc::new(texts.clone()))];
    write_columns(&docs.join("a.parquet"), &columns, 4);
    // If a file does not have the column, its rows have no value.
    write_columns(&docs.join("b.parquet"), &[("text", Arc::new(texts.slice(0, 1)))], 4);
    run(&[&docs], &out, &[&["--algorithms", "exact"], &SCOPE[..]].concat()).ends_with(0);
    let found: Vec<(i64, i64)> = pairs(&out, "exact").iter().map(|pair| (pair.doc_a, pair.doc_b)).collect();
    assert_eq!(found, [(0, 3), (1, 4), (1, 6)]);
    let explained = Ran::of(program().arg("explain").arg(&out).args(["--docs", "0", "2"]).output().unwrap());
    let explained = explained.ends_with(0);
    assert!(explained.stdout.contains("they have different values in the `--scope` column"), "{}", explained.stdout);
}

#[test]
fn what_is_typed_wrong_is_reported() {
    let place = tempfile::tempdir().unwrap();
    let (docs, out) = (place.path().join("docs"), place.path().join("out"));
    write(&docs, &placed().iter().take(9).collect::<Vec<_>>());
    let refused = |more: &[&str], says: &str| drop(run(&[&docs], &out, more).ends_with(2).says(&["`--scope", says]));
    refused(&["--scope", "site"], "expected within:COLUMN, across:COLUMN or all");
    refused(&["--scope", "across:"], "expected within:COLUMN, across:COLUMN or all");
    refused(&["--scope", "across:sites"], "did you mean");
    refused(
        &["--scope", "across:site", "--index", &place.path().join("index").display().to_string()],
        "remove one of them",
    );
    refused(&["--scope", "within:sites"], "did you mean");
    let index = place.path().join("index").display().to_string();
    refused(&["--scope", "within:site", "--index", &index], "remove one of them");
    run(&[&docs], &out, &["--scope", "all"]).ends_with(0);
}

const ACROSS: [&str; 2] = ["--scope", "across:site"];
/// Algorithms that cover pairs of copies, classes of different texts, and pairs with and without a check.
pub(crate) const FINDERS: &str = "exact,minhash:threshold=0.5,simhash,imatch,lex_rand";

/// Returns edited and identical texts on a few sites. Some of these texts have additional copies.
pub(crate) fn crossing() -> Vec<Placed> {
    let (sites, mut numbers) = ([Some("a"), Some("b"), Some("c"), None], Numbers(7));
    let docs = made_docs(240);
    let more: Vec<Doc> = (0..60).map(|_| docs[numbers.below(docs.len())].clone()).collect();
    let all = docs.into_iter().chain(more).enumerate();
    // Half of the documents are on one site, so that many classes have a single scope.
    let site = |numbers: &mut Numbers| sites[numbers.below(8).saturating_sub(4)];
    all.map(|(at, doc)| (site(&mut numbers), Doc { id: format!("d{at:03}"), ..doc })).collect()
}

/// Compares the result with its definition: the pairs of a run without scopes whose documents have different values, and everything that
/// follows from these pairs.
#[test]
fn pairs_across_are_the_pairs_with_two_values() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let placed = crossing();
    write(&at("docs"), &placed.iter().collect::<Vec<_>>());
    let docs: Vec<Doc> = placed.iter().map(|(_, doc)| doc.clone()).collect();
    let differ = |&(a, b): &(usize, usize)| placed[a].0 != placed[b].0;
    let run_with = |out: &str, more: &[&str]| {
        let all = ["--algorithms", FINDERS, "--remove-if", "pair", "--no-report", "--threads", "2"];
        run(&[&at("docs")], &at(out), &[&all[..], more].concat()).ends_with(0);
        at(out)
    };
    let open = run_with("open", &[]);
    let mut order: Vec<usize> = (0..docs.len()).collect();
    order.sort_by_key(|&doc| (std::cmp::Reverse(docs[doc].text.chars().count()), doc));
    let labels = labels(&open);
    let full: BTreeMap<&String, BTreeSet<(usize, usize)>> = labels
        .iter()
        .map(|label| (label, of_documents(doc_pairs(&open, label), &docs).into_iter().filter(differ).collect()))
        .collect();
    let mut single = 0;
    for (rule, needed) in [("any", 1), ("at-least:2", 2), ("all", labels.len()), ("minhash", 1)] {
        for (chain, max_group) in [("keep", "1000"), ("remove", "1000"), ("keep", "2"), ("remove", "2")] {
            let what = format!("{rule} {chain} {max_group}");
            let more = ["--decide", rule, "--chain", chain, "--max-group", max_group];
            let out = run_with(&what.replace(' ', "-"), &[&ACROSS[..], &more].concat());
            let mut found: BTreeMap<(usize, usize), usize> = BTreeMap::new();
            for label in labels.iter().filter(|label| rule != "minhash" || *label == "minhash") {
                full[label].iter().for_each(|pair| *found.entry(*pair).or_default() += 1);
            }
            let deciding = found.into_iter().filter(|(_, count)| *count >= needed).map(|(pair, _)| pair).collect();
            assert_eq!(removals(&out), survivors(&order, &deciding, chain == "remove"), "{what}");
            for label in &labels {
                let (written, full) = (doc_pairs(&out, label), &full[label]);
                assert!(written.is_sorted_by(|a, b| a < b), "{what} {label}: a pair is written twice");
                assert!(written.iter().all(|pair| full.contains(pair)), "{what} {label}");
                // Either a document itself or a copy of it on the same site is in a pair.
                let named: BTreeSet<_> =
                    written.iter().flat_map(|&(a, b)| [a, b]).map(|doc| (placed[doc].0, &docs[doc].text)).collect();
                let missing = full
                    .iter()
                    .flat_map(|&(a, b)| [a, b])
                    .find(|&doc| !named.contains(&(placed[doc].0, &docs[doc].text)));
                assert!(max_group == "2" || missing.is_none(), "{what} {label}: {missing:?} is in no pair");
                single += full
                    .iter()
                    .flat_map(|&(a, b)| [a, b])
                    .filter(|doc| written.iter().all(|&(a, b)| a != *doc && b != *doc))
                    .count();
                let whole = components(docs.len(), full);
                let table = Table::read(&out.join(format!("clusters/algorithm={label}")));
                let mut of: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
                for (cluster, doc) in table.texts("cluster_id").into_iter().zip(table.numbers("doc")) {
                    of.entry(cluster).or_default().insert(doc as usize);
                }
                let mut expected: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
                whole.iter().enumerate().for_each(|(doc, root)| _ = expected.entry(*root).or_default().insert(doc));
                let expected: BTreeSet<_> = expected.into_values().filter(|docs| docs.len() > 1).collect();
                assert_eq!(of.into_values().collect::<BTreeSet<_>>(), expected, "{what} {label}");
            }
        }
    }
    assert!(single > 0, "no copy is represented by another one");
}

/// Checks the default rule: documents are removed only in favor of documents with a different value, with any number of threads, and also
/// after a run was killed.
#[test]
fn removed_across_is_contained_in_a_document_with_another_value() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let placed = crossing();
    write(&at("docs"), &placed.iter().collect::<Vec<_>>());
    let more = |threads: &'static str| [&["--corpus", "annotate", "--threads", threads][..], &ACROSS].concat();
    run(&[&at("docs")], &at("one"), &[more("1"), vec!["--memory", "64MiB"]].concat()).ends_with(0);
    run(&[&at("docs")], &at("four"), &more("4")).ends_with(0);
    assert_same_bytes(&at("one"), &at("four"), "threads and memory");
    let removed = removals(&at("one"));
    assert!(removed.len() > 20, "{}", removed.len());
    for (doc, kept) in &removed {
        assert!(!removed.contains_key(kept), "{kept} is kept");
        assert_ne!(placed[*doc].0, placed[*kept].0, "{doc} and {kept} have one value");
    }
    // If a text is on two sites, it is kept on only one site.
    let mut keeps: BTreeMap<&String, BTreeSet<Option<&str>>> = BTreeMap::new();
    for (at, (site, doc)) in placed.iter().enumerate().filter(|(at, _)| !removed.contains_key(at)) {
        let sites = keeps.entry(&doc.text).or_default();
        sites.insert(*site);
        assert_eq!(sites.len(), 1, "{at}");
    }
    // Copies on the same site do not form a pair, and `explain` reports this.
    let same = |a: &Placed, b: &Placed| a.0 == b.0 && a.1.text == b.1.text;
    let two = (0..placed.len()).flat_map(|a| (a + 1..placed.len()).map(move |b| (a, b)));
    let (a, b) = two.into_iter().find(|&(a, b)| same(&placed[a], &placed[b])).unwrap();
    let explained = program().arg("explain").arg(at("one")).args(["--docs", &a.to_string(), &b.to_string()]).output();
    let explained = Ran::of(explained.unwrap()).ends_with(0).stdout;
    assert!(explained.contains("they have the same value in the `--scope` column"), "{explained}");
    let apply = |more: &[&str]| Ran::of(program().arg("apply").arg(at("one")).args(more).output().unwrap());
    apply(&["--corpus", "keep"]).ends_with(0);
    let other = at("other").display().to_string();
    apply(&["--remove-if", "pair", "--out", &other]).ends_with(2).says(&["across the values of a column"]);
    let resumed = Place::new();
    let crossed = ["--algorithms", "exact,cosine", "--scope", "across:id"];
    resumed.killed_in("read saved words", &crossed);
    resumed.run(&crossed).ends_with(0);
    assert_eq!(record(&resumed.out())["options"]["scope"], "across:id");
    let whole = Place::new();
    whole.run(&crossed[..2]).ends_with(0);
    // Each row has its own value.
    assert_eq!(removals(&resumed.out()), removals(&whole.out()));
}

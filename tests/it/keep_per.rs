//! Tests `--keep-per COLUMN`, which keeps one of several duplicates for each value of a column, while pairs and clusters stay the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::invariants::{components, removals, survivors};
use crate::kit::{Doc, Ran, Table, doc_pairs, files_below, labels, of_documents, program, record, removed_ids, run};
use crate::resume::Place;
use crate::scope::{FINDERS, Placed, crossing, write};

const PER_SITE: [&str; 2] = ["--keep-per", "site"];

fn written(docs: &Path) -> Vec<Placed> {
    let placed = crossing();
    write(docs, &placed.iter().collect::<Vec<_>>());
    placed
}

/// Returns the tables that the option must not change.
fn pairs_and_clusters(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = ["pairs", "clusters"].iter().flat_map(|folder| files_below(&out.join(folder)));
    files.map(|path| (path.strip_prefix(out).unwrap().display().to_string(), fs::read(&path).unwrap())).collect()
}

/// Compares the removals with their definition: the pairs of two documents with the same value decide or, with `--chain remove`, the best
/// document of each value in a cluster is kept.
#[test]
fn one_document_is_kept_for_each_value() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let placed = written(&at("docs"));
    let docs: Vec<Doc> = placed.iter().map(|(_, doc)| doc.clone()).collect();
    let mut order: Vec<usize> = (0..docs.len()).collect();
    order.sort_by_key(|&doc| (std::cmp::Reverse(docs[doc].text.chars().count()), doc));
    for (rule, needed) in [("any", 1), ("at-least:2", 2), ("all", 5), ("minhash", 1)] {
        for chain in ["keep", "remove"] {
            let what = format!("{rule} {chain}");
            let all =
                ["--algorithms", FINDERS, "--remove-if", "pair", "--no-report", "--decide", rule, "--chain", chain];
            let [plain, per] = ["plain", "per"].map(|name| at(&format!("{name}-{what}")));
            run(&[&at("docs")], &plain, &all).ends_with(0);
            run(&[&at("docs")], &per, &[&all[..], &PER_SITE].concat()).ends_with(0);
            assert!(pairs_and_clusters(&plain) == pairs_and_clusters(&per), "{what}: other pairs or clusters");
            let mut found: BTreeMap<(usize, usize), usize> = BTreeMap::new();
            for label in labels(&plain).iter().filter(|label| rule != "minhash" || *label == "minhash") {
                let pairs = of_documents(doc_pairs(&plain, label), &docs);
                pairs.into_iter().for_each(|pair| *found.entry(pair).or_default() += 1);
            }
            let pairs: BTreeSet<_> =
                found.into_iter().filter(|(_, count)| *count >= needed).map(|(pair, _)| pair).collect();
            let expected = match chain {
                "keep" => {
                    let same = |&(a, b): &(usize, usize)| placed[a].0 == placed[b].0;
                    survivors(&order, &pairs.into_iter().filter(same).collect(), false)
                }
                _ => {
                    let (component, mut kept, mut removed) =
                        (components(docs.len(), &pairs), BTreeMap::new(), BTreeMap::new());
                    for &doc in &order {
                        let best = *kept.entry((component[doc], placed[doc].0)).or_insert(doc);
                        if best != doc {
                            removed.insert(doc, best);
                        }
                    }
                    removed
                }
            };
            assert_eq!(removals(&per), expected, "{what}");
            assert!(expected.len() > 10 && expected.len() < removals(&plain).len(), "{what}: {}", expected.len());
        }
    }
}

/// Checks the rule of containment. If no algorithm counts words or neighbors, the removals are those of `--scope within:COLUMN`, which has
/// fewer pairs.
#[test]
fn what_is_contained_in_a_document_of_the_same_value_is_removed() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let placed = written(&at("docs"));
    let more =
        |more: &[&'static str]| [&["--algorithms", "exact,minhash", "--corpus", "annotate,keep"][..], more].concat();
    run(&[&at("docs")], &at("one"), &more(&[&PER_SITE[..], &["--threads", "1", "--memory", "64MiB"]].concat()))
        .ends_with(0);
    run(&[&at("docs")], &at("four"), &more(&[&PER_SITE[..], &["--threads", "4", "--keep-texts"]].concat()))
        .ends_with(0);
    let tables = |out: &str| {
        ["pairs", "clusters", "removed", "attributes", "deduped"].map(|folder| {
            files_below(&at(out).join(folder)).iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>()
        })
    };
    assert!(tables("one") == tables("four"), "threads and memory");
    run(&[&at("docs")], &at("within"), &more(&["--scope", "within:site"])).ends_with(0);
    assert_eq!(removals(&at("one")), removals(&at("within")));
    run(&[&at("docs")], &at("plain"), &more(&[])).ends_with(0);
    let (removed, plain) = (removals(&at("one")), removals(&at("plain")));
    assert!(removed.len() > 10 && removed.len() < plain.len(), "{} of {}", removed.len(), plain.len());

    // `explain` says why a copy with another value is kept, also from stored texts, and for any two documents.
    let same = |a: &Placed, b: &Placed| a.0 != b.0 && a.1.text == b.1.text;
    let kept: Vec<usize> = (0..placed.len()).filter(|doc| !removed.contains_key(doc)).collect();
    let two = kept.iter().flat_map(|&a| kept.iter().map(move |&b| (a, b)));
    let (a, b) = two.into_iter().find(|&(a, b)| a < b && same(&placed[a], &placed[b])).unwrap();
    let explain = |out: &str, docs: [usize; 2]| {
        let docs = docs.map(|doc| doc.to_string());
        Ran::of(program().arg("explain").arg(at(out)).arg("--docs").args(docs).output().unwrap()).ends_with(0).stdout
    };
    let explained = explain("one", [a, b]);
    assert!(explained.contains("both were kept") && explained.contains("different values of keep-per"), "{explained}");
    let (&doc, &kept) = removed.iter().next().unwrap();
    let explained = explain("one", [doc, kept]);
    assert!(!explained.contains("keep-per"), "{explained}");
    // The texts of kept documents are stored if others were removed in favor of them.
    let mut two = removed.values().flat_map(|&a| removed.values().map(move |&b| (a, b)));
    let stored = two.find(|&(a, b)| same(&placed[a], &placed[b]));
    let (doc, other) = stored.unwrap();

    // Another rule, applied to the finished run, decides as a new run does.
    let apply = |more: &[&str]| Ran::of(program().arg("apply").arg(at("one")).args(more).output().unwrap());
    for rule in ["pair", "contained:0.95:1"] {
        let (applied, new) = (at(&format!("applied-{rule}")), at(&format!("new-{rule}")));
        apply(&["--remove-if", rule, "--out", &applied.display().to_string()]).ends_with(0);
        run(&[&at("docs")], &new, &[&more(&PER_SITE)[..], &["--remove-if", rule]].concat()).ends_with(0);
        assert_eq!(removals(&applied), removals(&new), "{rule}");
    }
    let shown = Ran::of(program().arg("show").arg(at("one")).arg("--rules").output().unwrap()).ends_with(0).stdout;
    let of_run = shown.lines().find(|line| line.ends_with("this run")).unwrap();
    assert!(of_run.contains(&format!(" {} ", removed.len())), "{shown}");
    fs::remove_dir_all(at("docs")).unwrap();
    let explained = explain("four", [doc, other]);
    // Values of columns are not stored with the texts.
    assert!(explained.contains("both were kept"), "{explained}");
}

#[test]
fn a_killed_run_resumes_with_its_values() {
    let place = Place::new();
    let more = ["--algorithms", "exact,cosine", "--keep-per", "id"];
    place.killed_in("read saved words", &more);
    place.run(&more).ends_with(0);
    assert!(place.resumed().contains("notes"), "{:?}", place.resumed());
    // Each row has a unique value.
    assert!(removed_ids(&place.out()).is_empty());
    assert_eq!(record(&place.out())["options"]["keep-per"], "id");
    let other = Place::new();
    other.killed_in("read saved words", &more);
    other.run(&["--algorithms", "exact,cosine"]).ends_with(0);
    assert!(!other.resumed().contains("notes"), "{:?}", other.resumed());
    assert!(!removed_ids(&other.out()).is_empty());
}

#[test]
fn rows_without_a_value_have_the_same_value() {
    let place = tempfile::tempdir().unwrap();
    let (docs, out) = (place.path().join("docs"), place.path().join("out"));
    fs::create_dir(&docs).unwrap();
    let line = |site: &str| format!("{{{site}\"text\": \"one text\"}}\n");
    fs::write(
        docs.join("a.jsonl"),
        [line("\"site\": 1, "), line("\"site\": null, "), line("\"site\": \"1\", ")].concat(),
    )
    .unwrap();
    fs::write(docs.join("b.jsonl"), [line(""), line("\"site\": 2, ")].concat()).unwrap();
    run(&[&docs], &out, &["--algorithms", "exact", "--keep-per", "site"]).ends_with(0);
    assert_eq!(removals(&out), [(2, 0), (3, 1)].into());
    // Scopes and values are independent.
    let both = place.path().join("both");
    run(&[&docs], &both, &["--algorithms", "exact", "--keep-per", "text", "--scope", "within:site"]).ends_with(0);
    assert_eq!(removals(&both), removals(&out));
    run(
        &[&docs],
        &place.path().join("across"),
        &["--algorithms", "exact", "--keep-per", "text", "--scope", "across:site"],
    )
    .ends_with(0);
    assert_eq!(removals(&place.path().join("across")), [(1, 0), (3, 0), (4, 0)].into());
}

#[test]
fn what_cannot_be_combined_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let (docs, out) = (place.path().join("docs"), place.path().join("out"));
    written(&docs);
    let index = place.path().join("index").display().to_string();
    let refused = |more: &[&str], says: &str| drop(run(&[&docs], &out, more).ends_with(2).says(&["`--keep-per", says]));
    refused(&["--keep-per", "sites"], "did you mean");
    let per = |more: &[&'static str]| [&PER_SITE[..], more].concat();
    refused(&per(&["--keep", "none"]), "keeps none of the duplicates");
    refused(&per(&["--scope", "within:site"]), "has no effect");
    refused(&per(&["--scope", "across:site"]), "nothing would be removed");
    refused(&per(&["--cut", "lines", "--corpus", "keep"]), "remove one of them");
    refused(&[&PER_SITE[..], &["--index", &index]].concat(), "does not store the column");
    refused(&[&PER_SITE[..], &["--reference", &index]].concat(), "remove one of them");
    assert!(!out.exists() && !Path::new(&index).exists());
}

/// Checks `--add duplicates`: each kept row lists the ids of the rows that were removed in its favor.
#[test]
fn kept_rows_list_what_they_replace() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    written(&at("docs"));
    let more = ["--corpus", "keep", "--add", "copies,duplicates"];
    run(&[&at("docs")], &at("out"), &more).ends_with(0);
    let removed = Table::read(&at("out").join("removed"));
    let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (id, kept) in removed.texts("id").into_iter().zip(removed.texts("kept_id")) {
        expected.entry(kept).or_default().push(id);
    }
    let found = |out: &str| {
        let table = Table::read(&at(out).join("deduped"));
        let lists = table.text_lists("duplicates");
        assert!(lists.iter().any(Vec::is_empty));
        let rows = table.texts("id").into_iter().zip(lists).filter(|(_, list)| !list.is_empty());
        rows.collect::<BTreeMap<_, _>>()
    };
    assert_eq!(found("out"), expected);
    assert!(expected.values().any(|ids| ids.len() > 2));
    // `apply` adds the same column.
    run(&[&at("docs")], &at("plain"), &[]).ends_with(0);
    let apply = |out: &str, more: &[&str]| Ran::of(program().arg("apply").arg(at(out)).args(more).output().unwrap());
    apply("plain", &more).ends_with(0);
    let bytes = |out: &str| fs::read(at(out).join("deduped/a.parquet")).unwrap();
    assert!(bytes("out") == bytes("plain"));
}

/// Ids of numbers stay numbers in every format, and a list in a CSV file is a JSON array.
#[test]
fn lists_of_ids_keep_their_types() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::create_dir(at("docs")).unwrap();
    let text = "one text that is here three times";
    fs::write(at("docs/a.jsonl"), format!("{{\"id\":7,\"text\":\"{text}\"}}\n{{\"id\":8,\"text\":\"{text}\"}}\n"))
        .unwrap();
    fs::write(at("docs/b.csv"), format!("id,text\n9,{text}\n10,another one\n11,another one\n")).unwrap();
    run(&[&at("docs")], &at("out"), &["--corpus", "keep", "--add", "duplicates", "--algorithms", "exact"]).ends_with(0);
    let read = |name: &str| fs::read_to_string(at("out").join("deduped").join(name)).unwrap();
    // The ids in a CSV file are strings, so all ids of this corpus are.
    assert_eq!(read("a.jsonl"), format!("{{\"id\":7,\"text\":\"{text}\",\"duplicates\":[\"8\",\"9\"]}}\n"));
    assert_eq!(read("b.csv"), "id,text,duplicates\n10,another one,\"[\"\"11\"\"]\"\n");
    fs::remove_file(at("docs/b.csv")).unwrap();
    run(&[&at("docs")], &at("numbers"), &["--corpus", "keep", "--add", "duplicates", "--algorithms", "exact"])
        .ends_with(0);
    let line = fs::read_to_string(at("numbers/deduped/a.jsonl")).unwrap();
    assert!(line.ends_with("\"duplicates\":[8]}\n"), "{line}");
}

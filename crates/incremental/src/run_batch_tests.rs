//! Tests complete incremental runs: which documents are removed, which texts and rows an index stores, and what a recomputed batch changes.

use std::collections::BTreeSet;

use super::*;
use crate::batch::place::{is_same, place_of};
use crate::test_kit::{Bench, numbers, text, texts};
use crate::upkeep::{Forget, forget};
use arrow::array::{Array as _, AsArray as _};
use arrow::datatypes::Int64Type;
use dupsift_core::row::number;
use dupsift_index::{BATCHES, KEPT_DOC, TEXT, read_rows};
use dupsift_spill::shuffle::run::BUCKETS;

const BY_PAIRS: [(&str, &str); 3] = [("algorithms", "exact,minhash"), ("keep", "doc asc"), ("remove-if", "pair")];

/// Returns the removed documents of an output, with the documents that were kept instead.
fn removed(bench: &Bench, out: &str) -> Vec<(i64, i64)> {
    let table = bench.at(out).join("removed");
    numbers(&table, "doc").into_iter().zip(numbers(&table, "kept_doc")).collect()
}

/// Checks that the batches remove the same documents, in favor of the same documents, as a single run over all of them. This holds for all
/// rules in which the decision for a document depends only on documents before it.
#[test]
fn batches_remove_what_a_single_run_over_all_documents_removes() {
    for (test, sizes) in [(1, &[30, 1, 40, 25][..]), (2, &[50, 50]), (3, &[10, 60, 30])] {
        let bench = Bench::new();
        let all = texts(test, sizes.iter().sum::<usize>() as u64, 14);
        let (mut begin, mut found) = (0, Vec::new());
        for (at, size) in sizes.iter().enumerate() {
            let name = format!("n{at}");
            let report = bench.batch(&name, &all[begin..begin + size], &BY_PAIRS).unwrap();
            let of_batch = removed(&bench, &name);
            let batch = report.index.unwrap();
            assert_eq!((batch.first_doc, batch.batch.as_str()), (begin as u64, name.as_str()));
            // Copies of indexed documents are counted, even if the indexed document was removed itself.
            let is_indexed = |doc: i64| all[..begin].contains(&all[doc as usize]);
            assert_eq!(batch.seen as usize, of_batch.iter().filter(|(doc, _)| is_indexed(*doc)).count());
            found.extend(of_batch);
            begin += size;
        }
        bench.alone("all", &all, &BY_PAIRS).unwrap();
        let expected = removed(&bench, "all");
        assert!(expected.len() > all.len() / 3 && expected.len() < all.len(), "{}", expected.len());
        assert_eq!(found, expected, "{test}");
    }
}

/// Describes a row of a document file: the id, whether there is a text, and the document in favor of which the document was removed.
type Stored = (String, bool, Option<i64>);

/// Returns the documents of all batches of an index.
fn stored(bench: &Bench) -> Vec<Stored> {
    let mut found = Vec::new();
    for batch in bench.manifest().batches {
        for part in batch.parts {
            assert_eq!(part.first_doc, found.len() as u64);
            let path = bench.at("index").join(BATCHES).join(&batch.folder).join(&part.file.name);
            read_rows(&path, part.sums.list, None, None, &mut |rows| {
                let [ids, texts] = ["id", TEXT].map(|name| rows.column_by_name(name).unwrap().as_string::<i32>());
                let kept = rows.column_by_name(KEPT_DOC).unwrap().as_primitive::<Int64Type>();
                for row in 0..rows.num_rows() {
                    let kept = kept.is_valid(row).then(|| kept.value(row));
                    found.push((ids.value(row).to_owned(), texts.is_valid(row), kept));
                }
                Ok(())
            })
            .unwrap();
        }
    }
    found
}

/// Returns the documents to which the rows of a label refer, in the newest row folder.
fn documents_of_rows(bench: &Bench, label: &str, width: usize) -> BTreeSet<u64> {
    let manifest = bench.manifest();
    let run = manifest.rows.last().unwrap().open(&bench.at("index"), label).unwrap();
    let (mut reader, mut found) = (run.read(0..BUCKETS), BTreeSet::new());
    while let Some(block) = reader.next_block().unwrap() {
        found.extend(block.chunks_exact(run.width()).map(|row| number(&row[run.width() - width..])));
    }
    found
}

#[test]
fn an_index_stores_each_text_once_under_the_kept_document() {
    let bench = Bench::new();
    let given = [("algorithms", "exact,minhash"), ("keep", "score desc"), ("remove-if", "pair")];
    let (first, second) = (text(1, 0), text(2, 0));
    // The last copy of the first text is kept, and the document with a changed word is removed in favor of it.
    let of_batch = [first.clone(), second.clone(), text(1, 1), first.clone(), String::new(), first.clone()];
    bench.batch("n0", &of_batch, &given).unwrap();
    let row = |id: &str, has_text, kept| (id.to_owned(), has_text, kept);
    let of_first = [
        row("", false, Some(5)),
        row("n0-1", true, None),
        row("n0-2", true, Some(5)),
        row("", false, Some(5)),
        row("", false, None),
        row("n0-5", true, None),
    ];
    assert_eq!(stored(&bench), of_first);
    let manifest = bench.manifest();
    assert_eq!((manifest.next_doc, manifest.texts), (6, 3));
    for label in ["exact", "minhash", "+copies"] {
        assert_eq!(documents_of_rows(&bench, label, 4), BTreeSet::from([1, 2, 5]), "{label}");
    }
    // The second batch has a copy of each indexed text, a changed one, and a new text twice.
    let new = text(3, 0);
    let of_batch = [second, first, text(1, 2), text(1, 1), new.clone(), new];
    bench.batch("n1", &of_batch, &given).unwrap();
    assert_eq!(removed(&bench, "n1"), [(6, 1), (7, 5), (8, 5), (9, 5), (10, 11)]);
    let of_second = [
        row("", false, Some(1)),
        row("", false, Some(5)),
        row("n1-2", true, Some(5)),
        row("", false, Some(5)),
        row("", false, Some(11)),
        row("n1-5", true, None),
    ];
    assert_eq!(stored(&bench), [of_first, of_second].concat());
    for label in ["exact", "minhash", "+copies"] {
        assert_eq!(documents_of_rows(&bench, label, 4), BTreeSet::from([8, 11]), "{label}");
    }
    let manifest = bench.manifest();
    assert_eq!((manifest.next_doc, manifest.texts, manifest.generation), (12, 5, 2));
    let folders: Vec<_> =
        manifest.rows.iter().map(|rows| (rows.folder.as_str(), rows.first_doc, rows.end_doc)).collect();
    assert_eq!(folders, [("r-00000001", 0, 6), ("r-00000002", 6, 12)]);
    let batches: Vec<_> = manifest.batches.iter().map(|batch| (batch.first_doc, batch.rows, batch.texts)).collect();
    assert_eq!(batches, [(0, 6, 3), (6, 6, 2)]);
    assert_eq!(manifest.batches[1].seen, 3);
}

#[test]
fn a_forgotten_document_removes_nothing_and_neither_do_those_removed_in_favor_of_it() {
    let bench = Bench::new();
    let (a, b) = (text(1, 0), text(2, 0));
    bench.batch("n0", &[a.clone(), b.clone()], &BY_PAIRS).unwrap();
    bench.batch("n1", &[text(1, 1), b.clone()], &BY_PAIRS).unwrap();
    assert_eq!(removed(&bench, "n1"), [(2, 0), (3, 1)]);
    assert_eq!(forget(&bench.at("index"), &Forget::Ids(["n0-0".to_owned()].into())).unwrap(), 1);
    // The indexed copy of the second document was removed in favor of the forgotten one.
    bench.batch("n2", &[a, text(1, 1), b], &BY_PAIRS).unwrap();
    assert_eq!(removed(&bench, "n2"), [(5, 4), (6, 1)]);
    bench.batch("n3", &[text(1, 2), text(1, 1)], &BY_PAIRS).unwrap();
    assert_eq!(removed(&bench, "n3"), [(7, 4), (8, 4)]);
}

#[test]
fn forgotten_documents_of_a_recomputed_batch_stay_forgotten_with_their_copies() {
    let bench = Bench::new();
    let (a, b, c) = (text(1, 0), text(2, 0), text(3, 0));
    bench.batch("n0", &[a], &BY_PAIRS).unwrap();
    let of_batch = [b.clone(), b.clone(), c.clone()];
    bench.batch("n1", &of_batch, &BY_PAIRS).unwrap();
    forget(&bench.at("index"), &Forget::Ids(["n1-0".to_owned()].into())).unwrap();
    assert_eq!(bench.manifest().forgotten, [[1, 2]]);
    // With the other preference, the index stores the text under its second document.
    let other = [("algorithms", "exact,minhash"), ("keep", "score desc"), ("remove-if", "pair"), ("overwrite", "true")];
    let report = bench.batch("n1", &of_batch, &other).unwrap();
    assert_eq!(removed(&bench, "n1"), [(1, 2)]);
    assert_eq!(bench.manifest().forgotten, [[1, 3]]);
    assert!(report.warnings.iter().any(|warning| warning.contains("1 row of this batch was forgotten")));
    bench.batch("n2", &[b, c], &BY_PAIRS).unwrap();
    assert_eq!(removed(&bench, "n2"), [(5, 3)]);
}

#[test]
fn an_index_is_found_after_it_was_moved_and_another_one_in_its_place_is_not_used() {
    let bench = Bench::new();
    let some = texts(5, 6, 3);
    bench.batch("n0", &some, &BY_PAIRS).unwrap();
    let report = bench.batch("n1", &some, &BY_PAIRS).unwrap();
    let batch = report.index.clone().unwrap();
    assert!(is_same(&bench.manifest(), &batch));
    assert_eq!(place_of(&batch, &report, &bench.at("n1")), bench.at("index"));
    // The index has changed after the batch was added.
    bench.batch("n2", &texts(6, 5, 3), &BY_PAIRS).unwrap();
    assert!(is_same(&bench.manifest(), &batch));
    assert!(!is_same(&Manifest { next_doc: 5, ..bench.manifest() }, &batch));
    std::fs::create_dir(bench.at("moved")).unwrap();
    for name in ["index", "n1"] {
        std::fs::rename(bench.at(name), bench.at("moved").join(name)).unwrap();
    }
    assert_eq!(place_of(&batch, &report, &bench.at("moved/n1")), bench.at("moved/index"));
    bench.batch("n3", &texts(7, 9, 3), &BY_PAIRS).unwrap();
    assert!(!is_same(&bench.manifest(), &batch), "another index of more documents");
    assert_eq!(place_of(&batch, &report, &bench.at("moved/n1")), bench.at("moved/index"));
}

#[test]
fn a_run_against_a_reference_changes_nothing() {
    let bench = Bench::new();
    bench.batch("n0", &texts(8, 10, 4), &BY_PAIRS).unwrap();
    let before = bench.manifest();
    let index = bench.at("index").display().to_string();
    std::fs::write(bench.at("new.jsonl"), serde_json::json!({"id": "x", "text": texts(8, 1, 4)[0]}).to_string())
        .unwrap();
    let options = bench.options("new.jsonl", "new", &[&BY_PAIRS[..], &[("reference", index.as_str())]].concat());
    let cancel = AtomicBool::new(false);
    let inputs = dupsift_engine::reading::look(&options, &cancel).unwrap();
    let finish = |_: &Session<'_>, _: &Stage, report: RunReport| Ok(report);
    let progress = Progress::hidden();
    crate::with_reference(&options, inputs, &bench.at("index"), &progress, &cancel, &finish).unwrap();
    assert_eq!(removed(&bench, "new"), [(10, 0)]);
    assert_eq!(bench.manifest(), before);
}

use std::collections::BTreeSet;

use super::*;
use crate::test_kit::{Bench, add_documents, index, numbered, random};
use dupsift_input::TableReader;
use dupsift_text::{Pipeline, TextOptions};

const DOCS: u64 = 14;
/// The number at which the batch begins in the run.
const BASE: u64 = 100;

/// The document in favor of which each document was removed.
const KEPT: [Option<i64>; DOCS as usize] =
    [None, Some(0), None, Some(2), None, Some(4), Some(0), None, Some(7), Some(2), None, Some(0), Some(10), None];

fn hash(text: &str) -> u128 {
    Pipeline::new(&TextOptions::default()).unwrap().analyse(text).copy_hash()
}

/// Creates an index of two batches with two document files each. Documents 6 and 9 have no text.
fn indexed(bench: &Bench, kept: &[Option<i64>]) -> Index {
    let texts: Vec<String> = (0..DOCS).map(|doc| format!("This is text {doc}.")).collect();
    let is_there = |doc: usize| ![6, 9].contains(&doc);
    let documents: Vec<_> =
        (0..kept.len()).map(|doc| (is_there(doc).then_some(texts[doc].as_str()), kept[doc])).collect();
    let mut index = index(&bench.engine(), &bench.at("index"), DOCS, &[]);
    add_documents(&mut index, &[&documents[..3], &documents[3..8]], hash);
    add_documents(&mut index, &[&documents[8..10], &documents[10..]], hash);
    index
}

fn bits(engine: &Engine<'_>, docs: &[u64]) -> AtomicBits {
    let bits = AtomicBits::new(engine.dir, "docs", DOCS as usize).unwrap();
    docs.iter().for_each(|&doc| _ = bits.set(doc as usize));
    bits
}

/// Returns the documents that take part if the batch shares keys with `met` and has copies of `copied`.
fn taking_part(
    (index, forgotten): (&Index, &[u64]),
    chain: &str,
    met: &[u64],
    copied: &[u64],
) -> Result<BTreeSet<u64>> {
    let bench = Bench::new();
    let (engine, options) =
        (bench.engine(), bench.options("corpus.jsonl", "out", &[("remove-if", "pair"), ("chain", chain)]));
    let mut manifest = index.manifest.clone().unwrap();
    manifest.forget(forgotten.iter().map(|&doc| [doc, doc + 1]).collect());
    let joining = Joining::new(index, &options, numbered(BASE, DOCS));
    let taking = joining.taking_part(&engine, &manifest, bits(&engine, met), &bits(&engine, copied))?;
    Ok(taking.iter().map(|doc| doc as u64).collect())
}

#[test]
fn the_kept_document_of_a_removed_one_takes_part_if_the_batch_has_a_copy_of_it() {
    let bench = Bench::new();
    let index = indexed(&bench, &KEPT);
    let taking = |chain: &str, met: &[u64], copied: &[u64]| {
        taking_part((&index, &[]), chain, met, copied).unwrap().into_iter().collect::<Vec<_>>()
    };
    // Documents that only share a key are compared themselves, because the batch may form a pair with them alone.
    assert_eq!(taking("keep", &[1, 3, 13], &[]), [1, 3, 13]);
    assert_eq!(taking("keep", &[1, 3], &[1]), [0, 1, 3]);
    assert_eq!(taking("keep", &[], &[12]), [10, 12], "a copy need not share a key");
    assert_eq!(taking("keep", &[4], &[4]), [4], "a kept document has no other one");
    // A chain of pairs leads to the kept document.
    assert_eq!(taking("remove", &[1, 3, 13], &[]), [0, 1, 2, 3, 13]);
    assert_eq!(taking("remove", &[12], &[8]), [7, 8, 10, 12]);
    assert_eq!(taking("keep", &[], &[]), [0; 0]);
}

#[test]
fn a_document_that_was_removed_in_favor_of_a_forgotten_one_does_not_take_part() {
    let bench = Bench::new();
    let index = indexed(&bench, &KEPT);
    let taking = |chain: &str, met: &[u64], copied: &[u64]| {
        taking_part((&index, &[0, 4]), chain, met, copied).unwrap().into_iter().collect::<Vec<_>>()
    };
    assert_eq!(taking("keep", &[1, 3, 5, 11], &[]), [3]);
    assert_eq!(taking("keep", &[1, 3], &[1, 3]), [2, 3]);
    assert_eq!(taking("keep", &[], &[5, 12]), [10, 12]);
    assert_eq!(taking("remove", &[1, 3, 7], &[5]), [2, 3, 7]);
}

#[test]
fn the_documents_of_all_files_are_looked_up() {
    let bench = Bench::new();
    let index = indexed(&bench, &KEPT);
    for test in 0..20 {
        let some = |place: u64, one_in: u64| -> Vec<u64> {
            (0..DOCS).filter(|doc| random(test, place + doc, one_in) == 0).collect()
        };
        let (forgotten, met, copied) = (some(0, 5), some(20, 2), some(40, 3));
        let is_there = |doc: &&u64| !forgotten.contains(doc);
        let [met, copied] = [met, copied].map(|docs| docs.iter().filter(is_there).copied().collect::<Vec<_>>());
        for chain in ["keep", "remove"] {
            let mut expected = BTreeSet::new();
            for &doc in met.iter().chain(&copied) {
                let kept = KEPT[doc as usize].map(|kept| kept as u64);
                if kept.is_none_or(|kept| !forgotten.contains(&kept)) {
                    expected.insert(doc);
                    expected.extend(kept.filter(|_| chain == "remove" || copied.contains(&doc)));
                }
            }
            assert_eq!(taking_part((&index, &forgotten), chain, &met, &copied).unwrap(), expected, "{test} {chain}");
        }
    }
}

#[test]
fn a_kept_document_that_does_not_exist_is_an_error() {
    for (kept, is_damaged) in [(DOCS as i64 - 1, false), (DOCS as i64, true)] {
        let bench = Bench::new();
        let mut of_all = KEPT;
        of_all[5] = Some(kept);
        let index = indexed(&bench, &of_all);
        for forgotten in [&[][..], &[0]] {
            let taking = taking_part((&index, forgotten), "remove", &[5], &[]);
            match taking {
                Ok(taking) => assert!(!is_damaged && taking.len() == 2),
                Err(error) => {
                    assert!(is_damaged && error.to_string().contains("in favor of document 14"), "{error}");
                }
            }
        }
    }
}

/// Returns the values of a string column from a copied file.
fn strings(path: &std::path::Path, column: &str) -> Vec<Option<String>> {
    let batches = TableReader::open(path, &[column]).unwrap().map(|batch| batch.unwrap());
    let cast = |batch: RecordBatch| arrow::compute::cast(batch.column(0), &arrow::datatypes::DataType::Utf8).unwrap();
    let owned = |value: Option<&str>| value.map(str::to_owned);
    batches.map(cast).flat_map(|array| array.as_string::<i32>().iter().map(owned).collect::<Vec<_>>()).collect()
}

#[test]
fn indexed_documents_are_copied_to_files_with_the_columns_of_the_batch() {
    let (bench, pipeline) = (Bench::new(), Pipeline::new(&TextOptions::default()).unwrap());
    let given = [("text-column", "body"), ("id-column", "key"), ("title-column", "headline")];
    let (engine, options) = (bench.engine(), bench.options("corpus.jsonl", "out", &given));
    let index = indexed(&bench, &KEPT);
    let mut joining = Joining::new(&index, &options, numbered(BASE, DOCS));
    let looked_up = [1, 2, 5, 7, 8, 13];
    joining.look_up(&engine, index.manifest.as_ref().unwrap(), &bits(&engine, &looked_up)).unwrap();
    // Document 5 is the third of six, whose numbers end before the batch.
    let check = |text: &str| joining.check(BASE - 4, &pipeline.analyse(text));
    assert!(check("This is text 5.").is_ok());
    let error = check("This is text 7.").unwrap_err().to_string();
    assert!(error.contains("the text of document 5 does not match its hash"), "{error}");
    let (source, indexed) = joining.indexed(&engine).unwrap();
    let source = source.unwrap();
    assert_eq!(source.files.iter().map(|file| file.first_doc).collect::<Vec<_>>(), [94, 96, 98, 99]);
    let read = |column: &str| -> Vec<String> {
        source.files.iter().flat_map(|file| strings(&file.path, column)).map(Option::unwrap).collect()
    };
    assert_eq!(read("body"), looked_up.map(|doc| format!("This is text {doc}.")));
    assert_eq!(read("key"), looked_up.map(|doc| format!("id-{doc}")));
    assert_eq!(read("headline"), looked_up.map(|doc| format!("title {doc}")));
    assert_eq!((indexed.first(), indexed.count()), (94, 6));
    assert_eq!((94..100).map(|doc| indexed.number(doc).0).collect::<Vec<_>>(), looked_up);
    let removed = (94..101).map(|doc| indexed.removed_for(doc).map(|kept| kept.0 as i64));
    assert_eq!(removed.collect::<Vec<_>>(), [Some(0), None, Some(4), None, Some(7), None, None]);
}

/// Checks that a column of the batch that is used twice is written once.
#[test]
fn a_column_that_has_two_uses_is_copied_once() {
    let (bench, given) = (Bench::new(), [("id-column", "title")]);
    let (engine, options) = (bench.engine(), bench.options("corpus.jsonl", "out", &given));
    let index = indexed(&bench, &KEPT);
    let mut joining = Joining::new(&index, &options, numbered(BASE, DOCS));
    joining.look_up(&engine, index.manifest.as_ref().unwrap(), &bits(&engine, &[2])).unwrap();
    let path = joining.indexed(&engine).unwrap().0.unwrap().files[0].path.clone();
    assert_eq!(strings(&path, "title"), [Some("id-2".to_owned())]);
    assert_eq!(strings(&path, "text"), [Some("This is text 2.".to_owned())]);
}

#[test]
fn nothing_is_read_if_no_document_takes_part() {
    let bench = Bench::new();
    let (engine, options) = (bench.engine(), bench.options("corpus.jsonl", "out", &[]));
    let index = indexed(&bench, &KEPT);
    let mut joining = Joining::new(&index, &options, numbered(BASE, DOCS));
    joining.look_up(&engine, index.manifest.as_ref().unwrap(), &bits(&engine, &[])).unwrap();
    let (source, indexed) = joining.indexed(&engine).unwrap();
    assert!(source.is_none() && indexed.count() == 0 && joining.looked_up.load(Relaxed) == 0);
    assert_eq!((indexed.first(), indexed.number(BASE + 1).0), (BASE, DOCS + 1));
}

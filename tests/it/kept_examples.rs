//! Tests failures that the random sequences of `kept_law` found, each reduced to the smallest corpus that reproduces the failure.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};

use crate::index_place::{IndexPlace, looked_after};
use crate::kit::{Doc, Table, record, write_columns};

/// Returns words that are unique to a range of numbers.
fn words(numbers: Range<usize>) -> Vec<String> {
    numbers.map(|number| format!("w{number}")).collect()
}

fn doc(id: &str, words: &[&[String]]) -> Doc {
    Doc { id: id.into(), text: words.concat().join(" "), title: None }
}

/// Returns thirty documents that are not similar to any other document.
fn others(batch: usize) -> Vec<Doc> {
    (0..30)
        .map(|at| {
            let from = 100_000 + 10_000 * batch + 120 * at;
            doc(&format!("other-{batch}-{at}"), &[&words(from..from + 120)])
        })
        .collect()
}

/// Creates an [`IndexPlace`] whose batches use `--remove-if pair` and this value of `--chain`.
fn place(chain: &str) -> IndexPlace {
    let mut place = IndexPlace::new("exact,minhash");
    place.more = ["--chain", chain, "--remove-if", "pair", "--corpus", "keep"].map(str::to_owned).to_vec();
    place
}

fn batch(place: &mut IndexPlace, docs: Vec<Doc>) -> Vec<[String; 3]> {
    let at = place.docs.len();
    place.batch([docs, others(at)].concat()).ends_with(0);
    removed(&place.out(at))
}

/// Returns, for each removed document in an output, its id, the id of the document that was kept instead, and the reason.
fn removed(out: &Path) -> Vec<[String; 3]> {
    let table = Table::read(&out.join("removed"));
    let (ids, kept, reasons) = (table.texts("id"), table.texts("kept_id"), table.texts("reason"));
    (0..table.len()).map(|row| [ids[row].clone(), kept[row].clone(), reasons[row].clone()]).collect()
}

/// Returns three texts: A; B, which is A with its last eight words replaced; and C, which is B with eight more words replaced.
fn three() -> [Doc; 3] {
    let (a, b, c) = (words(0..120), words(120..128), words(128..136));
    [doc("a", &[&a]), doc("b", &[&a[..112], &b]), doc("c", &[&a[..104], &b, &c])]
}

fn copy(doc: &Doc, id: &str) -> Doc {
    Doc { id: id.into(), ..doc.clone() }
}

#[test]
fn what_was_removed_for_a_forgotten_document_is_new_when_it_comes_again() {
    for chain in ["keep", "remove"] {
        for forget in [["--batch", "n0"], ["--id", "a"]] {
            let ([a, b, c], mut place) = (three(), place(chain));
            assert!(batch(&mut place, vec![a]).is_empty());
            assert_eq!(batch(&mut place, vec![b.clone()]), [["b", "a", "pair"]]);
            looked_after(&place.at("index"), &["forget", forget[0], forget[1]]).ends_with(0);
            let third = batch(&mut place, vec![copy(&b, "b-again"), c]);
            assert_eq!(third, [["c", "b-again", "pair"]], "{chain} {forget:?}");
            // From this point on, the kept copy represents the text.
            assert_eq!(batch(&mut place, vec![copy(&b, "b-once-more")]), [["b-once-more", "b-again", "seen"]]);
        }
    }
}

/// Checks that if a removed document is forgotten, the document that was kept instead is still kept.
#[test]
fn a_removed_document_may_be_forgotten() {
    for chain in ["keep", "remove"] {
        let ([a, b, _], mut place) = (three(), place(chain));
        assert_eq!(batch(&mut place, vec![a.clone(), b.clone()]), [["b", "a", "pair"]]);
        looked_after(&place.at("index"), &["forget", "--id", "b"]).ends_with(0);
        let again = batch(&mut place, vec![copy(&b, "b-again"), copy(&a, "a-again")]);
        assert_eq!(again, [["b-again", "a", "pair"], ["a-again", "a", "seen"]]);
    }
}

/// Checks a chain across batches that ends at a document that is in no pair of the last batch. The id of this document is reported, even if
/// its file has no ids.
#[test]
fn the_end_of_a_chain_is_reported_by_its_own_id() {
    let step = |at: usize| doc(&format!("s{at}"), &[&words(8 * at..8 * at + 120)]);
    for has_ids in [true, false] {
        let mut place = place("remove");
        let first: Vec<Doc> = (0..6).map(step).chain(others(0)).collect();
        place.more.extend(["--keep", "doc asc"].map(str::to_owned));
        if has_ids {
            place.batch(first).ends_with(0);
        } else {
            let texts = first.iter().map(|doc| Some(doc.text.as_str())).collect::<StringArray>();
            write_columns(&place.at("in/0.parquet"), &[("text", Arc::new(texts) as ArrayRef)], 300);
            place.docs.push(first);
            place.again(0, &[]).ends_with(0);
        }
        let first = if has_ids { "s0".to_owned() } else { removed(&place.out(0))[0][1].clone() };
        assert!(has_ids || first == "0.parquet#0", "{first}");
        assert!(removed(&place.out(0)).iter().all(|row| row[1] == first) && removed(&place.out(0)).len() == 5);
        let second = batch(&mut place, vec![step(6), copy(&step(4), "again")]);
        let expected = [["s6", &first, "chain"], ["again", &first, "seen"]];
        assert_eq!(second, expected);
    }
}

/// Checks that among documents with identical texts, the kept document represents all of them in the index, regardless of its position.
#[test]
fn a_text_is_known_by_the_copy_that_is_kept() {
    for algorithms in ["exact", "exact,minhash", "exact,simhash:distance=12", "exact,versions"] {
        let mut place = IndexPlace::new(algorithms);
        place.more = ["--keep", "score desc", "--remove-if", "pair"].map(str::to_owned).to_vec();
        let [text, version, _] = three().map(|doc| doc.text);
        let write = |place: &IndexPlace, batch: usize, rows: &[(&str, &str, i64)]| {
            let others = others(batch);
            let all = || rows.iter().copied().chain(others.iter().map(|doc| (doc.id.as_str(), doc.text.as_str(), 0)));
            let ids: ArrayRef = Arc::new(StringArray::from_iter_values(all().map(|row| row.0)));
            let texts: ArrayRef = Arc::new(StringArray::from_iter_values(all().map(|row| row.1)));
            let scores: ArrayRef = Arc::new(Int64Array::from_iter_values(all().map(|row| row.2)));
            let file = place.at(&format!("in/{batch}.parquet"));
            write_columns(&file, &[("id", ids), ("text", texts), ("score", scores)], 300);
            place.again(batch, &[]).ends_with(0);
            removed(&place.out(batch))
        };
        let first = write(&place, 0, &[("x1", &text, 1), ("x2", &text, 9), ("x3", &text, 5)]);
        assert_eq!(first, [["x1", "x2", "copy"], ["x3", "x2", "copy"]], "{algorithms}");
        let second = write(&place, 1, &[("x4", &text, 99), ("v", &version, 99)]);
        assert_eq!(second[0], ["x4", "x2", "seen"], "{algorithms}");
        // A version of the text also matches the document with this id.
        let finds = algorithms.contains("hash");
        assert_eq!(second.get(1).map(|row| [&*row[0], &*row[1]]), finds.then_some(["v", "x2"]), "{algorithms}");
        assert_eq!(Table::read(&place.out(1).join("removed")).numbers("kept_doc")[0], 1);
        let index = place.at("index");
        looked_after(&index, &["forget", "--id", "x1"]).ends_with(2).says(&["x1", "the index lists each text under"]);
        looked_after(&index, &["forget", "--id", "x2"]).ends_with(0);
        assert_eq!(write(&place, 2, &[("x5", &text, 0)]), Vec::<[String; 3]>::new(), "{algorithms}");
    }
}

/// Checks that a decision about a text also applies to its copies, even if a later run has a stricter removal rule.
#[test]
fn a_copy_of_a_removed_document_is_removed_by_whatever_rule() {
    let ([a, b, _], mut place) = (three(), place("keep"));
    assert_eq!(batch(&mut place, vec![a, b.clone()]), [["b", "a", "pair"]]);
    for (at, rule) in ["contained:1", "pair"].into_iter().enumerate() {
        place.more[3] = rule.to_owned();
        let id = format!("b{at}");
        assert_eq!(batch(&mut place, vec![copy(&b, &id)]), [[&*id, "a", "seen"]], "{rule}");
        let stays = record(&place.out(at + 1))["removal"]["stays"].clone();
        assert!(stays.as_object().is_none_or(|stays| stays.is_empty()), "{stays}");
    }
}

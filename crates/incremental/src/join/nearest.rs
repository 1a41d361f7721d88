//! Selects the indexed documents to compare if many documents share a key: only those near a document in the batch.
//!
//! If a key has many rows, a run limits the number of comparisons in proportion to the number of rows
//! ([`Pairs::compare_nearest`](dupsift_core::row::Pairs)): each row is compared with its nearest rows and with the first documents of the
//! key. Therefore, if the index contains ten thousand pages based on one template, another page based on this template is compared with
//! only a few of them.
//!
//! ```text
//! rows of one key, in order; i: indexed, b: batch, with 2 nearest and 1 first
//! i i i i i b i i i      taking part:  i . . i i b i i .
//! ```
//!
//! Because rows of the index are left out, each row of the batch is compared with at least the rows that it would be compared with in a
//! single run over all documents.

use super::rule_out::Windows;
use super::scan::Scan;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_core::doc::IndexDoc;
use dupsift_core::error::Result;
use dupsift_core::row::{RowLayout, Window, firsts, reach};
use dupsift_spill::shuffle::{AtomicBits, Sorted};

/// Marks in `met` the indexed documents that are near a document in the batch.
///
/// # Errors
/// Returns an error if files are damaged or the disk is full.
pub(crate) fn meet(scan: &Scan<'_>, bound: &Bound<'_>, keys: &Sorted, met: &AtomicBits) -> Result<()> {
    let (engine, layout) = (scan.engine, scan.numbered.rows(bound));
    let sharing = AtomicBits::new(engine.dir, "sharing-a-key", met.len())?;
    let (width, group_width) = keys.widths();
    let windows = engine.shuffle(&format!("{}-windows", bound.label), width, group_width, 2 * keys.rows())?;
    scan.rows(&bound.label, keys, || Windows::new(&sharing, windows.writer()))?;
    let windows = windows.finish()?;
    engine.work(
        windows.partitions(),
        || Ok(()),
        |(), partition| {
            let records = windows.load(partition, engine.budget.a_thread)?;
            for group in records.groups() {
                engine.go_on()?;
                let rows = &records.bytes()[group.start * width..group.end * width];
                window(layout, rows, scan.numbered.next_doc, |doc| _ = met.set(doc.as_usize()));
            }
            windows.remove(partition)
        },
        |()| Ok(()),
    )?;
    Ok(())
}

/// Calls `each` with the indexed documents in a window that take part in the run.
fn window(layout: RowLayout, rows: &[u8], next_doc: IndexDoc, mut each: impl FnMut(IndexDoc)) {
    let window = Window::new(layout, rows);
    let doc = |at: usize| Some(IndexDoc(window.row(at).doc)).filter(|&doc| doc < next_doc);
    let reach = reach(window.len() as u64) as usize;
    // The rows before this position are already marked.
    let mut noted = 0;
    for at in (0..window.len()).filter(|&at| doc(at).is_none()) {
        let near = at.saturating_sub(reach).max(noted)..window.len().min(at + reach + 1);
        noted = noted.max(near.end);
        near.filter_map(doc).for_each(&mut each);
    }
    if noted > 0 {
        firsts(&window).into_iter().filter_map(doc).for_each(each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_kit::{Bench, Near, RowFile, index, numbered, random, row, sorted};
    use dupsift_core::row::{FIRST, Pair, Pairs, Row, RowShape, Score, WHOLE};
    use std::collections::BTreeSet;
    use std::sync::atomic::AtomicU64;

    /// Returns the documents that take part if a window contains `docs` in this order. The batch begins at document 10,000.
    fn taking_part(docs: &[u64]) -> BTreeSet<u64> {
        let layout = RowLayout::new(RowShape { ordered: true, ..RowShape::KEY64 }, 1 << 20);
        let mut bytes = Vec::new();
        for (at, &doc) in docs.iter().enumerate() {
            layout.encode(&Row { position: 0, key: 1, order: at as u32, doc, sketch: &[] }, &mut bytes);
        }
        let mut found = BTreeSet::new();
        window(layout, &bytes, IndexDoc(10_000), |doc| _ = found.insert(doc.0));
        found
    }

    #[test]
    fn of_a_small_window_all_take_part_and_of_a_large_one_the_nearest() {
        let small: Vec<u64> = (0..WHOLE - 1).chain([10_000]).collect();
        assert_eq!(taking_part(&small).len() as u64, WHOLE - 1);
        let mut large: Vec<u64> = (0..5_000).rev().collect();
        large.insert(2_500, 10_000);
        let found = taking_part(&large);
        let near = (2_492..2_508).chain(0..FIRST as u64).collect();
        assert_eq!(found, near, "8 on both sides of 2,500, and the first ones");
        large.insert(2_501, 10_001);
        assert_eq!(taking_part(&large).len(), 16 + FIRST, "neighbors of both count once");
        assert!(taking_part(&large[..2_000]).is_empty(), "no document of the batch");
    }

    /// Returns the pairs of one indexed document and one document of the batch that are compared in a window.
    fn compared(layout: RowLayout, rows: &[u8], next_doc: u64) -> BTreeSet<(u64, u64)> {
        let mut found = BTreeSet::new();
        let mut sink = |pair: Pair| _ = found.insert((pair.a, pair.b));
        let mut pairs = Pairs::new(u64::MAX, &mut sink);
        pairs.compare_nearest(&Window::new(layout, rows), |a, b| Some(Pair::new(a.doc, b.doc, Score::EQUAL, 1)));
        found.retain(|&(a, b)| a < next_doc && b >= next_doc);
        found
    }

    /// Checks an index with many rows of a few keys. Each document of the batch must be compared with all indexed documents with which it
    /// would be compared in a single run over all documents.
    #[test]
    fn a_batch_is_compared_with_all_documents_of_a_single_run() {
        const DOCS: u64 = 1_500;
        const BATCH: u64 = 12;
        let (bench, near) =
            (Bench::new(), Near { shape: RowShape { ordered: true, ..RowShape::KEY64 }, nearest: true });
        let (engine, bound, numbered) = (bench.engine(), near.bound(), numbered(4_000, DOCS));
        let layout = numbered.rows(&bound);
        let widths = (layout.width(), layout.group_width());
        let key = |doc: u64| if doc.is_multiple_of(5) { random(1, doc, 4) } else { 9 };
        let of = |doc: u64| row(layout, key(doc).into(), random(2, doc, 2_000) as u32, doc);
        let file = |docs: std::ops::Range<u64>| vec![RowFile::new("near", widths, docs.map(of).collect())];
        let folders = [file(0..700), file(700..DOCS)];
        let index = index(&engine, &bench.at("index"), DOCS, &folders);
        let keys = sorted(&engine, widths, &(DOCS..DOCS + BATCH).map(of).collect::<Vec<_>>());
        let (scanned, met) = (AtomicU64::new(0), AtomicBits::new(engine.dir, "met", DOCS as usize).unwrap());
        let manifest = index.manifest.as_ref().unwrap();
        let scan = Scan { engine: &engine, index: &index, manifest, numbered, scanned: &scanned };
        meet(&scan, &bound, &keys, &met).unwrap();
        let mut least = BTreeSet::new();
        for key_of_all in [0, 1, 2, 3, 9] {
            let window = |takes_part: &dyn Fn(u64) -> bool| -> Vec<u8> {
                let docs = (0..DOCS + BATCH).filter(|&doc| key(doc) == key_of_all && takes_part(doc));
                let mut rows: Vec<Vec<u8>> = docs.map(of).collect();
                rows.sort_unstable();
                rows.concat()
            };
            let single = compared(layout, &window(&|_| true), DOCS);
            let joined = compared(layout, &window(&|doc| doc >= DOCS || met.get(doc as usize)), DOCS);
            assert!(single.is_subset(&joined), "key {key_of_all}");
            least.extend(single.into_iter().map(|(indexed, _)| indexed as usize));
        }
        // In the large window, no other documents take part.
        let large = |docs: &mut dyn Iterator<Item = usize>| docs.filter(|&doc| key(doc as u64) == 9).collect();
        let (found, expected): (Vec<_>, Vec<_>) = (large(&mut met.iter()), large(&mut least.into_iter()));
        assert!(found.len() < 1_000, "{}", found.len());
        assert_eq!(found, expected);
    }
}

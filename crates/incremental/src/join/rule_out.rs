//! Rules out indexed documents that share a key with a document in the batch but cannot form a pair with it. Documents are ruled out before
//! their text is read, using a few sketch words that the index stores for each document.
//!
//! ```text
//! scan     index rows that share a key with the batch, together with the batch's rows for that key: a window
//! words    sketch words of the indexed documents in windows, read in order
//! judge    an indexed document takes part if it may be in a pair with a batch document in a window, and always in windows where
//!          the pairs of some documents depend on which others are present
//! ```

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::scan::{Scan, Shared};
use crate::stored::rows::{DOC, sketches_of};
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_core::doc::IndexDoc;
use dupsift_core::error::{Error, Result};
use dupsift_core::row::{RowLayout, Sketches as _, number};
use dupsift_engine::engine::sketches::SketchFile;
use dupsift_index::ROWS;
use dupsift_spill::shuffle::run::{Run, buckets_of};
use dupsift_spill::shuffle::{AtomicBits, Ranks, Records, Sorted, Writer};

/// A run with more bytes than this is split into slices that are read by several threads.
const LARGE_RUN: u64 = 4 << 20;
const SLICES: usize = 16;
/// The number of batch documents that are held in memory while the indexed documents in a window are compared with them.
const AT_ONCE: usize = 1024;

/// Rules out indexed documents for one algorithm.
pub(crate) struct RulingOut<'r> {
    /// The scan of the index.
    pub scan: &'r Scan<'r>,
    /// The algorithm.
    pub bound: &'r Bound<'r>,
    /// The sketch words of the batch's documents, by position in the batch.
    pub sketches: &'r SketchFile,
    /// The maximum number of comparisons in a window.
    pub max_candidates: u64,
}

impl RulingOut<'_> {
    /// Marks in `met` the indexed documents that may form a pair with a document in the batch.
    ///
    /// # Errors
    /// Returns an error if the index is damaged or the disk is full.
    pub(crate) fn meet(&self, keys: &Sorted, met: &AtomicBits) -> Result<()> {
        let (engine, label) = (self.scan.engine, &self.bound.label);
        let sharing = AtomicBits::new(engine.dir, "sharing-a-key", met.len())?;
        let (width, group_width) = keys.widths();
        // The number of index rows with these keys is not known in advance. If there are more rows than assumed, partitions are sorted on
        // disk.
        let windows = engine.shuffle(&format!("{label}-windows"), width, group_width, 2 * keys.rows())?;
        self.scan.rows(label, keys, || Windows::new(&sharing, windows.writer()))?;
        let windows = windows.finish()?;
        let ranks = Ranks::new(engine.dir, "sharing-a-key-ranks", &sharing)?;
        let old = self.words_of(&ranks)?;
        engine.work(
            windows.partitions(),
            || Ok(Judging { ruling: self, ranks: &ranks, old: &old, met, batch: Vec::new(), one: Vec::new() }),
            |judging, partition| {
                let records = windows.load(partition, engine.budget.a_thread)?;
                for group in records.groups() {
                    judging.window(&records.bytes()[group.start * width..group.end * width])?;
                }
                windows.remove(partition)
            },
            |_| Ok(()),
        )?;
        Ok(())
    }

    /// Returns the sketch words of these indexed documents, by rank.
    fn words_of(&self, ranks: &Ranks) -> Result<SketchFile> {
        let (engine, words) = (self.scan.engine, self.bound.scheme.index_words);
        let name = sketches_of(&self.bound.label);
        let old = SketchFile::new(engine.dir, &format!("{}-old", self.bound.label), ranks.count(), words)?;
        if ranks.count() == 0 {
            return Ok(old);
        }
        let runs = self.scan.runs(&name, (DOC + 8 * words, DOC))?;
        let slices = |run: &Run| if run.rows() * run.width() as u64 > LARGE_RUN { SLICES } else { 1 };
        let work: Vec<(&Run, usize, usize)> =
            runs.iter().flat_map(|run| (0..slices(run)).map(move |at| (run, at, slices(run)))).collect();
        let found = AtomicU64::new(0);
        engine.work(
            work.len(),
            || Ok(vec![0; words]),
            |sketch, at| {
                let (run, at, of) = work[at];
                let mut reader = run.read(buckets_of(at, of));
                while let Some(block) = reader.next_block()? {
                    engine.go_on()?;
                    self.scan.scanned.fetch_add(block.len() as u64, Relaxed);
                    for row in block.chunks_exact(run.width()) {
                        let doc = number(&row[..DOC]) as usize;
                        let Some(rank) = (doc < ranks.len()).then(|| ranks.rank(doc)).flatten() else { continue };
                        let bytes = row[DOC..].as_chunks::<8>().0;
                        sketch.iter_mut().zip(bytes).for_each(|(word, bytes)| *word = u64::from_be_bytes(*bytes));
                        old.put(rank as u64, sketch);
                        found.fetch_add(1, Relaxed);
                    }
                }
                Ok(())
            },
            |_| Ok(()),
        )?;
        if found.load(Relaxed) == ranks.count() {
            return Ok(old);
        }
        let why = format!("{name} has {} of the {} documents that rows refer to", found.load(Relaxed), ranks.count());
        Err(Error::Damaged { path: self.scan.index.dir().join(ROWS), why })
    }

    fn layout(&self) -> RowLayout {
        self.scan.numbered.rows(self.bound)
    }
}

/// Collects the rows whose keys are in both the batch and the index.
pub(crate) struct Windows<'w> {
    sharing: &'w AtomicBits,
    windows: Writer<'w>,
    /// `shared[i]` indicates whether the index contains group `i` of the partition; the list ends at the last group found so far. Several
    /// row folders may contain the same group.
    shared: Vec<bool>,
}

impl<'w> Windows<'w> {
    /// Returns the state of a thread that marks the indexed documents in `sharing` and writes their rows to `windows`.
    pub(crate) fn new(sharing: &'w AtomicBits, windows: Writer<'w>) -> Windows<'w> {
        Windows { sharing, windows, shared: Vec::new() }
    }
}

impl Shared for Windows<'_> {
    fn row(&mut self, group: usize, doc: IndexDoc, row: &[u8]) -> Result<()> {
        self.sharing.set(doc.as_usize());
        if self.shared.len() <= group {
            self.shared.resize(group + 1, false);
        }
        self.shared[group] = true;
        self.windows.push(row)
    }

    fn partition(&mut self, batch: &Records) -> Result<()> {
        for (group, _) in batch.groups().zip(self.shared.drain(..)).filter(|(_, shared)| *shared) {
            group.into_iter().try_for_each(|at| self.windows.push(batch.record(at)))?;
        }
        Ok(())
    }

    fn end(mut self) -> Result<()> {
        self.windows.flush()
    }
}

/// Holds the state of a thread that checks windows.
struct Judging<'j, 'r> {
    ruling: &'j RulingOut<'r>,
    ranks: &'j Ranks,
    old: &'j SketchFile,
    met: &'j AtomicBits,
    batch: Vec<u64>,
    one: Vec<u64>,
}

impl Judging<'_, '_> {
    /// Marks the indexed documents in a window that take part in the run.
    fn window(&mut self, rows: &[u8]) -> Result<()> {
        let RulingOut { scan, bound, sketches, max_candidates } = *self.ruling;
        let layout = self.ruling.layout();
        let (next_doc, count) = (scan.numbered.next_doc, (rows.len() / layout.width()) as u64);
        let docs = || rows.chunks_exact(layout.width()).map(|row| IndexDoc(layout.decode(row).doc));
        let key = rows.get(..layout.width()).map_or(0, |row| layout.decode(row).key);
        // If the number of comparisons is limited, the choice of comparisons depends on all rows.
        let all = count * (count - 1) / 2 <= max_candidates;
        if !all || !bound.judges_each(key, count) {
            docs().filter(|&doc| doc < next_doc).for_each(|doc| _ = self.met.set(doc.as_usize()));
            return scan.engine.go_on();
        }
        let words = bound.scheme.index_words;
        self.one.resize(words, 0);
        let mut of_batch = docs().filter(|&doc| doc >= next_doc).peekable();
        while of_batch.peek().is_some() {
            scan.engine.go_on()?;
            self.batch.clear();
            for doc in of_batch.by_ref().take(AT_ONCE) {
                let begin = self.batch.len();
                self.batch.resize(begin + words, 0);
                sketches.copy(doc.0 - next_doc.0, &mut self.batch[begin..]);
            }
            for doc in docs().filter(|&doc| doc < next_doc).map(IndexDoc::as_usize) {
                let Some(rank) = self.ranks.rank(doc).filter(|_| !self.met.get(doc)) else { continue };
                self.old.copy(rank as u64, &mut self.one);
                if self.batch.chunks_exact(words).any(|batch| bound.signer.may_be_pair(&self.one, batch)) {
                    self.met.set(doc);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::test_kit::{Bench, Near, RowFile, index, numbered, random, row, sorted};
    use dupsift_core::row::RowShape;

    const DOCS: u64 = 120;
    const BATCH: u64 = 25;
    const KEYS: u64 = 16;
    const WORDS: u64 = 40;
    /// The number at which the batch begins in the run.
    const BASE: u64 = 1_000;

    const NEAR: Near = Near { shape: RowShape::KEY64, nearest: false };

    /// Holds the keys and the word of each document. The documents of the batch follow the indexed documents.
    struct Case {
        keys: Vec<BTreeSet<u64>>,
        words: Vec<u64>,
        next_doc: u64,
        is_forgotten: fn(u64) -> bool,
    }

    impl Case {
        fn random(test: u64) -> Case {
            let keys = |doc| (0..2).map(|place| random(test, 10 * doc + place, KEYS)).collect();
            let word = |doc| random(test, 10 * doc + 5, WORDS);
            let docs = 0..DOCS + BATCH;
            let (keys, words) = (docs.clone().map(keys).collect(), docs.map(word).collect());
            Case { keys, words, next_doc: DOCS, is_forgotten: |doc| doc % 17 == 3 }
        }

        fn rows(&self, docs: std::ops::Range<u64>) -> Vec<Vec<u8>> {
            let layout = numbered(BASE, self.next_doc).rows(&NEAR.bound());
            let row = |doc: u64| self.keys[doc as usize].iter().map(move |&key| row(layout, key.into(), 0, doc));
            docs.flat_map(row).collect()
        }

        /// Returns the indexed documents that [`RulingOut`] marks.
        fn marked(&self, max_candidates: u64, sketched: impl Fn(u64) -> bool) -> Result<BTreeSet<u64>> {
            let (bench, bound, numbered) = (Bench::new(), NEAR.bound(), numbered(BASE, self.next_doc));
            let engine = bench.engine();
            let (layout, all) = (numbered.rows(&bound), self.keys.len() as u64);
            let widths = (layout.width(), layout.group_width());
            let word = |doc: u64| [doc.to_be_bytes(), self.words[doc as usize].to_be_bytes()].concat();
            let folder = |docs: std::ops::Range<u64>| {
                let words = docs.clone().filter(|doc| sketched(*doc)).map(word).collect();
                vec![
                    RowFile::new("near", widths, self.rows(docs)),
                    RowFile::new(&sketches_of("near"), (DOC + 8, DOC), words),
                ]
            };
            let middle = self.next_doc / 3;
            let folders = [folder(0..middle), folder(middle..self.next_doc)];
            let mut index = index(&engine, &bench.at("index"), self.next_doc, &folders);
            let forgotten = (0..self.next_doc).filter(|&doc| (self.is_forgotten)(doc));
            index.manifest.as_mut().unwrap().forget(forgotten.map(|doc| [doc, doc + 1]).collect());
            let keys = sorted(&engine, widths, &self.rows(self.next_doc..all));
            let sketches = SketchFile::new(engine.dir, "batch", all - self.next_doc, 1)?;
            (self.next_doc..all).for_each(|doc| sketches.put(doc - self.next_doc, &[self.words[doc as usize]]));
            let met = AtomicBits::new(engine.dir, "met", self.next_doc as usize)?;
            let scanned = AtomicU64::new(0);
            let manifest = index.manifest.as_ref().unwrap();
            let scan = Scan { engine: &engine, index: &index, manifest, numbered, scanned: &scanned };
            RulingOut { scan: &scan, bound: &bound, sketches: &sketches, max_candidates }.meet(&keys, &met)?;
            Ok(met.iter().map(|doc| doc as u64).collect())
        }

        /// Returns the indexed documents that share a key with a document in the batch and, unless this key is judged as a whole, may be a
        /// pair with such a document.
        fn expected(&self, is_whole: impl Fn(u64, u64) -> bool) -> BTreeSet<u64> {
            let has = |key: u64| {
                let docs = (0..self.keys.len() as u64).filter(move |&doc| self.keys[doc as usize].contains(&key));
                docs.filter(|&doc| doc >= self.next_doc || !(self.is_forgotten)(doc)).collect::<Vec<u64>>()
            };
            let mut found = BTreeSet::new();
            for key in 0..KEYS {
                let (old, new): (Vec<u64>, Vec<u64>) = has(key).into_iter().partition(|&doc| doc < self.next_doc);
                let is_whole = is_whole(key, (old.len() + new.len()) as u64) && !new.is_empty();
                let word = |doc: u64| self.words[doc as usize];
                let is_near = |&old: &u64| new.iter().any(|&new| word(old).abs_diff(word(new)) <= 1);
                found.extend(old.into_iter().filter(|old| is_whole || is_near(old)));
            }
            found
        }
    }

    #[test]
    fn an_indexed_document_is_ruled_out_only_if_it_cannot_be_in_a_pair() {
        for test in 0..12 {
            let case = Case::random(test);
            let is_crowded = |key, _| u128::from(key) == Near::CROWDED;
            let expected = case.expected(is_crowded);
            let all = case.expected(|_, _| true);
            assert!(expected.len() > 10 && expected.len() + 10 < all.len(), "the case shows something");
            assert_eq!(case.marked(u64::MAX, |_| true).unwrap(), expected, "{test}");
        }
    }

    /// If not all comparisons of a key are made, the choice of comparisons depends on all rows, so all of them take part.
    #[test]
    fn nothing_is_ruled_out_if_the_comparisons_of_a_key_exceed_the_limit() {
        let case = Case::random(3);
        let mut different = BTreeSet::new();
        for rows in 14..22 {
            let limit = rows * (rows - 1) / 2;
            for max_candidates in [limit - 1, limit] {
                let is_whole = |key, count: u64| {
                    u128::from(key) == Near::CROWDED || count * count.saturating_sub(1) / 2 > max_candidates
                };
                let expected = case.expected(is_whole);
                assert_eq!(case.marked(max_candidates, |_| true).unwrap(), expected, "{max_candidates}");
                different.insert(expected.len());
            }
        }
        assert!(different.len() > 2, "the limit matters: {different:?}");
    }

    #[test]
    fn every_document_of_a_large_batch_counts() {
        // The words of the batch are even and small, except that of the last document.
        let batch = 2 * AT_ONCE as u64 + 5;
        let words: Vec<u64> =
            [0, 501, 1_000_000].into_iter().chain((0..batch).map(|at| if at + 1 < batch { 10 } else { 500 })).collect();
        let keys = words.iter().map(|_| BTreeSet::from([1])).collect();
        let case = Case { keys, words, next_doc: 3, is_forgotten: |_| false };
        assert_eq!(case.marked(u64::MAX, |_| true).unwrap(), BTreeSet::from([1]));
    }

    #[test]
    fn an_index_without_the_words_of_a_document_is_damaged() {
        let mut case = Case::random(1);
        let error = case.marked(u64::MAX, |doc| doc != 50).unwrap_err().to_string();
        assert!(error.contains("+sketches-near has ") && error.contains("documents that rows refer to"), "{error}");
        // The words of forgotten documents are not needed.
        case.is_forgotten = |doc| doc == 50;
        assert!(case.marked(u64::MAX, |doc| doc != 50).is_ok());
    }
}

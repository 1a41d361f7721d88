//! Joins documents by their heavy terms: defines the rows of a document and selects candidates among documents with the same key.
//!
//! Three things limit the number of candidates: keys of two heavy terms (`heavy.rs`); a third shared heavy term, required in a large
//! window; and the signs of random projections (`sign_sketch.rs`). Documents that reach the threshold differ in few signs. The number of
//! different signs also ranks the candidates, because only the nearest ones are verified (`steps/nearest.rs`). Each document has one sketch:
//! its signs, 16 bits for each of its heavy terms, and the length of its common terms.
//!
//! ```text
//! window of the key ab, large:   1: a b c d    2: a b e f    3: a b c f    4: a b g h
//! compared: 1 3 (c), 2 3 (f)     not: 1 2, 1 4, 2 4, 3 4; where all have a third term in common, all are compared
//! ```

use super::heavy::{HeavyTerms, Kind};
use super::sign_sketch::{BITS, SignSketch, WORDS, differing, most_differing};
use crate::algorithm::kit::prefix::{Term, below};
use dupsift_core::number::thousands;
use dupsift_core::row::{Pair, Pairs, Score, Signatures, Sketches, Window};

/// The maximum number of rows in a window whose pairs are all compared. In larger windows, two documents are compared only if they share a
/// third term.
const LARGE_WINDOW: usize = 64;
/// The maximum number of in-memory entries in a window's list of third terms (4 MB).
const ENTRIES: usize = 1 << 18;
/// The number of bits that a sketch holds per term.
const PRINT_BITS: u32 = 16;
/// The number of term fingerprints in an 8-byte word.
const PRINTS: usize = 4;
/// The maximum number of heavy terms.
pub(crate) const MOST_TERMS: usize = 32;
/// The number of 16-bit numbers in a sketch: the fingerprints, followed by the length of the common terms.
const NUMBERS: usize = (MOST_TERMS + 1).next_multiple_of(PRINTS);
/// The maximum number of words in a sketch.
const MOST_WORDS: usize = WORDS + NUMBERS / PRINTS;
/// The number that represents length 1.
const LENGTH: f64 = u16::MAX as f64;

/// Implements the join, bound to a corpus.
pub(crate) struct HeavyJoin {
    terms: HeavyTerms,
    signs: SignSketch,
    most_differing: u32,
    /// The maximum number of in-memory entries in a window's list of third terms.
    entries: usize,
}

/// Holds 16 bits of each of a document's heavy terms (sorted), then zeros, then the length of its common terms.
type Numbers = [u16; NUMBERS];

impl HeavyJoin {
    /// Returns the join by heavy terms, with the random projections for this seed.
    pub(crate) fn new(terms: HeavyTerms, seed: u64) -> HeavyJoin {
        HeavyJoin {
            terms,
            signs: SignSketch::new(seed),
            most_differing: most_differing(terms.threshold),
            entries: ENTRIES,
        }
    }

    /// Returns the number of words in a sketch.
    pub(crate) fn sketch_words(&self) -> usize {
        WORDS + (self.terms.most + 1).div_ceil(PRINTS)
    }

    /// Returns the approximate number of rows per document.
    pub(crate) fn rows_a_document(&self) -> u64 {
        (self.terms.most * self.terms.most / 4) as u64
    }

    /// Emits the rows and the sketch of a vector with length 1. `own` is the number of documents that have this text.
    pub(crate) fn sign(&self, terms: &[Term], own: u64, out: &mut Signatures) {
        let found = self.terms.keys(terms, own);
        found.keys.iter().for_each(|&key| out.push(0, key.into(), 0, &[]));
        let mut numbers: Numbers = [0; NUMBERS];
        // 0 means that there is no term.
        numbers.iter_mut().zip(&found.terms).for_each(|(print, &term)| *print = ((term >> 32) as u16).max(1));
        numbers[..found.terms.len()].sort_unstable();
        // The length is rounded up, because it is a bound.
        numbers[self.terms.most] = (found.common * LENGTH).ceil().min(LENGTH) as u16;
        let sketch = out.document_sketch();
        sketch.extend(self.signs.signs(terms));
        for four in numbers.as_chunks::<PRINTS>().0.iter().take(self.sketch_words() - WORDS) {
            sketch.push(four.iter().fold(0, |word, &number| word << PRINT_BITS | u64::from(number)));
        }
    }

    /// Returns whether the signs of two documents are similar enough for a candidate pair.
    pub(crate) fn near(&self, a: &[u64; WORDS], b: &[u64; WORDS]) -> bool {
        differing(a, b) <= self.most_differing
    }

    /// Like `HeavyJoin::near`, but compares complete sketches.
    pub(crate) fn judge_sketches(&self, a: &[u64], b: &[u64]) -> bool {
        match (a.first_chunk(), b.first_chunk()) {
            (Some(a), Some(b)) => self.near(a, b),
            _ => true,
        }
    }

    /// Returns whether each pair in a window of up to `rows` rows with this key is judged independently of the terms
    /// that all rows share.
    pub(crate) fn judges_each(&self, key: u128, rows: u64) -> bool {
        Kind::of(key) != Kind::Two || rows <= LARGE_WINDOW as u64 || self.terms.most <= 2
    }

    /// Describes in how many signs two documents differ.
    pub(crate) fn why_apart(&self, a: &[u64], b: &[u64]) -> Option<String> {
        let apart = differing(a.first_chunk()?, b.first_chunk()?);
        let most = self.most_differing;
        Some(format!("{apart} of {BITS} random-projection signs differ, but at most {most} may differ"))
    }

    /// Returns the reason why two documents with these sketches are not compared although they share a key. `rows` is the number of
    /// documents with this key.
    pub(crate) fn why_not_compared(&self, key: u128, rows: u64, a: &[u64], b: &[u64]) -> Option<String> {
        let (x, y) = (self.numbers_in(a), self.numbers_in(b));
        match Kind::of(key) {
            Kind::Two if rows > LARGE_WINDOW as u64 && self.terms.most > 2 => {
                let mut others = y[..self.terms.most].to_vec();
                let mut common = 0;
                for print in x[..self.terms.most].iter().filter(|&&print| print != 0) {
                    if let Some(place) = others.iter().position(|other| other == print) {
                        others.swap_remove(place);
                        common += 1;
                    }
                }
                (common < 3).then(|| {
                    format!("{} documents share these two heavy terms; in groups of more than {LARGE_WINDOW} documents, only documents that share a third heavy term are compared", thousands(rows))
                })
            }
            Kind::Common => {
                let [x, y] = [x, y].map(|numbers| f64::from(numbers[self.terms.most]) / LENGTH);
                (x * y < below(self.terms.threshold)).then(|| {
                    format!(
                        "their shared key consists of frequent terms, which contribute at most {:.3} to the cosine",
                        x * y
                    )
                })
            }
            _ => None,
        }
    }

    /// Finds the candidates of a window.
    pub(crate) fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        let rows = window.len();
        let Some(sketches) = out.sketches() else {
            return out.compare_all(window, |a, b| candidate(a.doc, b.doc, 0));
        };
        let near = (self.most_differing, differing);
        let kind = if rows > 0 { Kind::of(window.row(0).key) } else { Kind::Single };
        if kind == Kind::Common {
            return self.pairs_of_common_terms(window, sketches, out);
        }
        if kind == Kind::Two && rows > LARGE_WINDOW && self.terms.most > 2 {
            let common = self.common(window, sketches);
            // If all documents share three terms, any two documents share a third term.
            if common.len() == 2 {
                return self.pairs_by_a_third(window, sketches, &common, out);
            }
        }
        // Most windows are small.
        let mut few = [0; LARGE_WINDOW];
        if rows <= few.len() {
            few.iter_mut().enumerate().take(rows).for_each(|(at, doc)| *doc = window.row(at).doc);
            return out.compare_sketches(&few[..rows], sketches, |_| rows, near, candidate);
        }
        let docs: Vec<u64> = (0..rows).map(|at| window.row(at).doc).collect();
        out.compare_sketches(&docs, sketches, |_| rows, near, candidate);
    }

    /// Finds the candidates in a window whose key consists of two common terms: documents in which the common terms have enough weight.
    fn pairs_of_common_terms(&self, window: &Window<'_>, sketches: &dyn Sketches, out: &mut Pairs<'_>) {
        let length = |doc: u64| self.numbers(sketches, doc)[self.terms.most];
        let mut rows: Vec<(u16, u64)> =
            (0..window.len()).map(|at| window.row(at).doc).map(|doc| (length(doc), doc)).collect();
        rows.sort_unstable_by_key(|&(length, doc)| (std::cmp::Reverse(length), doc));
        let least = below(self.terms.threshold) * LENGTH * LENGTH;
        let reaches = |i: usize, other: &(u16, u64)| f64::from(rows[i].0) * f64::from(other.0) >= least;
        let docs: Vec<u64> = rows.iter().map(|row| row.1).collect();
        let near = (self.most_differing, differing);
        let last = |i: usize| rows.partition_point(|other| reaches(i, other));
        out.compare_sketches(&docs, sketches, last, near, candidate);
    }

    /// Finds the candidates in a large window whose key consists of two terms: documents that share a third term.
    fn pairs_by_a_third(&self, window: &Window<'_>, sketches: &dyn Sketches, two: &[u16], out: &mut Pairs<'_>) {
        let third = |print: u16| print != 0 && !two.contains(&print);
        let prints =
            |doc: u64| self.numbers(sketches, doc).into_iter().take(self.terms.most).filter(move |&one| third(one));
        let passes = (window.len() * self.terms.most).div_ceil(self.entries);
        let (mut entries, mut docs) = (Vec::new(), Vec::new());
        for pass in 0..passes {
            entries.clear();
            for at in 0..window.len() {
                let doc = window.row(at).doc;
                let mine = prints(doc).filter(|&print| usize::from(print) % passes == pass);
                entries.extend(mine.map(|print| (print, doc)));
            }
            entries.sort_unstable();
            entries.dedup();
            for bucket in entries.chunk_by(|a, b| a.0 == b.0).filter(|bucket| bucket.len() > 1) {
                docs.clear();
                docs.extend(bucket.iter().map(|&(_, doc)| doc));
                // A pair with several shared terms is emitted only for the first of these terms.
                let first = |a: u64, b: u64| prints(a).find(|&one| prints(b).any(|other| other == one));
                let judge = |a: u64, b: u64, apart: u32| {
                    (first(a, b) == Some(bucket[0].0)).then(|| candidate(a, b, apart)).flatten()
                };
                let near = (self.most_differing, differing);
                out.compare_sketches(&docs, sketches, |_| docs.len(), near, judge);
            }
        }
    }

    fn numbers(&self, sketches: &dyn Sketches, doc: u64) -> Numbers {
        let mut words = [0; MOST_WORDS];
        sketches.copy(doc, &mut words[..self.sketch_words()]);
        self.numbers_in(&words)
    }

    /// Returns the numbers in a sketch, or zeros for an empty sketch.
    fn numbers_in(&self, sketch: &[u64]) -> Numbers {
        let word = |at: usize| sketch.get(WORDS + at / PRINTS).copied().unwrap_or_default();
        std::array::from_fn(|at| (word(at) >> (PRINT_BITS * (PRINTS - 1 - at % PRINTS) as u32)) as u16)
    }

    /// Returns the fingerprints that all documents of a window share. If two different terms have the same fingerprint, that
    /// fingerprint is returned twice.
    fn common(&self, window: &Window<'_>, sketches: &dyn Sketches) -> Vec<u16> {
        let count = |prints: &[u16], print: u16| prints.iter().filter(|&&one| one == print).count();
        let prints = |at: usize| self.numbers(sketches, window.row(at).doc);
        let mut common: Vec<u16> = prints(0)[..self.terms.most].iter().copied().filter(|&print| print != 0).collect();
        for at in 1..window.len() {
            let numbers = prints(at);
            let prints = &numbers[..self.terms.most];
            while let Some(place) = common.iter().position(|&one| count(&common, one) > count(prints, one)) {
                common.remove(place);
            }
        }
        common
    }
}

/// Returns the candidate pair of two documents whose signs differ in `apart` positions.
fn candidate(a: u64, b: u64, apart: u32) -> Option<Pair> {
    Some(Pair::new(a, b, Score { similarity: 0.0, distance: Some(apart as f32) }, 1))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use dupsift_core::hash::splitmix64;
    use dupsift_core::row::{RowLayout, RowShape};

    struct Sketched(Vec<Vec<u64>>);

    impl Sketches for Sketched {
        fn copy(&self, doc: u64, to: &mut [u64]) {
            to.copy_from_slice(&self.0[doc as usize][..to.len()]);
        }
    }

    /// Runs the join over all windows of the vectors. Returns the pairs, how often each was found, and the number of comparisons.
    fn join(join: &HeavyJoin, vectors: &[Vec<Term>]) -> (BTreeMap<(u64, u64), u64>, u64) {
        let layout = RowLayout::new(RowShape::KEY64, vectors.len() as u64);
        let mut windows: BTreeMap<u128, Vec<u8>> = BTreeMap::new();
        let mut sketches = Vec::new();
        for (doc, terms) in vectors.iter().enumerate() {
            let mut out = Signatures::default();
            join.sign(terms, 1, &mut out);
            assert_eq!(out.sketch_of_document().len(), join.sketch_words());
            sketches.push(out.sketch_of_document().to_vec());
            out.rows(doc as u64).for_each(|row| layout.encode(&row, windows.entry(row.key).or_default()));
        }
        let sketches = Sketched(sketches);
        let mut found = BTreeMap::new();
        let mut sink = |pair: Pair| *found.entry((pair.a, pair.b)).or_default() += 1;
        let mut out = Pairs::new(u64::MAX, &mut sink).with_sketches(Some(&sketches));
        windows.values().for_each(|rows| join.pairs(&Window::new(layout, rows), &mut out));
        let compared = out.compared;
        (found, compared)
    }

    fn bound(most: usize, threshold: f64) -> HeavyJoin {
        HeavyJoin::new(HeavyTerms { most, most_documents: 1 << 20, threshold }, 42)
    }

    /// Returns a vector of these terms, each lighter than the previous one.
    fn vector(terms: &[u64]) -> Vec<Term> {
        let weight = |at: usize| 1.0 / (2.0 + at as f64 / 16.0);
        let length = (0..terms.len()).map(|at| weight(at).powi(2)).sum::<f64>().sqrt();
        let term = |(at, &n): (usize, &u64)| Term { hash: splitmix64(5, n) & !1, weight: weight(at) / length, df: 2 };
        terms.iter().enumerate().map(term).collect()
    }

    /// Terms 0 and 1 are the heaviest in every document, so one window contains all documents. In this window, only pairs with a third
    /// shared term are found.
    #[test]
    fn a_large_window_is_cut_by_a_third_term() {
        let documents: Vec<Vec<u64>> = (0..200).map(|doc| vec![0, 1, 10 + doc / 4, 1_000 + doc, 2_000 + doc]).collect();
        let vectors: Vec<Vec<Term>> = documents.iter().map(|terms| vector(terms)).collect();
        // Two shared terms out of five give a cosine of about 0.4. At a threshold of 0.1, the signs rule out almost no pairs.
        let (found, compared) = join(&bound(2, 0.1), &vectors);
        assert!(found.len() > 19_000 && compared == 199 * 100, "without a third term in the sketch nothing is cut");
        let (found, compared) = join(&bound(5, 0.1), &vectors);
        let of_four = |a: u64, b: u64| a / 4 == b / 4;
        // About 2 in 100,000 pairs of terms have equal fingerprints.
        let others = found.keys().filter(|&&(a, b)| !of_four(a, b)).count();
        assert!(others <= 3 && found.len() - others == 50 * 6, "{} with {others}", found.len());
        // Each group of four has 6 pairs in each of three windows: the window of all documents, and the windows of its third term with term
        // 0 and with term 1.
        assert!((3 * 50 * 6..3 * 50 * 6 + 5).contains(&compared), "{compared}");
        // The reported reason agrees with the result for every pair of documents.
        let sketches: Vec<Vec<u64>> = vectors
            .iter()
            .map(|terms| {
                let mut out = Signatures::default();
                bound(5, 0.1).sign(terms, 1, &mut out);
                out.sketch_of_document().to_vec()
            })
            .collect();
        let key = Kind::Two as u128;
        let told = |rows, a: usize, b: usize| bound(5, 0.1).why_not_compared(key, rows, &sketches[a], &sketches[b]);
        let cut = |a: usize, b: usize| told(200, a, b).is_some();
        for (a, b) in (0..200).flat_map(|a| (a + 1..200).map(move |b| (a, b))) {
            assert_eq!(cut(a, b), !found.contains_key(&(a as u64, b as u64)), "{a} {b}");
        }
        assert!(told(200, 0, 9).is_some_and(|told| told.starts_with("200 documents")) && told(64, 0, 9).is_none());
        // Windows with at most 64 documents are compared completely.
        let (found, compared) = join(&bound(5, 0.1), &vectors[..64]);
        assert!(compared == 64 * 63 / 2 + 2 * 16 * 6 && found.len() > 1_900);
    }

    /// If all documents of a window share a third term, no pair is ruled out. A pair with several shared terms is found once.
    #[test]
    fn what_all_have_in_common_cuts_nothing() {
        let vectors = |third: &dyn Fn(u64) -> Vec<u64>| -> Vec<Vec<Term>> {
            (0..100).map(|doc| vector(&[vec![0, 1], third(doc), vec![1_000 + doc]].concat())).collect()
        };
        let (found, _) = join(&bound(4, 0.1), &vectors(&|_| vec![7]));
        assert!(found.len() > 4_900, "{}", found.len());
        // The key of terms 0 and 1 is in every document. The terms that only two documents share identify the pairs.
        let two = vectors(&|doc| vec![10 + doc / 2, 500 + doc / 2]);
        let (found, compared) = join(&HeavyJoin { most_differing: 512, ..bound(4, 0.1) }, &two);
        let windows: u64 = found.values().sum();
        assert!(found.len() == 50 && found.keys().all(|&(a, b)| a / 2 == b / 2));
        // Keys 0 1, 0 10, 1 10 and 0 500: each pair is found once for each key, although its documents share two terms in the first window.
        assert_eq!((windows, compared), (4 * 50, 5 * 50));
    }

    /// A window whose list of third terms does not fit in memory is processed in parts.
    #[test]
    fn parts_of_a_large_window_find_what_the_whole_does() {
        let count = 1_000;
        // Documents 2n and 2n + 1 share thirteen terms that no other document contains.
        let terms = |doc: u64| [vec![0, 1], (0..13).map(|n| 10 + doc / 2 * 13 + n).collect()].concat();
        let vectors: Vec<Vec<Term>> = (0..count).map(|doc| vector(&terms(doc))).collect();
        let whole = join(&bound(15, 0.9), &vectors);
        let parts = join(&HeavyJoin { entries: 1_000, ..bound(15, 0.9) }, &vectors);
        // Fewer than one in ten pairs is compared; some are compared only because different terms have equal fingerprints.
        assert!(whole == parts && whole.1 < count * count / 20, "{} comparisons", whole.1);
        let found = parts.0;
        let expected: BTreeSet<(u64, u64)> = (0..count / 2).map(|n| (2 * n, 2 * n + 1)).collect();
        assert!(found.keys().copied().collect::<BTreeSet<_>>() == expected, "{} of {count}", found.len());
    }

    /// Documents with common terms are compared only if these terms could reach the threshold.
    #[test]
    fn common_terms_must_reach_the_threshold_by_themselves() {
        let join_of = |threshold| HeavyJoin::new(HeavyTerms { most: 4, most_documents: 400, threshold }, 42);
        let document = |common: f64, own: u64| -> Vec<Term> {
            let mut terms: Vec<Term> =
                (0..50).map(|n| Term { hash: 2 * n, weight: common / 50f64.sqrt(), df: 1_000 }).collect();
            terms.push(Term { hash: 10_000 + 2 * own, weight: (1.0 - common * common).sqrt(), df: 1 });
            terms
        };
        // 0.9 * 0.7 = 0.63, 0.9 * 0.65 = 0.585, 0.7 * 0.7 = 0.49.
        let vectors = [document(0.9, 1), document(0.7, 2), document(0.7, 3), document(0.65, 4)];
        let (found, compared) = join(&join_of(0.6), &vectors);
        assert_eq!((found.into_keys().collect::<Vec<_>>(), compared), (vec![(0, 1), (0, 2)], 4 * 2));
        let (found, compared) = join(&join_of(0.8), &vectors);
        assert_eq!((found.len(), compared), (0, 0));
        let sketches = vectors.map(|terms| {
            let mut out = Signatures::default();
            join_of(0.6).sign(&terms, 1, &mut out);
            out.sketch_of_document().to_vec()
        });
        let told =
            |a: usize, b: usize| join_of(0.6).why_not_compared(Kind::Common as u128, 4, &sketches[a], &sketches[b]);
        assert!(told(0, 1).is_none() && told(1, 2).is_some_and(|told| told.ends_with("at most 0.490 to the cosine")));
    }
}

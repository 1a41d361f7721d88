//! Finds the word with the largest weighted surplus in one of two texts. A large surplus between pages with the same template shows that
//! they state different facts.
//!
//! ```text
//! weight of a text = sum of count x idf        surplus of u over v = the largest (count in u - count in v) x idf, over u's weight
//! "a a b c" over "a b c", all idf 1: a, 1 of 4
//! ```

use super::evidence::{Stated, Terms};
use super::vector::Weighing;
use crate::measure::Surplus;

/// Reads the terms of one text from the front.
struct Side<'e> {
    terms: Terms<'e>,
    next: Option<Stated>,
    weight: f64,
    words: f64,
    /// The largest surplus so far, with its word.
    most: (f64, u64),
}

impl Weighing<'_> {
    /// Returns whether the word with this hash has a surplus.
    pub(crate) fn is_word(&self, surplus: Surplus, hash: u64) -> bool {
        let rank = self.units.table(self.stats).get(hash).map(|found| self.units.table(self.stats).rank(found.at));
        surplus.word == word(self.place(hash & !1, rank.unwrap_or(u64::MAX)))
    }

    /// Returns the surplus of each of two texts over the other, computed from their evidence.
    pub(crate) fn surplus(&self, a: &[u64], b: &[u64]) -> [Surplus; 2] {
        let (Some(a), Some(b)) = (self.terms(a), self.terms(b)) else { return [Surplus::default(); 2] };
        let (mut a, mut b) = (Side::new(a), Side::new(b));
        while let Some((order, place)) = next(&a, &b) {
            let x = if order.is_le() { self.take(&mut a) } else { None };
            let y = if order.is_ge() { self.take(&mut b) } else { None };
            let Some(idf) = x.or(y).map(|(_, idf)| idf) else { continue };
            let more = (x.map_or(0.0, |(tf, _)| tf) - y.map_or(0.0, |(tf, _)| tf)) * idf;
            a.note(more, place);
            b.note(-more, place);
        }
        [a, b].map(|side| Surplus {
            share: if side.weight > 0.0 { side.most.0 / side.weight } else { 0.0 },
            word: side.most.1,
            words: side.words as u64,
        })
    }

    /// Returns the number of occurrences of the next term in its text, and the term's idf. Returns `None` for a term of the first line.
    fn take(&self, side: &mut Side<'_>) -> Option<(f64, f64)> {
        let term = std::mem::replace(&mut side.next, side.terms.next())?;
        if term.is_head() {
            return None;
        }
        let (tf, idf) = (term.count as f64, self.idf.as_ref().map_or(1.0, |idf| idf.of(term.df)));
        side.weight += tf * idf;
        side.words += tf;
        Some((tf, idf))
    }
}

impl<'e> Side<'e> {
    fn new(mut terms: Terms<'e>) -> Side<'e> {
        Side { next: terms.next(), terms, weight: 0.0, words: 0.0, most: (0.0, 0) }
    }

    fn note(&mut self, surplus: f64, place: u64) {
        if surplus > self.most.0 {
            self.most = (surplus, word(place));
        }
    }
}

/// Returns the number that identifies the word at a position; it is always above 0.
pub(crate) fn word(place: u64) -> u64 {
    place / 2 + 1
}

/// Compares the next terms of two texts in the order shared by all documents. Returns the result and the lower position, or `None` if both
/// texts have ended.
fn next(a: &Side<'_>, b: &Side<'_>) -> Option<(std::cmp::Ordering, u64)> {
    let first = |side: &Side<'_>| side.next.map(|term| term.place);
    match (first(a), first(b)) {
        (None, None) => None,
        (Some(place), None) => Some((std::cmp::Ordering::Less, place)),
        (None, Some(place)) => Some((std::cmp::Ordering::Greater, place)),
        (Some(x), Some(y)) => Some((x.cmp(&y), x.min(y))),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::algorithm::kit::by_count::ByCount;
    use crate::algorithm::kit::units::Units;
    use crate::corpus::CorpusStats;
    use crate::testing::in_memory;
    use dupsift_core::hash::hash64;
    use dupsift_text::{Pipeline, TextOptions};

    fn surplus(sublinear: bool, idf: Option<ByCount>, head: f64, a: &str, b: &str) -> [Surplus; 2] {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        let stats = CorpusStats::none();
        let weighing = Weighing { sublinear, idf, head, units: Units { name: "word", han_only: false }, stats: &stats };
        let evidence = |text: &str| {
            let mut out = Vec::new();
            weighing.evidence(&weighing.vector(&pipeline.analyse(text)), &mut out);
            out
        };
        weighing.surplus(&evidence(a), &evidence(b))
    }

    #[test]
    fn worked_values() {
        // A word that was not counted.
        let name = |word: &[u8]| (hash64(word) >> 2) + 1;
        for (sublinear, head) in [(false, 0.0), (true, 0.0), (true, 0.1), (false, 0.5)] {
            let [a, b] = surplus(sublinear, None, head, "a a b c", "a b c");
            assert_eq!((a.share, a.word, a.words), (0.25, name(b"a"), 4));
            assert_eq!((b.share, b.word, b.words), (0.0, 0, 3));
            // Word a has three more occurrences in the first text, which has seven words; word d has one more in the second text, which
            // has five.
            let [a, b] = surplus(sublinear, None, head, "a a a\na b c e", "a b c d e");
            assert_eq!((a.share, a.words, b.share, b.word), (3.0 / 7.0, 7, 0.2, name(b"d")));
        }
        assert_eq!(surplus(true, None, 0.1, "?", "a")[0], Surplus::default());
    }

    /// Checks the results for random texts against the definition. Without counts, idf multiplies all weights by the same factor and has no
    /// effect.
    #[test]
    fn random_texts() {
        let texts = in_memory::texts(3, 60, 40);
        let counts = in_memory::counts(&texts);
        let sum = |counts: &BTreeMap<&str, f64>| counts.values().sum::<f64>();
        for (sublinear, head) in [(false, 0.1), (true, 0.1), (true, 0.0)] {
            for (at, a) in texts.iter().enumerate() {
                let other = (at * 7 + 1) % texts.len();
                let found = surplus(sublinear, Some(ByCount::new(1, |_| 2.5)), head, a, &texts[other]);
                let most = |u: &BTreeMap<&str, f64>, v: &BTreeMap<&str, f64>| {
                    u.iter().map(|(word, tf)| tf - v.get(word).unwrap_or(&0.0)).fold(0.0, f64::max) / sum(u)
                };
                let expected = [most(&counts[at], &counts[other]), most(&counts[other], &counts[at])];
                for (found, expected) in found.iter().zip(expected) {
                    assert!((found.share - expected).abs() < 1e-9, "{found:?} {expected}");
                }
                assert_eq!(found[0].words as f64, sum(&counts[at]));
            }
        }
    }
}

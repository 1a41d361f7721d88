//! Compares the documents of a window by their sketches: all of them, or, in a large group, the nearest ones.

use std::collections::HashMap;
use std::ops::Range;

use super::Sketches;

/// The number of documents whose sketches are loaded together for comparison.
pub(super) const BLOCK: usize = 1 << 13;
/// The number of candidates with which each document is always compared: the nearest ones, judging by the sketches. A candidate pair is
/// verified if one of its documents is among the nearest candidates of the other one, so the number of verified pairs is at most this many
/// times the number of documents.
/// In eighteen corpora, 5 of the 97,000 documents that have candidates have more than this (benches/records/growth.md).
pub const NEAREST_CANDIDATES: usize = 128;

/// Compares the documents of a window by their sketches. A document is compared with the following documents up to its `end`.
pub(super) struct Sketched<'s, F> {
    pub docs: &'s [u64],
    pub sketches: &'s dyn Sketches,
    /// The maximum number of places in which the sketches of a pair differ.
    pub most: u32,
    pub differing: F,
    /// The buffer for the sketches of one block.
    pub words: Vec<u64>,
}

/// The number of documents of a window that [`Sketched::is_crowded`] compares with all others. Whether a large group is noticed affects only
/// the cost, because [`Sketched::nearest`] leaves out only pairs that are not verified; sixteen documents cost at most an eighth of the window.
const SAMPLED: usize = 16;
/// The number of documents for which [`Sketched::nearest`] collects the nearest ones at the same time, which bounds the memory.
pub(super) const COLLECTED: usize = if cfg!(test) { 1 << 8 } else { 1 << 12 };

impl<F> Sketched<'_, F> {
    fn fetch<const N: usize>(&self, docs: &[u64], words: &mut Vec<u64>)
    where
        F: Fn(&[u64; N], &[u64; N]) -> u32,
    {
        words.clear();
        words.resize(docs.len() * N, 0);
        words.as_chunks_mut::<N>().0.iter_mut().zip(docs).for_each(|(to, &doc)| self.sketches.copy(doc, to));
    }

    /// Calls `found` with all pairs that differ in at most `most` places.
    pub(crate) fn all<const N: usize>(&mut self, end: impl Fn(usize) -> usize, mut found: impl FnMut(u64, u64, u32))
    where
        F: Fn(&[u64; N], &[u64; N]) -> u32,
    {
        let (docs, mut words, mut others) = (self.docs, std::mem::take(&mut self.words), Vec::new());
        for first in (0..docs.len()).step_by(BLOCK) {
            let rows = first..docs.len().min(first + BLOCK);
            self.fetch(&docs[rows.clone()], &mut words);
            let (left, _) = words.as_chunks::<N>();
            let furthest = rows.clone().map(&end).max().unwrap_or(0);
            for second in (first..furthest).step_by(BLOCK) {
                let followers = second..furthest.min(second + BLOCK);
                // The documents that follow immediately are in the same block.
                let right = if second == first {
                    left
                } else {
                    self.fetch(&docs[followers.clone()], &mut others);
                    others.as_chunks::<N>().0
                };
                for i in rows.clone() {
                    let (from, to) = ((i + 1).max(second), end(i).min(followers.end));
                    if from >= to {
                        continue;
                    }
                    for (j, other) in (from..to).zip(&right[from - second..to - second]) {
                        let apart = (self.differing)(&left[i - first], other);
                        if apart <= self.most {
                            found(docs[i], docs[j], apart);
                        }
                    }
                }
            }
        }
        self.words = words;
    }

    /// Returns whether one of a few documents has more than [`NEAREST_CANDIDATES`] documents that differ in at most `most` places.
    pub(crate) fn is_crowded<const N: usize>(&mut self, ends: &[usize]) -> bool
    where
        F: Fn(&[u64; N], &[u64; N]) -> u32,
    {
        let mut near = [0; SAMPLED];
        let rows: Vec<usize> = (0..SAMPLED).map(|at| at * self.docs.len() / SAMPLED).collect();
        self.each_near(&rows, (0..self.docs.len(), true), ends, |at, _, _| near[at] += 1);
        near.into_iter().any(|near| near > NEAREST_CANDIDATES)
    }

    /// Calls `found` with the pairs that [`Sketched::all`] finds and in which one document is among the [`NEAREST_CANDIDATES`] nearest ones
    /// of the other document. A pair may be found twice. Returns the number of pairs that are left out, which is approximate in windows of
    /// more than [`COLLECTED`] documents.
    pub(crate) fn nearest<const N: usize>(&mut self, ends: &[usize], mut found: impl FnMut(u64, u64, u32)) -> u64
    where
        F: Fn(&[u64; N], &[u64; N]) -> u32,
    {
        // Each pair counts once for each of its documents.
        let (docs, mut near_pairs, mut found_pairs) = (self.docs, 0, 0);
        for first in (0..docs.len()).step_by(COLLECTED) {
            let block = first..docs.len().min(first + COLLECTED);
            let rows: Vec<usize> = block.clone().collect();
            let mut nearest = vec![Vec::new(); rows.len()];
            let mut note = |row: usize, other: usize, apart: u32| {
                near_pairs += 1;
                let nearest: &mut Vec<Nearness> = &mut nearest[row - first];
                nearest.push(Nearness::new(apart, docs[other]));
                if nearest.len() >= 2 * NEAREST_CANDIDATES {
                    keep_nearest(nearest);
                }
            };
            // Each pair of documents of the block is compared once, and noted for both of them.
            self.each_near(&rows, (block.clone(), false), ends, |at, other, apart| {
                note(first + at, other, apart);
                note(other, first + at, apart);
            });
            for others in [0..first, block.end..docs.len()] {
                self.each_near(&rows, (others, true), ends, |at, other, apart| note(first + at, other, apart));
            }
            nearest.iter_mut().for_each(keep_nearest);
            let farthest: Vec<Option<Nearness>> = nearest.iter().map(|nearest| nearest.iter().max().copied()).collect();
            let places: HashMap<u64, usize> = docs[block].iter().copied().zip(0..).collect();
            for (&row, nearest) in rows.iter().zip(&nearest) {
                for near in nearest {
                    let (doc, other, apart) = (docs[row], near.doc(), near.apart());
                    let place = places.get(&other);
                    let farthest_of_other = place.and_then(|&place| farthest[place]);
                    // A pair that is in the lists of two documents of this block is found through the first one.
                    if doc < other || farthest_of_other.is_none_or(|last| last < Nearness::new(apart, doc)) {
                        found_pairs += if place.is_some() { 2 } else { 1 };
                        found(doc, other, apart);
                    }
                }
            }
        }
        (near_pairs - found_pairs) / 2
    }

    /// Calls `near` with each of the `others` that differs from one of these rows in at most `most` places. If not `both`, a row is compared
    /// only with documents that follow it.
    fn each_near<const N: usize>(
        &mut self,
        rows: &[usize],
        (others, both): (Range<usize>, bool),
        ends: &[usize],
        mut near: impl FnMut(usize, usize, u32),
    ) where
        F: Fn(&[u64; N], &[u64; N]) -> u32,
    {
        let (mut words, mut own) = (std::mem::take(&mut self.words), Vec::new());
        self.fetch(&rows.iter().map(|&row| self.docs[row]).collect::<Vec<_>>(), &mut own);
        for first in others.clone().step_by(BLOCK) {
            let block = first..others.end.min(first + BLOCK);
            self.fetch(&self.docs[block.clone()], &mut words);
            for (at, (&row, sketch)) in rows.iter().zip(own.as_chunks::<N>().0).enumerate() {
                for (other, sketch_of_other) in block.clone().zip(words.as_chunks::<N>().0) {
                    let compared =
                        if other > row { other < ends[row] } else { both && other < row && row < ends[other] };
                    if compared {
                        let apart = (self.differing)(sketch, sketch_of_other);
                        if apart <= self.most {
                            near(at, other, apart);
                        }
                    }
                }
            }
        }
        self.words = words;
    }
}

/// The distance of a document from another one, followed by its number, so that documents at the same distance are ordered by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nearness(u64);

impl Nearness {
    /// The number of bits of a document number.
    const DOC_BITS: u32 = 48;

    /// Returns the nearness of a document. Distances above 65,535 count as equal.
    pub fn new(apart: u32, doc: u64) -> Nearness {
        Nearness(u64::from(apart.min(u16::MAX.into())) << Nearness::DOC_BITS | doc)
    }

    fn doc(self) -> u64 {
        self.0 & ((1 << Nearness::DOC_BITS) - 1)
    }

    fn apart(self) -> u32 {
        (self.0 >> Nearness::DOC_BITS) as u32
    }

    /// Returns the number that represents the nearness. Nearer documents have smaller numbers.
    pub fn to_number(self) -> u64 {
        self.0
    }
}

/// Keeps the [`NEAREST_CANDIDATES`] nearest documents.
fn keep_nearest(nearest: &mut Vec<Nearness>) {
    if nearest.len() > NEAREST_CANDIDATES {
        nearest.select_nth_unstable(NEAREST_CANDIDATES);
        nearest.truncate(NEAREST_CANDIDATES);
    }
}

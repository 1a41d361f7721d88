//! margin: keeps a pair if its similarity is close enough to the best similarities of its documents.
//!
//! A fold over the judged pairs of representatives computes the best similarity of each document; each pair is then checked against the
//! margin. If clusters are to stay complete (`M:D`), the pairs within the margin connect documents into components, and a pair within one
//! component is also kept if its own similarity is high enough.

use super::connect::Forest;
use crate::algorithm::Margin;
use crate::algorithm::kit::margin::{keeps_whole, within};
use dupsift_core::row::{Pair, Slots};

/// Returns the contribution of a pair to the best similarity of each of its documents. The best similarity of a document is the highest
/// contribution among all its pairs, or 0 if the document is in no pair.
#[inline]
pub fn best(pair: &Pair) -> [(u64, u32); 2] {
    // Similarities are not negative, so their bits sort in the same order.
    let similarity = pair.score.similarity.max(0.0).to_bits();
    [(pair.a, similarity), (pair.b, similarity)]
}

/// Returns whether a pair is within the margin of the best similarity of its two documents, as [`best`] encodes it.
#[inline]
pub fn comes_within(margin: Margin, pair: &Pair, best: impl Fn(u64) -> u32) -> bool {
    let [a, b] = [pair.a, pair.b].map(|doc| f32::from_bits(best(doc)));
    within(margin, pair.score.similarity, a, b)
}

/// Holds the components of the pairs within the margin, if clusters are to stay complete.
pub struct Whole<'f> {
    margin: Margin,
    forest: Forest<'f>,
}

impl<'f> Whole<'f> {
    /// Creates an instance in which no pairs have been joined; `parents` is as in [`Forest::new`].
    pub fn new(margin: Margin, parents: Slots<'f>) -> Whole<'f> {
        Whole { margin, forest: Forest::new(parents) }
    }

    /// Returns whether a margin needs components.
    pub fn is_asked(margin: Margin) -> bool {
        margin.whole.is_some()
    }

    /// Joins a pair that is within the margin.
    pub fn join(&mut self, pair: &Pair) {
        self.forest.union(pair.a, pair.b);
    }

    /// Returns whether a pair outside the margin is kept. Call this after all pairs within the margin have been joined.
    pub fn keeps(&mut self, pair: &Pair) -> bool {
        keeps_whole(self.margin, pair.score) && self.forest.root(pair.a) == self.forest.root(pair.b)
    }
}

//! margin: a pair stays if its similarity comes near enough to the best that its documents have.
//!
//! A fold over the judged pairs of representatives gives the best similarity of each document; a look at each pair then says
//! whether it comes within the margin. Where clusters are to stay whole (`M:D`), the pairs that came through join their
//! documents, and a pair within one component stays too if it is near enough by itself.

use super::connect::Forest;
use crate::algorithm::Margin;
use crate::algorithm::kit::margin::{keeps_whole, within};
use dupsift_core::row::{Pair, Slots};

/// What a pair says of the best similarity of each of its documents. The larger number of two is the better one, so the best
/// of a document is the largest of all, in any order; 0 where it stands in no pair.
#[inline]
pub fn best(pair: &Pair) -> [(u64, u32); 2] {
    // Similarities are not negative, so their bits are in their order.
    let similarity = pair.score.similarity.max(0.0).to_bits();
    [(pair.a, similarity), (pair.b, similarity)]
}

/// Whether a pair comes within the margin of the best of its two documents, as [`best`] has it.
#[inline]
pub fn comes_within(margin: Margin, pair: &Pair, best: impl Fn(u64) -> u32) -> bool {
    let [a, b] = [pair.a, pair.b].map(|doc| f32::from_bits(best(doc)));
    within(margin, pair.score.similarity, a, b)
}

/// The components of the pairs that came within the margin, where clusters are to stay whole.
pub struct Whole<'f> {
    margin: Margin,
    forest: Forest<'f>,
}

impl<'f> Whole<'f> {
    /// Of no pairs yet; `parents` as [`Forest::new`] takes them.
    pub fn new(margin: Margin, parents: Slots<'f>) -> Whole<'f> {
        Whole { margin, forest: Forest::new(parents) }
    }

    /// Whether a margin asks for components.
    pub fn is_asked(margin: Margin) -> bool {
        margin.whole.is_some()
    }

    /// Takes a pair that came within the margin.
    pub fn join(&mut self, pair: &Pair) {
        self.forest.union(pair.a, pair.b);
    }

    /// Whether a pair stays although it does not come within the margin; all pairs that do have been taken.
    pub fn keeps(&mut self, pair: &Pair) -> bool {
        keeps_whole(self.margin, pair.score) && self.forest.root(pair.a) == self.forest.root(pair.b)
    }
}

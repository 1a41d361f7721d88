//! verify: the check of pairs on the texts.
//!
//! What a check needs of a document is its evidence: numbers, taken from the text once. A check says of two documents by their
//! evidence whether they are a pair. The evidence of most methods is taken of the documents that stand in candidate pairs
//! alone; a method nearly all of whose documents do takes it when they are signed (`Bound::takes_evidence_early`).

use super::bound::Check;
use crate::measure::Undecided;
use dupsift_core::row::Pair;

/// The two documents of a pair, of which evidence has to be known.
pub fn documents(pair: &Pair) -> [u64; 2] {
    [pair.a, pair.b]
}

/// What the check makes of a pair, by the evidence of its two documents. A pair that would take too long is none, and `undecided`
/// counts it.
#[inline]
pub fn judge(check: Check<'_>, [a, b]: [&[u64]; 2], pair: Pair, undecided: impl FnOnce()) -> Option<Pair> {
    check.judge(a, b, pair).unwrap_or_else(|Undecided| {
        undecided();
        None
    })
}

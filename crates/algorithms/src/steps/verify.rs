//! verify: verifies pairs by their texts.
//!
//! The evidence of a document is a list of numbers computed once from its text. A check decides whether two documents form a pair, based on
//! their evidence. Most methods record evidence only for documents in candidate pairs; if nearly all documents are candidates, a method
//! records it during signing (`Bound::takes_evidence_early`).

use crate::measure::Undecided;
use crate::recipe::bound::Check;
use dupsift_core::row::Pair;

/// Returns the two documents whose evidence is needed to check a pair.
pub fn documents(pair: &Pair) -> [u64; 2] {
    [pair.a, pair.b]
}

/// Returns the pair if the check accepts the evidence of its two documents. If the comparison would take too long, calls `undecided` and
/// rejects the pair.
#[inline]
pub fn judge(check: Check<'_>, [a, b]: [&[u64]; 2], pair: Pair, undecided: impl FnOnce()) -> Option<Pair> {
    check.judge(a, b, pair).unwrap_or_else(|Undecided| {
        undecided();
        None
    })
}

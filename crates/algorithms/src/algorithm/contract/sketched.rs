//! What an index keeps of each document beside its rows, by which most documents that have a key of a night are ruled out before
//! their texts are looked up.

use dupsift_core::row::Signatures;

/// A judgement of two documents by a few words of each, for methods whose keys bring many together that are no pair.
pub trait Sketched: Sync {
    /// Words of eight bytes that are kept of a document; at most 28, so that a row has room for them.
    fn words(&self) -> usize;

    /// Those of a document with these rows.
    fn keep(&self, signed: &Signatures, to: &mut Vec<u64>);

    /// Whether two documents may be a pair: of a pair that [`Match::pairs`](super::Match::pairs) makes they always may.
    fn may_be_pair(&self, a: &[u64], b: &[u64]) -> bool;

    /// Whether in a window of up to so many rows of this key each pair is judged by itself: then a document that may be in no
    /// pair can be missing, and the pairs of the others stay what they are.
    fn judges_each(&self, _key: u128, _rows: u64) -> bool {
        true
    }

    /// Which rule compares those that meet by this key: of two windows of the same documents, one of each rule may have other pairs.
    fn rule_of(&self, _key: u128) -> u64 {
        0
    }
}

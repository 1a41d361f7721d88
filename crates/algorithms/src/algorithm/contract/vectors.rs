//! What a method of weighted term vectors can do besides signing and comparing. `cosine` implements it.

use crate::measure::{Surplus, TitleWords, Versions};
use dupsift_core::row::Signatures;
use dupsift_text::Analysis;

/// The extras of a [`Signer`](super::Signer) whose documents are vectors of weighted terms: it records evidence while it signs,
/// says which word two texts differ in, and compares only some documents of a large window.
pub trait TermVectors: Send + Sync {
    /// Signs like [`Signer::sign`](super::Signer::sign), and appends what [`Verify::evidence`](super::Verify::evidence) of the
    /// method's own check would. So no document is read again for the check. It pays if most documents are in a candidate
    /// pair, and if signing computes the evidence anyway.
    fn sign_with_evidence(&self, document: &Analysis<'_>, out: &mut Signatures, evidence: &mut Vec<u64>);

    /// Returns the rule that relates pairs after they are checked, if `relate=true` asks for it.
    fn versions(&self) -> Option<&Versions>;

    /// Returns the surplus of each of two documents over the other, by their evidence.
    fn surplus(&self, a: &[u64], b: &[u64]) -> [Surplus; 2];

    /// Returns what the first line of each of two documents says about the other one. A word of at most `few` documents is rare.
    fn titles(&self, a: &[u64], b: &[u64], few: u64) -> [TitleWords; 2];

    /// Returns whether the word with that hash is the word of a [`Surplus`].
    fn is_word(&self, surplus: Surplus, hash: u64) -> bool;

    /// Returns whether each pair in a window of up to so many rows of this key is judged alone. If so, leaving out a document that is
    /// in no pair does not change the pairs of the others.
    fn judges_each(&self, key: u128, rows: u64) -> bool;

    /// Returns which rule compares the documents that share this key. Two windows with the same documents have the same pairs
    /// only if their rule is the same.
    fn window_rule(&self, key: u128) -> u64;

    /// Says how far two sketches are apart, for `explain`.
    fn describe_sketches(&self, a: &[u64], b: &[u64]) -> Option<String>;

    /// Says why a window of so many rows does not compare two documents with these sketches. `None` if it compares them. A window
    /// never leaves out a comparison because it is small.
    fn describe_window(&self, key: u128, rows: u64, a: &[u64], b: &[u64]) -> Option<String>;
}

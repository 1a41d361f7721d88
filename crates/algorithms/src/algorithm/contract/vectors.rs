//! Defines additional operations for methods with weighted term vectors. `cosine` implements these operations.

use crate::measure::{Surplus, TitleWords, Versions};
use dupsift_core::row::Signatures;
use dupsift_text::Analysis;

/// Extends a [`Signer`](super::Signer) whose documents are vectors of weighted terms. Such a method records evidence while it signs,
/// reports the words in which two texts differ, and compares only some documents of a large window.
pub trait TermVectors: Send + Sync {
    /// Emits the same rows as [`Signer::sign`](super::Signer::sign), and appends the same evidence as
    /// [`Verify::evidence`](super::Verify::evidence) of the method's own check. The check then does not have to read the document. This
    /// pays off if most documents are in a candidate pair and signing computes the evidence anyway.
    fn sign_with_evidence(&self, document: &Analysis<'_>, out: &mut Signatures, evidence: &mut Vec<u64>);

    /// Returns the rule that classifies pairs after they are checked, if `relate=true`.
    fn versions(&self) -> Option<&Versions>;

    /// Returns the surplus of each of two documents over the other, computed from their evidence.
    fn surplus(&self, a: &[u64], b: &[u64]) -> [Surplus; 2];

    /// Compares the first line of each of two documents with the other document. A word is rare if at most `few` documents contain
    /// it.
    fn titles(&self, a: &[u64], b: &[u64], few: u64) -> [TitleWords; 2];

    /// Returns whether the word with this hash is the word to which a [`Surplus`] refers.
    fn is_word(&self, surplus: Surplus, hash: u64) -> bool;

    /// Returns whether each pair in a window of up to `rows` rows with this key is judged independently. If so, a document that is in no
    /// pair can be omitted without affecting any pair.
    fn judges_each(&self, key: u128, rows: u64) -> bool;

    /// Returns the rule by which the documents with this key are compared. Two windows with the same documents have the same pairs only if
    /// their rule is the same.
    fn window_rule(&self, key: u128) -> u64;

    /// Describes the distance between two sketches, for `explain`.
    fn describe_sketches(&self, a: &[u64], b: &[u64]) -> Option<String>;

    /// Returns the reason why two documents with these sketches are not compared in a window of `rows` rows. Returns `None` if they are
    /// compared. A small window is never the reason.
    fn describe_window(&self, key: u128, rows: u64, a: &[u64], b: &[u64]) -> Option<String>;
}

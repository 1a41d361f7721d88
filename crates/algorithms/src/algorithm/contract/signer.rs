//! Defines a method bound to a corpus: what rows a document has, and how rows become pairs.

use super::{SignatureScheme, TermVectors, Verify};
use dupsift_core::row::{Pair, Pairs, Row, Score, Signatures, Window};
use dupsift_text::Analysis;

/// Represents a method bound to a corpus. If each document has one key and equal keys are duplicates, implement
/// [`KeySigner`](super::KeySigner) instead.
pub trait Signer: Send + Sync {
    /// Returns the scheme that describes how signatures are built. Each run calls this function once and keeps the result.
    fn scheme(&self) -> SignatureScheme;

    /// Emits the rows of the document, or the reason why it has no rows.
    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures);

    /// Returns one entry per key: the words of the document that the key represents, in readable form, or `None` if the key does not
    /// represent words.
    fn words_of_keys(&self, _document: &Analysis<'_>, keys: &[u128]) -> Vec<Option<String>> {
        vec![None; keys.len()]
    }

    /// Returns the score of two rows in the same window, or `None` if their documents are not a pair.
    fn judge(&self, _a: &Row<'_>, _b: &Row<'_>) -> Option<Score> {
        Some(Score::EQUAL)
    }

    /// Finds all pairs among the rows with the same key. The default implementation calls [`Signer::judge`] for every pair of rows.
    /// Override it if the method does not need to compare all rows or has several rules.
    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        out.compare_all(window, |a, b| self.judge(a, b).map(|score| Pair::new(a.doc, b.doc, score, 1)));
    }

    /// Emits the rows of the second round for one row of each group of equal keys
    /// ([`SharedKey::DuplicatesAndProbes`](super::SharedKey::DuplicatesAndProbes)).
    fn probes(&self, _row: &Row<'_>, _out: &mut Signatures) {}

    /// Appends the [`SignatureScheme::index_words`] words that an index keeps for a document with these rows.
    fn index_sketch(&self, _signed: &Signatures, _out: &mut Vec<u64>) {}

    /// Returns whether two documents can be a pair, judging only by their index words or sketches. The result must be true for
    /// every pair that [`Signer::pairs`] finds.
    fn may_be_pair(&self, _a: &[u64], _b: &[u64]) -> bool {
        true
    }

    /// Returns the method's own text check for candidate pairs, if it has one.
    fn verify(&self) -> Option<&dyn Verify> {
        None
    }

    /// Returns the additional operations of a method with weighted term vectors.
    fn vectors(&self) -> Option<&dyn TermVectors> {
        None
    }
}

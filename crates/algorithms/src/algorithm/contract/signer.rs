//! The method bound to a corpus: the rows of a document, and how rows become pairs.

use super::{SignatureScheme, TermVectors, Verify};
use dupsift_core::row::{Pair, Pairs, Row, Score, Signatures, Window};
use dupsift_text::Analysis;

/// A method bound to a corpus. If each document has one key and equal keys are duplicates, implement
/// [`KeySigner`](super::KeySigner) instead.
pub trait Signer: Send + Sync {
    /// Returns how signatures are built. A run asks once and keeps the answer.
    fn scheme(&self) -> SignatureScheme;

    /// Emits the rows of the document, or the reason why it has none.
    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures);

    /// Returns the words of a document that each of its keys stands for, for a person to read; `None` for keys of anything else.
    fn words_of_keys(&self, _document: &Analysis<'_>, keys: &[u128]) -> Vec<Option<String>> {
        vec![None; keys.len()]
    }

    /// Returns how similar the documents of two rows of one window are, or `None` if they are no pair.
    fn judge(&self, _a: &Row<'_>, _b: &Row<'_>) -> Option<Score> {
        Some(Score::EQUAL)
    }

    /// Finds all pairs among the rows of one key. The default asks [`Signer::judge`] for every two rows. Override it if the method
    /// need not compare all rows, or has several rules.
    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        out.compare_all(window, |a, b| self.judge(a, b).map(|score| Pair::new(a.doc, b.doc, score, 1)));
    }

    /// Emits the rows of the second round for one row of each group of equal keys
    /// ([`SharedKey::DuplicatesAndProbes`](super::SharedKey::DuplicatesAndProbes)).
    fn probes(&self, _row: &Row<'_>, _out: &mut Signatures) {}

    /// Appends what an index keeps of a document with these rows: [`SignatureScheme::index_words`] words.
    fn index_sketch(&self, _signed: &Signatures, _out: &mut Vec<u64>) {}

    /// Returns whether two documents may be a pair, by the words of both that an index keeps or by their sketches. It must be true for
    /// every pair that [`Signer::pairs`] finds.
    fn may_be_pair(&self, _a: &[u64], _b: &[u64]) -> bool {
        true
    }

    /// Returns the method's own check of a candidate pair on the texts.
    fn verify(&self) -> Option<&dyn Verify> {
        None
    }

    /// Returns the extras of a method of weighted term vectors.
    fn vectors(&self) -> Option<&dyn TermVectors> {
        None
    }
}

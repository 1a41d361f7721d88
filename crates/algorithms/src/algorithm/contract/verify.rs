//! The check of a pair on the texts of its documents, and what the rule for versions asks of it.

use crate::measure::{Decided, Surplus};
use dupsift_core::row::{Pair, Score};
use dupsift_text::Analysis;

/// A check of a pair on the texts. Each document's evidence is taken once and kept outside of memory, so a document in a
/// thousand pairs is cut once.
pub trait Verify: Send + Sync {
    /// The setting as the user writes it: `jaccard:0.7`.
    fn name(&self) -> String;

    /// What the comparison needs of one document: any numbers.
    fn evidence(&self, document: &Analysis<'_>, out: &mut Vec<u64>);

    /// The similarity, where it reaches the threshold.
    ///
    /// # Errors
    /// [`Undecided`](crate::measure::Undecided) for a pair that would take more work than a comparison may: about a second, so that a run that is to end
    /// does not wait for it. Such pairs are counted.
    fn verify(&self, a: &[u64], b: &[u64]) -> Decided<f32>;

    /// The pair of two documents that met, as it stays: with the similarity in place of the method's own score. A check
    /// that knows more (a direction, a distance) says so here.
    ///
    /// # Errors
    /// As [`Verify::verify`].
    fn judge(&self, a: &[u64], b: &[u64], met: Pair) -> Decided<Pair> {
        let similarity = self.verify(a, b)?;
        Ok(similarity.map(|similarity| Pair { score: Score { similarity, ..met.score }, ..met }))
    }
}

/// What the rule that tells versions from forms asks of a method ([`Versions`](crate::measure::Versions)): what its evidence says of single words.
pub trait Relating: Send + Sync {
    /// The surplus of each of two documents over the other, by their [`Verify::evidence`].
    fn surplus(&self, a: &[u64], b: &[u64]) -> [Surplus; 2];

    /// Whether a word with that hash is the one of a [`Surplus`].
    fn is_word(&self, surplus: Surplus, hash: u64) -> bool;
}

//! Defines how an algorithm checks candidate pairs by comparing their text.

use crate::measure::Decided;
use dupsift_core::row::Pair;
use dupsift_text::Analysis;

/// Checks candidate pairs by comparing their text. The evidence of each document is extracted once and kept in a temporary file, so a
/// document is analyzed only once even if it is in a thousand pairs.
pub trait Verify: Send + Sync {
    /// Describes the check and its threshold, such as `lcs:0.7`.
    fn name(&self) -> String;

    /// Appends the numbers that the comparison needs from one document.
    fn evidence(&self, document: &Analysis<'_>, out: &mut Vec<u64>);

    /// Returns the candidate pair with its similarity, or `None` if the similarity is below the threshold. Most checks return
    /// [`Pair::with_similarity`]; a check that computes a direction or a distance also sets these values.
    ///
    /// # Errors
    /// Returns [`Undecided`](crate::measure::Undecided) if the comparison would take more than about a second, because a request to stop
    /// would have to wait for it. Undecided pairs are counted.
    fn compare(&self, a: &[u64], b: &[u64], candidate: Pair) -> Decided<Pair>;
}

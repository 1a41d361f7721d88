//! The check of a candidate pair on the texts of its documents.

use crate::measure::Decided;
use dupsift_core::row::Pair;
use dupsift_text::Analysis;

/// A check of candidate pairs on the texts. The evidence of each document is taken once and kept in a temporary file, so that a document
/// in a thousand pairs is analyzed once.
pub trait Verify: Send + Sync {
    /// Returns the setting as you write it: `jaccard:0.7`.
    fn name(&self) -> String;

    /// Appends what the comparison needs of one document: any numbers.
    fn evidence(&self, document: &Analysis<'_>, out: &mut Vec<u64>);

    /// Returns the candidate pair with its similarity if it reaches the threshold, else `None`. Most checks return
    /// [`Pair::with_similarity`]; a check that knows a direction or a distance sets these too.
    ///
    /// # Errors
    /// [`Undecided`](crate::measure::Undecided) for a pair whose comparison would take more than about a second, so that a request
    /// to stop never waits for it. Such pairs are counted.
    fn compare(&self, a: &[u64], b: &[u64], candidate: Pair) -> Decided<Pair>;
}

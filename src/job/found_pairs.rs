//! What checks and rules have left of one algorithm's candidates.

use super::classes::Classes;
use super::evidence::Evidence;
use super::pair_list::PairList;

/// The pairs of an algorithm, its classes, and what its check has taken down of documents.
pub struct Found {
    /// Pairs of representatives.
    pub pairs: PairList,
    /// Its own classes, where equal keys are duplicates.
    pub classes: Option<Classes>,
    /// By document, where a check took some.
    pub evidence: Option<Evidence>,
}

//! How far an algorithm has come: from rows over candidates and pairs to what it says.

use std::sync::Arc;

use super::classes::Classes;
use super::evidence::Evidence;
use super::group::Grouped;
use super::pair_list::PairList;
use super::sign::SignedRows;
use crate::shuffle::AtomicBits;

/// What the last stage has made of an algorithm.
pub enum Step {
    /// It has signed.
    Rows(SignedRows),
    /// Its rows have met.
    Met(Met),
    /// Its pairs are checked.
    Found(Found),
    /// The rules over all pairs were applied.
    Near(Found),
}

/// Candidates of one algorithm.
pub struct Met {
    /// Its classes, and pairs of representatives.
    pub grouped: Grouped,
    /// What its check needs of documents, where that was taken when they were signed.
    pub evidence: Option<Evidence>,
    /// The documents of candidates, where it is still to be read.
    pub documents: Option<Arc<AtomicBits>>,
}

/// What checks and rules have left of one algorithm's candidates.
pub struct Found {
    /// Pairs of representatives.
    pub pairs: PairList,
    /// Its own classes, where equal keys are duplicates.
    pub classes: Option<Classes>,
    /// By document, where a check took some.
    pub evidence: Option<Evidence>,
}

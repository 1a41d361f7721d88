//! The steps in which the pairs of one algorithm are found, and the latest of them that an earlier run saved.

use super::group::Grouped;
use super::pair_list::PairList;
use super::saved_pairs::SavedPairs;
use crate::classes::Classes;
use crate::engine::evidence::Evidence;
use crate::job::algorithm_state::AlgorithmState;
use crate::job::read::saved_rows::SavedRows;
use crate::job::read::sign::{SignTally, SignedRows};
use crate::job::run_report::AlgorithmReport;
use crate::job::saved::SavedState;
use crate::session::Session;
use dupsift_algorithms::recipe::Chosen;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::AtomicBits;
use std::sync::Arc;

/// Holds the result of an algorithm's last stage.
pub enum Step {
    /// The algorithm has signed all documents.
    Rows(SignedRows),
    /// The algorithm's rows were compared, but the documents that the check uses have not been read yet.
    Met(Met),
    /// The algorithm's pairs were verified.
    Found(FoundPairs),
    /// The rules that consider all pairs were applied.
    Near(FoundPairs),
}

impl Step {
    /// Restores the latest saved state of the algorithm at this position in the recipe. Returns `None` if no state was saved.
    ///
    /// # Errors
    /// Returns an error if the disk cannot be read.
    pub fn latest(
        session: &Session<'_>,
        saved: &SavedState<'_>,
        bound: &Bound<'_>,
        at: usize,
    ) -> Result<Option<(AlgorithmReport, Step)>> {
        let found = |SavedPairs { report, pairs, classes }, evidence| (report, FoundPairs { pairs, classes, evidence });
        if let Some(pairs) = saved.restore(|keys| &keys.algorithms[at].near)? {
            let (report, found) = found(pairs, None);
            return Ok(Some((report, Step::Near(found))));
        }
        // Pairs are classified based on evidence, which is saved with the rows.
        let relates = bound.relating().is_some();
        let has_pairs = saved.has(|keys| &keys.algorithms[at].pairs)?;
        let rows =
            if has_pairs && !relates { None } else { saved.restore::<SavedRows>(|keys| &keys.algorithms[at].rows)? };
        let pairs = if relates && rows.is_none() { None } else { saved.restore(|keys| &keys.algorithms[at].pairs)? };
        if let Some(pairs) = pairs {
            let (report, found) = found(pairs, rows.and_then(|rows| rows.evidence));
            return Ok(Some((report, Step::Found(found))));
        }
        Ok(rows.map(|SavedRows { report, rows, evidence, sketches }| {
            let (layout, tally) = (bound.layout(session.documents()), SignTally::default());
            (report, Step::Rows(SignedRows { layout, rows, tally, evidence, sketches, keys: None }))
        }))
    }
}

/// Holds the candidates of one algorithm.
pub struct Met {
    /// The algorithm's classes, and the pairs of their representatives.
    pub grouped: Grouped,
    /// The documents in candidate pairs that the check must still read.
    pub documents: Arc<AtomicBits>,
}

/// Holds those candidates of one algorithm that passed the algorithm's checks and rules.
pub struct FoundPairs {
    /// The pairs of class representatives.
    pub pairs: PairList,
    /// The algorithm's own classes, if documents with equal keys are duplicates.
    pub classes: Option<Classes>,
    /// The evidence for each document, if a check collected evidence.
    pub evidence: Option<Evidence>,
}

/// Returns whether an index stores the pairs of an algorithm. The index stores them if the algorithm's rules consider all pairs of a
/// document.
pub(crate) fn is_noted(bound: &Bound<'_>) -> bool {
    bound.margin.is_some() || bound.relating().is_some()
}

impl<'c> AlgorithmState<'c, Step> {
    /// Returns the state of an algorithm whose latest step was restored.
    pub fn restored(bound: Bound<'c>, chosen: &Chosen, report: AlgorithmReport, now: Step) -> AlgorithmState<'c, Step> {
        // The verification options may differ from the options of the earlier run.
        let verify = bound.verify().map(|check| check.name());
        let report = AlgorithmReport { recipe: chosen.to_string(), verify, ..report };
        AlgorithmState { bound, report, now }
    }
}

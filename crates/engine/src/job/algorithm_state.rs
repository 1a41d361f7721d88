//! Holds the state of one algorithm in a run. The results of the algorithm are first rows, then candidates, and finally classified pairs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::run_report::AlgorithmReport;
use crate::classes::Classes;
use crate::engine::evidence::Evidence;
use crate::job::pair::group::Grouped;
use crate::job::pair::pair_list::PairList;
use crate::job::pair::saved_pairs::SavedPairs;
use crate::job::read::saved_rows::SavedRows;
use crate::job::read::sign::{SignTally, SignedRows};
use crate::job::saved::SavedState;
use crate::session::Session;
use dupsift_algorithms::recipe::Chosen;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_algorithms::steps::prefilter::Prefilter;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::AtomicBits;

/// Holds an algorithm that is bound to the corpus, and the result of its last stage: rows, candidates or pairs.
pub struct AlgorithmState<'c, S> {
    /// The algorithm with its rules and checks.
    pub bound: Bound<'c>,
    /// The entry for run.json, which is still incomplete.
    pub report: AlgorithmReport,
    /// The result of the last stage.
    pub now: S,
}

impl<'c, S> AlgorithmState<'c, S> {
    /// Runs the next stage of this algorithm.
    pub fn then<T>(
        mut self,
        stage: impl FnOnce(&Bound<'c>, S, &mut AlgorithmReport) -> Result<T>,
    ) -> Result<AlgorithmState<'c, T>> {
        let now = stage(&self.bound, self.now, &mut self.report)?;
        Ok(AlgorithmState { bound: self.bound, report: self.report, now })
    }
}

/// Runs the next stage for all algorithms, one after the other.
pub fn each<'c, S, T>(
    algorithms: Vec<AlgorithmState<'c, S>>,
    mut stage: impl FnMut(&Bound<'c>, S, &mut AlgorithmReport) -> Result<T>,
) -> Result<Vec<AlgorithmState<'c, T>>> {
    algorithms.into_iter().map(|algorithm| algorithm.then(&mut stage)).collect()
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

impl<'c> AlgorithmState<'c, SignedRows> {
    /// Returns the state of an algorithm that has signed a corpus with this many bytes of text.
    pub fn signed(
        bound: Bound<'c>,
        chosen: &Chosen,
        now: SignedRows,
        text_bytes: u64,
    ) -> AlgorithmState<'c, SignedRows> {
        let counts = |counts: &BTreeMap<Cow<'static, str>, u64>| {
            counts.iter().map(|(reason, count)| (reason.to_string(), *count)).collect()
        };
        let report = AlgorithmReport {
            label: bound.label.clone(),
            recipe: chosen.to_string(),
            verify: bound.verify().map(|check| check.name()),
            signed: now.tally.documents.signed,
            unsigned: counts(&now.tally.documents.unsigned),
            flagged: counts(&now.tally.documents.flagged),
            sign_seconds: now.tally.timed.seconds(text_bytes),
            rows: now.rows.rows(),
            prefiltered_rows: now.tally.prefiltered,
            row_bytes: now.layout.width() as u64,
            expected_chance_collisions: chance_collisions(&bound, now.tally.documents.signed),
            expected_recall: bound.scheme.banding.map(|banding| {
                let at = |s: f64| (s.to_string(), (banding.lets_through(s) * 1e6).round() / 1e6);
                [0.7, 0.8, 0.9].map(at).into()
            }),
            notes: bound.scheme.notes.clone(),
            ..AlgorithmReport::default()
        };
        AlgorithmState { bound, report, now }
    }

    /// Adds the prefilter's note about the algorithm at this position in the recipe.
    pub fn prefiltered(&mut self, at: usize, prefilter: Option<&Prefilter>) {
        let rows = self.report.rows + self.report.prefiltered_rows;
        self.report.notes.extend(prefilter.and_then(|prefilter| prefilter.note(at, rows)));
    }
}

/// Returns how many pairs of unrelated documents, among this many signed documents, are expected to have equal signatures by chance.
pub fn chance_collisions(bound: &Bound<'_>, signed: u64) -> Option<f64> {
    let documents = signed as f64;
    let pairs = documents * (documents - 1.0).max(0.0) / 2.0;
    bound.scheme.signature_bits.map(|bits| pairs / 2f64.powi(bits as i32))
}

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

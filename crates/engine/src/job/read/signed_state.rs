//! The state of an algorithm that has signed all documents.

use super::sign::SignedRows;
use crate::job::algorithm_state::AlgorithmState;
use crate::job::run_report::AlgorithmReport;
use dupsift_algorithms::recipe::Chosen;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_algorithms::steps::prefilter::Prefilter;
use std::borrow::Cow;
use std::collections::BTreeMap;

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

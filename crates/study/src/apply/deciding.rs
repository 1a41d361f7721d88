//! Decides again which documents of a finished run are removed, from the pairs that the run wrote.

use super::written_pairs::{Links, look};
use crate::finished::Finished;
use crate::finished::tables::ids_of;
use dupsift_core::error::{Error, Result, did_you_mean};
use dupsift_engine::job::decide::decided::Decided;
use dupsift_engine::job::decide::{Deciding, clusters_by, decide_by};
use dupsift_engine::job::pair::components::Components;
use dupsift_engine::job::read::keep::KeepOrder;
use dupsift_engine::options::RunOptions;
use dupsift_engine::session::Session;
use dupsift_spill::shuffle::AtomicBits;

/// Holds the pairs that determine which documents are removed.
pub(super) struct DecidingPairs {
    /// The algorithms whose pairs decide.
    pub deciding: Deciding,
    /// The pairs of each algorithm that decides.
    pub known: Vec<Links>,
    /// The rule, if it differs from the rule of the run.
    other_rule: Option<String>,
}

impl DecidingPairs {
    /// Reads the pairs, of which those below a threshold are left out.
    pub(super) fn read(
        finished: &Finished,
        options: &RunOptions,
        thresholds: &[(String, f64)],
    ) -> Result<DecidingPairs> {
        let report = &finished.report;
        let labels: Vec<&str> = report.algorithms.iter().map(|one| one.label.as_str()).collect();
        if let Some((unknown, _)) = thresholds.iter().find(|(label, _)| !labels.contains(&label.as_str())) {
            let hint = did_you_mean(unknown, labels.iter().copied());
            let names = labels.join(", ");
            return Err(Error::usage(format!(
                "{unknown:?} is not an algorithm of this run{hint}; expected one of {names}"
            )));
        }
        let deciding = Deciding::new(&options.removal.decide, &labels);
        for (at, (label, _)) in thresholds.iter().enumerate() {
            if thresholds[..at].iter().any(|(other, _)| other == label) {
                return Err(Error::wrong("threshold", format_args!("{label} has two thresholds; pass only one")));
            }
            if !deciding.labels.contains(label) {
                let names = deciding.labels.join(", ");
                let what =
                    format_args!("pairs from {label} do not affect removal in this run; expected one of: {names}");
                return Err(Error::wrong("threshold", what));
            }
        }
        let mut known = Vec::new();
        for &at in &deciding.chosen {
            let one = &report.algorithms[at];
            let threshold = thresholds.iter().find(|(label, _)| *label == one.label).map(|(_, threshold)| *threshold);
            known.push(Links::read(finished, one, threshold, options)?);
        }
        let rule = options.removal.remove_if.to_string();
        let other_rule = report.removal.as_ref().is_some_and(|removal| removal.remove_if != rule).then_some(rule);
        Ok(DecidingPairs { deciding, known, other_rule })
    }

    /// Decides which documents are removed.
    pub(super) fn decide(&self, session: &Session<'_>, keep: &KeepOrder, shown: &AtomicBits) -> Result<Decided> {
        let look = |doc, kept| match look(&self.known, doc, kept) {
            Some(known) => Ok(known),
            None => Err(self.not_compared(session, [doc, kept])),
        };
        decide_by(session, &self.deciding, || Ok(self.known.iter().collect()), (keep, |_| None), shown, look)
    }

    /// Returns the error for a removed document and a kept document whose contents were not compared in the run.
    fn not_compared(&self, session: &Session<'_>, docs: [u64; 2]) -> Error {
        let ids = match ids_of(session, docs.to_vec(), None) {
            Ok(ids) => ids,
            Err(error) => return error,
        };
        let [doc, kept] = docs.map(|doc| ids.get(&doc).cloned().unwrap_or_else(|| session.source.name_of(doc)));
        Error::usage(match &self.other_rule {
            Some(rule) => format!(
                "the run did not compare document {doc:?} with document {kept:?}, which `remove-if={rule}` would keep; run again with \
                 this rule"
            ),
            None => format!(
                "the run did not compare document {doc:?} with document {kept:?}, which this threshold would keep; run again with \
                 this threshold, or use `remove-if=pair`"
            ),
        })
    }

    /// Returns the clusters of the pairs.
    pub(super) fn clusters(&self, session: &Session<'_>, keep: &KeepOrder, shown: &AtomicBits) -> Result<Components> {
        clusters_by(session, &self.deciding, &self.known.iter().collect::<Vec<_>>(), keep, shown)
    }
}

//! Saves and restores the pairs of one algorithm.

use super::pair_list::PairList;
use crate::classes::Classes;
use crate::engine::checkpoints::{Checkpoint, CheckpointReader, CheckpointWriter};
use crate::engine::threads::Engine;
use crate::job::run_report::AlgorithmReport;
use dupsift_core::error::Result;

/// Holds an algorithm's pairs.
pub struct SavedPairs {
    /// The entry for run.json so far.
    pub report: AlgorithmReport,
    /// The pairs of class representatives.
    pub pairs: PairList,
    /// The algorithm's own classes, if equal keys are duplicates.
    pub classes: Option<Classes>,
}

impl Checkpoint for SavedPairs {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&self.report)?;
        self.pairs.save(to)?;
        to.optional(self.classes.as_ref(), Classes::save)
    }

    fn restore(_: &Engine<'_>, documents: u64, from: &mut CheckpointReader<'_>) -> Result<SavedPairs> {
        Ok(SavedPairs {
            report: from.plain()?,
            pairs: PairList::restore(documents, from)?,
            classes: from.optional(Classes::restore)?,
        })
    }
}

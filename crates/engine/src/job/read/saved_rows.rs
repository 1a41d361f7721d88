//! Saves and restores the rows of one algorithm.

use crate::engine::checkpoints::{Checkpoint, CheckpointReader, CheckpointWriter};
use crate::engine::evidence::Evidence;
use crate::engine::sketches::SketchFile;
use crate::engine::threads::Engine;
use crate::job::run_report::AlgorithmReport;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::Sorted;

/// Holds an algorithm's rows and the data that belongs to them.
pub struct SavedRows {
    /// The entry for run.json so far.
    pub report: AlgorithmReport,
    /// The rows, grouped by key.
    pub rows: Sorted,
    /// The document data that the check uses, if it was recorded.
    pub evidence: Option<Evidence>,
    /// The sketches of the documents, if there are any.
    pub sketches: Option<SketchFile>,
}

impl Checkpoint for SavedRows {
    fn save(&mut self, engine: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&self.report)?;
        to.optional(self.evidence.as_ref(), Evidence::save)?;
        to.optional(self.sketches.as_ref(), SketchFile::save)?;
        to.rows(engine, &mut self.rows)
    }

    fn restore(engine: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<SavedRows> {
        Ok(SavedRows {
            report: from.plain()?,
            evidence: from.optional(Evidence::restore)?,
            sketches: from.optional(SketchFile::restore)?,
            rows: from.rows(engine)?,
        })
    }
}

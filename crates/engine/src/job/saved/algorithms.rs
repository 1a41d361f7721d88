//! Saves and restores the state of one algorithm: rows, pairs, and the index entry.

use crate::engine::checkpoints::{Checkpoint, CheckpointReader, CheckpointWriter};
use crate::engine::evidence::Evidence;
use crate::engine::sketches::SketchFile;
use crate::engine::threads::Engine;
use crate::job::pair::classes::Classes;
use crate::job::pair::pair_list::PairList;
use crate::job::run_report::AlgorithmReport;
use crate::matching::meeting::Keys;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::Sorted;

/// Holds an algorithm's rows and the data that belongs to them.
pub struct Rows {
    /// The entry for run.json so far.
    pub report: AlgorithmReport,
    /// The rows, grouped by key.
    pub rows: Sorted,
    /// The document data that the check uses, if it was recorded.
    pub evidence: Option<Evidence>,
    /// The sketches of the documents, if there are any.
    pub sketches: Option<SketchFile>,
}

impl Checkpoint for Rows {
    fn save(&mut self, engine: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&self.report)?;
        to.optional(self.evidence.as_ref(), Evidence::save)?;
        to.optional(self.sketches.as_ref(), SketchFile::save)?;
        to.rows(engine, &mut self.rows)
    }

    fn restore(engine: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Rows> {
        Ok(Rows {
            report: from.plain()?,
            evidence: from.optional(Evidence::restore)?,
            sketches: from.optional(SketchFile::restore)?,
            rows: from.rows(engine)?,
        })
    }
}

impl Checkpoint for Keys {
    fn save(&mut self, engine: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.optional(self.sketches.as_ref(), SketchFile::save)?;
        to.rows(engine, &mut self.rows)
    }

    fn restore(engine: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Keys> {
        Ok(Keys { sketches: from.optional(SketchFile::restore)?, rows: from.rows(engine)? })
    }
}

/// Saves the rows that an index stores.
impl Checkpoint for Sorted {
    fn save(&mut self, engine: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.rows(engine, self)
    }

    fn restore(engine: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Sorted> {
        from.rows(engine)
    }
}

/// Holds an algorithm's pairs.
pub struct Pairs {
    /// The entry for run.json so far.
    pub report: AlgorithmReport,
    /// The pairs of class representatives.
    pub pairs: PairList,
    /// The algorithm's own classes, if equal keys are duplicates.
    pub classes: Option<Classes>,
}

impl Checkpoint for Pairs {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&self.report)?;
        self.pairs.save(to)?;
        to.optional(self.classes.as_ref(), Classes::save)
    }

    fn restore(_: &Engine<'_>, documents: u64, from: &mut CheckpointReader<'_>) -> Result<Pairs> {
        Ok(Pairs {
            report: from.plain()?,
            pairs: PairList::restore(documents, from)?,
            classes: from.optional(Classes::restore)?,
        })
    }
}

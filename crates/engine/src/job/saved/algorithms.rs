//! What is known of one algorithm, put down and taken up: its rows, its pairs.

use crate::engine::checkpoints::{Checkpoint, CheckpointReader, CheckpointWriter};
use crate::engine::evidence::Evidence;
use crate::engine::sketches::SketchFile;
use crate::engine::threads::Engine;
use crate::job::pair::classes::Classes;
use crate::job::pair::pair_list::PairList;
use crate::job::run_report::AlgorithmReport;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::Sorted;

/// The rows of an algorithm, with what stands beside them.
pub struct Rows {
    /// What run.json says so far.
    pub report: AlgorithmReport,
    /// The rows, by key.
    pub rows: Sorted,
    /// What the check needs of all documents, where it was taken.
    pub evidence: Option<Evidence>,
    /// The sketches of documents, where there are some.
    pub sketches: Option<SketchFile>,
}

impl Checkpoint for Rows {
    fn save(&mut self, engine: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&self.report)?;
        to.plain(&(self.evidence.is_some(), self.sketches.is_some()))?;
        self.evidence.as_ref().map_or(Ok(()), |evidence| evidence.save(to))?;
        self.sketches.as_ref().map_or(Ok(()), |sketches| sketches.save(to))?;
        to.rows(engine, &mut self.rows)
    }

    fn restore(engine: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Rows> {
        let (report, (evidence, sketches)): (_, (bool, bool)) = (from.plain()?, from.plain()?);
        Ok(Rows {
            report,
            evidence: if evidence { Some(Evidence::restore(from)?) } else { None },
            sketches: if sketches { Some(SketchFile::restore(from)?) } else { None },
            rows: from.rows(engine)?,
        })
    }
}

/// The pairs of an algorithm.
pub struct Pairs {
    /// What run.json says so far.
    pub report: AlgorithmReport,
    /// Pairs of representatives.
    pub pairs: PairList,
    /// Its own classes, where equal keys are duplicates.
    pub classes: Option<Classes>,
}

impl Checkpoint for Pairs {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&self.report)?;
        self.pairs.save(to)?;
        to.plain(&self.classes.is_some())?;
        self.classes.as_ref().map_or(Ok(()), |classes| classes.save(to))
    }

    fn restore(_: &Engine<'_>, documents: u64, from: &mut CheckpointReader<'_>) -> Result<Pairs> {
        Ok(Pairs {
            report: from.plain()?,
            pairs: PairList::restore(documents, from)?,
            classes: if from.plain()? { Some(Classes::restore(from)?) } else { None },
        })
    }
}

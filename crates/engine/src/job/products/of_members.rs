//! What is known of one algorithm, put down and taken up: its rows, its pairs.

use crate::engine::evidence::Evidence;
use crate::engine::products::{Found, Product, Putting};
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

impl Product for Rows {
    fn put_down(&mut self, engine: &Engine<'_>, to: &mut Putting<'_>) -> Result<()> {
        to.plain(&self.report)?;
        to.plain(&(self.evidence.is_some(), self.sketches.is_some()))?;
        self.evidence.as_ref().map_or(Ok(()), |evidence| evidence.put_down(to))?;
        self.sketches.as_ref().map_or(Ok(()), |sketches| sketches.put_down(to))?;
        to.rows(engine, &mut self.rows)
    }

    fn take_up(engine: &Engine<'_>, _: u64, from: &mut Found<'_>) -> Result<Rows> {
        let (report, (evidence, sketches)): (_, (bool, bool)) = (from.plain()?, from.plain()?);
        Ok(Rows {
            report,
            evidence: if evidence { Some(Evidence::take_up(from)?) } else { None },
            sketches: if sketches { Some(SketchFile::take_up(from)?) } else { None },
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

impl Product for Pairs {
    fn put_down(&mut self, _: &Engine<'_>, to: &mut Putting<'_>) -> Result<()> {
        to.plain(&self.report)?;
        self.pairs.put_down(to)?;
        to.plain(&self.classes.is_some())?;
        self.classes.as_ref().map_or(Ok(()), |classes| classes.put_down(to))
    }

    fn take_up(_: &Engine<'_>, documents: u64, from: &mut Found<'_>) -> Result<Pairs> {
        Ok(Pairs {
            report: from.plain()?,
            pairs: PairList::take_up(documents, from)?,
            classes: if from.plain()? { Some(Classes::take_up(from)?) } else { None },
        })
    }
}

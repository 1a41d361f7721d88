//! What spreads work over machines, as the driver sees it: steps, and blocks that lie there.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::opened::Layout;
use super::spool::Block;
use dupsift_core::error::Result;

/// What is done with each document.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Pass {
    /// Rows are noted.
    pub notes: bool,
    /// Documents are counted.
    pub counts: bool,
    /// The frequencies of words are known.
    pub after_count: bool,
    /// The places in the recipe of the algorithms that sign.
    pub signs: Vec<usize>,
    /// The places of those whose checks take evidence of the documents that stand in candidates; then nothing else is done.
    pub evidence: Vec<usize>,
    /// What the documents say that have places is recorded; then nothing else is done.
    pub contents: bool,
    /// Those who learn take notes; then nothing else is done.
    pub learns: bool,
}

/// Blocks that lie somewhere in the cluster.
pub type Frame = u64;

/// What a task does.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Step {
    /// A pass over its documents.
    Map(Pass),
    /// A sum of the rows of its buckets.
    Sum,
    /// Rows of one key become classes, or pairs that met.
    Group,
    /// The same of second-round rows.
    Probes,
    /// Pairs that met several times become one.
    Merge,
    /// Candidates and evidence go to the buckets of their components.
    Spread,
    /// Candidates are checked.
    Judge,
}

impl Step {
    /// Whether all rows of a bucket have to be in one task.
    pub fn brings_together(&self) -> bool {
        !matches!(self, Step::Map(_) | Step::Spread)
    }
}

/// What spreads work over machines.
pub trait Cluster {
    /// What it is called in the record.
    fn name(&self) -> &str;

    /// Bytes of text of one task, about, and buckets that rows are spread over.
    ///
    /// # Errors
    /// Those of the cluster, as of all steps.
    fn sizes(&self) -> Result<(u64, u32)>;

    /// What all processes have to know, before the first step.
    ///
    /// # Errors
    /// As [`Cluster::sizes`].
    fn begin(&self, layout: &Layout) -> Result<()>;

    /// Does a step for each of so many tasks; `known` is a file that all of them need.
    ///
    /// # Errors
    /// As [`Cluster::sizes`].
    fn map(&self, step: &Step, tasks: usize, known: Option<&Path>) -> Result<Frame>;

    /// Does a step for blocks of these kinds, all blocks of a bucket in one task; where they lie if the step does not need that.
    ///
    /// # Errors
    /// As [`Cluster::sizes`].
    fn reduce(&self, step: &Step, of: &[(Frame, Vec<Kind>)], known: Option<&Path>) -> Result<Frame>;

    /// Hands on the blocks of these kinds, in any order.
    ///
    /// # Errors
    /// As [`Cluster::sizes`], and what `each` returns.
    fn collect(&self, of: Frame, kinds: &[Kind], each: &mut dyn FnMut(Block) -> Result<()>) -> Result<()>;

    /// The blocks are not needed any more.
    ///
    /// # Errors
    /// As [`Cluster::sizes`].
    fn forget(&self, frame: Frame) -> Result<()>;
}

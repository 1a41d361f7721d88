//! What spreads work over machines, as the driver sees it: steps, and blocks that lie there.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::map::Pass;
use super::opened::Layout;
use super::spool::Block;
use crate::error::Result;

/// Blocks that lie somewhere in the cluster.
pub type Frame = u64;

/// What a task does.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Step {
    /// A pass over its documents.
    Map(Pass),
    /// A sum of the rows of its buckets.
    Sum,
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
    fn begin(&self, told: &Layout) -> Result<()>;

    /// Does a step for each of so many tasks; `known` is a file that all of them need.
    ///
    /// # Errors
    /// As [`Cluster::sizes`].
    fn map(&self, step: &Step, tasks: usize, known: Option<&Path>) -> Result<Frame>;

    /// Does a step for the blocks of these kinds, all blocks of a bucket in one task.
    ///
    /// # Errors
    /// As [`Cluster::sizes`].
    fn reduce(&self, step: &Step, of: Frame, kinds: &[Kind]) -> Result<Frame>;

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

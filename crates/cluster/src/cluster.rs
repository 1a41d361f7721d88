//! Defines the interface to the system that distributes work over machines, including the steps that this system runs and the
//! blocks that it stores.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::opened::Layout;
use super::spool::Block;
use dupsift_core::error::Result;

/// Defines how a pass processes each document.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Pass {
    /// Whether rows are recorded.
    pub notes: bool,
    /// Whether documents are counted.
    pub counts: bool,
    /// Whether word frequencies are already known.
    pub after_count: bool,
    /// The positions in the recipe of the algorithms that sign documents in this pass.
    pub signs: Vec<usize>,
    /// The positions of the algorithms for which evidence is collected from documents in candidate pairs. If there are any such algorithms,
    /// the pass does nothing else.
    pub evidence: Vec<usize>,
    /// Whether contents are recorded for documents in candidate pairs. If this is set, the pass does nothing else.
    pub contents: bool,
    /// Whether data for learning algorithms is collected. If this is set, the pass does nothing else.
    pub learns: bool,
}

/// Identifies blocks stored in the cluster.
pub type Frame = u64;

/// Defines the work of a task.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub enum Step {
    /// Makes a pass over the documents of the task.
    Map(Pass),
    /// Sums the rows in the buckets of the task.
    Sum,
    /// Groups rows with the same key into classes or matching pairs.
    Group,
    /// Groups second-round rows into matching pairs.
    Probes,
    /// Merges pairs that matched several times.
    Merge,
    /// Sends candidates and evidence to the buckets of their components.
    Spread,
    /// Verifies candidates.
    Judge,
}

impl Step {
    /// Returns whether all rows in a bucket have to be in the same task.
    pub fn brings_together(&self) -> bool {
        !matches!(self, Step::Map(_) | Step::Spread)
    }
}

/// Distributes work over machines.
pub trait Cluster {
    /// Returns the name of the cluster for the record of the run.
    fn name(&self) -> &str;

    /// Returns the approximate number of bytes of text per task, and the number of buckets for rows.
    ///
    /// # Errors
    /// Returns an error if the cluster fails.
    fn sizes(&self) -> Result<(u64, u32)>;

    /// Before the first step, distributes the data that all processes require.
    ///
    /// # Errors
    /// Returns the same errors as [`Cluster::sizes`].
    fn begin(&self, layout: &Layout) -> Result<()>;

    /// Runs a step for each of `tasks` tasks; `known` is a file that all tasks require.
    ///
    /// # Errors
    /// Returns the same errors as [`Cluster::sizes`].
    fn map(&self, step: &Step, tasks: usize, known: Option<&Path>) -> Result<Frame>;

    /// Runs a step on blocks of these kinds. All blocks of a bucket are in one task if the step requires that; otherwise, blocks are not
    /// moved.
    ///
    /// # Errors
    /// Returns the same errors as [`Cluster::sizes`].
    fn reduce(&self, step: &Step, of: &[(Frame, Vec<Kind>)], known: Option<&Path>) -> Result<Frame>;

    /// Passes the blocks of these kinds to `each`, in any order.
    ///
    /// # Errors
    /// Returns the same errors as [`Cluster::sizes`], or an error from `each`.
    fn collect(&self, of: Frame, kinds: &[Kind], each: &mut dyn FnMut(Block) -> Result<()>) -> Result<()>;

    /// Releases blocks that are no longer needed.
    ///
    /// # Errors
    /// Returns the same errors as [`Cluster::sizes`].
    fn forget(&self, frame: Frame) -> Result<()>;
}

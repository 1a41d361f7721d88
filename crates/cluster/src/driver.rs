//! Holds the state of the driver that all steps of a run on a cluster share.

use super::cluster::Cluster;
use super::opened::tasks;
use dupsift_algorithms::steps::plan::Plan;
use dupsift_core::error::{Error, Result};
use dupsift_engine::classes::Classes;
use dupsift_engine::job::saved::SavedState;
use dupsift_engine::session::Session;

/// Runs the steps before the local driver continues.
pub(crate) struct Driver<'d> {
    /// The threads, memory and corpus for the driver's own work.
    pub session: &'d Session<'d>,
    /// The cluster that runs the steps.
    pub cluster: &'d dyn Cluster,
    /// The plan of the run's passes.
    pub plan: &'d Plan,
    /// The saved state.
    pub saved: &'d SavedState<'d>,
}

impl Driver<'_> {
    /// Returns the number of tasks in a pass.
    pub(crate) fn tasks(&self) -> usize {
        self.cluster.sizes().map_or(0, |(bytes, _)| tasks(self.session.source, self.session.documents(), bytes).len())
    }

    /// Restores the saved copies.
    pub(crate) fn copies(&self) -> Result<Classes> {
        let gone = || Error::Internal("the saved copies are missing".into());
        self.saved.restore(|keys| &keys.copies)?.ok_or_else(gone)
    }

    /// Creates a temporary file for the data that tasks require. The file is removed on drop.
    pub(crate) fn file(&self) -> Result<tempfile::TempPath> {
        let file = tempfile::NamedTempFile::new_in(self.session.engine.dir);
        Ok(file.map_err(Error::io("create a temporary file", self.session.engine.dir))?.into_temp_path())
    }
}

//! What the steps of a run on a cluster share on the driver.

use super::cluster::Cluster;
use super::opened::tasks;
use dupsift_algorithms::stage::plan::Plan;
use dupsift_core::error::{Error, Result};
use dupsift_engine::job::pair::classes::Classes;
use dupsift_engine::job::saved::SavedState;
use dupsift_engine::session::Session;

/// The steps before the local driver goes on.
pub struct Driver<'d> {
    /// Threads, memory and corpus of the driver's own work.
    pub session: &'d Session<'d>,
    /// What does the steps.
    pub cluster: &'d dyn Cluster,
    /// The passes of a run.
    pub plan: &'d Plan,
    /// What was put down.
    pub saved: &'d SavedState<'d>,
}

impl Driver<'_> {
    /// How many tasks a pass has.
    pub fn tasks(&self) -> usize {
        self.cluster.sizes().map_or(0, |(bytes, _)| tasks(self.session.source, self.session.documents(), bytes).len())
    }

    /// The copies that were put down.
    pub fn copies(&self) -> Result<Classes> {
        let gone = || Error::Internal("the copies that were put down are gone".into());
        self.saved.restore(|keys| &keys.copies)?.ok_or_else(gone)
    }

    /// A place for what tasks have to know; the file goes with the value.
    pub fn file(&self) -> Result<tempfile::TempPath> {
        let file = tempfile::NamedTempFile::new_in(self.session.engine.dir);
        Ok(file.map_err(Error::io("make a work file", self.session.engine.dir))?.into_temp_path())
    }
}

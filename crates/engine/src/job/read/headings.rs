//! Records a hash of each document's first line.

use crate::engine::checkpoints::{CheckpointReader, CheckpointWriter, Recorder};
use crate::session::Session;
use dupsift_algorithms::steps::note;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::AtomicCells;
use dupsift_text::{Analysis, Heading};

/// Holds the first lines of all documents.
pub struct Headings {
    packed: AtomicCells<u64>,
}

impl Recorder for Headings {
    fn parts(&self) -> Vec<&dyn Recorder> {
        vec![&self.packed]
    }
}

impl Headings {
    /// Returns an empty recorder.
    pub fn new(session: &Session<'_>) -> Result<Headings> {
        Ok(Headings { packed: AtomicCells::new(session.engine.dir, "headings", session.documents() as usize)? })
    }

    /// Records a document's first line.
    pub fn take(&self, doc: u64, document: &Analysis<'_>) {
        self.packed.store(doc as usize, note::first_line(document));
    }

    /// Returns the recorded first line of a document.
    pub fn packed(&self, doc: u64) -> u64 {
        self.packed.load(doc as usize)
    }

    /// Records a first line that another process found.
    pub(crate) fn take_packed(&self, doc: u64, packed: u64) {
        self.packed.store(doc as usize, packed);
    }

    /// Saves the first lines to a checkpoint.
    pub fn save(&self, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.cells(&self.packed)
    }

    /// Restores the first lines from a checkpoint.
    pub fn restore(from: &mut CheckpointReader<'_>) -> Result<Headings> {
        Ok(Headings { packed: from.cells()? })
    }

    /// Returns the first line of a document, or `None` if it has none.
    pub(crate) fn of(&self, doc: u64) -> Option<Heading> {
        Heading::unpack(self.packed.load(doc as usize))
    }
}

//! Saves and restores the contents of documents that occur in pairs.

use crate::engine::checkpoints::{Checkpoint, CheckpointReader, CheckpointWriter};
use crate::engine::evidence::Evidence;
use crate::engine::threads::Engine;
use dupsift_core::error::Result;

/// Holds the contents of documents that occur in pairs, with one entry for each pass that recorded contents.
pub struct SavedContents(pub Vec<Evidence>);

impl Checkpoint for SavedContents {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&self.0.len())?;
        self.0.iter().try_for_each(|one| one.save(to))
    }

    fn restore(_: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<SavedContents> {
        let count = from.plain()?;
        (0..count).map(|_: usize| Evidence::restore(from)).collect::<Result<_>>().map(SavedContents)
    }
}

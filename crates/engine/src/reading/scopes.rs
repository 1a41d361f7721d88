//! The scopes of documents: with `--scope within:COLUMN` those of one value of the column meet each other alone.
//!
//! The scope is a hash of the value, of 64 bits; it stands in copy hashes and before the keys of rows, so that documents of two
//! scopes are in no group together. It is noted when a batch is read, 8 bytes a document, for who signs from kept words later.

use std::sync::{Arc, OnceLock};

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::engine::checkpoints::Recorder;
use crate::engine::threads::Engine;
use dupsift_algorithms::stage::recipe::Recipe;
use dupsift_core::error::Result;
use dupsift_files::tables::Documents;
use dupsift_spill::shuffle::AtomicCells;

/// The scope of each document that was read so far.
#[derive(Clone, Debug)]
pub struct Noted(pub Arc<AtomicCells<u64>>);

/// The scopes of a corpus; none where all documents may meet.
#[derive(Debug, Default)]
pub struct Scopes(OnceLock<Noted>);

impl Recorder for Scopes {
    fn parts(&self) -> Vec<&dyn Recorder> {
        self.0.get().map(|Noted(scopes)| &**scopes as &dyn Recorder).into_iter().collect()
    }
}

impl Scopes {
    /// Begins to note them, where documents have scopes.
    ///
    /// # Errors
    /// A full disk.
    pub fn begin(&self, engine: &Engine<'_>, recipe: &Recipe, documents: u64) -> Result<()> {
        if recipe.within.is_some() {
            self.know(Noted(Arc::new(AtomicCells::new(engine.dir, "scopes", documents as usize)?)));
        }
        Ok(())
    }

    /// Takes over what was noted before.
    pub fn know(&self, noted: Noted) {
        // Those of one corpus are the same in each reading.
        _ = self.0.set(noted);
    }

    /// All that is noted.
    pub fn noted(&self) -> Option<Noted> {
        self.0.get().cloned()
    }

    /// Notes those of a batch: strings as they are, numbers and truth values spelled out. Rows without a value, and those of a file
    /// without the column, are one scope together.
    ///
    /// # Errors
    /// A column that cannot be read as values.
    pub fn note(&self, recipe: &Recipe, batch: &Documents) -> Result<()> {
        let (Some(Noted(noted)), Some(column)) = (self.0.get(), &recipe.within) else { return Ok(()) };
        let values = batch.spelled_column(column)?;
        for row in 0..batch.len() {
            let scope = match values.as_ref().map(|values| values.get(row).text()) {
                Some(Ok(value)) => xxh3_64(value.as_bytes()),
                _ => xxh3_64_with_seed(&[], 1),
            };
            noted.store(batch.doc(row) as usize, scope);
        }
        Ok(())
    }

    /// The scope of a document that was read before.
    #[inline]
    pub fn of(&self, doc: u64) -> Option<u64> {
        self.0.get().map(|Noted(noted)| noted.load(doc as usize))
    }
}

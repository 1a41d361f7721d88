//! Implements document scopes. `--scope within:COLUMN` compares only documents with the same value in the column. `--scope across:COLUMN`
//! compares only documents with different values.
//!
//! The scope of a document is a 64-bit hash of the value, so scopes take 8 bytes per document. Scopes are recorded when a batch is read.
//! `within:` includes the scope in copy hashes and puts it before row keys, so documents in different scopes are never in the same
//! group. With `across:`, signatures and groups are the same as in a run without scopes, and pairs within a scope are skipped (see
//! [`crate::job::pair::across`]).

use std::sync::{Arc, OnceLock};

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::engine::checkpoints::Recorder;
use crate::engine::threads::Engine;
use dupsift_algorithms::recipe::Recipe;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::AtomicCells;
use dupsift_tables::Documents;

/// Holds the scope of each document that has been read so far.
#[derive(Clone, Debug)]
pub struct Noted(pub Arc<AtomicCells<u64>>);

impl Noted {
    /// Returns the scope of a document.
    #[inline]
    pub fn of(&self, doc: u64) -> u64 {
        self.0.load(doc as usize)
    }
}

/// Holds the scopes of the documents in a corpus. There are no scopes if every document may be compared with every other.
#[derive(Debug, Default)]
pub struct Scopes(OnceLock<Noted>);

impl Recorder for Scopes {
    fn parts(&self) -> Vec<&dyn Recorder> {
        self.0.get().map(|Noted(scopes)| &**scopes as &dyn Recorder).into_iter().collect()
    }
}

impl Scopes {
    /// Starts recording if documents have scopes.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub fn begin(&self, engine: &Engine<'_>, recipe: &Recipe, documents: u64) -> Result<()> {
        if recipe.scope_column().is_some() {
            self.know(Noted(Arc::new(AtomicCells::new(engine.dir, "scopes", documents as usize)?)));
        }
        Ok(())
    }

    /// Restores previously recorded scopes.
    pub(crate) fn know(&self, noted: Noted) {
        // The scopes are the same in every pass, so scopes that are already set need not be replaced.
        _ = self.0.set(noted);
    }

    /// Returns all scopes recorded so far.
    pub fn noted(&self) -> Option<Noted> {
        self.0.get().cloned()
    }

    /// Records the scopes of the documents in a batch.
    ///
    /// # Errors
    /// Returns an error if the values of a column cannot be read.
    pub fn note(&self, recipe: &Recipe, batch: &Documents) -> Result<()> {
        let (Some(Noted(noted)), Some(column)) = (self.0.get(), recipe.scope_column()) else { return Ok(()) };
        store_values(batch, column, noted)
    }

    /// Returns the scope within which a document is compared. The document must already have been read.
    #[inline]
    pub fn within(&self, recipe: &Recipe, doc: u64) -> Option<u64> {
        self.0.get().filter(|_| recipe.within.is_some()).map(|noted| noted.of(doc))
    }
}

/// Stores a hash of the value that each document of a batch has in a column. Strings are used unchanged, and numbers and booleans are
/// converted to text. Rows without a value, and rows of a file without the column, share one hash.
pub(crate) fn store_values(batch: &Documents, column: &str, to: &AtomicCells<u64>) -> Result<()> {
    let values = batch.spelled_column(column)?;
    for row in 0..batch.len() {
        let hash = match values.as_ref().map(|values| values.get(row).text()) {
            Some(Ok(value)) => xxh3_64(value.as_bytes()),
            _ => xxh3_64_with_seed(&[], 1),
        };
        to.store(batch.doc(row) as usize, hash);
    }
    Ok(())
}

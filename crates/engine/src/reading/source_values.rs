//! Records the value of `--source-column` for each document.
//!
//! The values are stored in a temporary file. Consecutive documents with the same value share one copy. The offset of each document's value
//! takes another 8 bytes. To count documents by value, the documents are sorted by a 64-bit hash of the value.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;
use zerocopy::{Immutable, IntoBytes};

use crate::engine::checkpoints::{CheckpointReader, CheckpointWriter, Recorder};
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_input::Want;
use dupsift_spill::shuffle::{AtomicCells, FrozenHeap, Heap, Shuffle};
use dupsift_tables::Documents;

/// Records the values of documents from many threads at once.
pub(crate) struct SourceRecorder<'j> {
    column: &'j str,
    heap: Heap,
    begins: AtomicCells<u64>,
}

impl Recorder for SourceRecorder<'_> {
    fn parts(&self) -> Vec<&dyn Recorder> {
        vec![&self.heap, &self.begins]
    }
}

impl<'j> SourceRecorder<'j> {
    /// Returns a recorder for all documents of the job, or `None` if the option is not given.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub(crate) fn new(session: &'j Session<'_>) -> Result<Option<SourceRecorder<'j>>> {
        let Some(column) = &session.options.guards.source_column else { return Ok(None) };
        let begins = AtomicCells::new(session.engine.dir, "source-begins", session.documents() as usize)?;
        Ok(Some(SourceRecorder { column, heap: Heap::new(session.engine.dir, "source-values")?, begins }))
    }

    /// Returns `want` with the column added.
    pub(crate) fn want(session: &Session<'_>, want: Want) -> Want {
        want.with_values(session.options.guards.source_column.as_ref())
    }

    /// Records the values of a batch. Strings are recorded unchanged, and numbers and booleans are converted to text. Nulls and values of
    /// other types are not recorded.
    pub(crate) fn record(&self, batch: &Documents) -> Result<()> {
        let Some(values) = batch.spelled_column(self.column)? else { return Ok(()) };
        let (mut bytes, mut places, mut last) = (Vec::new(), Vec::new(), None);
        for row in 0..batch.len() {
            let cell = values.get(row);
            let Ok(value) = cell.text() else { continue };
            let place = match last {
                Some((known, place)) if known == value => place,
                _ => {
                    let place = bytes.len() as u64;
                    bytes.extend_from_slice(&(value.len() as u32).to_le_bytes());
                    bytes.extend_from_slice(value.as_bytes());
                    last = Some((value, place));
                    place
                }
            };
            places.push((row, place));
        }
        let begin = self.heap.append(&bytes)?;
        for (row, place) in places {
            self.begins.store(batch.doc(row) as usize, begin + place + 1);
        }
        Ok(())
    }

    /// Records the value of one document that another process has read.
    pub(crate) fn take_part(&self, doc: u64, value: &[u8]) -> Result<()> {
        let begin = self.heap.append_both(&(value.len() as u32).to_le_bytes(), value)?;
        self.begins.store(doc as usize, begin + 1);
        Ok(())
    }

    /// Ends the recording.
    pub(crate) fn finish(self) -> Result<SourceValues> {
        Ok(SourceValues { heap: self.heap.freeze()?, begins: self.begins })
    }
}

/// Holds the value of each document.
pub struct SourceValues {
    heap: FrozenHeap,
    /// The offset of each document's value, plus one; 0 for a document without a value.
    begins: AtomicCells<u64>,
}

impl SourceValues {
    /// Saves the values to a checkpoint.
    pub fn save(&self, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.heap(&self.heap).and_then(|()| to.cells(&self.begins))
    }

    /// Restores the values from a checkpoint.
    pub fn restore(from: &mut CheckpointReader<'_>) -> Result<SourceValues> {
        Ok(SourceValues { heap: from.heap()?, begins: from.cells()? })
    }

    /// Returns a document's value, if it has one.
    pub fn of(&self, doc: u64) -> Option<&[u8]> {
        let begin = self.begins.load(doc as usize).checked_sub(1)?;
        let mut length = [0; 4];
        length.copy_from_slice(self.heap.get(begin, 4));
        Some(self.heap.get(begin + 4, u32::from_le_bytes(length) as usize))
    }

    /// Writes a row to `to` for each document that has a value. `row` creates the row from the document number and the hash of the value.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub fn spread<R: IntoBytes + Immutable>(
        &self,
        session: &Session<'_>,
        to: &Shuffle,
        row: impl Fn(u64, u64) -> R + Sync,
    ) -> Result<()> {
        let (files, indexed) = (&session.source.files, session.indexed_files());
        session.engine.work(
            files.len() - indexed,
            || Ok(to.writer()),
            |writer, at| {
                let file = &files[indexed + at];
                session.engine.go_on()?;
                for doc in file.first_doc..(file.first_doc + file.rows).min(session.documents()) {
                    if let Some(value) = self.of(doc) {
                        writer.push(row(doc, xxh3_64(value)).as_bytes())?;
                    }
                }
                Ok(())
            },
            |mut writer| writer.flush(),
        )?;
        Ok(())
    }
}

/// Holds the counts for one value of `--source-column`. The value occurs in at least `--guard-rows` rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct SourceReport {
    /// The value of the column.
    pub source: String,
    /// The number of rows that have this value.
    pub rows: u64,
    /// The number of removed documents among these rows.
    pub removed: u64,
    /// The number of exact copies of indexed documents among these rows.
    #[serde(default, skip_serializing_if = "none")]
    pub seen: u64,
    /// The number of repeated passages that were cut from these rows.
    #[serde(default, skip_serializing_if = "none")]
    pub cut_passages: u64,
    /// The total size of these passages in bytes.
    #[serde(default, skip_serializing_if = "none")]
    pub cut_bytes: u64,
}

fn none(count: &u64) -> bool {
    *count == 0
}

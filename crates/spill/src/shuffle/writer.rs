//! Implements the writing side of a shuffle, to which many threads push records.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Weak};

use super::memory::{Holder, Memory};
use super::sorted::Sorted;
use super::spec::{Order, Spec};
use super::store::Store;
use dupsift_core::error::{Error, Result};

/// The number of bytes that a writer usually stages for all partitions together. With this size, a partition is locked only once every few
/// dozen records, and the staging area stays in the processor's cache.
const STAGING_BYTES: usize = 128 << 10;

/// The limits on the staging area for one partition, in bytes. At least two records are staged, regardless of their width.
const SLOT_BYTES: std::ops::RangeInclusive<usize> = 256..=4096;

/// A shuffle that accepts records from many threads at the same time; each thread needs its own [`Writer`].
#[derive(Debug)]
pub struct Shuffle {
    store: Arc<Store>,
    dir: PathBuf,
}

impl Shuffle {
    /// Creates a shuffle without rows. No file is created until rows must be spilled.
    ///
    /// `dir` is the folder for temporary files, which must exist before rows are spilled; `memory` is the budget shared by all
    /// shuffles of the run.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if the parameters in `spec` are inconsistent.
    pub fn new(spec: Spec, dir: &Path, memory: &Memory) -> Result<Shuffle> {
        spec.check()?;
        let store = Arc::new(Store::new(spec, dir, memory));
        memory.register(Arc::downgrade(&store) as Weak<dyn Holder>);
        Ok(Shuffle { store, dir: dir.to_path_buf() })
    }

    /// Returns the size of a record in bytes.
    pub fn width(&self) -> usize {
        self.store.spec.width
    }

    /// Returns a writer for one thread or task. A writer uses no memory before its first record.
    pub fn writer(&self) -> Writer<'_> {
        let Spec { width, partitions, .. } = self.store.spec;
        let slot_bytes = (STAGING_BYTES / partitions).clamp(*SLOT_BYTES.start(), *SLOT_BYTES.end());
        let slot_bytes = (slot_bytes / width).max(2) * width;
        Writer { store: &self.store, slot_bytes, width, staging: Vec::new(), filled: Vec::new() }
    }

    /// Passes to `each` the rows that were added since the last call, as complete records in no particular order; no writer may be active.
    /// The rows are kept.
    ///
    /// # Errors
    /// Returns the error from `each`, or [`Error::Damaged`] or [`Error::Io`] if rows cannot be read from disk. After an error,
    /// the same rows are passed on again.
    pub fn fresh(&self, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        (0..self.store.parts.len()).try_for_each(|partition| self.store.fresh(partition, each))
    }

    /// Finishes writing and returns the partitions.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if a writer was dropped before its records were flushed, because these records would be missing.
    pub fn finish(self) -> Result<Sorted> {
        match self.store.abandoned.load(Relaxed) {
            0 => Ok(Sorted::new(self.store, self.dir)),
            lost => Err(Error::Internal(format!(
                "{lost} records of the shuffle {:?} were dropped before they were flushed",
                self.store.spec.name
            ))),
        }
    }
}

/// Accepts the records of one thread. [`Writer::flush`] must be called at the end.
///
/// A writer stages about 128 KiB (up to 1 MiB with wide records and many partitions), which is charged to [`Memory`]. If a writer is
/// dropped with unflushed records, [`Shuffle::finish`] fails, so that no records are lost silently.
#[derive(Debug)]
pub struct Writer<'s> {
    store: &'s Store,
    width: usize,
    /// The size of the staging slot of each partition in bytes, a multiple of the record size.
    slot_bytes: usize,
    /// The consecutive slots of all partitions; empty before the first record.
    staging: Vec<u8>,
    /// The number of bytes used in each slot.
    filled: Vec<u32>,
}

impl Writer<'_> {
    /// Accepts one record.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if the record has the wrong width or if its number is not below the declared bound, or [`Error::Io`] if
    /// rows cannot be spilled to disk.
    #[inline]
    pub fn push(&mut self, record: &[u8]) -> Result<()> {
        if record.len() != self.width {
            return Err(self.wrong_width(record.len()));
        }
        let partition = match self.store.router.partition(record) {
            Ok(partition) => partition,
            Err(number) => return Err(self.out_of_range(number)),
        };
        if self.staging.is_empty() {
            self.begin();
        }
        let filled = self.filled[partition] as usize;
        let at = partition * self.slot_bytes + filled;
        self.staging[at..at + self.width].copy_from_slice(record);
        self.filled[partition] = (filled + self.width) as u32;
        if filled + self.width == self.slot_bytes {
            self.send(partition)?;
        }
        Ok(())
    }

    /// Passes all staged records on to the shuffle; the writer can be used afterwards.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if rows cannot be spilled to disk.
    pub fn flush(&mut self) -> Result<()> {
        (0..self.filled.len()).try_for_each(|partition| self.send(partition))
    }

    fn send(&mut self, partition: usize) -> Result<()> {
        let filled = self.filled[partition] as usize;
        if filled > 0 {
            let slot = partition * self.slot_bytes;
            self.store.append(partition, &self.staging[slot..slot + filled])?;
            self.filled[partition] = 0;
        }
        Ok(())
    }

    #[cold]
    fn begin(&mut self) {
        let partitions = self.store.spec.partitions;
        self.staging = vec![0; partitions * self.slot_bytes];
        self.filled = vec![0; partitions];
        self.store.memory.charge(self.staging.len());
    }

    #[cold]
    fn wrong_width(&self, found: usize) -> Error {
        Error::Internal(format!(
            "records of the shuffle {:?} must have {} bytes, got {found}",
            self.store.spec.name, self.width
        ))
    }

    #[cold]
    fn out_of_range(&self, number: u64) -> Error {
        let Spec { name, order, .. } = &self.store.spec;
        let bound = match order {
            Order::Range { below } => *below,
            Order::Hash => u64::MAX,
        };
        Error::Internal(format!(
            "a record of the shuffle {name:?} has number {number}, but all numbers must be below {bound}"
        ))
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        let left: u64 = self.filled.iter().map(|&filled| u64::from(filled)).sum();
        self.store.abandoned.fetch_add(left / self.width as u64, Relaxed);
        self.store.memory.release(self.staging.len());
    }
}

//! The writing half of a shuffle: many threads push records.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Weak};

use super::memory::{Holder, Memory};
use super::sorted::Sorted;
use super::spec::{Order, Spec};
use super::store::Store;
use dupsift_core::error::{Error, Result};

/// Bytes that a writer stages over all partitions, as a rule; so much that the lock of a partition is taken once for
/// dozens of records, and so little that it stays in the processor's cache.
const STAGING_BYTES: usize = 128 << 10;

/// The bounds of the staging for one partition, in bytes; at least two records are staged however wide they are.
const SLOT_BYTES: std::ops::RangeInclusive<usize> = 256..=4096;

/// A shuffle that takes records, from many threads at once: each asks for a [`Writer`] of its own.
#[derive(Debug)]
pub struct Shuffle {
    store: Arc<Store>,
    dir: PathBuf,
}

impl Shuffle {
    /// A shuffle without rows. No file is made before rows must go to disk.
    ///
    /// `dir` is the folder for work files, which must exist by then; `memory` is what all shuffles of the job share.
    ///
    /// # Errors
    /// [`Error::Internal`] if the numbers of `spec` do not fit together.
    pub fn new(spec: Spec, dir: &Path, memory: &Memory) -> Result<Shuffle> {
        spec.check()?;
        let store = Arc::new(Store::new(spec, dir, memory));
        memory.register(Arc::downgrade(&store) as Weak<dyn Holder>);
        Ok(Shuffle { store, dir: dir.to_path_buf() })
    }

    /// Bytes of a record.
    pub fn width(&self) -> usize {
        self.store.spec.width
    }

    /// A writer for one thread or task. It costs nothing until the first record.
    pub fn writer(&self) -> Writer<'_> {
        let Spec { width, partitions, .. } = self.store.spec;
        let slot_bytes = (STAGING_BYTES / partitions).clamp(*SLOT_BYTES.start(), *SLOT_BYTES.end());
        let slot_bytes = (slot_bytes / width).max(2) * width;
        Writer { store: &self.store, slot_bytes, width, staging: Vec::new(), filled: Vec::new() }
    }

    /// Hands out the rows that came since the last time, whole records at a time and in no order; no writer is at work. They stay.
    ///
    /// # Errors
    /// What `each` returns; [`Error::Damaged`] or [`Error::Io`] for a disk that does not give rows back. Those that were handed out come
    /// again then.
    pub fn fresh(&self, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        (0..self.store.parts.len()).try_for_each(|partition| self.store.fresh(partition, each))
    }

    /// Ends the writing.
    ///
    /// # Errors
    /// [`Error::Internal`] if a writer was dropped before its records were flushed: they would be missing.
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

/// Takes the records of one thread; ends with [`Writer::flush`].
///
/// It stages about 128 KiB (up to 1 MiB with wide records and many partitions), which are charged to [`Memory`].
/// Dropping a writer with records in it makes [`Shuffle::finish`] fail, so that none are lost silently.
#[derive(Debug)]
pub struct Writer<'s> {
    store: &'s Store,
    width: usize,
    /// Bytes of the staging for one partition: whole records.
    slot_bytes: usize,
    /// The slots of all partitions one after the other; empty before the first record.
    staging: Vec<u8>,
    /// How far each slot is filled, in bytes.
    filled: Vec<u32>,
}

impl Writer<'_> {
    /// Takes one record.
    ///
    /// # Errors
    /// [`Error::Internal`] if the record is not of the shuffle's width or its number is not below the announced bound;
    /// [`Error::Io`] if the disk does not take what memory cannot hold.
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

    /// Hands everything staged over to the shuffle; the writer can go on afterwards.
    ///
    /// # Errors
    /// [`Error::Io`] if the disk does not take what memory cannot hold.
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
            "a record of the shuffle {:?} has {} bytes, not {found}",
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
            "a record of the shuffle {name:?} has number {number}, but each was to be below {bound}"
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

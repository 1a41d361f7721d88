//! Implements the reading side of a shuffle, which returns one sorted partition at a time.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use super::merge::{self, Runs};
use super::records::{BufferPool, Records, Storage};
use super::run::{BUCKETS, Run, buckets_of};
use super::sort;
use super::store::Store;
use dupsift_core::error::{Error, Result};

/// The minimum allowance of [`Sorted::load`]; smaller values are raised to this minimum.
const LEAST_ALLOWANCE: usize = 8 << 10;

/// The finished partitions of a shuffle or of a [`Run`]. Several threads may load partitions concurrently. Dropping this value frees memory
/// and disk space.
#[derive(Debug)]
pub struct Sorted(Of);

#[derive(Debug)]
enum Of {
    Shuffle(Stored),
    Run { run: Run, partitions: usize },
}

/// The partitions of a shuffle.
#[derive(Debug)]
struct Stored {
    store: Arc<Store>,
    dir: PathBuf,
    /// The number of bytes that loads wrote to their own temporary files.
    rewritten: AtomicU64,
    removed: AtomicUsize,
    pool: BufferPool,
}

impl Sorted {
    pub(super) fn new(store: Arc<Store>, dir: PathBuf) -> Sorted {
        let (rewritten, removed) = (AtomicU64::new(0), AtomicUsize::new(0));
        Sorted(Of::Shuffle(Stored { store, dir, rewritten, removed, pool: BufferPool::new() }))
    }

    /// Creates the partitions of a run. Within a partition, groups are in bucket order.
    pub fn of_run(run: Run, partitions: usize) -> Sorted {
        Sorted(Of::Run { run, partitions: partitions.clamp(1, BUCKETS) })
    }

    /// Returns the number of partitions.
    pub fn partitions(&self) -> usize {
        match &self.0 {
            Of::Shuffle(stored) => stored.store.parts.len(),
            Of::Run { partitions, .. } => *partitions,
        }
    }

    /// Returns the number of records in all partitions.
    pub fn rows(&self) -> u64 {
        match &self.0 {
            Of::Shuffle(stored) => stored.store.parts.iter().map(|part| part.rows()).sum(),
            Of::Run { run, .. } => run.rows(),
        }
    }

    /// Returns the number of records in one partition; 0 beyond the last partition.
    pub fn rows_of(&self, partition: usize) -> u64 {
        match &self.0 {
            Of::Shuffle(stored) => stored.store.parts.get(partition).map_or(0, |part| part.rows()),
            Of::Run { run, partitions } if partition < *partitions => run.rows_of(buckets_of(partition, *partitions)),
            Of::Run { .. } => 0,
        }
    }

    /// Returns the size of a record and the size of its group, in bytes.
    pub fn widths(&self) -> (usize, usize) {
        match &self.0 {
            Of::Shuffle(stored) => (stored.store.spec.width, stored.store.spec.group_width),
            Of::Run { run, .. } => (run.width(), run.group_width()),
        }
    }

    /// Returns the number of bytes written to temporary files, both by the shuffle and by loads that exceeded their allowance.
    pub fn spilled_bytes(&self) -> u64 {
        match &self.0 {
            Of::Shuffle(stored) => stored.store.file.written() + stored.rewritten.load(Relaxed),
            Of::Run { run, .. } => run.rows() * run.width() as u64,
        }
    }

    /// Returns the records of one partition in byte order; for a run, groups are in bucket order.
    ///
    /// Sorting requires as much additional memory as the records occupy. If the records and this additional memory fit in `memory_bytes`
    /// (at least 8 KiB), the records are sorted and returned in memory. Otherwise, the records are sorted in runs that take up half of
    /// `memory_bytes`, and the runs are merged into a temporary file, which is returned memory-mapped. Repeated calls return the same
    /// records, and several threads may call this method concurrently, each with its own allowance.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if a block on disk does not match its checksum, [`Error::Io`] if the disk cannot be read or is full, or
    /// [`Error::Internal`] if the partition does not exist or was removed.
    pub fn load(&self, partition: usize, memory_bytes: usize) -> Result<Records> {
        match self.check(partition)? {
            Of::Shuffle(stored) => stored.load(partition, memory_bytes),
            Of::Run { run, partitions } => run.load(buckets_of(partition, *partitions), memory_bytes),
        }
    }

    /// Frees the memory of a partition, and its disk space if the file system supports it. Loaded records stay valid. The
    /// partition cannot be loaded again. Removing a partition twice is not an error.
    ///
    /// # Errors
    /// Returns [`Error::Internal`] if there is no such partition.
    pub fn remove(&self, partition: usize) -> Result<()> {
        if let Of::Shuffle(stored) = self.check(partition)?
            && stored.store.remove(partition)
            && stored.removed.fetch_add(1, Relaxed) + 1 == self.partitions()
        {
            stored.store.file.clear();
            stored.pool.close();
        }
        Ok(())
    }

    fn check(&self, partition: usize) -> Result<&Of> {
        if partition < self.partitions() {
            return Ok(&self.0);
        }
        let why = format!("it has {} partitions, so partition {partition} does not exist", self.partitions());
        Err(match &self.0 {
            Of::Shuffle(stored) => stored.misused(why),
            Of::Run { .. } => Error::Internal(format!("a run was misused: {why}")),
        })
    }

    /// Returns the store, so that tests can damage data on disk.
    #[cfg(test)]
    pub(super) fn store(&self) -> &Store {
        match &self.0 {
            Of::Shuffle(stored) => &stored.store,
            Of::Run { .. } => panic!("a run has no store"),
        }
    }
}

impl Stored {
    fn load(&self, partition: usize, memory_bytes: usize) -> Result<Records> {
        let (width, group_width) = (self.store.spec.width, self.store.spec.group_width);
        let allowed = memory_bytes.max(LEAST_ALLOWANCE);
        let records_in_memory = allowed / sort::bytes_per_record(width);
        enum Loaded {
            Whole(Vec<u8>),
            Runs(Runs),
        }
        let loaded = self.store.with_rows(partition, |state, mut rows| {
            if state.removed {
                return Err(self.misused(format!("partition {partition} was removed and cannot be read again")));
            }
            if state.bytes() > (records_in_memory * width) as u64 {
                let name = format!("{}.{partition}", self.store.spec.name);
                return merge::sort_runs(rows, width, records_in_memory, &self.dir, &name).map(Loaded::Runs);
            }
            let mut buffer = self.pool.take(state.bytes() as usize);
            rows.read(&mut buffer)?;
            Ok(Loaded::Whole(buffer))
        })?;
        let held = match loaded {
            Loaded::Whole(mut buffer) => {
                let mut scratch = self.pool.take(buffer.len());
                sort::sort(&mut buffer, &mut scratch, width);
                self.pool.give(scratch);
                Storage::Heap(buffer, self.pool.clone())
            }
            Loaded::Runs(runs) => {
                let (map, written) = runs.merge(allowed)?;
                self.rewritten.fetch_add(written, Relaxed);
                Storage::File(map)
            }
        };
        Ok(Records { held, width, group_width })
    }

    fn misused(&self, why: String) -> Error {
        Error::Internal(format!("the shuffle {:?} was misused: {why}", self.store.spec.name))
    }
}

//! Stores the rows of one shuffle in partitions, each of which has chunks in memory and blocks in the spill file.

use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use super::block::{Block, BlockReader, SpillFile};
use super::memory::{Holder, Memory};
use super::spec::{Router, Spec};
use dupsift_core::error::Result;

/// The limits on the size of a chunk, in bytes. Within these limits, each new chunk of a partition is as large as the partition's current
/// content. A small partition wastes little memory, and a large partition wastes about half of the largest chunk.
const CHUNK_BYTES: std::ops::RangeInclusive<usize> = 4 << 10..=32 << 10;

/// The maximum size, in bytes, of a block that is written in one call. Other writers to the same partition wait until the call returns.
const BLOCK_BYTES: usize = 4 << 20;

/// The number of times that a writer requests memory before it writes its rows directly to disk.
const TRIES: usize = 4;

/// The rows of one shuffle.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) spec: Spec,
    pub(super) router: Router,
    pub(super) memory: Memory,
    pub(super) file: SpillFile,
    pub(super) parts: Vec<Partition>,
    /// The number of records that writers accepted but never flushed.
    pub(super) abandoned: AtomicU64,
}

/// One partition.
#[derive(Debug, Default)]
pub(super) struct Partition {
    /// The number of bytes in chunks that may be spilled; 0 while a thread is working on the chunks.
    idle: AtomicUsize,
    rows: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    /// Chunks of complete records; only the last chunk has free space.
    chunks: Vec<Vec<u8>>,
    /// The total size of the records in the chunks, in bytes.
    held: usize,
    pub(super) blocks: Vec<Block>,
    /// The number of bytes, from the beginning of the concatenated chunks, that [`Store::fresh`] has already passed on.
    given: usize,
    /// The blocks that have not been passed on completely: the index of each block, and the number of its bytes that have been passed on.
    fresh: Vec<(usize, usize)>,
    pub(super) removed: bool,
}

impl Store {
    /// Creates a store without rows.
    pub(super) fn new(spec: Spec, dir: &Path, memory: &Memory) -> Store {
        Store {
            router: spec.router(),
            memory: memory.clone(),
            file: SpillFile::new(dir, &spec.name),
            parts: std::iter::repeat_with(Partition::default).take(spec.partitions).collect(),
            abandoned: AtomicU64::new(0),
            spec,
        }
    }

    /// Adds complete records to a partition in memory. To make room, the fullest partition of any shuffle may be spilled.
    pub(super) fn append(&self, partition: usize, records: &[u8]) -> Result<()> {
        let part = &self.parts[partition];
        let mut rest = self.append_in_memory(part, records);
        let mut tries = 0;
        while !rest.is_empty() {
            tries += 1;
            if tries > TRIES || !self.memory.spill_fullest()? {
                // The budget is tiny, or other threads use all of it for writes in progress. Writing directly to disk is better than
                // waiting.
                let block = self.file.append(&[rest])?;
                part.lock().push(block, 0);
                break;
            }
            rest = self.append_in_memory(part, rest);
        }
        part.rows.fetch_add((records.len() / self.spec.width) as u64, Relaxed);
        Ok(())
    }

    /// Adds records until the memory budget is used up, and returns the remaining records.
    fn append_in_memory<'r>(&self, part: &Partition, mut records: &'r [u8]) -> &'r [u8] {
        let mut state = part.lock();
        loop {
            if let Some(last) = state.chunks.last_mut() {
                let room = (last.capacity() - last.len()) / self.spec.width * self.spec.width;
                let (now, later) = records.split_at(room.min(records.len()));
                last.extend_from_slice(now);
                state.held += now.len();
                records = later;
            }
            let chunk_bytes = state.held.next_power_of_two().clamp(*CHUNK_BYTES.start(), *CHUNK_BYTES.end());
            if records.is_empty() || !self.memory.try_reserve(chunk_bytes) {
                part.idle.store(state.held, Relaxed);
                return records;
            }
            state.chunks.push(Vec::with_capacity(chunk_bytes));
        }
    }

    /// Calls `work` with the rows of a partition, which are not removed.
    pub(super) fn with_rows<T>(&self, partition: usize, work: impl FnOnce(&State, Rows<'_>) -> Result<T>) -> Result<T> {
        let part = &self.parts[partition];
        let state = part.lock();
        part.idle.store(0, Relaxed);
        let rows = Rows { chunks: state.chunks.iter(), chunk: &[], blocks: self.file.read(&state.blocks) };
        let result = work(&state, rows);
        part.idle.store(state.held, Relaxed);
        result
    }

    /// Passes to `each`, as complete records, those rows of a partition that have not been passed on yet. No writer may be active. The rows
    /// are not removed.
    pub(super) fn fresh(&self, partition: usize, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut state = self.parts[partition].lock();
        let mut given = state.given;
        for chunk in &state.chunks {
            let skipped = given.min(chunk.len());
            given -= skipped;
            if skipped < chunk.len() {
                each(&chunk[skipped..])?;
            }
        }
        let mut piece =
            vec![0; if state.fresh.is_empty() { 0 } else { (1 << 20) / self.spec.width.max(1) * self.spec.width }];
        for &(at, given) in &state.fresh {
            let (mut reader, mut given) = (self.file.read(&state.blocks[at..=at]), given);
            loop {
                let filled = reader.read(&mut piece)?;
                let skipped = given.min(filled);
                given -= skipped;
                match filled {
                    0 => break,
                    _ if skipped < filled => each(&piece[skipped..filled])?,
                    _ => {}
                }
            }
        }
        state.given = state.held;
        state.fresh.clear();
        Ok(())
    }

    /// Removes the rows of a partition permanently. Returns `false` if the rows were already removed.
    pub(super) fn remove(&self, partition: usize) -> bool {
        let part = &self.parts[partition];
        let mut state = part.lock();
        part.idle.store(0, Relaxed);
        state.held = 0;
        self.release(std::mem::take(&mut state.chunks));
        self.file.give_back(&std::mem::take(&mut state.blocks));
        state.fresh.clear();
        !std::mem::replace(&mut state.removed, true)
    }

    fn release(&self, chunks: Vec<Vec<u8>>) {
        let bytes = chunks.iter().map(Vec::capacity).sum();
        drop(chunks);
        self.memory.release(bytes);
    }
}

impl Holder for Store {
    fn fullest(&self) -> (usize, usize) {
        let idle = self.parts.iter().enumerate().map(|(partition, part)| (part.idle.load(Relaxed), partition));
        idle.max().unwrap_or_default()
    }

    /// Spills at most one block; does nothing while a thread is working on the partition.
    fn spill(&self, partition: usize) -> Result<()> {
        let part = &self.parts[partition];
        let mut state = match part.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(()),
        };
        part.idle.store(0, Relaxed);
        let from = state.chunks.len().saturating_sub(BLOCK_BYTES / CHUNK_BYTES.end());
        let written = match state.chunks.get(from..) {
            Some(chunks) if !chunks.is_empty() => self.file.append(chunks).map(|block| {
                // The rows are removed from memory only after they have been written, so that no rows are lost if the disk is full.
                let gone: Vec<Vec<u8>> = state.chunks.drain(from..).collect();
                let bytes = gone.iter().map(Vec::len).sum::<usize>();
                state.held -= bytes;
                let given = state.given.saturating_sub(state.held);
                state.given -= given;
                state.push(block, given);
                self.release(gone);
            }),
            _ => Ok(()),
        };
        part.idle.store(state.held, Relaxed);
        written
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        for part in &self.parts {
            self.release(std::mem::take(&mut part.lock().chunks));
        }
    }
}

impl Partition {
    /// Returns the total number of records that were appended.
    pub(super) fn rows(&self) -> u64 {
        self.rows.load(Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Adds a block; `given` of its bytes have already been passed on as new rows.
    fn push(&mut self, block: Block, given: usize) {
        if (given as u64) < block.length() {
            self.fresh.push((self.blocks.len(), given));
        }
        self.blocks.push(block);
    }

    /// Returns the total size of the records in memory and on disk, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.held as u64 + self.blocks.iter().map(|block| block.length()).sum::<u64>()
    }
}

/// The rows of a partition: first the rows in memory, then the rows on disk, both in no particular order.
pub(super) struct Rows<'s> {
    chunks: std::slice::Iter<'s, Vec<u8>>,
    chunk: &'s [u8],
    blocks: BlockReader<'s>,
}

impl Rows<'_> {
    /// Fills as much of `out` as possible, and returns the number of bytes read. If the length of `out` is a multiple of the record width,
    /// only complete records are returned.
    pub(super) fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < out.len() {
            if self.chunk.is_empty() {
                match self.chunks.next() {
                    Some(chunk) => self.chunk = chunk,
                    None => break,
                }
            }
            let (now, later) = self.chunk.split_at(self.chunk.len().min(out.len() - filled));
            out[filled..filled + now.len()].copy_from_slice(now);
            self.chunk = later;
            filled += now.len();
        }
        Ok(filled + self.blocks.read(&mut out[filled..])?)
    }
}

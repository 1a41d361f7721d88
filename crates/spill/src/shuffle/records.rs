//! Provides the sorted records of one partition as one slice.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memmap2::Mmap;
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// The records of one partition in byte order. The records are in memory, or in a mapped temporary file if they exceed the allowance.
#[derive(Debug)]
pub struct Records {
    pub(super) held: Storage,
    pub(super) width: usize,
    pub(super) group_width: usize,
}

#[derive(Debug)]
pub(super) enum Storage {
    /// In memory, in a buffer that returns to the pool when the records are dropped.
    Heap(Vec<u8>, BufferPool),
    File(Mmap),
}

impl Drop for Storage {
    fn drop(&mut self) {
        if let Storage::Heap(buffer, pool) = self {
            pool.give(std::mem::take(buffer));
        }
    }
}

/// A pool of buffers that finished partitions no longer use. Buffers are reused because allocating new memory takes longer than sorting its
/// contents. The pool keeps all returned buffers until the last partition is removed.
#[derive(Clone, Debug, Default)]
pub(super) struct BufferPool {
    /// The unused buffers; `None` after the pool has been closed.
    buffers: Arc<Mutex<Option<Vec<Vec<u8>>>>>,
}

impl BufferPool {
    /// Creates a pool that keeps buffers.
    pub(super) fn new() -> BufferPool {
        BufferPool { buffers: Arc::new(Mutex::new(Some(Vec::new()))) }
    }

    /// Returns a buffer of this many bytes, with arbitrary content.
    pub(super) fn take(&self, bytes: usize) -> Vec<u8> {
        let mut buffer = match self.lock().as_mut().and_then(Vec::pop) {
            Some(pool) if pool.capacity() >= bytes => pool,
            // A little more is allocated because partitions differ in size; memory that is never written to costs nothing.
            _ => vec![0; bytes + bytes / 8],
        };
        buffer.resize(bytes, 0);
        buffer
    }

    /// Returns a buffer to the pool.
    pub(super) fn give(&self, buffer: Vec<u8>) {
        if let Some(buffers) = self.lock().as_mut() {
            buffers.push(buffer);
        }
    }

    /// Frees the buffers; buffers in use are freed as soon as they are returned.
    pub(super) fn close(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<Vec<Vec<u8>>>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Records {
    /// Returns all records, one after the other: `len() * width()` bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.held {
            Storage::Heap(bytes, _) => bytes,
            Storage::File(map) => map,
        }
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.bytes().len() / self.width
    }

    /// Returns whether there are no records in the partition.
    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }

    /// Returns the size of a record in bytes.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the record at an index, counted from 0.
    ///
    /// # Panics
    /// Panics if there is no such record.
    pub fn record(&self, at: usize) -> &[u8] {
        &self.bytes()[at * self.width..][..self.width]
    }

    /// Returns the record at an index as a value; `T` is the type whose bytes were written.
    ///
    /// # Panics
    /// Panics if there is no such record, or if records have a different width than `T`.
    pub fn row<T: FromBytes + KnownLayout + Immutable + Unaligned>(&self, at: usize) -> &T {
        match T::ref_from_bytes(self.record(at)) {
            Ok(row) => row,
            Err(_) => panic!("{}-byte records were read as {}-byte records", self.width, size_of::<T>()),
        }
    }

    /// Returns the range of record numbers for each group. A group consists of the records with the same leading `group_width` bytes.
    pub fn groups(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let (bytes, width, group_width) = (self.bytes(), self.width, self.group_width);
        let mut start = 0;
        std::iter::from_fn(move || {
            let mut rest = bytes.get(start * width..)?.chunks_exact(width);
            let first = &rest.next()?[..group_width];
            // The first bytes are compared as one word, because adjacent records of different groups usually differ in these bytes.
            let head = first.first_chunk::<8>();
            let same = |record: &[u8]| match head {
                Some(head) => record.first_chunk::<8>() == Some(head) && record[8..group_width] == first[8..],
                None => record[..group_width] == *first,
            };
            let group = start..start + 1 + rest.take_while(|record| same(record)).count();
            start = group.end;
            Some(group)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_used_again_until_the_end() {
        let pool = BufferPool::new();
        let (one, two) = (pool.take(1000), pool.take(10));
        assert_eq!((one.len(), two.len()), (1000, 10));
        let place = one.as_ptr();
        pool.give(two);
        pool.give(one);
        let again = pool.take(900);
        assert_eq!((again.as_ptr(), again.len()), (place, 900));
        let longer = pool.take(5000);
        assert_eq!(longer.len(), 5000);
        pool.close();
        pool.give(again);
        assert!(pool.lock().is_none());
    }

    #[test]
    fn groups_are_runs_of_equal_leading_bytes() {
        let of = |bytes: &[u8], group_width| {
            let records = Records { held: Storage::Heap(bytes.to_vec(), BufferPool::default()), width: 4, group_width };
            assert_eq!((records.len(), records.is_empty(), records.width()), (bytes.len() / 4, bytes.is_empty(), 4));
            records.groups().collect::<Vec<_>>()
        };
        let bytes = b"aaaaaaabaabbabbbbbbbbbbb";
        assert_eq!(of(bytes, 1), [0..4, 4..6]);
        assert_eq!(of(bytes, 2), [0..3, 3..4, 4..6]);
        assert_eq!(of(bytes, 4), [0..1, 1..2, 2..3, 3..4, 4..6]);
        assert!(of(b"", 2).is_empty());
        let records = Records { held: Storage::Heap(bytes.to_vec(), BufferPool::default()), width: 4, group_width: 4 };
        assert_eq!((records.record(1), records.record(5)), (&b"aaab"[..], &b"bbbb"[..]));
    }
}

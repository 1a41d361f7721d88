//! Stores byte strings of any length. Many threads append the strings and read them back by offset.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use memmap2::Mmap;

use crate::shuffle::space::{self, READ, WRITE};
use dupsift_core::error::{Error, Result};

/// The number of bytes that are collected before a write.
const GATHERED_BYTES: usize = 256 << 10;

/// A temporary file that only grows, shared by many threads. The order of the data depends on thread timing.
#[derive(Debug)]
pub struct Heap {
    file: File,
    path: PathBuf,
    tail: Mutex<Tail>,
}

/// The bytes that are not yet on disk, and their offset.
#[derive(Debug, Default)]
struct Tail {
    offset: u64,
    gathered: Vec<u8>,
    /// The offset up to which [`Heap::fresh`] has already passed the bytes to its caller.
    given: u64,
}

impl Heap {
    /// Creates an empty heap in a new file in `dir`; `name` appears in messages. The heap holds up to 256 KiB in memory.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the file cannot be created.
    pub fn new(dir: &Path, name: &str) -> Result<Heap> {
        let (file, path) = space::work_file(dir, name)?;
        Ok(Heap { file, path, tail: Mutex::default() })
    }

    /// Appends bytes and returns their offset.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if these or previously appended bytes cannot be written. The heap must not be used after an error.
    pub fn append(&self, bytes: &[u8]) -> Result<u64> {
        self.append_both(bytes, &[])
    }

    /// Appends two pieces one after the other, without copying them into one buffer, and returns the offset of the first piece.
    ///
    /// # Errors
    /// Returns the same errors as [`Heap::append`].
    pub fn append_both(&self, first: &[u8], second: &[u8]) -> Result<u64> {
        let bytes = first.len() + second.len();
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = tail.offset + tail.gathered.len() as u64;
        if tail.gathered.len() + bytes <= GATHERED_BYTES {
            tail.gathered.extend_from_slice(first);
            tail.gathered.extend_from_slice(second);
            return Ok(offset);
        }
        // Offsets are assigned while the lock is held; the data is written after the lock is released.
        let (gathered, begin) = (std::mem::take(&mut tail.gathered), tail.offset);
        tail.offset = offset + bytes as u64;
        tail.gathered.reserve_exact(GATHERED_BYTES);
        drop(tail);
        self.write(&gathered, begin)?;
        self.write(first, offset)?;
        self.write(second, offset + first.len() as u64)?;
        Ok(offset)
    }

    /// Passes to `each`, in order, the bytes that were appended since the last call; no thread may append during the call.
    ///
    /// # Errors
    /// Returns the error from `each`, or [`Error::Io`] if the disk cannot be read.
    pub fn fresh(&self, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let mut at = tail.given;
        let mut piece = vec![0; tail.offset.saturating_sub(at).min(GATHERED_BYTES as u64) as usize];
        while at < tail.offset {
            piece.truncate((tail.offset - at).min(GATHERED_BYTES as u64) as usize);
            self.file.read_exact_at(&mut piece, at).map_err(Error::io(READ, &self.path))?;
            each(&piece)?;
            at += piece.len() as u64;
        }
        let gathered = &tail.gathered[(at - tail.offset) as usize..];
        if !gathered.is_empty() {
            each(gathered)?;
        }
        tail.given = tail.offset + tail.gathered.len() as u64;
        Ok(())
    }

    /// Makes the heap read-only; its data will be read in random order.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the last bytes cannot be written, or the file cannot be mapped.
    pub fn freeze(self) -> Result<FrozenHeap> {
        self.freeze_as(memmap2::Advice::Random)
    }

    /// Works like [`Heap::freeze`], but for long pieces that will be read sequentially.
    ///
    /// # Errors
    /// Returns the same errors as [`Heap::freeze`].
    pub fn freeze_in_order(self) -> Result<FrozenHeap> {
        self.freeze_as(memmap2::Advice::Sequential)
    }

    fn freeze_as(mut self, advice: memmap2::Advice) -> Result<FrozenHeap> {
        let tail = std::mem::take(self.tail.get_mut().unwrap_or_else(PoisonError::into_inner));
        self.write(&tail.gathered, tail.offset)?;
        if tail.offset == 0 && tail.gathered.is_empty() {
            return Ok(FrozenHeap { map: None });
        }
        let map = space::map_to_read(&self.file, &self.path)?;
        // The system may reject the advice, which is harmless.
        let _ = map.advise(advice);
        Ok(FrozenHeap { map: Some(map) })
    }

    fn write(&self, bytes: &[u8], offset: u64) -> Result<()> {
        self.file.write_all_at(bytes, offset).map_err(Error::io(WRITE, &self.path))
    }
}

/// A complete heap, memory-mapped.
#[derive(Debug)]
pub struct FrozenHeap {
    map: Option<Mmap>,
}

/// Files of at least this size take milliseconds to free (about a tenth of a second per gigabyte).
const SLOW_TO_FREE: usize = 8 << 20;

impl Drop for FrozenHeap {
    /// Frees a large file on another thread.
    fn drop(&mut self) {
        if let Some(map) = self.map.take().filter(|map| map.len() >= SLOW_TO_FREE) {
            // If no thread can be started, the closure is dropped immediately, together with the map.
            let _ = std::thread::Builder::new().spawn(move || drop(map));
        }
    }
}

impl FrozenHeap {
    /// Creates a heap over an existing map; `None` for an empty heap.
    pub(super) fn of(map: Option<Mmap>) -> FrozenHeap {
        FrozenHeap { map }
    }

    /// Returns `len` bytes, starting at an offset returned by [`Heap::append`].
    ///
    /// # Panics
    /// Panics if the bytes extend beyond the end.
    #[inline]
    pub fn get(&self, offset: u64, len: usize) -> &[u8] {
        &self.bytes()[offset as usize..][..len]
    }

    /// Returns all bytes.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests short pieces, pieces longer than the buffer, and empty pieces, appended by many threads at the same time.
    #[test]
    fn what_was_appended_is_found_at_its_place() {
        let dir = tempfile::tempdir().expect("a folder");
        let heap = Heap::new(dir.path(), "sketches").expect("a heap");
        let piece = |thread: usize, n: usize| {
            let len = if n % 100 == 99 { GATHERED_BYTES + n } else { (n * 7) % 300 };
            vec![(thread * 31 + n) as u8; len]
        };
        let places: Vec<Vec<u64>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|thread| {
                    let heap = &heap;
                    scope.spawn(move || (0..500).map(|n| heap.append(&piece(thread, n)).expect("written")).collect())
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let frozen = heap.freeze().expect("frozen");
        let mut total = 0;
        for (thread, offsets) in places.iter().enumerate() {
            for (n, &offset) in offsets.iter().enumerate() {
                let expected = piece(thread, n);
                assert!(frozen.get(offset, expected.len()) == expected, "thread {thread}, piece {n}");
                total += expected.len();
            }
        }
        assert_eq!(frozen.bytes().len(), total, "no gap and no overlap");
    }

    #[test]
    fn fresh_bytes_are_those_since_the_last_time() {
        let dir = tempfile::tempdir().expect("a folder");
        let (heap, copy) =
            (Heap::new(dir.path(), "one").expect("a heap"), Heap::new(dir.path(), "copy").expect("a heap"));
        let mut places = Vec::new();
        for round in 0..6_usize {
            for n in 0..round {
                let bytes = vec![(7 * round + n) as u8; [10, 3 * GATHERED_BYTES, 0, GATHERED_BYTES - 5][n % 4]];
                places.push((heap.append(&bytes).expect("written"), bytes));
            }
            heap.fresh(&mut |bytes| copy.append(bytes).map(drop)).expect("read");
        }
        heap.fresh(&mut |bytes| panic!("{} bytes twice", bytes.len())).expect("nothing");
        let (heap, copy) = (heap.freeze().expect("frozen"), copy.freeze().expect("frozen"));
        assert!(heap.bytes() == copy.bytes());
        assert!(places.iter().all(|(begin, bytes)| copy.get(*begin, bytes.len()) == bytes));
    }

    #[test]
    fn an_empty_heap_has_no_bytes() {
        let dir = tempfile::tempdir().expect("a folder");
        let heap = Heap::new(dir.path(), "empty").expect("a heap");
        assert_eq!(heap.append(b"").expect("nothing"), 0);
        let frozen = heap.freeze().expect("frozen");
        assert_eq!((frozen.get(0, 0), frozen.bytes()), (&b""[..], &b""[..]));
    }
}

//! Provides arrays, bitmaps and heaps in memory-mapped temporary files, for data that grows with the corpus and is read in random order.
//!
//! The pages belong to a file, so the system can write them to disk when memory is short, and they do not count as anonymous memory of the
//! process. Disk space is reserved when an array is created, so a full disk causes an error at that point instead of a fatal signal later.
//! The files are unlinked as soon as they have been opened.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use memmap2::MmapMut;

use super::space;
use dupsift_core::error::{Error, Result};

mod atomic;
mod heap;
mod kept;
mod ranks;

pub use atomic::{AtomicBits, AtomicCells, CellValue};
pub use heap::{FrozenHeap, Heap};
pub use ranks::Ranks;

/// An array of fixed length in a temporary file, initially zero. Dereferences to a slice.
#[derive(Debug)]
pub struct Mapped<T> {
    /// The map; `None` for an empty array, because the system cannot map zero bytes.
    map: Option<MmapMut>,
    of: PhantomData<T>,
}

impl<T: bytemuck::Pod> Mapped<T> {
    /// Creates an array of `len` zeros in a new file in `dir`; `name` appears in messages.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the file cannot be created, or the disk has no space for it.
    pub fn new(dir: &Path, name: &str, len: usize) -> Result<Mapped<T>> {
        Ok(Mapped { map: zeros(dir, name, len, size_of::<T>())?, of: PhantomData })
    }
}

impl<T: bytemuck::Pod> Deref for Mapped<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // A map begins at a page boundary, so the cast satisfies every alignment.
        self.map.as_deref().map_or(&[], bytemuck::cast_slice)
    }
}

impl<T: bytemuck::Pod> DerefMut for Mapped<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.map.as_deref_mut().map_or(&mut [], bytemuck::cast_slice_mut)
    }
}

/// Creates a map of `len` zero values of `size` bytes; returns `None` if the map would be empty.
fn zeros(dir: &Path, name: &str, len: usize, size: usize) -> Result<Option<MmapMut>> {
    let (file, path) = space::work_file(dir, name)?;
    let too_long = || Error::io(space::WRITE, &path)(std::io::ErrorKind::FileTooLarge.into());
    let bytes = len.checked_mul(size).ok_or_else(too_long)?;
    if bytes == 0 {
        return Ok(None);
    }
    space::reserve(&file, &path, bytes as u64)?;
    space::map_to_write(&file, &path).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_zero_and_keeps_what_is_stored() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut array: Mapped<u64> = Mapped::new(dir.path(), "parents", 70_001).expect("an array");
        assert!(array.len() == 70_001 && array.iter().all(|&value| value == 0));
        array[70_000] = u64::MAX;
        array[3..5].copy_from_slice(&[7, 8]);
        assert_eq!((array[3], array[4], array[70_000], array.iter().filter(|&&v| v > 0).count()), (7, 8, u64::MAX, 3));
        let mut pairs: Mapped<[u32; 3]> = Mapped::new(dir.path(), "triples", 5).expect("an array");
        pairs[4] = [1, 2, 3];
        assert_eq!(pairs[..], [[0; 3], [0; 3], [0; 3], [0; 3], [1, 2, 3]]);
        assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 0, "no name is left");
    }

    #[test]
    fn no_length_and_too_much_length() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut empty: Mapped<u32> = Mapped::new(dir.path(), "empty", 0).expect("an array");
        assert!(empty.is_empty() && empty.iter_mut().next().is_none());
        for len in [usize::MAX, usize::MAX / 8, 1 << 58] {
            let error = Mapped::<u64>::new(dir.path(), "huge", len).expect_err("no disk is that large");
            assert!(error.to_string().starts_with("cannot write the temporary file"), "{error}");
        }
    }
}

//! Saves arrays, bitmaps and heaps as checkpoints. A checkpoint is a named file, which another process on the same machine can load.
//!
//! When mutable data is loaded, it is copied into an unnamed temporary file, so the checkpoint stays unchanged; a heap, which is only read,
//! is mapped directly. Numbers are in the machine's byte order.

use std::path::Path;

use super::{AtomicBits, AtomicCells, CellValue, FrozenHeap, Mapped, Ranks};
use crate::shuffle::saved_file::{self, LoadedFile, SavedFile, SavedFileWriter, damaged};
use dupsift_core::error::Result;

/// The number of cells copied at a time.
const AT_ONCE: usize = 8 << 10;

impl<T: bytemuck::Pod> Mapped<T> {
    /// Saves the array as a checkpoint file with this name.
    ///
    /// # Errors
    /// Returns [`dupsift_core::error::Error::Io`].
    pub fn save_file(&self, dir: &Path, name: &str) -> Result<SavedFile> {
        saved_file::save_file(dir, name, bytemuck::cast_slice(self))
    }

    /// Loads a saved array.
    ///
    /// # Errors
    /// Returns [`dupsift_core::error::Error::Damaged`] if the file is not the one that was saved, or [`dupsift_core::error::Error::Io`].
    pub fn load_file(dir: &Path, saved: &SavedFile) -> Result<Mapped<T>> {
        let file = LoadedFile::load_file(dir, saved)?;
        let values: &[T] = values(&file, dir, saved)?;
        let mut array = Mapped::new(dir, &saved.name, values.len())?;
        array.copy_from_slice(values);
        Ok(array)
    }
}

impl<T: CellValue> AtomicCells<T> {
    /// Works like [`Mapped::save_file`]; no thread may change the cells during the call.
    ///
    /// # Errors
    /// Returns the same errors as [`Mapped::save_file`].
    pub fn save_file(&self, dir: &Path, name: &str) -> Result<SavedFile> {
        let mut writer = SavedFileWriter::create(dir, name)?;
        let mut values = vec![T::zeroed(); AT_ONCE.min(self.len())];
        for begin in (0..self.len()).step_by(AT_ONCE) {
            values.truncate(self.len() - begin);
            self.load_all(begin, &mut values);
            writer.append(bytemuck::cast_slice(&values))?;
        }
        writer.finish()
    }

    /// Works like [`Mapped::load_file`].
    ///
    /// # Errors
    /// Returns the same errors as [`Mapped::load_file`].
    pub fn load_file(dir: &Path, saved: &SavedFile) -> Result<AtomicCells<T>> {
        let file = LoadedFile::load_file(dir, saved)?;
        let values: &[T] = values(&file, dir, saved)?;
        let cells = AtomicCells::new(dir, &saved.name, values.len())?;
        values.iter().enumerate().for_each(|(at, value)| cells.store(at, *value));
        Ok(cells)
    }
}

impl AtomicBits {
    /// Works like [`Mapped::save_file`]; no thread may set bits during the call.
    ///
    /// # Errors
    /// Returns the same errors as [`Mapped::save_file`].
    pub fn save_file(&self, dir: &Path, name: &str) -> Result<SavedFile> {
        self.words().save_file(dir, name)
    }

    /// Works like [`Mapped::load_file`], for a bitmap of this many bits.
    ///
    /// # Errors
    /// Returns the same errors as [`Mapped::load_file`].
    pub fn load_file(dir: &Path, saved: &SavedFile, len: usize) -> Result<AtomicBits> {
        let words = AtomicCells::load_file(dir, saved)?;
        if words.len() != len.div_ceil(64) {
            let why = format!("its bitmap has {} words instead of {}", words.len(), len.div_ceil(64));
            return Err(damaged(&dir.join(&saved.name), why));
        }
        Ok(AtomicBits::of(words, len))
    }
}

impl Ranks {
    /// Works like [`Mapped::save_file`].
    ///
    /// # Errors
    /// Returns the same errors as [`Mapped::save_file`].
    pub fn save_file(&self, dir: &Path, name: &str) -> Result<SavedFile> {
        self.lines().save_file(dir, name)
    }

    /// Works like [`Mapped::load_file`], for a bitmap of this many bits.
    ///
    /// # Errors
    /// Returns the same errors as [`Mapped::load_file`].
    pub fn load_file(dir: &Path, saved: &SavedFile, len: usize) -> Result<Ranks> {
        let lines = Mapped::load_file(dir, saved)?;
        let other = || {
            damaged(&dir.join(&saved.name), format!("it belongs to a bitmap of a different size (expected {len} bits)"))
        };
        Ranks::of(lines, len).ok_or_else(other)
    }
}

impl FrozenHeap {
    /// Works like [`Mapped::save_file`].
    ///
    /// # Errors
    /// Returns the same errors as [`Mapped::save_file`].
    pub fn save_file(&self, dir: &Path, name: &str) -> Result<SavedFile> {
        saved_file::save_file(dir, name, self.bytes())
    }

    /// Works like [`Mapped::load_file`]; the data will be read in random order.
    ///
    /// # Errors
    /// Returns the same errors as [`Mapped::load_file`].
    pub fn load_file(dir: &Path, saved: &SavedFile) -> Result<FrozenHeap> {
        let map = LoadedFile::load_file(dir, saved)?.into_map();
        if let Some(map) = &map {
            // The system may reject the advice, which is harmless.
            let _ = map.advise(memmap2::Advice::Random);
        }
        Ok(FrozenHeap::of(map))
    }
}

/// Returns the numbers in a checkpoint file, which begins at a page boundary.
fn values<'p, T: bytemuck::Pod>(file: &'p LoadedFile, dir: &Path, saved: &SavedFile) -> Result<&'p [T]> {
    // An empty slice may have any alignment.
    if file.is_empty() {
        return Ok(&[]);
    }
    let why = || format!("its size ({} bytes) is not a multiple of {} bytes", file.len(), size_of::<T>());
    bytemuck::try_cast_slice(file).map_err(|_| damaged(&dir.join(&saved.name), why()))
}

#[cfg(test)]
mod tests {
    use super::super::Heap;
    use super::*;
    use dupsift_core::error::Error;

    #[test]
    fn what_is_changed_after_it_was_taken_up_leaves_the_product_as_it_was() {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = dir.path();
        for len in [0, 1, AT_ONCE, 3 * AT_ONCE + 5] {
            let mut array: Mapped<[u32; 3]> = Mapped::new(dir, "a", len).expect("an array");
            let cells: AtomicCells<u64> = AtomicCells::new(dir, "c", len).expect("cells");
            let bits = AtomicBits::new(dir, "b", len).expect("bits");
            for at in 0..len {
                array[at] = [at as u32, 7, 9];
                cells.store(at, u64::MAX - at as u64);
                if at % 3 == 0 {
                    bits.set(at);
                }
            }
            let saved = [
                array.save_file(dir, "a.saved").expect("saved"),
                cells.save_file(dir, "c.saved").expect("saved"),
                bits.save_file(dir, "b.saved").expect("saved"),
            ];
            for _ in 0..2 {
                let mut again: Mapped<[u32; 3]> = Mapped::load_file(dir, &saved[0]).expect("whole");
                assert!(again[..] == array[..]);
                again.iter_mut().for_each(|value| *value = [0; 3]);
                let again: AtomicCells<u64> = AtomicCells::load_file(dir, &saved[1]).expect("whole");
                assert!(again.len() == len && (0..len).all(|at| again.load(at) == cells.load(at)));
                (0..len).for_each(|at| again.store(at, 0));
                let again = AtomicBits::load_file(dir, &saved[2], len).expect("whole");
                assert!(again.len() == len && again.iter().eq(bits.iter()));
                assert!((0..len).filter(|&at| again.set(at)).count() == len - len.div_ceil(3));
            }
            let other = AtomicBits::load_file(dir, &saved[2], len + 64).expect_err("of another length");
            assert!(matches!(&other, Error::Damaged { path, .. } if path.ends_with("b.saved")), "{other}");
        }
        let odd = saved_file::save_file(dir, "odd.saved", b"12345").expect("saved");
        let error = Mapped::<u32>::load_file(dir, &odd).expect_err("no numbers").to_string();
        assert!(error.contains("its size (5 bytes) is not a multiple of 4 bytes"), "{error}");
    }

    #[test]
    fn a_heap_is_read_where_it_lies() {
        let dir = tempfile::tempdir().expect("a folder");
        let heap = Heap::new(dir.path(), "h").expect("a heap");
        let place = heap.append(b"some bytes").expect("taken");
        let frozen = heap.freeze().expect("whole");
        let saved = frozen.save_file(dir.path(), "h.saved").expect("saved");
        let again = FrozenHeap::load_file(dir.path(), &saved).expect("whole");
        assert_eq!((again.bytes(), again.get(place + 5, 5)), (frozen.bytes(), &b"bytes"[..]));
        let none = Heap::new(dir.path(), "h").expect("a heap").freeze().expect("whole");
        let saved = none.save_file(dir.path(), "h.saved").expect("saved");
        assert!(FrozenHeap::load_file(dir.path(), &saved).expect("whole").bytes().is_empty());
    }
}

//! Provides bitmaps and cells that many threads read and write concurrently.
//!
//! Accesses are relaxed: each value is consistent, but accesses to different cells are ordered only after the threads have synchronized,
//! for example by a join.

use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use memmap2::{MmapMut, MmapRaw};

use super::zeros;
use dupsift_core::error::Result;

mod sealed {
    pub trait Sealed {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
}

/// A number type for cells: `u32` or `u64`.
pub trait CellValue: bytemuck::Pod + sealed::Sealed {
    /// The atomic type of the same size.
    type Atomic: Sync;
    /// Returns the current value.
    fn load(cell: &Self::Atomic) -> Self;
    /// Sets the value.
    fn store(cell: &Self::Atomic, value: Self);
    /// Sets the value if it is `current`; otherwise, returns the actual value as an error.
    fn swap_if(cell: &Self::Atomic, current: Self, new: Self) -> std::result::Result<Self, Self>;
    /// Adds with wraparound and returns the previous value.
    fn add(cell: &Self::Atomic, value: Self) -> Self;
    /// Sets the value if it is larger than the current value.
    fn raise(cell: &Self::Atomic, value: Self);
}

macro_rules! cell_value {
    ($value:ty, $atomic:ty) => {
        impl CellValue for $value {
            type Atomic = $atomic;
            #[inline]
            fn load(cell: &$atomic) -> $value {
                cell.load(Relaxed)
            }
            #[inline]
            fn store(cell: &$atomic, value: $value) {
                cell.store(value, Relaxed);
            }
            #[inline]
            fn swap_if(cell: &$atomic, current: $value, new: $value) -> std::result::Result<$value, $value> {
                cell.compare_exchange(current, new, Relaxed, Relaxed)
            }
            #[inline]
            fn add(cell: &$atomic, value: $value) -> $value {
                cell.fetch_add(value, Relaxed)
            }
            #[inline]
            fn raise(cell: &$atomic, value: $value) {
                // The value is read first, because most new values are not larger than the current value.
                if cell.load(Relaxed) < value {
                    cell.fetch_max(value, Relaxed);
                }
            }
        }
    };
}

cell_value!(u32, AtomicU32);
cell_value!(u64, AtomicU64);

/// A shared array of `u32` or `u64` cells in a temporary file, initially zero.
#[derive(Debug)]
pub struct AtomicCells<T: CellValue> {
    map: Option<MmapRaw>,
    len: usize,
    of: std::marker::PhantomData<T>,
}

impl<T: CellValue> AtomicCells<T> {
    /// Creates an array of `len` zeros in a new file in `dir`; `name` appears in messages.
    ///
    /// # Errors
    /// Returns [`dupsift_core::error::Error::Io`] if the file cannot be created, or the disk has no space for it.
    pub fn new(dir: &Path, name: &str, len: usize) -> Result<AtomicCells<T>> {
        let map = zeros(dir, name, len, size_of::<T::Atomic>())?.map(MmapMut::into);
        Ok(AtomicCells { map, len, of: std::marker::PhantomData })
    }

    /// Returns the number of cells.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the array has no cells.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the value of cell `at`.
    ///
    /// # Panics
    /// Panics if there is no such cell, as do all methods that take the index of a cell.
    #[inline]
    pub fn load(&self, at: usize) -> T {
        T::load(&self.cells()[at])
    }

    /// Fills `to` with the values of the cells, starting at cell `begin`.
    #[inline]
    pub fn load_all(&self, begin: usize, to: &mut [T]) {
        let cells = &self.cells()[begin..begin + to.len()];
        to.iter_mut().zip(cells).for_each(|(to, cell)| *to = T::load(cell));
    }

    /// Sets cell `at`.
    #[inline]
    pub fn store(&self, at: usize, value: T) {
        T::store(&self.cells()[at], value);
    }

    /// Sets cell `at` to `new` and returns `Ok(current)` if its value is `current`; otherwise, returns the actual value as `Err`.
    #[inline]
    pub fn compare_exchange(&self, at: usize, current: T, new: T) -> std::result::Result<T, T> {
        T::swap_if(&self.cells()[at], current, new)
    }

    /// Adds to cell `at` with wraparound and returns the previous value.
    #[inline]
    pub fn fetch_add(&self, at: usize, value: T) -> T {
        T::add(&self.cells()[at], value)
    }

    /// Sets cell `at` to `value` if its value is smaller.
    #[inline]
    pub fn raise(&self, at: usize, value: T) {
        T::raise(&self.cells()[at], value);
    }

    #[inline]
    #[allow(unsafe_code)]
    fn cells(&self) -> &[T::Atomic] {
        match &self.map {
            // SAFETY: the map has `len * size_of::<T::Atomic>()` bytes (see `new`), begins at a page boundary, lives as long as
            // `self`, and is accessed only through atomics; `T` is sealed, so every bit pattern is a valid value.
            Some(map) => unsafe { std::slice::from_raw_parts(map.as_ptr().cast::<T::Atomic>(), self.len) },
            None => &[],
        }
    }
}

/// A shared bitmap in a temporary file, in which all bits are initially unset.
#[derive(Debug)]
pub struct AtomicBits {
    words: AtomicCells<u64>,
    len: usize,
}

impl AtomicBits {
    /// Creates a bitmap of `len` bits in a new file in `dir`; `name` appears in messages.
    ///
    /// # Errors
    /// Returns [`dupsift_core::error::Error::Io`] if the file cannot be created, or the disk has no space for it.
    pub fn new(dir: &Path, name: &str, len: usize) -> Result<AtomicBits> {
        Ok(AtomicBits { words: AtomicCells::new(dir, name, len.div_ceil(64))?, len })
    }

    /// Creates a bitmap of `len` bits over existing words.
    pub(super) fn of(words: AtomicCells<u64>, len: usize) -> AtomicBits {
        AtomicBits { words, len }
    }

    pub(super) fn words(&self) -> &AtomicCells<u64> {
        &self.words
    }

    /// Returns the number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the length of the bitmap is 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sets bit `at`. Returns `true` if the bit was not set before. If several threads set the same bit, exactly one of them gets `true`.
    ///
    /// # Panics
    /// Panics if there is no such bit.
    #[inline]
    pub fn set(&self, at: usize) -> bool {
        assert!(at < self.len, "bit {at} of {}", self.len);
        let (word, mask) = (&self.words.cells()[at / 64], 1 << (at % 64));
        // The bit is read first: most bits are set many times, and a plain read does not take the cache line away from other threads.
        word.load(Relaxed) & mask == 0 && word.fetch_or(mask, Relaxed) & mask == 0
    }

    /// Returns whether bit `at` is set.
    ///
    /// # Panics
    /// Panics if there is no such bit.
    #[inline]
    pub fn get(&self, at: usize) -> bool {
        assert!(at < self.len, "bit {at} of {}", self.len);
        self.words.load(at / 64) & (1 << (at % 64)) != 0
    }

    /// Returns the 64 bits that start at bit `64 * word`, which becomes the lowest bit.
    #[inline]
    pub(super) fn word(&self, word: usize) -> u64 {
        self.words.load(word)
    }

    /// Returns the number of set bits.
    pub fn count(&self) -> u64 {
        self.words.cells().iter().map(|word| u64::from(word.load(Relaxed).count_ones())).sum()
    }

    /// Returns the indexes of the set bits in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.cells().iter().enumerate().flat_map(|(place, word)| {
            let mut left = word.load(Relaxed);
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                left &= left.checked_sub(1)?;
                Some(place * 64 + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_threads_one_finds_a_bit_new() {
        let dir = tempfile::tempdir().expect("a folder");
        let bits = AtomicBits::new(dir.path(), "seen", 1001).expect("a bitmap");
        let found_new = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (bits, found_new) = (&bits, &found_new);
                scope.spawn(move || {
                    for at in (0..1001).filter(|at| at % 10 != thread) {
                        found_new.fetch_add(bits.set(at).into(), Relaxed);
                    }
                });
            }
        });
        assert_eq!((bits.count(), found_new.into_inner()), (1001, 1001));
        assert!(bits.iter().eq(0..1001) && bits.get(1000));
    }

    #[test]
    fn bits_are_listed_in_order() {
        let dir = tempfile::tempdir().expect("a folder");
        let bits = AtomicBits::new(dir.path(), "seen", 200).expect("a bitmap");
        let chosen = [0, 1, 63, 64, 127, 199];
        assert!(chosen.iter().rev().all(|&at| bits.set(at)) && !bits.set(63));
        assert!(bits.iter().eq(chosen) && (0..200).all(|at| bits.get(at) == chosen.contains(&at)));
        let none = AtomicBits::new(dir.path(), "none", 0).expect("a bitmap");
        assert!(none.is_empty() && none.count() == 0 && none.iter().next().is_none());
    }

    #[test]
    #[should_panic(expected = "bit 200 of 200")]
    fn a_bit_beyond_the_end_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        AtomicBits::new(dir.path(), "seen", 200).expect("a bitmap").set(200);
    }

    #[test]
    fn cells_are_shared_among_threads() {
        let dir = tempfile::tempdir().expect("a folder");
        let wide: AtomicCells<u64> = AtomicCells::new(dir.path(), "wide", 100).expect("cells");
        let narrow: AtomicCells<u32> = AtomicCells::new(dir.path(), "narrow", 3).expect("cells");
        std::thread::scope(|scope| {
            for thread in 0..4_u64 {
                let (wide, narrow) = (&wide, &narrow);
                scope.spawn(move || {
                    for at in (thread as usize..100).step_by(4) {
                        wide.store(at, u64::MAX - at as u64);
                        narrow.fetch_add(1, 2);
                    }
                });
            }
        });
        assert!((0..100).all(|at| wide.load(at) == u64::MAX - at as u64));
        assert_eq!([0, 1, 2].map(|at| narrow.load(at)), [0, 200, 0]);
        assert_eq!(narrow.compare_exchange(1, 200, 5), Ok(200));
        assert_eq!(narrow.compare_exchange(1, 200, 6), Err(5));
        narrow.raise(2, 7);
        narrow.raise(2, 6);
        assert_eq!(narrow.load(2), 7);
        assert_eq!((narrow.load(1), narrow.len(), narrow.is_empty()), (5, 3, false));
    }
}

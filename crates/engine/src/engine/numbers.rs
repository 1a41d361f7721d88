//! Stores arrays of numbers in temporary files. Each number takes four bytes if the largest number fits in four bytes, and eight bytes
//! otherwise.

use std::path::Path;

use super::checkpoints::{CheckpointReader, CheckpointWriter};
use dupsift_core::error::Result;
use dupsift_core::row::{Docs, Slots};
use dupsift_spill::shuffle::Mapped;

/// Holds an array of numbers, initially all 0.
pub enum Numbers {
    /// Four bytes per number.
    Narrow(Mapped<u32>),
    /// Eight bytes per number.
    Wide(Mapped<u64>),
}

impl Numbers {
    /// Creates an array of `len` numbers in a file in the folder `dir`. The largest number is at most `most`. Messages refer to the array
    /// as `name`.
    pub fn new(dir: &Path, name: &str, len: usize, most: u64) -> Result<Numbers> {
        Ok(if most <= u32::MAX.into() {
            Numbers::Narrow(Mapped::new(dir, name, len)?)
        } else {
            Numbers::Wide(Mapped::new(dir, name, len)?)
        })
    }

    /// Saves the numbers to a checkpoint.
    pub fn save(&self, to: &mut CheckpointWriter<'_>) -> Result<()> {
        match self {
            Numbers::Narrow(numbers) => to.plain(&true).and_then(|()| to.array(numbers)),
            Numbers::Wide(numbers) => to.plain(&false).and_then(|()| to.array(numbers)),
        }
    }

    /// Restores the numbers from a checkpoint.
    pub fn restore(from: &mut CheckpointReader<'_>) -> Result<Numbers> {
        Ok(if from.plain()? { Numbers::Narrow(from.array()?) } else { Numbers::Wide(from.array()?) })
    }

    /// Returns the number at a position.
    #[inline]
    pub fn get(&self, at: u64) -> u64 {
        match self {
            Numbers::Narrow(numbers) => numbers[at as usize].into(),
            Numbers::Wide(numbers) => numbers[at as usize],
        }
    }

    /// Returns the numbers for reading and writing.
    pub fn slots(&mut self) -> Slots<'_> {
        match self {
            Numbers::Narrow(numbers) => Slots::Narrow(numbers),
            Numbers::Wide(numbers) => Slots::Wide(numbers),
        }
    }

    /// Returns a range of the numbers as document numbers.
    pub fn docs(&self, range: std::ops::Range<usize>) -> Docs<'_> {
        match self {
            Numbers::Narrow(numbers) => Docs::Narrow(&numbers[range]),
            Numbers::Wide(numbers) => Docs::Wide(&numbers[range]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_follows_from_the_largest_number() {
        let dir = tempfile::tempdir().expect("a folder");
        for (most, narrow) in [(u64::from(u32::MAX), true), (1 << 32, false)] {
            let mut numbers = Numbers::new(dir.path(), "numbers", 5, most).expect("an array");
            assert_eq!(matches!(numbers, Numbers::Narrow(_)), narrow);
            numbers.slots().set(3, most);
            assert_eq!((numbers.get(2), numbers.get(3)), (0, most));
            assert!(numbers.docs(2..5).iter().eq([0, most, 0]));
        }
    }
}

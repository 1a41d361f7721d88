//! How many bits of a bitmap are set before a place: so an array can hold something for the set bits alone.

use std::path::Path;

use super::{AtomicBits, Mapped};
use crate::error::Result;

/// Words of 64 bits that stand behind one count: with it they fill a line of the cache, so a look-up waits once.
const WORDS: usize = 7;
/// Bits behind one count.
const BITS: usize = WORDS * 64;

/// A copy of a bitmap, with the numbers of its set bits.
#[derive(Debug)]
pub struct Ranks {
    /// How many bits are set before, then the bits.
    lines: Mapped<[u64; 1 + WORDS]>,
    len: usize,
    count: u64,
}

impl Ranks {
    /// Copies and counts the bits, in a file of the folder; `name` stands in messages. Bits that are set later are not seen.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] if the file cannot be made.
    pub fn new(dir: &Path, name: &str, bits: &AtomicBits) -> Result<Ranks> {
        let words = bits.len().div_ceil(64);
        let mut lines: Mapped<[u64; 1 + WORDS]> = Mapped::new(dir, name, words.div_ceil(WORDS))?;
        let mut count = 0;
        for (at, line) in lines.iter_mut().enumerate() {
            line[0] = count;
            for (word, to) in (at * WORDS..words).zip(&mut line[1..]) {
                *to = bits.word(word);
                count += u64::from(to.count_ones());
            }
        }
        Ok(Ranks { lines, len: bits.len(), count })
    }

    /// How many bits are set.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many bits are set before the bit `at`, if that is set itself.
    ///
    /// # Panics
    /// If there is no such bit.
    #[inline]
    pub fn rank(&self, at: usize) -> Option<usize> {
        assert!(at < self.len, "bit {at} of {}", self.len);
        let (line, within) = (&self.lines[at / BITS], at % BITS);
        let (word, mask) = (line[1 + within / 64], 1 << (within % 64));
        if word & mask == 0 {
            return None;
        }
        let before = line[1..1 + within / 64].iter().map(|word| word.count_ones()).sum::<u32>();
        Some(line[0] as usize + (before + (word & (mask - 1)).count_ones()) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_count_the_bits_before() {
        let dir = tempfile::tempdir().expect("a folder");
        for len in [0, 1, 64, 447, 448, 449, 5000] {
            let bits = AtomicBits::new(dir.path(), "bits", len).expect("a bitmap");
            (0..len).filter(|at| at % 7 < 3 || at / 600 == 2).for_each(|at| _ = bits.set(at));
            let ranks = Ranks::new(dir.path(), "ranks", &bits).expect("ranks");
            let mut expected = 0;
            for at in 0..len {
                assert_eq!(ranks.rank(at), bits.get(at).then_some(expected), "{at} of {len}");
                expected += usize::from(bits.get(at));
            }
            assert_eq!(ranks.count() as usize, expected);
        }
    }
}

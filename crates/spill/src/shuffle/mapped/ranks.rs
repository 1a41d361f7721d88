//! Counts the set bits before a position in a bitmap, so that an array needs entries only for set bits.

use std::path::Path;

use super::{AtomicBits, Mapped};
use dupsift_core::error::Result;

/// The number of 64-bit bitmap words per line. Two words of counts precede these words. A line fills one cache line, so a lookup causes one
/// cache miss and counts the bits of one word (Vigna 2008, Broadword implementation of rank/select queries).
const WORDS: usize = 6;
/// The number of bitmap bits per line.
const BITS: usize = WORDS * 64;
/// The number of bits used to store how many bits of a line are set before one of its words. Before the last word, at most 320 bits are
/// set.
const COUNT_BITS: usize = 9;

/// A copy of a bitmap, with the ranks of its set bits.
#[derive(Debug)]
pub struct Ranks {
    /// Each line contains the number of bits that are set before the line; for each word in the line, how many of the line's bits are set
    /// before that word (packed); and the bits themselves.
    lines: Mapped<[u64; 2 + WORDS]>,
    len: usize,
    count: u64,
}

impl Ranks {
    /// Copies a bitmap into a new file in `dir` and counts its bits; `name` appears in messages. Bits that are set later are not included.
    ///
    /// # Errors
    /// Returns [`dupsift_core::error::Error::Io`] if the file cannot be created.
    pub fn new(dir: &Path, name: &str, bits: &AtomicBits) -> Result<Ranks> {
        let words = bits.len().div_ceil(64);
        let mut lines: Mapped<[u64; 2 + WORDS]> = Mapped::new(dir, name, words.div_ceil(WORDS))?;
        let mut count = 0;
        for (at, line) in lines.iter_mut().enumerate() {
            line[0] = count;
            for (place, word) in (at * WORDS..words).take(WORDS).enumerate() {
                line[1] |= (count - line[0]) << (place * COUNT_BITS);
                line[2 + place] = bits.word(word);
                count += u64::from(line[2 + place].count_ones());
            }
        }
        Ok(Ranks { lines, len: bits.len(), count })
    }

    /// Restores the ranks of a bitmap with this many bits; returns `None` if the number of lines does not match.
    pub(super) fn of(lines: Mapped<[u64; 2 + WORDS]>, len: usize) -> Option<Ranks> {
        let count = lines
            .last()
            .map_or(0, |line| line[0] + line[2..].iter().map(|word| u64::from(word.count_ones())).sum::<u64>());
        (lines.len() == len.div_ceil(64).div_ceil(WORDS)).then_some(Ranks { lines, len, count })
    }

    pub(super) fn lines(&self) -> &Mapped<[u64; 2 + WORDS]> {
        &self.lines
    }

    /// Returns the number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of set bits.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the number of bits that are set before bit `at`; `None` if bit `at` is not set.
    ///
    /// # Panics
    /// Panics if there is no such bit.
    #[inline]
    pub fn rank(&self, at: usize) -> Option<usize> {
        assert!(at < self.len, "bit {at} of {}", self.len);
        let (line, within) = (&self.lines[at / BITS], at % BITS);
        let (place, mask) = (within / 64, 1 << (within % 64));
        let word = line[2 + place];
        if word & mask == 0 {
            return None;
        }
        let before = line[1] >> (place * COUNT_BITS) & ((1 << COUNT_BITS) - 1);
        Some((line[0] + before) as usize + (word & (mask - 1)).count_ones() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_count_the_bits_before() {
        let dir = tempfile::tempdir().expect("a folder");
        for len in [0, 1, 64, 383, 384, 385, 5000] {
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

//! How many bits of a bitmap are set before a place: so an array can hold something for the set bits alone.

use std::path::Path;
use std::sync::Arc;

use super::{AtomicBits, Mapped};
use crate::error::Result;

/// Words of 64 bits that share one count.
const WORDS: usize = 8;

/// A bitmap to which no bits are added any more, with the numbers of its set bits.
#[derive(Debug)]
pub struct Ranks {
    bits: Arc<AtomicBits>,
    /// Set bits before each [`WORDS`] words.
    before: Mapped<u64>,
    count: u64,
}

impl Ranks {
    /// Counts the bits, in a file of the folder; `name` stands in messages. Bits that are set later make it wrong.
    ///
    /// # Errors
    /// [`crate::error::Error::Io`] if the file cannot be made.
    pub fn new(dir: &Path, name: &str, bits: Arc<AtomicBits>) -> Result<Ranks> {
        let words = bits.len().div_ceil(64);
        let mut before: Mapped<u64> = Mapped::new(dir, name, words.div_ceil(WORDS))?;
        let mut count = 0;
        for (at, before) in before.iter_mut().enumerate() {
            *before = count;
            let end = words.min((at + 1) * WORDS);
            count += (at * WORDS..end).map(|word| u64::from(bits.word(word).count_ones())).sum::<u64>();
        }
        Ok(Ranks { bits, before, count })
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
        if !self.bits.get(at) {
            return None;
        }
        let word = at / 64;
        let words = (word - word % WORDS..word).map(|word| self.bits.word(word).count_ones()).sum::<u32>();
        let within = (self.bits.word(word) & ((1 << (at % 64)) - 1)).count_ones();
        Some(self.before[word / WORDS] as usize + (words + within) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_count_the_bits_before() {
        let dir = tempfile::tempdir().expect("a folder");
        for len in [0, 1, 64, 511, 512, 513, 5000] {
            let bits = Arc::new(AtomicBits::new(dir.path(), "bits", len).expect("a bitmap"));
            (0..len).filter(|at| at % 7 < 3 || at / 600 == 2).for_each(|at| _ = bits.set(at));
            let ranks = Ranks::new(dir.path(), "ranks", bits.clone()).expect("ranks");
            let mut expected = 0;
            for at in 0..len {
                assert_eq!(ranks.rank(at), bits.get(at).then_some(expected), "{at} of {len}");
                expected += usize::from(bits.get(at));
            }
            assert_eq!(ranks.count() as usize, expected);
        }
    }
}

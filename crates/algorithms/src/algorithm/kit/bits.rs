//! Defines fixed-width bit vectors for fingerprints (up to 128 bits, or wider), and the operations that block tables need.

use std::ops::{BitAnd, BitOr, BitXor};

use dupsift_core::hash::{combine, hash64, mix64};

/// Represents a bit vector. Unused bits are 0.
pub(crate) trait Bits:
    Copy + PartialEq + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + 'static
{
    /// A vector without set bits.
    const NONE: Self;
    /// Returns a vector in which the bits from `from` (inclusive) to `to` (exclusive) are set.
    fn span(from: u32, to: u32) -> Self;
    /// Returns the number of set bits.
    fn ones(self) -> u32;
    /// Returns a well-mixed key for a vector that uses `bits` bits.
    fn key(self, bits: u32) -> u64;
}

impl Bits for u128 {
    const NONE: u128 = 0;

    fn span(from: u32, to: u32) -> u128 {
        let below = |bit: u32| if bit >= 128 { u128::MAX } else { (1 << bit) - 1 };
        below(to) & !below(from)
    }

    fn ones(self) -> u32 {
        self.count_ones()
    }

    fn key(self, bits: u32) -> u64 {
        if bits <= 64 { mix64(self as u64) } else { hash64(&self.to_le_bytes()) }
    }
}

/// Returns the number of bits in which two vectors of words differ.
pub(crate) fn differing(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// The number of words in a [`Wide`].
pub(crate) const WIDE_WORDS: usize = 6;

/// Holds up to 384 bits, 64 per word, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wide(pub [u64; WIDE_WORDS]);

impl Wide {
    fn with(self, other: Wide, join: impl Fn(u64, u64) -> u64) -> Wide {
        Wide(std::array::from_fn(|at| join(self.0[at], other.0[at])))
    }

    /// Appends the words in use as bytes.
    pub(crate) fn write(&self, bits: u32, out: &mut Vec<u8>) {
        self.0[..bits as usize / 64].iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    }

    /// Reads a vector written by `Wide::write`.
    pub(crate) fn read(bytes: &[u8]) -> Wide {
        let mut wide = Wide::NONE;
        for (to, word) in wide.0.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *to = u64::from_le_bytes(*word);
        }
        wide
    }
}

impl BitAnd for Wide {
    type Output = Wide;
    fn bitand(self, other: Wide) -> Wide {
        self.with(other, |a, b| a & b)
    }
}

impl BitOr for Wide {
    type Output = Wide;
    fn bitor(self, other: Wide) -> Wide {
        self.with(other, |a, b| a | b)
    }
}

impl BitXor for Wide {
    type Output = Wide;
    fn bitxor(self, other: Wide) -> Wide {
        self.with(other, |a, b| a ^ b)
    }
}

impl Bits for Wide {
    const NONE: Wide = Wide([0; WIDE_WORDS]);

    fn span(from: u32, to: u32) -> Wide {
        Wide(std::array::from_fn(|at| {
            let within = |bit: u32| bit.saturating_sub(64 * at as u32).min(64);
            u128::span(within(from), within(to)) as u64
        }))
    }

    fn ones(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    fn key(self, bits: u32) -> u64 {
        self.0[..bits as usize / 64].iter().fold(0, |key, &word| combine(key, word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_cover_each_bit_once() {
        for (from, to) in [(0, 64), (0, 384), (63, 65), (100, 300), (7, 7), (320, 384)] {
            let span = Wide::span(from, to);
            assert_eq!(span.ones(), to - from);
            for bit in 0..384u32 {
                assert_eq!(span.0[bit as usize / 64] >> (bit % 64) & 1 == 1, (from..to).contains(&bit));
            }
        }
        assert_eq!(u128::span(100, 128) | u128::span(0, 100), u128::MAX);
    }

    #[test]
    fn what_is_written_is_read() {
        let wide = Wide([1, u64::MAX, 3, 0, 0, 0]);
        let mut bytes = Vec::new();
        wide.write(192, &mut bytes);
        assert_eq!((bytes.len(), Wide::read(&bytes)), (24, wide));
    }
}

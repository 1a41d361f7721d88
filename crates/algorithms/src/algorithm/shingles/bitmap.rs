//! Represents sets as bitmaps. The hash of each element sets one bit. An element that belongs to two sets has the same bit in both bitmaps,
//! which gives an upper bound:
//!
//! ```text
//! |A n B| <= bits in both + min(|A| - bits of A, |B| - bits of B)
//! ```
//!
//! This bound rules out nearly every pair of dissimilar sets if the bitmaps have several bits per element, and is many times faster than
//! counting the shared elements. The number of bits is a power of two: at least about eight bits per element, up to a maximum. The larger
//! bitmap of a pair is folded to the size of the smaller bitmap.

use dupsift_core::cpu::Level;
use dupsift_core::hash::mix64;

/// The number of words in the smallest bitmap.
pub(crate) const LEAST_WORDS: usize = 16;
/// The number of words in the largest bitmap.
pub(crate) const MOST_WORDS: usize = 1 << 10;

/// Returns the number of bitmap words for this many distinct elements.
pub(crate) fn words_of(distinct: u32) -> usize {
    (distinct as usize).div_ceil(8).next_power_of_two().clamp(LEAST_WORDS, MOST_WORDS)
}

/// Appends the bitmap of a set of distinct elements.
pub(crate) fn write(set: &[u64], out: &mut Vec<u64>) {
    let (from, words) = (out.len(), words_of(u32::try_from(set.len()).unwrap_or(u32::MAX)));
    out.resize(from + words, 0);
    for element in set {
        // The element is mixed, because some sets are selected by the low bits of their elements.
        let bit = mix64(*element) as usize & (words * 64 - 1);
        out[from + bit / 64] |= 1 << (bit % 64);
    }
}

/// Appends a bitmap folded to the given number of words. `words` must be a power of two and at most the length of the bitmap.
pub(crate) fn fold(bitmap: &[u64], words: usize, out: &mut Vec<u64>) {
    let from = out.len();
    out.extend_from_slice(&bitmap[..words]);
    for more in bitmap[words..].chunks_exact(words) {
        out[from..].iter_mut().zip(more).for_each(|(to, bits)| *to |= bits);
    }
}

/// Holds a set in comparable form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Folded<'b> {
    bits: &'b [u64],
    /// The number of bits that are set.
    set: u32,
    /// The number of elements whose bit another element has already set.
    hidden: u32,
}

impl<'b> Folded<'b> {
    /// Returns the set with this bitmap, folded or not, and this many distinct elements.
    pub(crate) fn new(bits: &'b [u64], distinct: u32) -> Folded<'b> {
        let set: u32 = bits.iter().map(|word| word.count_ones()).sum();
        Folded { bits, set, hidden: distinct.saturating_sub(set) }
    }

    /// Returns an upper bound on the number of elements that two sets share. Both bitmaps must have the same size.
    pub(crate) fn most_common(&self, other: &Folded<'_>, level: Level) -> u32 {
        common_bits(level, self.bits, other.bits) + self.hidden.min(other.hidden)
    }

    /// Returns the number of bits that two sets share, minus the number expected by chance; `most` is the result of
    /// `Folded::most_common`. Bitmaps of large sets are so full that any two of them share many bits.
    pub(crate) fn beyond_chance(&self, other: &Folded<'_>, most: u32) -> f64 {
        let both = most - self.hidden.min(other.hidden);
        f64::from(both) - self.by_chance(other)
    }

    /// Returns the estimated share of the larger set that both sets have in common, given [`beyond_chance`](Self::beyond_chance).
    pub(crate) fn share_in_common(&self, other: &Folded<'_>, beyond_chance: f64) -> f64 {
        beyond_chance / (f64::from(self.set.max(other.set)) - self.by_chance(other)).max(1.0)
    }

    /// Returns the expected number of bits that two unrelated sets of these sizes have in common.
    fn by_chance(&self, other: &Folded<'_>) -> f64 {
        f64::from(self.set) * f64::from(other.set) / (self.bits.len() * 64) as f64
    }

    /// Returns the bits.
    pub(crate) fn bits(&self) -> &'b [u64] {
        self.bits
    }
}

/// Returns the number of bits that are set in both bitmaps, which must have the same length.
#[allow(unsafe_code)]
fn common_bits(level: Level, a: &[u64], b: &[u64]) -> u32 {
    match level {
        Level::Plain => count(a, b),
        // SAFETY: `Level::best` detected the CPU features of this level.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::avx2(a, b) },
        // SAFETY: `Level::best` detected the CPU features of this level.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::avx512(a, b) },
    }
}

/// Counts in a plain loop, which the compiler vectorizes.
#[inline(always)]
fn count(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    #[target_feature(enable = "avx2")]
    pub(crate) fn avx2(a: &[u64], b: &[u64]) -> u32 {
        super::count(a, b)
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    pub(crate) fn avx512(a: &[u64], b: &[u64]) -> u32 {
        super::count(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::hash::splitmix64;

    #[test]
    fn all_levels_give_the_same() {
        for words in [0, 1, 7, 16, 33, 128] {
            let bits = |seed| (0..words).map(|n| splitmix64(seed, n) & splitmix64(seed + 9, n)).collect::<Vec<u64>>();
            let (a, b) = (bits(1), bits(2));
            let both = |n: usize| (0..64).filter(|bit| a[n] >> bit & 1 == 1 && b[n] >> bit & 1 == 1).count();
            let expected: usize = (0..words as usize).map(both).sum();
            assert!(words < 16 || expected > 0);
            for level in Level::all() {
                assert_eq!(common_bits(level, &a, &b) as usize, expected, "{level:?}");
            }
        }
    }

    #[test]
    fn the_bound_is_never_too_low_and_seldom_much_too_high() {
        for (size, common) in [(3, 1), (100, 0), (900, 300), (5_000, 50), (60_000, 20_000)] {
            let set = |seed: u64, size: u64| -> Vec<u64> {
                (0..size).map(|n| splitmix64(if n < common { 1 } else { seed }, n)).collect()
            };
            // The sizes differ, so one bitmap is folded.
            let (a, b) = (set(2, size), set(3, size / 2 + common));
            let (mut bits_a, mut bits_b, mut folded) = (vec![7], Vec::new(), Vec::new());
            write(&a, &mut bits_a);
            write(&b, &mut bits_b);
            let bits_a = &bits_a[1..];
            assert_eq!(bits_a.len(), words_of(size as u32));
            fold(bits_a, bits_a.len().min(bits_b.len()), &mut folded);
            let (x, y) = (Folded::new(&folded, a.len() as u32), Folded::new(&bits_b[..folded.len()], b.len() as u32));
            let bound = u64::from(x.most_common(&y, Level::best()));
            assert!(bound >= common && bound <= common + size / 2, "{bound} for {common} of {size}");
        }
        assert_eq!((words_of(0), words_of(129), words_of(u32::MAX)), (LEAST_WORDS, 32, MOST_WORDS));
    }
}

//! Implements the kernel of the `multiply32` family, which computes minima of a x + b mod 2^32 for at least sixteen functions at a time.
//!
//! All three versions (AVX-512, AVX2 and plain code) compute the same numbers. Functions are grouped in blocks whose minima stay in
//! registers while the complete set is read. So the set is read once per block, and there is no other memory traffic.

use dupsift_core::cpu::Level;

/// The number of functions in a block. Lists are padded to a multiple of this number.
pub(crate) const BLOCK: usize = 16;

/// Lowers each minimum to the smallest value of its function `a[j] x + b[j] mod 2^32` over the set, if that value is lower. `a`,
/// `b` and `minima` have the same length, a multiple of [`BLOCK`].
#[allow(unsafe_code)]
pub(crate) fn lower(level: Level, set: &[u32], a: &[u32], b: &[u32], minima: &mut [u32]) {
    assert!(a.len() == b.len() && a.len() == minima.len() && a.len().is_multiple_of(BLOCK));
    match level {
        Level::Plain => plain(set, a, b, minima),
        // SAFETY: `Level::best` detected the features of this level.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::avx2(set, a, b, minima) },
        // SAFETY: `Level::best` detected the features of this level.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::avx512(set, a, b, minima) },
    }
}

/// Lowers the minima in plain code. This is the reference implementation.
fn plain(set: &[u32], a: &[u32], b: &[u32], minima: &mut [u32]) {
    for &x in set {
        // A plain loop over three arrays, which the compiler vectorizes.
        for ((minimum, a), b) in minima.iter_mut().zip(a).zip(b) {
            *minimum = (*minimum).min(a.wrapping_mul(x).wrapping_add(*b));
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::BLOCK;

    /// The number of blocks whose minima, factors and summands fit in the 32 registers of AVX-512.
    const WIDE: usize = 7;

    #[target_feature(enable = "avx512f")]
    pub(crate) fn avx512(set: &[u32], a: &[u32], b: &[u32], minima: &mut [u32]) {
        let (mut a, mut b, mut minima) = (a, b, minima);
        while !a.is_empty() {
            let blocks = (a.len() / BLOCK).min(WIDE);
            let (a_now, a_rest) = a.split_at(blocks * BLOCK);
            let (b_now, b_rest) = b.split_at(blocks * BLOCK);
            let (now, rest) = minima.split_at_mut(blocks * BLOCK);
            match blocks {
                1 => avx512_blocks::<1>(set, a_now, b_now, now),
                2 => avx512_blocks::<2>(set, a_now, b_now, now),
                3 => avx512_blocks::<3>(set, a_now, b_now, now),
                4 => avx512_blocks::<4>(set, a_now, b_now, now),
                5 => avx512_blocks::<5>(set, a_now, b_now, now),
                6 => avx512_blocks::<6>(set, a_now, b_now, now),
                _ => avx512_blocks::<WIDE>(set, a_now, b_now, now),
            }
            (a, b, minima) = (a_rest, b_rest, rest);
        }
    }

    #[target_feature(enable = "avx512f")]
    #[allow(unsafe_code)]
    fn avx512_blocks<const N: usize>(set: &[u32], a: &[u32], b: &[u32], minima: &mut [u32]) {
        let (a, b) = (a.as_chunks::<BLOCK>().0, b.as_chunks::<BLOCK>().0);
        let before = minima.as_chunks::<BLOCK>().0;
        // SAFETY: each block is sixteen numbers, and the loads and stores require no alignment.
        let load = |block: &[u32; BLOCK]| unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        let factors: [__m512i; N] = std::array::from_fn(|n| load(&a[n]));
        let summands: [__m512i; N] = std::array::from_fn(|n| load(&b[n]));
        let mut least: [__m512i; N] = std::array::from_fn(|n| load(&before[n]));
        for &x in set {
            let x = _mm512_set1_epi32(x as i32);
            for n in 0..N {
                let value = _mm512_add_epi32(_mm512_mullo_epi32(factors[n], x), summands[n]);
                least[n] = _mm512_min_epu32(least[n], value);
            }
        }
        for (to, from) in minima.as_chunks_mut::<BLOCK>().0.iter_mut().zip(least) {
            // SAFETY: each block is sixteen numbers, and the stores require no alignment.
            unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), from) };
        }
    }

    /// The number of blocks whose minima, factors and summands fit in the 16 registers of AVX2.
    const NARROW: usize = 2;

    #[target_feature(enable = "avx2")]
    pub(crate) fn avx2(set: &[u32], a: &[u32], b: &[u32], minima: &mut [u32]) {
        let (a, b) = (a.chunks(NARROW * BLOCK), b.chunks(NARROW * BLOCK));
        for ((a, b), minima) in a.zip(b).zip(minima.chunks_mut(NARROW * BLOCK)) {
            if a.len() == BLOCK {
                avx2_halves::<2>(set, a, b, minima);
            } else {
                avx2_halves::<{ 2 * NARROW }>(set, a, b, minima);
            }
        }
    }

    /// Lowers the minima of `N` halves of blocks.
    #[target_feature(enable = "avx2")]
    #[allow(unsafe_code)]
    fn avx2_halves<const N: usize>(set: &[u32], a: &[u32], b: &[u32], minima: &mut [u32]) {
        const HALF: usize = BLOCK / 2;
        let (a, b) = (a.as_chunks::<HALF>().0, b.as_chunks::<HALF>().0);
        let before = minima.as_chunks::<HALF>().0;
        // SAFETY: each half of a block is eight numbers, and the loads and stores require no alignment.
        let load = |half: &[u32; HALF]| unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
        let factors: [__m256i; N] = std::array::from_fn(|n| load(&a[n]));
        let summands: [__m256i; N] = std::array::from_fn(|n| load(&b[n]));
        let mut least: [__m256i; N] = std::array::from_fn(|n| load(&before[n]));
        for &x in set {
            let x = _mm256_set1_epi32(x as i32);
            for n in 0..N {
                let value = _mm256_add_epi32(_mm256_mullo_epi32(factors[n], x), summands[n]);
                least[n] = _mm256_min_epu32(least[n], value);
            }
        }
        for (to, from) in minima.as_chunks_mut::<HALF>().0.iter_mut().zip(least) {
            // SAFETY: each half of a block is eight numbers, and the stores require no alignment.
            unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), from) };
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_levels_give_the_same(
            set in proptest::collection::vec(any::<u32>(), 0..40),
            functions in proptest::collection::vec((any::<u32>(), any::<u32>()), 1..20),
        ) {
            let count = functions.len() * BLOCK;
            let of = |shift: u32, pick: fn(&(u32, u32)) -> u32| -> Vec<u32> {
                (0..count).map(|n| pick(&functions[n / BLOCK]).wrapping_mul(2 * n as u32 + shift)).collect()
            };
            let (a, b) = (of(1, |one| one.0), of(7, |one| one.1));
            let by = |level| {
                let mut out: Vec<u32> = (0..count as u32).map(|n| u32::MAX - (n % 5) * (u32::MAX / 5)).collect();
                lower(level, &set, &a, &b, &mut out);
                out
            };
            for level in Level::all() {
                prop_assert_eq!(by(level), by(Level::Plain), "{:?}", level);
            }
        }
    }
}

//! Finds the 64-bit words that differ from a given word in only a few bits. The search rules out nearly all pairs in a window of bit
//! vectors, several at a time. If the first words of two longer vectors differ in too many bits, so do the vectors, so one word per row is
//! enough to rule out pairs. The remaining pairs are judged on the complete vectors.

use dupsift_core::cpu::Level;
use dupsift_core::row::{Pair, Pairs, Row, Score, Window};

/// Compares the rows of a window. The sketches of the rows must be bit vectors with at least 8 bytes. `judge` is called only for rows
/// that may differ in at most `distance` bits.
pub(crate) fn compare(
    window: &Window<'_>,
    distance: u32,
    out: &mut Pairs<'_>,
    judge: impl Fn(&Row<'_>, &Row<'_>) -> Option<Score>,
) {
    let level = Level::best();
    out.compare_some(
        window,
        |row| row.sketch.first_chunk().map_or(0, |word| u64::from_ne_bytes(*word)),
        |first, words, places| near(level, first, words, distance, places),
        |a, b| judge(a, b).map(|score| Pair::new(a.doc, b.doc, score, 1)),
    );
}

/// Appends the positions of the words that differ from `first` in at most `most` bits, in order.
#[allow(unsafe_code)]
fn near(level: Level, first: u64, words: &[u64], most: u32, places: &mut Vec<u32>) {
    match level {
        Level::Plain => scan(first, words, most, places),
        // SAFETY: `Level::best` detected the feature of this level.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::avx2(first, words, most, places) },
        // SAFETY: `Level::best` detected the other features of this level, and the guard checks for the feature that counts bits.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if is_x86_feature_detected!("avx512vpopcntdq") => unsafe {
            x86::avx512(first, words, most, places);
        },
        // SAFETY: a processor of this level also supports the lower level.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::avx2(first, words, most, places) },
    }
}

/// Scans in a plain loop, which the compiler vectorizes.
#[inline(always)]
fn scan(first: u64, words: &[u64], most: u32, places: &mut Vec<u32>) {
    for (at, words) in words.chunks(64).enumerate() {
        let mut found = 0;
        for (bit, word) in words.iter().enumerate() {
            found |= u64::from((word ^ first).count_ones() <= most) << bit;
        }
        push(found, 64 * at as u32, places);
    }
}

/// Appends the positions of the set bits, counted from `from`.
#[inline(always)]
fn push(mut found: u64, from: u32, places: &mut Vec<u32>) {
    while found != 0 {
        places.push(from + found.trailing_zeros());
        found &= found - 1;
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2")]
    pub(crate) fn avx2(first: u64, words: &[u64], most: u32, places: &mut Vec<u32>) {
        super::scan(first, words, most, places);
    }

    /// Compares eight words at a time, with an instruction that counts set bits.
    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    #[allow(unsafe_code)]
    pub(crate) fn avx512(first: u64, words: &[u64], most: u32, places: &mut Vec<u32>) {
        let (first, most) = (_mm512_set1_epi64(first as i64), _mm512_set1_epi64(most.into()));
        for (at, words) in words.chunks(8).enumerate() {
            let lanes = u8::MAX >> (8 - words.len());
            // SAFETY: exactly as many lanes are read as there are words.
            let words = unsafe { _mm512_maskz_loadu_epi64(lanes, words.as_ptr().cast()) };
            let bits = _mm512_popcnt_epi64(_mm512_xor_si512(words, first));
            let found = _mm512_mask_cmple_epu64_mask(lanes, bits, most);
            super::push(found.into(), 8 * at as u32, places);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::hash::splitmix64;

    #[test]
    fn all_levels_find_what_counting_finds() {
        for len in [0, 1, 7, 8, 9, 63, 64, 65, 300] {
            // All words are near the same word, so all small distances occur.
            let flips = |n| (0..n % 7).fold(0, |bits, i| bits ^ 1 << (splitmix64(n, i) % 64));
            let words: Vec<u64> = (0..len).map(|n| splitmix64(1, 1) ^ flips(n)).collect();
            for most in [0, 3, 64] {
                let apart = |at: usize| (0..64).filter(|bit| (words[at] ^ splitmix64(1, 1)) >> bit & 1 == 1).count();
                let expected: Vec<u32> = (0..words.len()).filter(|&at| apart(at) <= most).map(|at| at as u32).collect();
                for level in Level::all() {
                    let mut places = Vec::new();
                    near(level, splitmix64(1, 1), &words, most as u32, &mut places);

                    assert_eq!(places, expected, "{level:?}, {len} words, {most} bits");
                }
                assert!(len < 8 || !expected.is_empty());
            }
        }
    }
}

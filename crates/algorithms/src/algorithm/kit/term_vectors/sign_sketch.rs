//! Computes the signs of random projections. The number of signs (out of 512) in which two vectors differ estimates the angle between them.
//!
//! Source: Charikar 2002, Similarity estimation techniques from rounding algorithms; the projections are made by a random rotation of the
//! hashed vector, as in Andoni, Indyk, Laarhoven, Razenshteyn, Schmidt 2015, Practical and optimal LSH for angular distance. Cost: four
//! additions per term, and about 13,000 per document.
//!
//! ```text
//! differing signs of 512    512 p, p = arccos(cosine) / pi      standard deviation sqrt(512 p (1 - p))
//! cosine 0.68: angle 0.823, p 0.262    134.1 differ, give or take 9.95     a pair differs in at most 169
//! cosine 0.6:  angle 0.927, p 0.295    151.1 differ, give or take 10.3                               188
//! cosine 0:   p 0.5                  256 differ, give or take 11.3
//! ```

use std::f64::consts::PI;

use crate::algorithm::kit::prefix::Term;
use dupsift_core::float;
use dupsift_core::hash::{mix64, splitmix64};

/// The number of signs per document.
pub(crate) const BITS: u32 = 512;
/// The number of 8-byte words that hold the signs.
pub(crate) const WORDS: usize = BITS as usize / 64;
/// The number of standard deviations by which a difference may exceed its expected value. At the threshold, 2 in 10,000 pairs are lost.
const DEVIATIONS: f64 = 3.5;
/// The number of coordinates to which terms are hashed, and the number of coordinates in each part. A term has one coordinate in each part.
const WIDE: usize = 1024;
const PART: usize = 256;
/// The number of coordinates whose signs are used.
const NARROW: usize = BITS as usize;
/// The number of adjacent coordinates that one instruction adds. A transform mixes the coordinates of one lane.
const LANES: usize = 8;
/// The integer that represents a weight of 1, and the number of low bits that are dropped from the sums.
const UNIT: f64 = (1 << 20) as f64;
const SHIFT: u32 = 10;

/// Returns the maximum number of differing signs for vectors that reach this cosine. About 2 in 10,000 such pairs exceed this number.
pub(crate) fn most_differing(cosine: f64) -> u32 {
    // The cosine is lowered slightly, because weights are rounded.
    let share = float::acos((cosine - 1e-6).clamp(-1.0, 1.0)) / PI;
    let expected = f64::from(BITS) * share;
    (expected + DEVIATIONS * (expected * (1.0 - share)).sqrt()).ceil() as u32
}

/// Returns the number of signs in which two vectors differ.
#[inline]
pub(crate) fn differing(a: &[u64; WORDS], b: &[u64; WORDS]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// Rotates vectors at random and takes the signs of the coordinates.
pub(crate) struct SignSketch {
    seed: u64,
    /// The signs that are flipped before each of the two transforms: -1 for a flipped coordinate, 0 for every other coordinate.
    flips: [Box<[i16]>; 2],
}

impl SignSketch {
    /// Returns the rotation for this seed.
    pub(crate) fn new(seed: u64) -> SignSketch {
        let flips = |which: u64| {
            let flip = |at: u64| -((splitmix64(mix64(seed ^ which), at) >> 63) as i16);
            (0..WIDE as u64).map(flip).collect()
        };
        SignSketch { seed: splitmix64(seed, 0), flips: [flips(1), flips(2)] }
    }

    /// Returns the signs of a vector with length 1.
    #[allow(unsafe_code)]
    pub(crate) fn signs(&self, terms: &[Term]) -> [u64; WORDS] {
        #[cfg(target_arch = "x86_64")]
        if dupsift_core::cpu::Level::best() != dupsift_core::cpu::Level::Plain {
            // SAFETY: the processor has AVX2.
            return unsafe { self.signs_by_avx2(terms) };
        }
        self.signs_by_any(terms)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn signs_by_avx2(&self, terms: &[Term]) -> [u64; WORDS] {
        self.signs_by_any(terms)
    }

    /// Computes the signs, with the vector instructions of the caller.
    #[inline(always)]
    fn signs_by_any(&self, terms: &[Term]) -> [u64; WORDS] {
        // The sums are integers that wrap around on overflow, so they are the same on every machine.
        let mut hashed = [0i32; WIDE];
        for term in terms {
            // These bits select four coordinates and four signs.
            let mut bits = mix64(term.hash ^ self.seed);
            let weight = (term.weight * UNIT) as i32;
            for part in hashed.as_chunks_mut::<PART>().0 {
                let flip = -((bits >> 8 & 1) as i32);
                let sum = &mut part[bits as usize % PART];
                *sum = sum.wrapping_add((weight ^ flip).wrapping_sub(flip));
                bits >>= 9;
            }
        }
        let mut wide: [i16; WIDE] = std::array::from_fn(|at| (hashed[at] >> SHIFT) as i16);
        flip(&mut wide, &self.flips[0]);
        transform(&mut wide);
        let mut turned = [0; WIDE];
        for (row, lanes) in wide.as_chunks::<LANES>().0.iter().enumerate() {
            // The values are scaled down so that the second transform stays within range.
            lanes.iter().enumerate().for_each(|(lane, &value)| turned[lane * (WIDE / LANES) + row] = value >> 2);
        }
        flip(&mut turned, &self.flips[1]);
        let mut narrow = [0i16; NARROW];
        for half in turned.as_chunks::<NARROW>().0 {
            narrow.iter_mut().zip(half).for_each(|(sum, value)| *sum = sum.wrapping_add(*value));
        }
        transform(&mut narrow);
        let mut words = [0; WORDS];
        for (word, values) in words.iter_mut().zip(narrow.as_chunks::<64>().0) {
            let positive = values.map(|value| u8::from(value > 0));
            for (at, eight) in positive.as_chunks::<8>().0.iter().enumerate() {
                // The product has the lowest bit of each byte, in order, in its highest byte.
                let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
                *word |= bits << (8 * at);
            }
        }
        words
    }
}

#[inline(always)]
fn flip(values: &mut [i16; WIDE], flips: &[i16]) {
    values.iter_mut().zip(flips).for_each(|(value, &flip)| *value = (*value ^ flip).wrapping_sub(flip));
}

/// Applies the Hadamard transform to each lane.
#[inline(always)]
fn transform<const N: usize>(values: &mut [i16; N]) {
    let (rows, _) = values.as_chunks_mut::<LANES>();
    let mut half = rows.len() / 2;
    while half > 0 {
        for block in rows.chunks_exact_mut(2 * half) {
            let (x, y) = block.split_at_mut(half);
            for (x, y) in x.iter_mut().zip(y) {
                for lane in 0..LANES {
                    let both = (x[lane], y[lane]);
                    x[lane] = both.0.wrapping_add(both.1);
                    y[lane] = both.0.wrapping_sub(both.1);
                }
            }
        }
        half /= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns two vectors of length 1 with this cosine. Half of the terms in each vector are shared and half are unique (`terms` of each
    /// kind); the weights are uneven.
    fn pair(cosine: f64, terms: u64, number: u64) -> [Vec<Term>; 2] {
        let random = |at: u64| (splitmix64(number, at) >> 11) as f64 / 2f64.powi(53);
        let part = |first: u64, square: f64| -> Vec<Term> {
            let weight = |at: u64| random(first + at).powi(3) + 0.01;
            let length = (0..terms).map(|at| weight(at).powi(2)).sum::<f64>().sqrt();
            let term = |at| Term {
                hash: splitmix64(number ^ 77, first + at),
                weight: weight(at) * square.sqrt() / length,
                df: 2,
            };
            (0..terms).map(term).collect()
        };
        let common = part(0, cosine);
        [1, 2].map(|side| [common.clone(), part(side * 10_000, 1.0 - cosine)].concat())
    }

    #[test]
    fn the_worked_limits() {
        // p = arccos(0.68) / pi = 0.262: 134.1 + 3.5 * 9.95; p = 0.295: 151.1 + 3.5 * 10.32.
        assert_eq!([0.68, 0.6, 0.9].map(most_differing), [169, 188, 102]);
        // Equal vectors have equal signs, but the limit is above 0 because weights are rounded.
        assert_eq!((most_differing(1.0), most_differing(0.999)), (2, 17));
        assert!((1..100).map(|n| most_differing(f64::from(n) / 100.0)).is_sorted_by(|a, b| a >= b));
    }

    /// Checks the limits stated at the top of this file, for texts with a few terms and for long texts.
    #[test]
    fn pairs_at_the_threshold_are_kept_and_others_are_not() {
        let sketch = SignSketch::new(42);
        for terms in [1, 3, 30, 300] {
            let count = if terms > 100 { 1_000 } else { 4_000 };
            for cosine in [0.6, 0.68, 0.9] {
                let apart: Vec<u32> = (0..count)
                    .map(|number| {
                        let [a, b] = pair(cosine, terms, number).map(|vector| sketch.signs(&vector));
                        differing(&a, &b)
                    })
                    .collect();
                let mean = apart.iter().map(|&one| f64::from(one)).sum::<f64>() / count as f64;
                let expected = f64::from(BITS) * cosine.acos() / PI;
                assert!((mean - expected).abs() < 3.0, "{terms} terms, {cosine}: {mean} for {expected}");
                let lost = apart.iter().filter(|&&one| one > most_differing(cosine)).count();
                assert!(lost <= 8, "{terms} terms, {cosine}: {lost} of {count} lost");
                // If the cosine is 0.25 lower, some pairs still stay below the limit, but almost no unrelated pairs do.
                let stay = |cosine: f64, limit: u32| {
                    let near = |number: &u64| {
                        let [a, b] = pair(cosine, terms, number + 9_000).map(|vector| sketch.signs(&vector));
                        differing(&a, &b) <= limit
                    };
                    (0..500).filter(near).count()
                };
                assert!(stay(0.0, most_differing(cosine)) <= 1 && stay(cosine - 0.25, most_differing(cosine)) < 300);
            }
        }
    }

    #[test]
    fn signs_depend_on_the_vector_and_the_seed_alone() {
        let [a, b] = pair(0.7, 20, 1);
        let (one, other) = (SignSketch::new(1), SignSketch::new(2));
        let mut turned = a.clone();
        turned.reverse();
        assert_eq!(one.signs(&a), one.signs(&turned));
        assert_eq!(SignSketch::new(1).signs(&b), one.signs(&b));
        assert!(differing(&one.signs(&a), &other.signs(&a)) > 150);
        // Neither an empty vector nor weights too large for a vector with length 1 cause a panic.
        assert_eq!(differing(&one.signs(&[]), &other.signs(&[])), 0);
        let heavy: Vec<Term> = (0..3_000).map(|hash| Term { hash, weight: 1e9, df: 1 }).collect();
        one.signs(&heavy);
    }
}

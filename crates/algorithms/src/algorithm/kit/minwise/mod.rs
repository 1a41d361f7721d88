//! Implements min-wise hashing, which computes the minimum of each of m seeded functions over a set (Broder 1997).
//!
//! Two sets agree at a position with a probability equal to their Jaccard similarity. There are three families of functions:
//!
//! | family | function of a shingle hash x | values |
//! | --- | --- | --- |
//! | `multiply32` | a x + b mod 2^32 on the folded hash, a odd | 32 bits; the fastest |
//! | `mersenne61` | (a x + b mod 2^61 - 1) on x mod 2^61 - 1, computed in 128 bits so that nothing overflows | 61 bits |
//! | `mix64` | a bijective mixer of x xor s | 64 bits |

mod multiply32;

use crate::algorithm::contract::{Kind, ParamSpec};
use dupsift_core::cpu::Level;
use dupsift_core::hash::{combine, mix64, splitmix64};
use std::borrow::Cow;

/// The `family` parameter.
pub(crate) const FAMILY: ParamSpec = ParamSpec {
    name: "family",
    kind: Kind::Choice(&["multiply32", "mersenne61", "mix64"]),
    default: "multiply32",
    help: "hash functions for the permutations; datasketch and datatrove use mersenne61",
};

/// The `seed` parameter.
pub(crate) const SEED: ParamSpec =
    ParamSpec { name: "seed", kind: Kind::Int(0, i64::MAX), default: "42", help: "seed of the hash functions" };

const MERSENNE61: u64 = (1 << 61) - 1;

/// Holds m seeded functions from one family.
pub(crate) enum Family {
    /// a x + b on 32 bits.
    Multiply32 {
        /// The number of functions.
        count: usize,
        /// The odd factors, padded to complete blocks.
        a: Vec<u32>,
        /// The summands, with the same padding.
        b: Vec<u32>,
    },
    /// (a x + b) mod (2^61 - 1), with nonzero factors.
    Mersenne61(Vec<(u64, u64)>),
    /// mix64(x xor s).
    Mix64(Vec<u64>),
}

impl Family {
    /// Returns the family with this name (see [`FAMILY`]) and `count` functions.
    pub(crate) fn new(name: &str, count: usize, seed: u64) -> Family {
        let stream = |n: usize| splitmix64(seed, n as u64);
        match name {
            "mersenne61" => Family::Mersenne61(
                (0..count).map(|j| (1 + stream(2 * j) % (MERSENNE61 - 1), stream(2 * j + 1) % MERSENNE61)).collect(),
            ),
            "mix64" => Family::Mix64((0..count).map(stream).collect()),
            _ => {
                let filled = count.next_multiple_of(multiply32::BLOCK);
                Family::Multiply32 {
                    count,
                    a: (0..filled).map(|j| (stream(j) >> 32) as u32 | 1).collect(),
                    b: (0..filled).map(|j| stream(j) as u32).collect(),
                }
            }
        }
    }

    /// Writes the minimum of each function over the set to `out`, in the order of the functions. `set` must not be empty, and may contain
    /// repetitions.
    pub(crate) fn minima(&self, set: &[u64], out: &mut Vec<u64>) {
        out.clear();
        match self {
            Family::Multiply32 { count, a, b } => {
                let mut minima = vec![u32::MAX; a.len()];
                let mut folded = [0; 512];
                for part in set.chunks(folded.len()) {
                    folded.iter_mut().zip(part).for_each(|(to, x)| *to = (x ^ (x >> 32)) as u32);
                    multiply32::lower(Level::best(), &folded[..part.len()], a, b, &mut minima);
                }
                out.extend(minima[..*count].iter().copied().map(u64::from));
            }
            Family::Mersenne61(functions) => out.extend(functions.iter().map(|&(a, b)| {
                let value =
                    |x: u64| (u128::from(a) * u128::from(x % MERSENNE61) + u128::from(b)) % u128::from(MERSENNE61);
                set.iter().map(|&x| value(x) as u64).min().unwrap_or(u64::MAX)
            })),
            Family::Mix64(seeds) => {
                out.extend(seeds.iter().map(|&seed| set.iter().map(|&x| mix64(x ^ seed)).min().unwrap_or(u64::MAX)))
            }
        }
    }

    /// Returns one entry per band of `rows` minima: the position of the first of these shingles that has one of the minima.
    pub(crate) fn first_of_bands(&self, shingles: &[u64], minima: &[u64], rows: usize) -> Vec<Option<usize>> {
        let mut first = vec![None; minima.len() / rows];
        let mut own = Vec::new();
        for (at, &shingle) in shingles.iter().enumerate() {
            self.minima(&[shingle], &mut own);
            let bands = own.chunks_exact(rows).zip(minima.chunks_exact(rows));
            for (first, (own, minima)) in first.iter_mut().zip(bands) {
                if first.is_none() && own.iter().zip(minima).any(|(own, minimum)| own == minimum) {
                    *first = Some(at);
                }
            }
            if first.iter().all(Option::is_some) {
                break;
            }
        }
        first
    }

    /// Returns one entry per key: the text of the first shingle that has one of the minima of the key's band, or `None` if no band of
    /// these shingles has the key.
    pub(crate) fn words_of_bands(
        &self,
        shingles: &[(u64, Cow<'_, str>)],
        rows: usize,
        keys: &[u128],
    ) -> Vec<Option<String>> {
        if shingles.is_empty() {
            return vec![None; keys.len()];
        }
        let hashes: Vec<u64> = shingles.iter().map(|shingle| shingle.0).collect();
        let mut minima = Vec::new();
        self.minima(&hashes, &mut minima);
        let (bands, first) = (band_keys(&minima, rows), self.first_of_bands(&hashes, &minima, rows));
        let word = |&key: &u128| {
            let band = bands.iter().position(|&band| u128::from(band) == key)?;
            Some(shingles[first[band]?].1.to_string())
        };
        keys.iter().map(word).collect()
    }
}

/// Returns the key of each band of `rows` minima.
pub(crate) fn band_keys(minima: &[u64], rows: usize) -> Vec<u64> {
    let key =
        |(band, values): (usize, &[u64])| values.iter().fold(mix64(band as u64 + 1), |key, &value| combine(key, value));
    minima.chunks_exact(rows).enumerate().map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the share of agreeing positions is within four standard deviations of the Jaccard similarity, with 2,000 functions.
    #[test]
    fn agreement_estimates_jaccard_in_every_family() {
        let a: Vec<u64> = (0..300).map(|n| splitmix64(1, n)).collect();
        for common in [0u64, 60, 150, 240, 300] {
            let b: Vec<u64> = (300 - common..600 - common).map(|n| splitmix64(1, n)).collect();
            let expected = common as f64 / (600 - common) as f64;
            for name in ["multiply32", "mersenne61", "mix64"] {
                let family = Family::new(name, 2000, 42);
                let (mut x, mut y) = (Vec::new(), Vec::new());
                family.minima(&a, &mut x);
                family.minima(&b, &mut y);
                let share = x.iter().zip(&y).filter(|(x, y)| x == y).count() as f64 / 2000.0;
                let deviation = (expected * (1.0 - expected) / 2000.0).sqrt();
                assert!((share - expected).abs() <= 4.0 * deviation + 1e-9, "{name}: {share} for {expected}");
            }
        }
    }

    #[test]
    fn large_values_do_not_overflow() {
        let family = Family::new("mersenne61", 50, u64::MAX);
        let mut out = Vec::new();
        family.minima(&[u64::MAX, MERSENNE61, 0], &mut out);
        assert!(out.iter().all(|&value| value < MERSENNE61));
    }
}

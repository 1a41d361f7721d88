//! Defines samples of shingles whose size stays bounded as documents grow, and compares two samples.
//!
//! Source: Broder, Glassman, Manasse, Zweig 1997, the sets V_i of fingerprints divisible by 2^i.

use crate::algorithm::contract::{Decided, Verify};
use crate::algorithm::kit::shingling::Shingling;
use crate::measure::jaccard;
use dupsift_core::row::Pair;
use dupsift_text::Analysis;
use dupsift_text::shingle::distinct;

/// Defines which shingles of a document are kept.
#[derive(Clone, Copy)]
pub(crate) struct Sampling {
    /// The settings for shingles.
    pub shingling: Shingling,
    /// The minimum expected sample size for a document that has at least twice as many shingles.
    pub sample: usize,
}

impl Sampling {
    /// Appends the distinct shingles of a document, in ascending order.
    pub(crate) fn shingles(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        self.shingling.cut_all(document, out);
        distinct(out);
    }

    /// Returns the level i of a document with this many distinct shingles.
    pub(crate) fn level(&self, shingles: usize) -> u32 {
        (shingles / self.sample).checked_ilog2().unwrap_or(0)
    }
}

/// Returns whether 2^level divides the shingle.
pub(crate) fn is_divisible(shingle: u64, level: u32) -> bool {
    shingle.trailing_zeros() >= level
}

/// Compares two samples exactly.
pub(crate) struct Overlap {
    /// The settings for samples.
    pub sampling: Sampling,
    /// The minimum ratio of shared sampled shingles to all sampled shingles.
    pub threshold: f64,
    /// An additional check requested by `verify=`.
    pub then: Option<Box<dyn Verify>>,
}

impl Overlap {
    /// Returns the sampled shingles under which a document must be indexed so that no pair is missed, in ascending order.
    ///
    /// Two sets that reach the threshold share at least ceil(threshold |A|) elements. So if both use the same order, the first |A| -
    /// ceil(threshold |A|) + 1 elements of each include a shared element (the prefix of Chaudhuri, Ganti, Kaushik 2006). The other document
    /// may be at any higher level, so each level has its own first shingles; the levels have most of these shingles in common.
    pub(crate) fn met_by(&self, sample: &[u64], level: u32) -> impl Iterator<Item = u64> {
        let mut met = Vec::new();
        for level in level..=64 {
            let sample = sample.iter().filter(|shingle| is_divisible(**shingle, level));
            let count = sample.clone().count();
            // The product was rounded, so a small value is subtracted. One more shingle does no harm.
            let common = (self.threshold * count as f64 - 1e-9).ceil() as usize;
            met.extend(sample.take((count + 1).saturating_sub(common.max(1))));
            if count == 0 {
                break;
            }
        }
        distinct(&mut met);
        met.into_iter()
    }
}

impl Verify for Overlap {
    fn name(&self) -> String {
        let then = self.then.as_ref().map_or(String::new(), |then| format!(", {}", then.name()));
        format!("overlap:{} of samples{then}", self.threshold)
    }

    /// Appends the level, the size of the sample and the sample, followed by the evidence for the additional check.
    fn evidence(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        let mut set = Vec::new();
        self.sampling.shingles(document, &mut set);
        let level = self.sampling.level(set.len());
        set.retain(|&shingle| is_divisible(shingle, level));
        out.extend([u64::from(level), set.len() as u64]);
        out.append(&mut set);
        if let Some(then) = &self.then {
            then.evidence(document, out);
        }
    }

    fn compare(&self, a: &[u64], b: &[u64], candidate: Pair) -> Decided<Pair> {
        let (Some((a_level, a, a_then)), Some((b_level, b, b_then))) = (unpack(a), unpack(b)) else { return Ok(None) };
        let level = a_level.max(b_level);
        let at = |sample: &[u64]| -> Vec<u64> {
            sample.iter().copied().filter(|&shingle| is_divisible(shingle, level)).collect()
        };
        let (a, b) = (at(a), at(b));
        if a.is_empty() || b.is_empty() {
            return Ok(None);
        }
        let similarity = jaccard(&a, &b);
        if similarity < self.threshold {
            return Ok(None);
        }
        let passed = candidate.with_similarity(similarity as f32);
        self.then.as_ref().map_or(Ok(Some(passed)), |then| then.compare(a_then, b_then, passed))
    }
}

fn unpack(evidence: &[u64]) -> Option<(u32, &[u64], &[u64])> {
    let [level, size, rest @ ..] = evidence else { return None };
    let (sample, then) = rest.split_at_checked(*size as usize)?;
    Some((*level as u32, sample, then))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::examples::similarity;
    use dupsift_core::hash::splitmix64;

    #[test]
    fn levels_grow_with_the_logarithm() {
        let sampling = Sampling { shingling: Shingling::DEFAULT, sample: 50 };
        let levels = [1, 50, 99, 100, 199, 200, 1000, 1599, 1600].map(|shingles| sampling.level(shingles));
        assert_eq!(levels, [0, 0, 0, 1, 1, 2, 4, 4, 5]);
    }

    /// Checks, for sets of various sizes with many overlaps, that all pairs that reach the threshold share a shingle, regardless of their
    /// levels.
    #[test]
    fn no_pair_that_overlaps_enough_is_missed() {
        let sampling = Sampling { shingling: Shingling::DEFAULT, sample: 10 };
        let sets: Vec<Vec<u64>> = (0..160u64)
            .map(|n| {
                let size = [8, 19, 21, 30, 41, 60][(splitmix64(1, n) % 6) as usize];
                let own = if n % 3 == 0 { 0 } else { splitmix64(2, n) % (size / 2) };
                let mut set: Vec<u64> =
                    (0..size).map(|at| splitmix64(if at < own { 100 + n } else { 3 + n % 4 }, at)).collect();
                distinct(&mut set);
                set
            })
            .collect();
        for threshold in [0.1, 0.5, 0.8, 1.0] {
            let overlap = Overlap { sampling, threshold, then: None };
            let samples: Vec<(u32, Vec<u64>)> = sets
                .iter()
                .map(|set| {
                    let level = sampling.level(set.len());
                    (level, set.iter().copied().filter(|&one| is_divisible(one, level)).collect())
                })
                .collect();
            let evidence: Vec<Vec<u64>> = samples
                .iter()
                .map(|(level, sample)| [&[u64::from(*level), sample.len() as u64], &sample[..]].concat())
                .collect();
            let met: Vec<Vec<u64>> =
                samples.iter().map(|(level, sample)| overlap.met_by(sample, *level).collect()).collect();
            let (mut pairs, mut levels_differ) = (0, 0);
            for a in 0..sets.len() {
                for b in a + 1..sets.len() {
                    let level = samples[a].0.max(samples[b].0);
                    let of = |doc: usize| samples[doc].1.iter().filter(|one| *one % (1 << level) == 0);
                    let common = of(a).filter(|one| samples[b].1.contains(one)).count();
                    let all = of(a).count() + of(b).count() - common;
                    let expected = common > 0 && common as f64 / all as f64 >= threshold;
                    let verified = similarity(&overlap, &evidence[a], &evidence[b]);
                    assert_eq!(verified, Ok(expected.then(|| (common as f64 / all as f64) as f32)));
                    if expected {
                        assert!(met[a].iter().any(|one| met[b].contains(one)), "{a} and {b} at {threshold}");
                        pairs += 1;
                        levels_differ += usize::from(samples[a].0 != samples[b].0);
                    }
                }
            }
            assert!(pairs > 20 && (threshold > 0.7 || levels_differ > 20), "{threshold}: {pairs}, {levels_differ}");
            let rows: usize = met.iter().map(Vec::len).sum();
            let all: usize = samples.iter().map(|(_, sample)| sample.len()).sum();
            assert!(threshold < 0.5 || rows * 4 < all * 3, "{threshold}: {rows} of {all}");
        }
    }
}

//! `log_shingles` (A8): shingles divisible by a power of two, one that grows with the document.
//!
//! Source: Zelenkov, Segalovich 2007, Log Shingles (recall .39, precision .97 in that study); Manber 1994 (fingerprints with
//! zero low bits); Broder, Glassman, Manasse, Zweig 1997 (V_i). Cost: a sort of the shingles; two rows a document (`equal`),
//! one (`ladder`), or about half of its 50 to 100 sampled shingles and a second reading of the candidates (`overlap`).
//!
//! Of n distinct shingles those divisible by 2^i are kept, i = max(0, floor(log2(n / sample))): `sample` to twice as many, or
//! all of a small document. How the study compares them is not known, so there are three ways:
//!
//! | mode | a pair is |
//! | --- | --- |
//! | `equal` | one sample equal, of the document's level or the next, so that two lengths on both sides of a border can meet |
//! | `overlap` | common over all sampled shingles at the higher of both levels reaches `threshold` |
//! | `ladder` | for every j the smallest shingle divisible by 2^j equal: about log2 n values |
//!
//! Limits: all-or-nothing samples (`equal`) are lost with a few changed words: one word touches ten shingles of a pair, and at
//! a rate of 1/8 the sample survives with probability .26. The next level of a small document is a handful of shingles or
//! none; `min_shingles` leaves small documents out. In `overlap` a shingle that many documents share costs the square of
//! their number, up to `--max-candidates`.
//!
//! ```text
//! 1000 shingles, sample=50: 1000 / 50 = 20, i = 4: those divisible by 16, about 62; the next level by 32, about 31
//! ```

use super::contract::{Algorithm, Confirm, Corpus, Facts, Signer, Stats};
use super::kit::shingling::{NGRAM, Shingling, UNIT};
use super::kit::verify::check;
use super::params::{Kind, ParamSpec, Params};
use crate::error::Result;
use crate::hash::{combine, mix64};
use crate::measure::jaccard;
use crate::row::{RowShape, Signatures};
use crate::text::Analysis;
use crate::text::shingle::distinct;

/// The member.
pub struct LogShingles;

const FACTS: Facts = Facts {
    name: "log_shingles",
    aliases: &["A8"],
    source: "Zelenkov, Segalovich 2007, Log Shingles; Manber 1994; Broder and others 1997",
    summary: "Two documents are duplicates if the shingles sampled from them, those divisible by a power of two, are the same.",
    when_not_to_use: "where every near copy must be found: a changed sentence nearly always breaks mode=equal; minhash finds more",
    inputs: "text",
    params: &[
        ParamSpec {
            name: "mode",
            kind: Kind::Choice(&["equal", "overlap", "ladder"]),
            default: "equal",
            help: "equal: equal samples; overlap: samples with a share in common; ladder: the least shingle of each power equal",
        },
        ParamSpec {
            name: "threshold",
            kind: Kind::Real(0.01, 1.0),
            default: "0.5",
            help: "of mode=overlap: common sampled shingles over all; every such pair is found",
        },
        ParamSpec {
            name: "sample",
            kind: Kind::Int(1, 1_000_000),
            default: "50",
            help: "the least expected size of the sample of a document that has twice as many shingles",
        },
        NGRAM,
        UNIT,
        ParamSpec {
            name: "min_shingles",
            kind: Kind::Int(1, 1_000_000),
            default: "1",
            help: "documents with fewer distinct shingles have no signature",
        },
    ],
    presets: &[],
};

impl Algorithm for LogShingles {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs_stats(&self, _: &Params) -> Stats {
        Stats::NONE
    }

    fn signer<'c>(&self, params: &Params, _: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let sampling = Sampling { shingling: Shingling::new(params), sample: params.count("sample") };
        let mode = match params.word("mode") {
            "overlap" => Mode::Overlap(Overlap {
                sampling,
                threshold: params.real("threshold"),
                then: params.verify("verify").and_then(|(name, least)| check(name, least, sampling.shingling)),
            }),
            "ladder" => Mode::Ladder,
            _ => Mode::Equal,
        };
        Ok(Box::new(LogShinglesSigner { sampling, mode, min_shingles: params.count("min_shingles") }))
    }
}

/// Which shingles of a document are kept.
#[derive(Clone, Copy)]
struct Sampling {
    shingling: Shingling,
    sample: usize,
}

impl Sampling {
    /// Appends the distinct shingles of a document, in ascending order.
    fn shingles(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        self.shingling.cut_all(document, out);
        distinct(out);
    }

    /// i for a document of so many distinct shingles.
    fn level(&self, shingles: usize) -> u32 {
        (shingles / self.sample).checked_ilog2().unwrap_or(0)
    }
}

fn is_divisible(shingle: u64, level: u32) -> bool {
    shingle.trailing_zeros() >= level
}

enum Mode {
    Equal,
    Overlap(Overlap),
    Ladder,
}

struct LogShinglesSigner {
    sampling: Sampling,
    mode: Mode,
    min_shingles: usize,
}

impl Signer for LogShinglesSigner {
    fn shape(&self) -> RowShape {
        RowShape::KEY64
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        let mut set = out.take_numbers();
        self.sampling.shingles(document, &mut set);
        if set.is_empty() {
            return out.none("no shingles");
        }
        if set.len() < self.min_shingles {
            return out.none("fewer shingles than min_shingles");
        }
        let level = self.sampling.level(set.len());
        match &self.mode {
            Mode::Equal => (level..level + 2).for_each(|level| {
                if let Some(key) = sample_key(&set, level) {
                    out.push(0, key.into(), 0, &[]);
                }
            }),
            Mode::Overlap(overlap) => {
                set.retain(|&shingle| is_divisible(shingle, level));
                overlap.met_by(&set, level).for_each(|shingle| out.push(0, shingle.into(), 0, &[]));
            }
            Mode::Ladder => out.push(0, ladder_key(&set).into(), 0, &[]),
        }
        if out.reason().is_some() {
            out.none("no shingle in the sample");
        }
        out.leave_numbers(set);
    }

    fn is_equivalence(&self) -> bool {
        matches!(self.mode, Mode::Ladder)
    }

    fn rules(&self) -> &'static [&'static str] {
        match self.mode {
            Mode::Equal => &["equal"],
            Mode::Overlap(_) => &["overlap"],
            Mode::Ladder => &["ladder"],
        }
    }

    fn confirm(&self) -> Option<&dyn Confirm> {
        match &self.mode {
            Mode::Overlap(overlap) => Some(overlap),
            _ => None,
        }
    }

    fn signature_bits(&self) -> Option<u32> {
        matches!(self.mode, Mode::Ladder).then_some(64)
    }
}

/// The key of the shingles divisible by 2^level, with the level; none if there is no such shingle.
fn sample_key(sorted: &[u64], level: u32) -> Option<u64> {
    let mut sample = sorted.iter().filter(|shingle| is_divisible(**shingle, level)).peekable();
    sample.peek()?;
    Some(sample.fold(mix64(u64::from(level) + 1), |key, &shingle| combine(key, shingle)))
}

/// The key of the smallest shingles divisible by 1, 2, 4 and so on, as far as there are any.
fn ladder_key(sorted: &[u64]) -> u64 {
    let mut key = 0;
    let mut rung = 0;
    // In ascending order, a shingle is the smallest of all powers that none before it was divisible by.
    for &shingle in sorted {
        while rung <= 64 && is_divisible(shingle, rung) {
            key = combine(key, shingle);
            rung += 1;
        }
    }
    key
}

/// The exact comparison of two samples.
struct Overlap {
    sampling: Sampling,
    threshold: f64,
    /// What `verify=` asks for besides.
    then: Option<Box<dyn Confirm>>,
}

impl Overlap {
    /// The shingles of a sample, sorted, under which a document must be met so that no pair is missed.
    ///
    /// Two sets that reach the threshold share at least ceil(threshold |A|) elements; so of each, in one common order, the
    /// first |A| - ceil(threshold |A|) + 1 hold one that both have (the prefix of Chaudhuri, Ganti, Kaushik 2006). A partner
    /// may be of any higher level, so each level has its own first shingles; they are much the same.
    fn met_by(&self, sample: &[u64], level: u32) -> impl Iterator<Item = u64> {
        let mut met = Vec::new();
        for level in level..=64 {
            let sample = sample.iter().filter(|shingle| is_divisible(**shingle, level));
            let count = sample.clone().count();
            // A hair less, for the product was rounded: one shingle more does no harm.
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

impl Confirm for Overlap {
    fn name(&self) -> String {
        let then = self.then.as_ref().map_or(String::new(), |then| format!(", {}", then.name()));
        format!("overlap:{} of samples{then}", self.threshold)
    }

    /// The level, the size of the sample, the sample; behind them what the other check needs.
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

    fn confirm(&self, a: &[u64], b: &[u64]) -> Option<f32> {
        let ((a_level, a, a_then), (b_level, b, b_then)) = (unpack(a)?, unpack(b)?);
        let level = a_level.max(b_level);
        let at = |sample: &[u64]| -> Vec<u64> {
            sample.iter().copied().filter(|&shingle| is_divisible(shingle, level)).collect()
        };
        let (a, b) = (at(a), at(b));
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let similarity = jaccard(&a, &b);
        if similarity < self.threshold {
            return None;
        }
        self.then.as_ref().map_or(Some(similarity as f32), |then| then.confirm(a_then, b_then))
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
    use crate::algorithm::kit::examples::sign;

    fn keys(typed: &str, text: &str) -> Vec<u128> {
        sign(&LogShingles, typed, text).unwrap().into_iter().map(|row| row.1).collect()
    }

    fn text(words: usize) -> String {
        (0..words).map(|n| format!("word{} ", n * n)).collect()
    }

    #[test]
    fn levels_grow_with_the_logarithm() {
        let sampling = Sampling { shingling: Shingling::DEFAULT, sample: 50 };
        let levels = [1, 50, 99, 100, 199, 200, 1000, 1599, 1600].map(|shingles| sampling.level(shingles));
        assert_eq!(levels, [0, 0, 0, 1, 1, 2, 4, 4, 5]);
    }

    #[test]
    fn samples_of_two_levels() {
        let set: Vec<u64> = vec![4, 5, 6, 16, 24, 33];
        let key = |shingles: &[u64], level: u64| {
            Some(shingles.iter().fold(mix64(level + 1), |key, &shingle| combine(key, shingle)))
        };
        assert_eq!(sample_key(&set, 0), key(&set, 0));
        assert_eq!(sample_key(&set, 3), key(&[16, 24], 3));
        assert_eq!(sample_key(&set, 5), None);
        // 4 is the smallest of 1, 2 and 4; 16 that of 8 and 16.
        assert_eq!(ladder_key(&set), [4, 4, 4, 16, 16].into_iter().fold(0, combine));
        assert_eq!(ladder_key(&[0]), (0..65).fold(0, |key, _| combine(key, 0)));

        assert_eq!(keys("", &text(300)).len(), 2);
        assert_eq!(keys("", &text(300)), keys("", &text(300).to_uppercase()));
        assert_eq!(keys("mode=ladder", &text(300)).len(), 1);
        assert_eq!(keys("mode=ladder", &text(300)), keys("mode=ladder", &text(300).to_uppercase()));
    }

    #[test]
    fn documents_on_both_sides_of_a_border_meet() {
        // 199 and 200 shingles of five words: levels 1 and 2, so only the next level of the shorter can meet.
        let meets = |n: usize| {
            let text = |words: usize| (0..words).map(|at| format!("word{n}of{at} ")).collect::<String>();
            let (shorter, longer) = (keys("", &text(203)), keys("", &text(204)));
            assert!(!longer.contains(&shorter[0]) && longer[1] != shorter[1]);
            longer[0] == shorter[1]
        };
        // The shingle that came on top is divisible by 4, and so in the sample, once in four times.
        let met = (0..40).filter(|&n| meets(n)).count();
        assert!((20..40).contains(&met), "{met} of 40");
    }

    #[test]
    fn short_and_empty_documents() {
        assert_eq!(sign(&LogShingles, "", "!!!"), Err("no shingles"));
        assert_eq!(sign(&LogShingles, "min_shingles=3", "a b c d e f"), Err("fewer shingles than min_shingles"));
        assert_eq!(keys("", "网页"), keys("", "网页。"));
        assert!(keys("", "да").iter().all(|key| !keys("", "нет").contains(key)));
    }

    /// Sets of a few sizes with many shares in common: whoever reaches the threshold is met, whatever the levels.
    #[test]
    fn no_pair_that_overlaps_enough_is_missed() {
        use crate::hash::splitmix64;
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
                    let confirmed = overlap.confirm(&evidence[a], &evidence[b]);
                    assert_eq!(confirmed, expected.then(|| (common as f64 / all as f64) as f32));
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

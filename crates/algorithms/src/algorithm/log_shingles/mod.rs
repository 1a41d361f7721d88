//! `log_shingles` (A8): samples the shingles divisible by a power of two that grows with the document.
//!
//! Source: Zelenkov, Segalovich 2007, Log Shingles (recall 0.39, precision 0.97 in that study); Manber 1994 (fingerprints with zero low
//! bits); Broder, Glassman, Manasse, Zweig 1997 (V_i). Cost: sorting the shingles; two rows per document (`equal`), one row (`ladder`),
//! or one row for each of about half of the 50 to 100 sampled shingles, and a second read of the candidates (`overlap`).
//!
//! A document with n distinct shingles keeps the shingles divisible by 2^i, with i = max(0, floor(log2(n / sample))). The number of these
//! shingles is between `sample` and twice `sample`; a small document keeps all of its shingles. The study does not describe how samples are
//! compared, so there are three modes:
//!
//! | mode | condition for a pair |
//! | --- | --- |
//! | `equal` | the documents share a sample, at their level or the next, so that documents on either side of a level boundary can match |
//! | `overlap` | the ratio of shared sampled shingles to all sampled shingles, at the higher of the two levels, reaches `threshold` |
//! | `ladder` | for every j, both documents have the same smallest shingle divisible by 2^j: about log2 n values |
//!
//! Limitations: `equal` compares complete samples, so a few changed words are enough to miss a pair. One changed word affects ten shingles
//! of a pair; at a sampling rate of 1/8, the sample survives with probability 0.26. The next level of a small document has few shingles or
//! none; `min_shingles` skips small documents. In `overlap`, the cost of a shingle grows with the square of the number of documents that
//! share it, up to `--max-candidates`.
//!
//! ```text
//! 1000 shingles, sample=50: 1000 / 50 = 20, i = 4: those divisible by 16, about 62; the next level by 32, about 31
//! ```

mod sample;

use crate::algorithm::contract::{
    Algorithm, Corpus, Facts, Kind, ParamSpec, Params, SharedKey, SignatureScheme, Signer, Verify,
};
use crate::algorithm::kit::shingling::{NGRAM, Shingling, UNIT};
use crate::algorithm::kit::verify::check;
use dupsift_core::error::Result;
use dupsift_core::hash::{combine, mix64};
use dupsift_core::row::{RowShape, Signatures};
use dupsift_text::Analysis;
use sample::{Overlap, Sampling, is_divisible};

/// Implements the `log_shingles` algorithm.
pub(crate) struct LogShingles;

const FACTS: Facts = Facts {
    name: "log_shingles",
    aliases: &["A8"],
    source: "Zelenkov, Segalovich 2007, Log Shingles; Manber 1994; Broder and others 1997",
    summary: "Two documents are duplicates if their samples of shingles are the same. A sample contains the shingles whose hashes are divisible by a power of two.",
    when_not_to_use: "if every near-duplicate must be found, because with mode=equal, a changed sentence nearly always changes the sample; minhash finds more",
    inputs: "text",
    params: &[
        ParamSpec {
            name: "mode",
            kind: Kind::Choice(&["equal", "overlap", "ladder"]),
            default: "equal",
            help: "equal: the documents have an identical sample; overlap: the Jaccard similarity of the samples is at least threshold; ladder: both documents have the same smallest shingle for each power of two",
        },
        ParamSpec {
            name: "threshold",
            kind: Kind::Real(0.01, 1.0),
            default: "0.5",
            help: "mode=overlap: minimum Jaccard similarity of the samples of a pair; every such pair is found",
        },
        ParamSpec {
            name: "sample",
            kind: Kind::Int(1, 1_000_000),
            default: "50",
            help: "minimum expected sample size; the maximum is twice as large. If a document has fewer shingles, all of them are used",
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
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for LogShingles {
    fn facts(&self) -> &'static Facts {
        &FACTS
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
    fn scheme(&self) -> SignatureScheme {
        let ladder = matches!(self.mode, Mode::Ladder);
        SignatureScheme {
            shared_key: if ladder { SharedKey::Duplicates } else { SharedKey::Compared },
            rules: match self.mode {
                Mode::Equal => &["equal"],
                Mode::Overlap(_) => &["overlap"],
                Mode::Ladder => &["ladder"],
            },
            signature_bits: ladder.then_some(64),
            ..SignatureScheme::new(RowShape::KEY64)
        }
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

    fn verify(&self) -> Option<&dyn Verify> {
        match &self.mode {
            Mode::Overlap(overlap) => Some(overlap),
            _ => None,
        }
    }
}

/// Returns the key of the shingles divisible by 2^level, combined with the level, or `None` if there is no such shingle.
fn sample_key(sorted: &[u64], level: u32) -> Option<u64> {
    let mut sample = sorted.iter().filter(|shingle| is_divisible(**shingle, level)).peekable();
    sample.peek()?;
    Some(sample.fold(mix64(u64::from(level) + 1), |key, &shingle| combine(key, shingle)))
}

/// Returns the key of the smallest shingles divisible by 1, 2, 4 and so on, as long as there are any.
fn ladder_key(sorted: &[u64]) -> u64 {
    let mut key = 0;
    let mut rung = 0;
    // In ascending order, a shingle is the smallest multiple of each power that divides it but no earlier shingle.
    for &shingle in sorted {
        while rung <= 64 && is_divisible(shingle, rung) {
            key = combine(key, shingle);
            rung += 1;
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::examples::sign;

    fn keys(typed: &str, text: &str) -> Vec<u128> {
        sign(&LogShingles, typed, text).unwrap().into_iter().map(|row| row.1).collect()
    }

    fn text(words: usize) -> String {
        (0..words).map(|n| format!("word{} ", n * n)).collect()
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
        // 4 is the smallest multiple of 1, 2 and 4; 16 is the smallest multiple of 8 and 16.
        assert_eq!(ladder_key(&set), [4, 4, 4, 16, 16].into_iter().fold(0, combine));
        assert_eq!(ladder_key(&[0]), (0..65).fold(0, |key, _| combine(key, 0)));

        assert_eq!(keys("", &text(300)).len(), 2);
        assert_eq!(keys("", &text(300)), keys("", &text(300).to_uppercase()));
        assert_eq!(keys("mode=ladder", &text(300)).len(), 1);
        assert_eq!(keys("mode=ladder", &text(300)), keys("mode=ladder", &text(300).to_uppercase()));
    }

    #[test]
    fn documents_on_both_sides_of_a_border_meet() {
        // The texts have 199 and 200 shingles of five words, so their levels are 1 and 2, and only the next level of
        // the shorter text can match.
        let meets = |n: usize| {
            let text = |words: usize| (0..words).map(|at| format!("word{n}of{at} ")).collect::<String>();
            let (shorter, longer) = (keys("", &text(203)), keys("", &text(204)));
            assert!(!longer.contains(&shorter[0]) && longer[1] != shorter[1]);
            longer[0] == shorter[1]
        };
        // In about one case in four, the additional shingle is divisible by 4 and therefore in the sample.
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
}

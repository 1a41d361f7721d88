//! `simhash`: one bit vector a document, duplicates within a Hamming distance, found completely by block tables.
//!
//! Source: Charikar 2002 (the fingerprint), Manku, Jain, Das Sarma 2007 (k = 3 of 64 bits, block tables).
//! Cost: about five operations a feature, one row a document, then one row a table for each distinct fingerprint.
//! Limits: short texts behave badly in both directions, so a document with fewer than `min_features` distinct features has
//! no signature; 3 bits of 64 mean an angle of cosine .989, so only slightly changed texts are found; near pairs chain.
//!
//! ```text
//! V[i] += w if bit i of the feature's hash is 1, else V[i] -= w;   bit i of the fingerprint = V[i] > 0
//! V = (+3, +1, -2, -1, 0, +5) -> 110001
//! ```
//!
//! Features are ours to choose: words with their counts for spaced scripts, character pairs for Han.

use super::contract::{Algorithm, Corpus, Facts, Signer, Stats};
use super::kit::blocks::{Blocks, table_count};
use super::kit::top_words::distinct_words;
use super::kit::votes::{Outcome, Votes};
use super::params::{Kind, ParamSpec, Params};
use crate::corpus::CorpusStats;
use crate::error::{Error, Result};
use crate::hash::{combine, mix64};
use crate::row::{Row, RowShape, Score, Signatures};
use crate::text::shingle::{char_shingles, distinct, shingles};
use crate::text::{Analysis, Token};

/// The most tables that may be asked for: each is a row a document, and a row's position must fit 16 bits.
const MOST_TABLES: u64 = 1_000;

/// The member.
pub struct SimHash;

const FACTS: Facts = Facts {
    name: "simhash",
    aliases: &["sim_hash"],
    source: "Charikar 2002; Manku, Jain, Das Sarma 2007, Detecting near-duplicates for web crawling",
    summary: "Two documents are duplicates if their fingerprints differ in few bits.",
    when_not_to_use: "on short texts, and where a tenth of the text may differ: the distance grows too fast",
    inputs: "text; word counts with weight=tf_idf",
    params: &[
        ParamSpec { name: "bits", kind: Kind::Choice(&["64", "128"]), default: "64", help: "width of the fingerprint" },
        ParamSpec {
            name: "distance",
            kind: Kind::Int(0, 16),
            default: "3",
            help: "the most differing bits of a pair; every such pair is found",
        },
        ParamSpec {
            name: "blocks",
            kind: Kind::Int(0, 24),
            default: "0",
            help: "blocks of the search tables, above the distance; 0: chosen by the size of the corpus",
        },
        ParamSpec {
            name: "features",
            kind: Kind::Choice(&["auto", "words", "shingles", "chars"]),
            default: "auto",
            help: "auto: words, character pairs for Han; words: of the tokenizer; shingles: of ngram words; chars: of ngram characters",
        },
        ParamSpec { name: "ngram", kind: Kind::Int(1, 100), default: "2", help: "units of features=shingles or chars" },
        ParamSpec {
            name: "weight",
            kind: Kind::Choice(&["tf", "one", "tf_idf"]),
            default: "tf",
            help: "weight of a feature; tf_idf goes with features=words",
        },
        ParamSpec {
            name: "zero",
            kind: Kind::Choice(&["0", "1"]),
            default: "0",
            help: "the bit where votes are even: 0 is the rule V > 0, 1 the rule V >= 0",
        },
        ParamSpec {
            name: "min_features",
            kind: Kind::Int(1, 100_000),
            default: "10",
            help: "documents with fewer distinct features have no signature",
        },
    ],
    presets: &[],
};

impl Algorithm for SimHash {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs_stats(&self, params: &Params) -> Stats {
        if params.word("weight") == "tf_idf" { Stats::WORDS } else { Stats::NONE }
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let features = params.word("features");
        let weight = params.word("weight");
        if weight == "tf_idf" && features != "words" {
            return Err(Error::Usage(format!(
                "simhash: weight=tf_idf needs features=words, for only words are counted over the corpus; features={features} came"
            )));
        }
        let bits = if params.word("bits") == "128" { 128 } else { 64 };
        let (distance, blocks) = (params.count("distance") as u32, params.count("blocks") as u32);
        if blocks > 0 && blocks <= distance {
            return Err(Error::Usage(format!(
                "simhash: blocks={blocks} cannot find distance={distance}; it takes at least {} blocks, or 0 to choose",
                distance + 1
            )));
        }
        let tables = if blocks > 0 { table_count(blocks, distance) } else { 0 };
        if tables > MOST_TABLES {
            return Err(Error::Usage(format!(
                "simhash: blocks={blocks} with distance={distance} makes {tables} search tables, each a row a document; \
                 expected at most {MOST_TABLES}, so fewer blocks, or 0 to choose"
            )));
        }
        Ok(Box::new(SimHashSigner {
            bits,
            blocks: Blocks::new(bits, distance, corpus.documents, blocks),
            features,
            weight,
            ngram: params.count("ngram"),
            min_features: params.count("min_features"),
            zero: params.word("zero") == "1",
            stats: corpus.stats,
        }))
    }
}

struct SimHashSigner<'c> {
    bits: u32,
    blocks: Blocks,
    features: &'static str,
    weight: &'static str,
    ngram: usize,
    min_features: usize,
    zero: bool,
    stats: &'c CorpusStats,
}

impl SimHashSigner<'_> {
    /// The features in order, repeated ones as often as they occur.
    fn features(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        match self.features {
            "words" => out.extend(document.words().iter().filter(|word| !word.stop).map(|word| word.hash)),
            "shingles" => shingles(document.tokens(), self.ngram, false, out),
            "chars" => char_shingles(document.text(), self.ngram, out),
            _ => auto_features(document.tokens(), out),
        }
    }

    /// The fingerprint of features of which each occurrence counts: a weight is a number of votes.
    fn voted(&self, features: &[u64]) -> u128 {
        let half = |features: &[u64]| {
            let mut votes = Votes::default();
            votes.add(features);
            let Outcome { more, even } = votes.outcome();
            if self.zero { more | even } else { more }
        };
        let low = half(features);
        if self.bits == 64 {
            return low.into();
        }
        let others: Vec<u64> = features.iter().map(|&feature| second_half(feature)).collect();
        u128::from(half(&others)) << 64 | u128::from(low)
    }

    /// The fingerprint of words weighed by the corpus, in whole thousandths: the order of addition cannot matter then.
    fn weighed(&self, document: &Analysis<'_>) -> u128 {
        let weigh = |tf: u32, term: u64| {
            let (n, df) = (self.stats.documents() as f64, self.stats.df(term) as f64);
            (f64::from(tf) * (n / df).ln() * 1000.0).round() as i64
        };
        let words = distinct_words(document);
        let features: Vec<(u64, i64)> =
            words.iter().map(|word| (word.word.hash, weigh(word.tf, word.word.hash))).collect();
        fingerprint(&features, self.bits, self.zero)
    }
}

/// Words, and for Han each pair of neighbouring characters (a lone one by itself).
fn auto_features(tokens: &[Token], out: &mut Vec<u64>) {
    out.reserve(tokens.len());
    let mut in_run = false;
    for (at, token) in tokens.iter().enumerate() {
        match tokens.get(at + 1) {
            Some(next) if token.han && next.han => {
                out.push(combine(token.hash, next.hash));
                in_run = true;
            }
            _ => {
                if !in_run {
                    out.push(token.hash);
                }
                in_run = false;
            }
        }
    }
}

/// Whether there are at least so many different ones among the features.
fn has_distinct(features: &[u64], least: usize) -> bool {
    /// So many are looked through one by one: nearly always the first few features are enough of them.
    const FEW: usize = 32;
    if features.len() < least {
        return false;
    }
    if least <= FEW {
        let mut seen = Vec::with_capacity(FEW);
        for feature in features {
            if seen.len() >= least {
                break;
            }
            if !seen.contains(feature) {
                seen.push(*feature);
            }
        }
        return seen.len() >= least;
    }
    let mut all = features.to_vec();
    distinct(&mut all);
    all.len() >= least
}

/// What a feature votes for in bits 64 to 127.
fn second_half(feature: u64) -> u64 {
    mix64(feature ^ 0x5851_F42D_4C95_7F2D)
}

/// The fingerprint of weighed features: bit i is 1 if the weight of features with bit i set exceeds that of the others.
fn fingerprint(features: &[(u64, i64)], bits: u32, zero: bool) -> u128 {
    let total: i64 = features.iter().map(|(_, weight)| weight).sum();
    let mut set = [0i64; 128];
    for &(feature, weight) in features {
        let halves = [feature, second_half(feature)];
        for (half, set) in halves.iter().zip(set[..bits as usize].chunks_exact_mut(64)) {
            for (bit, sum) in set.iter_mut().enumerate() {
                *sum += weight & -((half >> bit & 1) as i64);
            }
        }
    }
    set[..bits as usize]
        .iter()
        .enumerate()
        .fold(0, |all, (bit, &sum)| all | u128::from(2 * sum > total || (zero && 2 * sum == total)) << bit)
}

impl Signer for SimHashSigner<'_> {
    fn shape(&self) -> RowShape {
        RowShape { key_bits: self.bits, ..RowShape::KEY64 }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        let mut features = out.take_numbers();
        self.features(document, &mut features);
        if features.is_empty() {
            return out.none("no features");
        }
        if !has_distinct(&features, self.min_features) {
            return out.none("fewer features than min_features");
        }
        let print = match self.weight {
            "tf_idf" => self.weighed(document),
            "one" => {
                distinct(&mut features);
                self.voted(&features)
            }
            _ => self.voted(&features),
        };
        out.leave_numbers(features);
        out.push(0, print, 0, &[]);
    }

    fn is_equivalence(&self) -> bool {
        false
    }

    fn equal(&self) -> Score {
        Score { similarity: 1.0, distance: Some(0.0) }
    }

    fn probe_shape(&self) -> Option<RowShape> {
        Some(RowShape {
            positions: self.blocks.tables() as u32,
            key_bits: 64,
            ordered: false,
            sketch: self.bits as usize / 8,
        })
    }

    fn probes(&self, row: &Row<'_>, out: &mut Signatures) {
        let sketch = row.key.to_be_bytes();
        let sketch = &sketch[16 - self.bits as usize / 8..];
        for (table, key) in self.blocks.keys(row.key).enumerate() {
            out.push(table as u32, key.into(), 0, sketch);
        }
    }

    fn judge(&self, a: &Row<'_>, b: &Row<'_>) -> Option<Score> {
        let vector = |row: &Row<'_>| row.sketch.iter().fold(0u128, |value, &byte| value << 8 | u128::from(byte));
        let distance = self.blocks.judge(a.position, vector(a), vector(b))?;
        let similarity = 1.0 - distance as f32 / self.bits as f32;
        Some(Score { similarity, distance: Some(distance as f32) })
    }

    fn rules(&self) -> &'static [&'static str] {
        &["hamming"]
    }

    fn notes(&self) -> Vec<String> {
        vec![self.blocks.describe()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::kit::examples::{params, sign};

    #[test]
    fn the_six_bit_illustration() {
        // Bit 0 is written last: V = (+3, +1, -2, -1, 0, +5) from bit 5 to bit 0.
        let features = [(0b110001u64, 1i64), (0b110001, 1), (0b100011, 1), (0b010101, 1), (0b101001, 1)];
        let votes = |bit: u32| features.iter().map(|(f, w)| if f >> bit & 1 == 1 { *w } else { -w }).sum::<i64>();
        let print = fingerprint(&features, 64, false);
        for bit in 0..6 {
            assert_eq!(print >> bit & 1 == 1, votes(bit) > 0, "bit {bit}");
        }
        // A tie gives 0.
        assert_eq!(fingerprint(&[(0b01, 1), (0b10, 1)], 64, false), 0);
        // By the other rule it gives 1; bits that no feature has stay 0.
        assert_eq!(fingerprint(&[(0b01, 1), (0b10, 1)], 64, true), 0b11);
    }

    /// Votes, one an occurrence, are the sums of whole weights.
    #[test]
    fn votes_and_weights_agree() {
        let stats = CorpusStats::none();
        let features: Vec<u64> = (0..999).map(|n| mix64(n % 77)).collect();
        let mut sorted = features.clone();
        sorted.sort_unstable();
        let weighed: Vec<(u64, i64)> = sorted.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as i64)).collect();
        for (bits, zero) in [(64, false), (64, true), (128, false), (128, true)] {
            let signer = SimHashSigner {
                bits,
                blocks: Blocks::new(bits, 3, 10, 0),
                features: "auto",
                weight: "tf",
                ngram: 2,
                min_features: 1,
                zero,
                stats: &stats,
            };
            assert_eq!(signer.voted(&features), fingerprint(&weighed, bits, zero));
        }
        assert!(has_distinct(&features, 77) && !has_distinct(&features, 78) && has_distinct(&features, 10));
        assert!(has_distinct(&[1, 1, 2], 2) && !has_distinct(&[1, 1, 2], 3));
    }

    #[test]
    fn equal_features_give_equal_fingerprints_and_few_give_none() {
        let key = |typed: &str, text: &str| sign(&SimHash, typed, text).map(|rows| rows[0].1);
        let text = "один два три четыре пять шесть семь восемь девять десять одиннадцать";
        assert_eq!(key("", text), key("", "ОДИН два три; четыре пять шесть семь восемь девять десять одиннадцать."));
        assert_eq!(key("bits=128", text).unwrap() as u64, key("", text).unwrap() as u64);
        assert_eq!(key("", "один два"), Err("fewer features than min_features"));
        assert_eq!(key("", "?"), Err("no features"));
        assert!(key("min_features=1", "网页搜索引擎").is_ok());
    }

    #[test]
    fn contradictions_are_refused() {
        let stats = CorpusStats::none();
        let corpus = Corpus::new(10, &stats);
        let refuse = |typed| SimHash.signer(&params(&SimHash, typed), &corpus).err().expect("an error").to_string();
        assert!(refuse("weight=tf_idf").contains("features=words"));
        assert!(refuse("blocks=3,distance=3").contains("at least 4 blocks"));
        assert!(refuse("blocks=24,distance=8").contains("735471 search tables"));
        assert!(SimHash.signer(&params(&SimHash, "blocks=8,distance=3"), &corpus).is_ok());
    }
}

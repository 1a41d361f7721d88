//! `simhash`: compares one bit vector per document. Two documents are duplicates if their vectors are within a given Hamming distance of
//! each other; block tables find all such pairs.
//!
//! Source: Charikar 2002 (the fingerprint), Manku, Jain, Das Sarma 2007 (k = 3 of 64 bits, block tables). Cost: about five operations per
//! feature, one row per document, then one row per table for each distinct fingerprint. Limitations: short texts produce both false and
//! missed pairs, so a document with fewer distinct features than `min_features` has no signature; 3 of 64 bits correspond to a cosine of
//! 0.989, so only slightly changed texts are found; near-duplicate pairs form chains.
//!
//! ```text
//! V[i] += w if bit i of the feature's hash is 1, else V[i] -= w;   bit i of the fingerprint = V[i] > 0
//! V = (+3, +1, -2, -1, 0, +5) -> 110001
//! ```
//!
//! The papers do not specify the features. dupsift uses words with their counts for scripts written with spaces, and character pairs for
//! Han text. `preset=s3` reproduces the program in a Chinese article: words, 128 bits, V >= 0, and the string hash of CPython 2, which
//! mixes short strings poorly.

use super::contract::{Algorithm, Corpus, Facts, Kind, Needs, ParamSpec, Params, SharedKey, SignatureScheme, Signer};
use super::kit::bits::differing;
use super::kit::blocks::{Blocks, table_count};
use super::kit::features::{FEATURE_NGRAM, FEATURES, Features, MIN_FEATURES, enough};
use super::kit::near_words;
use super::kit::top_words::distinct_words;
use super::kit::votes::majority;
use crate::corpus::CorpusStats;
use dupsift_core::error::{Error, Result};
use dupsift_core::float;
use dupsift_core::hash::{mix64, scalar_hash};
use dupsift_core::row::{Pairs, Reason, Row, RowShape, Score, Signatures, Window};
use dupsift_text::Analysis;
use dupsift_text::shingle::distinct;

/// The maximum number of tables. Each table adds one row per document, and a row's position must fit in 16 bits.
const MOST_TABLES: u64 = 1_000;

/// Implements the `simhash` algorithm.
pub(crate) struct SimHash;

const FACTS: Facts = Facts {
    name: "simhash",
    aliases: &["sim_hash"],
    source: "Charikar 2002; Manku, Jain, Das Sarma 2007, Detecting near-duplicates for web crawling",
    summary: "Two documents are duplicates if their fingerprints differ in only a few bits.",
    when_not_to_use: "on short documents; if 10% of the text may differ, because the distance grows too fast",
    inputs: "text; word counts with weight=tf_idf",
    params: &[
        ParamSpec { name: "bits", kind: Kind::Choice(&["64", "128"]), default: "64", help: "width of the fingerprint" },
        ParamSpec {
            name: "distance",
            kind: Kind::Int(0, 16),
            default: "3",
            help: "maximum number of bits in which the fingerprints of a pair may differ; every such pair is found",
        },
        ParamSpec {
            name: "blocks",
            kind: Kind::Int(0, 24),
            default: "0",
            help: "number of blocks for the search tables, greater than the distance; 0: chosen according to the size of the corpus",
        },
        FEATURES,
        FEATURE_NGRAM,
        ParamSpec {
            name: "weight",
            kind: Kind::Choice(&["tf", "one", "tf_idf"]),
            default: "tf",
            help: "weight of a feature; tf_idf requires features=words",
        },
        ParamSpec {
            name: "zero",
            kind: Kind::Choice(&["0", "1"]),
            default: "0",
            help: "value of a bit if the votes are tied: 0 corresponds to the rule V > 0, and 1 to the rule V >= 0",
        },
        MIN_FEATURES,
        ParamSpec {
            name: "hash",
            kind: Kind::Choice(&["mixed", "s3"]),
            default: "mixed",
            help: "hash of a feature; s3 is the string hash of CPython 2, for features=words or chars",
        },
    ],
    shorthands: &[],
    presets: &[("s3", "bits=128,features=words,hash=s3,zero=1")],
    revision: 1,
};

impl Algorithm for SimHash {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, params: &Params) -> Needs {
        Needs { word_counts: params.word("weight") == "tf_idf", ..Needs::default() }
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let features = params.word("features");
        let weight = params.word("weight");
        if weight == "tf_idf" && features != "words" {
            return Err(Error::usage(format!(
                "simhash: weight=tf_idf requires features=words, because only words have document frequencies; got features={features}"
            )));
        }
        let s3 = params.word("hash") == "s3";
        if s3 && (weight == "tf_idf" || !["words", "chars"].contains(&features)) {
            return Err(Error::usage(format!(
                "simhash: hash=s3 requires features=words or chars, and weight=tf or one; got features={features} and weight={weight}"
            )));
        }
        let bits = if params.word("bits") == "128" { 128 } else { 64 };
        let (distance, blocks) = (params.count("distance") as u32, params.count("blocks") as u32);
        if blocks > 0 && blocks <= distance {
            return Err(Error::usage(format!(
                "simhash: blocks={blocks} is too low for distance={distance}; expected at least {} blocks, or 0 to choose automatically",
                distance + 1
            )));
        }
        let tables = if blocks > 0 { table_count(blocks, distance) } else { 0 };
        if tables > MOST_TABLES {
            return Err(Error::usage(format!(
                "simhash: blocks={blocks} with distance={distance} needs {tables} search tables, each with a row per document; expected at most {MOST_TABLES} tables; use fewer blocks, or 0 to choose automatically"
            )));
        }
        Ok(Box::new(SimHashSigner {
            bits,
            blocks: Blocks::new(bits, distance, corpus.documents, blocks),
            features: Features::new(params),
            s3,
            weight,
            min_features: params.count("min_features"),
            zero: params.word("zero") == "1",
            stats: corpus.stats,
        }))
    }
}

struct SimHashSigner<'c> {
    bits: u32,
    blocks: Blocks<u128>,
    features: Features,
    /// Whether the hash function from the Chinese article is used instead of a well-mixed hash.
    s3: bool,
    weight: &'static str,
    min_features: usize,
    zero: bool,
    stats: &'c CorpusStats,
}

impl SimHashSigner<'_> {
    /// Returns the fingerprint of a list of features, in which each occurrence of a feature is one vote.
    fn voted(&self, features: &[u64]) -> u128 {
        let high = if self.bits == 64 { 0 } else { majority(features, self.zero, second_half) };
        u128::from(high) << 64 | u128::from(majority(features, self.zero, |feature| feature))
    }

    /// Returns the fingerprint computed with the article's hash, whose upper 64 bits cannot be derived from the lower 64 bits.
    fn voted_s3(&self, document: &Analysis<'_>) -> std::result::Result<u128, Reason> {
        let mut hashes = Vec::new();
        self.features.texts(document, |text| hashes.push(scalar_hash(text, self.bits)));
        if self.weight == "one" {
            hashes.sort_unstable();
            hashes.dedup();
        }
        let low: Vec<u64> = hashes.iter().map(|&hash| hash as u64).collect();
        enough(&low, self.min_features)?;
        let high: Vec<u64> = hashes.iter().map(|&hash| (hash >> 64) as u64).collect();
        let high = if self.bits == 64 { 0 } else { majority(&high, self.zero, |half| half) };
        Ok(u128::from(high) << 64 | u128::from(majority(&low, self.zero, |half| half)))
    }

    /// Returns the fingerprint of words that are weighted by corpus statistics. Weights are integers in units of 0.001, so the order of
    /// addition does not matter.
    fn weighed(&self, document: &Analysis<'_>) -> u128 {
        let weigh = |tf: u32, term: u64| {
            let (n, df) = (self.stats.documents() as f64, self.stats.df(term) as f64);
            (f64::from(tf) * float::ln(n / df) * 1000.0).round() as i64
        };
        let words = distinct_words(document);
        let features: Vec<(u64, i64)> =
            words.iter().map(|word| (word.word.hash, weigh(word.tf, word.word.hash))).collect();
        fingerprint(&features, self.bits, self.zero)
    }
}

/// Returns the votes of a feature for bits 64 to 127.
fn second_half(feature: u64) -> u64 {
    mix64(feature ^ 0x5851_F42D_4C95_7F2D)
}

/// Returns the fingerprint of weighted features. Bit i is 1 if the features with bit i set have a larger total weight than the other
/// features; a tie gives `zero`.
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
    fn scheme(&self) -> SignatureScheme {
        let probes =
            RowShape { positions: self.blocks.tables() as u32, sketch: self.bits as usize / 8, ..RowShape::KEY64 };
        SignatureScheme {
            shared_key: SharedKey::DuplicatesAndProbes(probes),
            rules: &["hamming"],
            equal: Score { similarity: 1.0, distance: Some(0.0) },
            index_words: self.bits as usize / 64,
            notes: vec![self.blocks.describe()],
            ..SignatureScheme::new(RowShape { key_bits: self.bits, ..RowShape::KEY64 })
        }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        if self.s3 {
            return match self.voted_s3(document) {
                Ok(print) => out.push(0, print, 0, &[]),
                Err(reason) => out.none(reason),
            };
        }
        let mut features = out.take_numbers();
        self.features.cut(document, &mut features);
        if let Err(reason) = enough(&features, self.min_features) {
            return out.none(reason);
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

    fn probes(&self, row: &Row<'_>, out: &mut Signatures) {
        let sketch = row.key.to_be_bytes();
        let sketch = &sketch[16 - self.bits as usize / 8..];
        for (table, key) in self.blocks.keys(row.key).enumerate() {
            out.push(table as u32, key.into(), 0, sketch);
        }
    }

    fn judge(&self, a: &Row<'_>, b: &Row<'_>) -> Option<Score> {
        let vector = |row: &Row<'_>| match row.sketch.try_into() {
            Ok(bytes) => u64::from_be_bytes(bytes).into(),
            Err(_) => row.sketch.try_into().map_or(0, u128::from_be_bytes),
        };
        let distance = self.blocks.judge(a.position, vector(a), vector(b))?;
        let similarity = 1.0 - distance as f32 / self.bits as f32;
        Some(Score { similarity, distance: Some(distance as f32) })
    }

    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        near_words::compare(window, self.blocks.distance(), out, |a, b| self.judge(a, b));
    }

    fn index_sketch(&self, signed: &Signatures, out: &mut Vec<u64>) {
        let prints = signed.rows(0).map(|row| [row.key as u64, (row.key >> 64) as u64]);
        prints.for_each(|print| out.extend(&print[..self.bits as usize / 64]));
    }

    fn may_be_pair(&self, a: &[u64], b: &[u64]) -> bool {
        differing(a, b) <= self.blocks.distance()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::examples::{params, sign};

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
        // If `zero` is true, a tie gives 1; bits that no feature sets stay 0.
        assert_eq!(fingerprint(&[(0b01, 1), (0b10, 1)], 64, true), 0b11);
    }

    /// Checks that votes, one per occurrence, give the same result as sums of integer weights.
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
                features: Features::new(&params(&SimHash, "")),
                s3: false,
                weight: "tf",
                min_features: 1,
                zero,
                stats: &stats,
            };
            assert_eq!(signer.voted(&features), fingerprint(&weighed, bits, zero));
        }
    }

    /// Tests the features a, b and c with both rules for ties.
    #[test]
    fn the_fingerprint_of_the_article() {
        for zero in ["0", "1"] {
            let typed = format!("hash=s3,features=chars,ngram=1,min_features=1,zero={zero}");
            assert_eq!(sign(&SimHash, &typed, "abc").unwrap()[0].1, 0x2_E30F_F1E2);
            let wide = sign(&SimHash, &format!("{typed},bits=128"), "abc").unwrap()[0].1;
            assert_eq!(wide as u64, 0x2_E30F_F1E2);
        }
        let words = |typed: &str, text: &str| sign(&SimHash, typed, text).map(|rows| rows[0].1);
        let s3 = "bits=128,features=words,hash=s3,min_features=2";
        assert_eq!(words(s3, "кот пёс кот"), words(s3, "кот кот, пёс"));
        assert_ne!(words(s3, "кот пёс кот"), words(&format!("{s3},weight=one"), "кот пёс кот"));
        assert_eq!(words(s3, "кот кот"), Err("fewer features than min_features"));
        assert_eq!(words(s3, "?"), Err("no features"));
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
        assert!(refuse("hash=s3").contains("features=words or chars"));
        assert!(refuse("hash=s3,features=words,weight=tf_idf").contains("weight=tf or one"));
        assert!(refuse("blocks=3,distance=3").contains("at least 4 blocks"));
        assert!(refuse("blocks=24,distance=8").contains("735471 search tables"));
        assert!(SimHash.signer(&params(&SimHash, "blocks=8,distance=3"), &corpus).is_ok());
    }
}

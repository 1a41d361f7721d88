//! `sim`: two texts are a pair if their heaviest keywords are the same, or if the vectors of their weights point in nearly the same
//! direction.
//!
//! Source: the 2011 paper on purified pages (DocView and SIM). Cost: a first pass for the counts, one row for the digest and about two
//! rows for the angle. Each row holds the keywords, so texts are not read a second time.
//!
//! ```text
//! printed:  SIM = MD5(sort(T_i)) / sqrt(sum W_ia sum W_ja) < delta         which cannot be evaluated
//! read as:  md5   the sorted keywords are the same
//!           sim   d(W_i, W_j) < delta over the union of both keyword sets
//! d = 1 - sum W_ia W_ja / sqrt(sum W_ia^2 sum W_ja^2)      distance=cosine: 0 for parallel vectors, 1 for disjoint sets
//! d = sum (W_ia - W_ja)^2 / (sum W_ia^2 + sum W_ja^2)      distance=quad: 0.2 for a vector and its double
//! ```
//!
//! The paper does not say whether one condition suffices or both are required. `combine=or` is dupsift's interpretation, because the paper
//! introduces the second condition for pairs that the first condition misses. Weights are relative to the length of the text. Limitations:
//! with five equally heavy keywords, replacing one gives a distance of 0.2; with weights 12 : 10 : 7, replacing the third gives 0.167. With
//! weight=tf_over_df or tf_over_cf, rare words weigh the most, so typos become keywords; `min_df` excludes at least the words that occur in
//! a single document.

use crate::algorithm::contract::{
    Algorithm, Corpus, Facts, Kind, Needs, ParamSpec, Params, SharedKey, SignatureScheme, Signer,
};
use crate::algorithm::kit::prefix::{Term, leading, rare_first, rests};
use crate::algorithm::kit::top_words::Heaviest;
use crate::corpus::CorpusStats;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::{hash64, md5};
use dupsift_core::row::{Pair, Pairs, Row, RowShape, Score, Signatures, Window};
use dupsift_text::{Analysis, Frequency};

/// Implements the `sim` algorithm.
pub(crate) struct Sim;

/// The maximum number of keywords that fit in a row, at twelve bytes each.
const MOST_KEYWORDS: i64 = 21;

const FACTS: Facts = Facts {
    name: "sim",
    aliases: &["keyword_sim"],
    source: "Web page purification and duplicate removal by DocView and SIM, 2011",
    summary: "Two documents are duplicates if their heaviest keywords are the same or have nearly proportional weights.",
    when_not_to_use: "if documents about the same topic must be distinguished, because five keywords reveal little more than the topic; with weight=tf and no list of stop words",
    inputs: "text, word counts",
    params: &[
        ParamSpec { name: "words", kind: Kind::Int(1, MOST_KEYWORDS), default: "5", help: "keywords, N" },
        ParamSpec {
            name: "delta",
            kind: Kind::Real(0.0, 1.0),
            default: "0.1",
            help: "upper bound on the distance between the weights of a pair; every pair below this bound is found",
        },
        ParamSpec {
            name: "combine",
            kind: Kind::Choice(&["or", "and", "sim_only", "md5_only"]),
            default: "or",
            help: "how to combine the conditions for a pair: equal keywords (md5), similar weights (sim)",
        },
        ParamSpec {
            name: "distance",
            kind: Kind::Choice(&["cosine", "quad"]),
            default: "cosine",
            help: "cosine: 1 - cos; quad: sum of squared differences divided by the sum of squares",
        },
        ParamSpec {
            name: "weight",
            kind: Kind::Choice(&["tf_idf", "tf", "tf_over_df", "tf_over_cf"]),
            default: "tf_idf",
            help: "weight of a keyword: tf ln(N / df), tf, tf / df or tf / cf; the paper uses tf / cf",
        },
        ParamSpec {
            name: "min_df",
            kind: Kind::Int(1, i64::MAX),
            default: "2",
            help: "words that occur in fewer documents are not keywords, because they do not help to find copies",
        },
        ParamSpec {
            name: "min_keywords",
            kind: Kind::Int(1, MOST_KEYWORDS),
            default: "3",
            help: "documents with fewer keywords have no signature; at most `words`",
        },
    ],
    shorthands: &[],
    presets: &[("paper", "words=5,delta=0.1"), ("wide", "words=10,delta=0.2")],
    revision: 1,
};

impl Algorithm for Sim {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, _: &Params) -> Needs {
        Needs { word_counts: true, ..Needs::default() }
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let (words, min_keywords) = (params.count("words"), params.count("min_keywords"));
        if min_keywords > words {
            return Err(Error::usage(format!(
                "sim: min_keywords={min_keywords} is more than words={words}, so no document would have a signature"
            )));
        }
        let combine = params.word("combine");
        Ok(Box::new(SimSigner {
            words,
            min_keywords,
            delta: params.real("delta"),
            quad: params.word("distance") == "quad",
            by_digest: combine != "sim_only",
            by_distance: matches!(combine, "or" | "sim_only"),
            both: combine == "and",
            weight: params.word("weight"),
            min_df: params.int("min_df") as u64,
            stats: corpus.stats,
        }))
    }
}

struct SimSigner<'c> {
    words: usize,
    min_keywords: usize,
    delta: f64,
    quad: bool,
    /// `by_digest` emits rows for the digest, and `by_distance` rows for the leading keywords. With `both`, documents with equal digests
    /// are pairs only if the distance is small.
    by_digest: bool,
    by_distance: bool,
    both: bool,
    weight: &'static str,
    min_df: u64,
    stats: &'c CorpusStats,
}

/// The position of the digest, and the bit of the `md5` rule.
const MD5: u32 = 0;
/// The position of the leading keywords, and the bit of the `sim` rule.
const SIM: u32 = 1;
/// The IDF of a word in all documents: nearly zero, so that a corpus of copies still has keywords.
const LEAST_IDF: f64 = 1e-6;
/// The number of bytes per keyword in a row: its hash and its weight.
const KEYWORD: usize = 12;

impl SimSigner<'_> {
    /// Returns whether keywords are compared, and not only digests.
    fn compares(&self) -> bool {
        self.by_distance || self.both
    }

    /// Returns the weight of a word, relative to the length of the text. The weight of a word that cannot be a keyword is 0.
    fn weigh(&self, tf: u32, frequency: Frequency, length: usize) -> f64 {
        let tf = f64::from(tf) / length as f64;
        // A corpus that was not counted has no IDF.
        let counted = self.stats.documents() > 0;
        // If the counts are frozen, a word may occur in more documents than its count shows.
        if self.stats.covers() && frequency.df < self.min_df {
            return 0.0;
        }
        match self.weight {
            "tf_idf" if counted => tf * self.stats.idf(frequency.df).max(LEAST_IDF),
            "tf_over_df" => tf / frequency.df as f64,
            "tf_over_cf" => tf / frequency.cf as f64,
            _ => tf,
        }
    }

    /// Returns the heaviest keywords, rarest first, and a sorted list of them, separated by spaces.
    fn keywords(&self, document: &Analysis<'_>) -> (Vec<Term>, String) {
        let mut heaviest = Heaviest::new(self.words);
        let length = document.words().len();
        for (counted, &frequency) in document.counted().iter().zip(document.frequencies()) {
            let weight = if counted.word.stop { 0.0 } else { self.weigh(counted.tf, frequency, length) };
            if weight > 0.0 {
                heaviest.push(weight, document, counted);
            }
        }
        let (weights, mut words): (Vec<f64>, Vec<&str>) = heaviest.weighed().unzip();
        let term = |(&weight, word): (&f64, &&str)| {
            let hash = hash_of(word);
            // The weight is rounded as in the row, so that the bounds and the distance use the same number.
            Term { hash, weight: f64::from((weight as f32).max(f32::MIN_POSITIVE)), df: self.stats.df(hash) }
        };
        let mut terms: Vec<Term> = weights.iter().zip(&words).map(term).collect();
        rare_first(&mut terms);
        words.sort_unstable();
        (terms, words.join(" "))
    }

    /// Returns the distance between the keyword lists of two rows. Returns `None` if `met` is given but is not their first shared keyword.
    fn distance(&self, a: &Row<'_>, b: &Row<'_>, met: Option<u64>) -> Option<f64> {
        let (mut product, mut first) = (0.0, true);
        for (hash, weight) in keywords(a.sketch) {
            let Some((_, other)) = keywords(b.sketch).find(|(other, _)| *other == hash) else { continue };
            if first && met.is_some_and(|met| met != hash) {
                return None;
            }
            first = false;
            product += weight * other;
        }
        let square = |row: &Row<'_>| keywords(row.sketch).map(|(_, weight)| weight * weight).sum::<f64>();
        let (a, b) = (square(a), square(b));
        // The sum of squared differences is a + b - 2 product.
        let similarity = if self.quad { 2.0 * product / (a + b) } else { product / (a * b).sqrt() };
        Some((1.0 - similarity).clamp(0.0, 1.0))
    }

    fn judge_pair(&self, a: &Row<'_>, b: &Row<'_>) -> Option<Pair> {
        if !self.compares() {
            return Some(Pair::new(a.doc, b.doc, Score::EQUAL, 1 << MD5));
        }
        let distance = self.distance(a, b, (a.position == SIM).then_some(a.key as u64))?;
        let near = distance < self.delta;
        if !near && (a.position == SIM || self.both) {
            return None;
        }
        let score = Score { similarity: (1.0 - distance) as f32, distance: Some(distance as f32) };
        let near = u16::from(near) << SIM;
        let equal = u16::from(a.position == MD5) << MD5;
        Some(Pair::new(a.doc, b.doc, score, near | equal))
    }
}

/// Returns the key of the digest for a list of keywords.
fn digest_of(list: &str) -> u128 {
    md5(list.as_bytes())
}

/// Returns the hash of a keyword, which is also its key.
fn hash_of(word: &str) -> u64 {
    hash64(word.as_bytes())
}

/// Returns the keywords in a row: hash and weight.
fn keywords(sketch: &[u8]) -> impl Iterator<Item = (u64, f64)> {
    sketch.chunks_exact(KEYWORD).filter_map(|bytes| {
        let (hash, weight) = bytes.split_first_chunk::<8>()?;
        let weight = f32::from_le_bytes(weight.try_into().ok()?);
        // Unused entries are all 0.
        (weight > 0.0).then_some((u64::from_le_bytes(*hash), f64::from(weight)))
    })
}

fn sketch(terms: &[Term], words: usize) -> Vec<u8> {
    let mut sketch = Vec::with_capacity(words * KEYWORD);
    for term in terms {
        sketch.extend_from_slice(&term.hash.to_le_bytes());
        sketch.extend_from_slice(&(term.weight as f32).to_le_bytes());
    }
    sketch.resize(words * KEYWORD, 0);
    sketch
}

impl Signer for SimSigner<'_> {
    fn scheme(&self) -> SignatureScheme {
        let compares = self.compares();
        let sketch = if compares { self.words * KEYWORD } else { 0 };
        let shape = RowShape { positions: 1 + SIM, key_bits: 128, ordered: false, sketch };
        SignatureScheme {
            shared_key: if compares { SharedKey::Compared } else { SharedKey::Duplicates },
            rules: &["md5", "sim"],
            equal: Score { distance: compares.then_some(0.0), ..Score::EQUAL },
            signature_bits: (!compares).then_some(128),
            ..SignatureScheme::new(shape)
        }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        let (terms, list) = self.keywords(document);
        if terms.is_empty() {
            return out.none("no keywords");
        }
        if terms.len() < self.min_keywords {
            return out.none("fewer keywords than min_keywords");
        }
        if !self.compares() {
            return out.push(MD5, digest_of(&list), 0, &[]);
        }
        let sketch = sketch(&terms, self.words);
        if self.by_digest {
            out.push(MD5, digest_of(&list), 0, &sketch);
        }
        if self.by_distance {
            // The quadratic distance is never below 1 - cos, so the same lists contain its pairs.
            let lists = leading(&rests(&terms), 1.0 - self.delta);
            terms[..lists].iter().for_each(|term| out.push(SIM, term.hash.into(), 0, &sketch));
        }
    }

    /// Returns one entry per key: the list of keywords for the digest, or one keyword for any other key.
    fn words_of_keys(&self, document: &Analysis<'_>, keys: &[u128]) -> Vec<Option<String>> {
        let (_, list) = self.keywords(document);
        let digest = digest_of(&list);
        let words = |&key: &u128| match key == digest {
            true => Some(list.clone()).filter(|list| !list.is_empty()),
            false => list.split(' ').find(|word| u128::from(hash_of(word)) == key).map(str::to_owned),
        };
        keys.iter().map(words).collect()
    }

    fn judge(&self, a: &Row<'_>, b: &Row<'_>) -> Option<Score> {
        self.judge_pair(a, b).map(|pair| pair.score)
    }

    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        out.compare_all(window, |a, b| self.judge_pair(a, b));
    }
}

#[cfg(test)]
mod tests;

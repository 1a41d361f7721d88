//! `keywords`: compares the heaviest words of a document, or its description, according to one of five rules.
//!
//! Source: Wang, Xie, Lei, Li 2000, the Tianwang search engine; the keyword rules of the Chinese survey. Cost: O(words), one row per
//! document; a first pass for the counts if the weights depend on them.
//!
//! ```text
//! 1  equal descriptions                                  4  rule 2, and d < a
//! 2  the same N keywords in the same order of weight     5  rule 3, and d < a
//! 3  the same N keywords in any order
//! d = sum (w - w')^2 / (sum w^2 + sum w'^2), keyword by keyword: 0 for equal weights, 1 for disjoint words
//! weights 2 1 1 and 1 1 1: d = 1 / (6 + 3) = 0.11;  all weights doubled: d = 0.2, so weights are shares of the length
//! ```
//!
//! The page's own description is used if the corpus has a column for it and the description contains a letter or a digit; otherwise, the
//! beginning of the text is used. The papers give no value for `a`. The default is the threshold of the later purified-page rule; this
//! choice is an interpretation. Limitations: words with equal weight may swap places at rank N, which prevents matches under rules 2 to 5;
//! ties are broken alphabetically.

use crate::algorithm::contract::{
    Algorithm, Corpus, Facts, Kind, Needs, ParamSpec, Params, SharedKey, SignatureScheme, Signer,
};
use crate::algorithm::kit::digest::{DIGEST, StringKey, VERIFY_STRING};
use crate::algorithm::kit::top_words::Heaviest;
use crate::corpus::CorpusStats;
use crate::measure::weight_distance;
use dupsift_core::error::{Error, Result};
use dupsift_core::row::{Row, RowShape, Score, Signatures};
use dupsift_text::{Analysis, Field, Frequency};

/// Implements the `keywords` algorithm.
pub(crate) struct Keywords;

const FACTS: Facts = Facts {
    name: "keywords",
    aliases: &[],
    source: "Wang, Xie, Lei, Li 2000, Tianwang: five rules on keywords and descriptions",
    summary: "Two documents are duplicates if they have the same heaviest words with nearly the same weights.",
    when_not_to_use: "on short documents, in which most words have the same weight and chance decides which ones count as heaviest",
    inputs: "text; description with rule=1; word counts with weights other than tf",
    params: &[
        ParamSpec {
            name: "rule",
            kind: Kind::Int(1, 5),
            default: "5",
            help: "1: equal descriptions; 2: the same keywords in order of weight; 3: the same keywords in any order; 4 and 5: like 2 and 3, but the distance between the weights must also be less than a=",
        },
        ParamSpec { name: "words", kind: Kind::Int(1, 64), default: "10", help: "N: number of keywords per document" },
        ParamSpec {
            name: "weight",
            kind: Kind::Choice(&["tf", "tf_idf", "tf_over_df", "tf_over_cf"]),
            default: "tf",
            help: "tf: share of the document's words; tf_idf: tf times ln(N / df); tf_over_df: tf divided by the number of documents that contain the word; tf_over_cf: tf divided by the number of occurrences of the word in the corpus",
        },
        ParamSpec {
            name: "a",
            kind: Kind::Real(1e-6, 1.0),
            default: "0.1",
            help: "rules 4 and 5: upper bound on the distance between the weights",
        },
        ParamSpec {
            name: "min_keywords",
            kind: Kind::Int(1, 64),
            default: "3",
            help: "rules 2 to 5: documents with fewer keywords have no signature",
        },
        ParamSpec {
            name: "min_df",
            kind: Kind::Int(1, i64::MAX),
            default: "1",
            help: "words that occur in fewer documents are not keywords; 2 skips words that cannot match another document",
        },
        ParamSpec {
            name: "des_bytes",
            kind: Kind::Int(1, 1_000_000),
            default: "512",
            help: "rule 1: how many bytes from the beginning of the text to use if there is no description",
        },
        ParamSpec {
            name: "des_encoding",
            kind: Kind::Choice(&["utf8", "gbk"]),
            default: "utf8",
            help: "rule 1: encoding in which the bytes are counted; in gbk, which the paper uses, a non-ASCII character takes two bytes",
        },
        ParamSpec { help: "digest of the string; the paper uses md5", ..DIGEST },
        VERIFY_STRING,
    ],
    shorthands: &[],
    presets: &[("tianwang", "digest=md5,des_encoding=gbk")],
    revision: 1,
};

impl Algorithm for Keywords {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, params: &Params) -> Needs {
        let counts = params.word("weight") != "tf" || params.int("min_df") > 1;
        Needs {
            word_counts: counts && params.int("rule") > 1,
            fields: if params.int("rule") == 1 { &[Field::Description] } else { &[] },
            ..Needs::default()
        }
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let (words, min_keywords) = (params.count("words"), params.count("min_keywords"));
        if params.int("rule") > 1 && words < min_keywords {
            return Err(Error::usage(format!(
                "keywords: min_keywords={min_keywords} is more than words={words}, so no document would have a signature; expected min_keywords={words} or less"
            )));
        }
        Ok(Box::new(KeywordsSigner {
            rule: params.count("rule"),
            words,
            weight: params.word("weight"),
            a: params.real("a"),
            min_keywords,
            min_df: params.count("min_df") as u64,
            des_bytes: params.count("des_bytes"),
            gbk: params.word("des_encoding") == "gbk",
            key: StringKey::new("keywords", params)?,
            stats: corpus.stats,
        }))
    }
}

struct KeywordsSigner<'c> {
    rule: usize,
    words: usize,
    weight: &'static str,
    a: f64,
    min_keywords: usize,
    min_df: u64,
    des_bytes: usize,
    gbk: bool,
    key: StringKey,
    stats: &'c CorpusStats,
}

impl KeywordsSigner<'_> {
    /// Returns whether weights are compared.
    fn is_weighed(&self) -> bool {
        self.rule >= 4
    }

    fn describe(&self, document: &Analysis<'_>, out: &mut Signatures) {
        let says_something = |text: &&str| text.contains(char::is_alphanumeric);
        let own = document.field(Field::Description).map(|field| field.text()).filter(says_something);
        let text = own.unwrap_or_else(|| beginning(document.text(), self.des_bytes, self.gbk));
        if !says_something(&text) {
            return out.none("empty description");
        }
        if own.is_none() {
            out.flag("no description; the beginning of the text is used instead");
        }
        out.push(0, self.key.of(text), 0, &[]);
    }

    fn weigh(&self, tf: u32, frequency: Frequency, length: usize) -> f64 {
        let share = f64::from(tf) / length as f64;
        match self.weight {
            "tf_idf" => share * self.stats.idf(frequency.df),
            "tf_over_df" => share / frequency.df as f64,
            "tf_over_cf" => share / frequency.cf as f64,
            _ => share,
        }
    }

    /// Returns the keywords with their weights, heaviest first.
    fn keywords<'t>(&self, document: &'t Analysis<'_>) -> Vec<(f64, &'t str)> {
        let length = document.words().len();
        let mut heaviest = Heaviest::new(self.words);
        let words = document.counted();
        if self.weight == "tf" && self.min_df <= 1 {
            for one in words.iter().filter(|one| !one.word.stop) {
                heaviest.push(self.weigh(one.tf, Frequency::UNKNOWN, length), document, one);
            }
        } else {
            for (one, &frequency) in words.iter().zip(document.frequencies()) {
                if !one.word.stop && frequency.df >= self.min_df {
                    heaviest.push(self.weigh(one.tf, frequency, length), document, one);
                }
            }
        }
        heaviest.weighed().collect()
    }

    /// Returns the signature string of the keywords, which must be ordered heaviest first, and sorts the keywords alphabetically.
    fn string(&self, keywords: &mut [(f64, &str)]) -> String {
        let join = |keywords: &[(f64, &str)]| {
            let mut string = String::with_capacity(16 * keywords.len());
            for (at, (_, word)) in keywords.iter().enumerate() {
                string.push_str(if at > 0 { " " } else { "" });
                string.push_str(word);
            }
            string
        };
        let in_order = self.rule.is_multiple_of(2).then(|| join(keywords));
        keywords.sort_unstable_by(|a, b| a.1.cmp(b.1));
        in_order.unwrap_or_else(|| join(keywords))
    }
}

/// Returns the beginning of a text: as many characters as fit in `bytes` bytes.
fn beginning(text: &str, bytes: usize, gbk: bool) -> &str {
    let mut left = bytes;
    let end = text.char_indices().find(|(_, c)| {
        let width = if gbk { 2 - usize::from(c.is_ascii()) } else { c.len_utf8() };
        let fits = width <= left;
        left = left.saturating_sub(width);
        !fits
    });
    end.map_or(text, |(at, _)| &text[..at])
}

fn weights(sketch: &[u8]) -> impl Iterator<Item = f64> {
    sketch.as_chunks::<4>().0.iter().map(|bytes| f32::from_be_bytes(*bytes).into())
}

impl Signer for KeywordsSigner<'_> {
    fn scheme(&self) -> SignatureScheme {
        let rules: &[&str] = match self.rule {
            1 => &["description"],
            2 => &["order"],
            3 => &["set"],
            4 => &["order_and_weights"],
            _ => &["set_and_weights"],
        };
        let keys = SignatureScheme { rules, ..SignatureScheme::new(self.key.shape()) };
        if !self.is_weighed() {
            let signature_bits = Some(self.key.bits());
            return SignatureScheme { shared_key: SharedKey::Duplicates, signature_bits, ..keys };
        }
        // The sketch holds the weights in alphabetical order of the keywords. Rows are ordered by the largest weight, so that neighbors
        // are compared if a group is too large to compare completely.
        let shape = RowShape { ordered: true, sketch: 4 * self.words, ..self.key.shape() };
        SignatureScheme { shape, equal: Score { distance: Some(0.0), ..Score::EQUAL }, ..keys }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        if self.rule == 1 {
            return self.describe(document, out);
        }
        let mut keywords = self.keywords(document);
        if keywords.is_empty() {
            return out.none("no words");
        }
        if keywords.len() < self.min_keywords {
            return out.none("fewer words than min_keywords");
        }
        let largest = keywords[0].0 as f32;
        let key = self.key.of(&self.string(&mut keywords));
        if !self.is_weighed() {
            return out.push(0, key, 0, &[]);
        }
        let mut weights = [0; 256];
        for (bytes, (weight, _)) in weights.as_chunks_mut::<4>().0.iter_mut().zip(&keywords) {
            *bytes = (*weight as f32).to_be_bytes();
        }
        // Weights are never negative, so their bits sort like their values.
        out.push(0, key, largest.to_bits(), &weights[..4 * self.words]);
    }

    fn words_of_keys(&self, document: &Analysis<'_>, keys: &[u128]) -> Vec<Option<String>> {
        let words = (self.rule > 1).then(|| self.string(&mut self.keywords(document)));
        vec![words; keys.len()]
    }

    fn judge(&self, a: &Row<'_>, b: &Row<'_>) -> Option<Score> {
        if !self.is_weighed() {
            return Some(Score::EQUAL);
        }
        let distance = weight_distance(weights(a.sketch).zip(weights(b.sketch)));
        // The weights were rounded, so a value slightly below the bound may be the bound itself.
        (distance < self.a * (1.0 - 1e-6))
            .then_some(Score { similarity: (1.0 - distance) as f32, distance: Some(distance as f32) })
    }
}

#[cfg(test)]
mod tests;

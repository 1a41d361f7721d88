//! `tf_ridf` (A3): compares documents by their six words with the highest TF RIDF, that is, by their bursty words.
//!
//! Sources: Zelenkov, Segalovich 2007 for TF*RIDF, with a recall of 0.59 and a precision of 0.95; Church and Gale 1995 for residual IDF.
//! Cost: a first pass for the counts, then O(words) time, one lookup per distinct word and one row per document.
//!
//! ```text
//! weight = TF RIDF,   TF = 0.5 + 0.5 tf / tf_max,   RIDF = -ln(df / N) + ln(1 - exp(-cf / N))
//! N = 3, df = cf = 1:  1.0986 - 1.2607 = -0.1620;     N = 1000, df = 10, cf = 100:  4.6052 - 2.3522 = 2.2530
//! ```
//!
//! RIDF measures how much lower a word's document frequency is than it would be if its occurrences were distributed at random. A word that
//! never occurs twice in one document has a slightly negative RIDF that tends to 0 as N grows. A larger TF then lowers its rank; this is
//! intended. Many weights are equal near 0, so alphabetical order often decides. Limitations: signatures are comparable only within one
//! statistics snapshot. With `bm25_tf`, TF is computed as in `tf_idf`.

use super::contract::{
    Algorithm, Corpus, Facts, Key, KeySigner, Kind, Needs, ParamSpec, Params, SignatureScheme, Signer,
};
use super::kit::bm25::{B, Bm25, K};
use super::kit::by_count::ByCount;
use super::kit::digest::{DIGEST, VERIFY_STRING};
use super::kit::word_string::{MIN_DISTINCT, WORDS, WordString, augmented_tf};
use crate::corpus::CorpusStats;
use dupsift_core::error::Result;
use dupsift_core::float;
use dupsift_core::row::Reason;
use dupsift_text::{Analysis, Frequency};

/// Implements the `tf_ridf` algorithm.
pub(crate) struct TfRidf;

const FACTS: Facts = Facts {
    name: "tf_ridf",
    aliases: &["A3"],
    source: "Zelenkov, Segalovich 2007, TF*RIDF; Church, Gale 1995, Poisson mixtures",
    summary: "Two documents are duplicates if their burstiest words, those with the highest TF-RIDF, are the same.",
    when_not_to_use: "on multilingual corpora without a list of stop words, because function words look bursty and unrelated documents share them; on small corpora and short documents, in which hardly any word is repeated, so alphabetical order decides",
    inputs: "text, word counts",
    params: &[
        WORDS,
        MIN_DISTINCT,
        ParamSpec {
            name: "bm25_tf",
            kind: Kind::Flag,
            default: "false",
            help: "use the BM25 term frequency of tf_idf, with k and b, instead of 0.5 + 0.5 tf / tf_max",
        },
        K,
        B,
        DIGEST,
        VERIFY_STRING,
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for TfRidf {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, _: &Params) -> Needs {
        Needs::counted_words()
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        Ok(Box::new(TfRidfSigner {
            words: WordString::new("tf_ridf", params)?,
            bm25: params.flag("bm25_tf").then(|| Bm25::new(params, corpus.stats)),
            ridf: Ridf::new(corpus.stats),
        }))
    }
}

/// Computes RIDF for one corpus, as the sum of its two parts.
struct Ridf {
    /// -ln(df / N) as a function of df.
    idf: ByCount,
    /// ln(1 - exp(-cf / N)) as a function of cf: the logarithm of the share of documents expected to contain the word under a Poisson
    /// distribution.
    expected: ByCount,
}

impl Ridf {
    fn new(stats: &CorpusStats) -> Ridf {
        let documents = stats.documents() as f64;
        Ridf {
            idf: ByCount::new(
                stats.documents(),
                move |df| {
                    if documents == 0.0 { 0.0 } else { float::ln(documents / df as f64) }
                },
            ),
            expected: ByCount::new(stats.tokens(), move |cf| float::ln(-float::exp_m1(-(cf as f64) / documents))),
        }
    }

    fn of(&self, frequency: &Frequency) -> f64 {
        self.idf.of(frequency.df) + self.expected.of(frequency.cf)
    }
}

struct TfRidfSigner {
    words: WordString,
    bm25: Option<Bm25>,
    ridf: Ridf,
}

impl TfRidfSigner {
    fn string(&self, document: &Analysis<'_>) -> Result<String, Reason> {
        match self.bm25 {
            Some(bm25) => {
                let length = document.word_count();
                self.words.of(document, |tf, _, frequency| bm25.tf(tf, length) * self.ridf.of(frequency))
            }
            None => self.words.of(document, |tf, most, frequency| augmented_tf(tf, most) * self.ridf.of(frequency)),
        }
    }
}

impl KeySigner for TfRidfSigner {
    fn key(&self, document: &Analysis<'_>) -> Result<Key, Reason> {
        Ok(self.words.key.of(&self.string(document)?).into())
    }

    fn words(&self, document: &Analysis<'_>) -> Option<String> {
        self.string(document).ok()
    }

    fn key_scheme(&self) -> SignatureScheme {
        SignatureScheme::one_key(self.words.key.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::examples::{counted, key_over};
    use dupsift_core::hash::crc32;

    #[test]
    fn worked_values() {
        let ridf =
            |documents, df, cf| Ridf::new(&counted(documents, 9, &[])).of(&Frequency { df, cf, ..Frequency::UNKNOWN });
        assert!((ridf(3, 1, 1) + 0.162_041).abs() < 1e-6);
        assert!((ridf(1000, 10, 100) - 2.253_002).abs() < 1e-6);
        // The RIDF of words that never occur twice in a document tends to 0 from below.
        assert!(ridf(1_000_000, 1, 1) < 0.0 && ridf(1_000_000, 1, 1) > -1e-6);
        // A word in every document has the highest possible frequency, so its RIDF is almost 0.
        assert!(ridf(1000, 1000, 5000).abs() < 0.01);
    }

    /// "пули" occurs ten times in each of its documents, and "сразу" once in each of its hundred documents.
    #[test]
    fn bursty_words_are_chosen_and_ties_go_by_the_alphabet() {
        let stats =
            counted(1000, 50_000, &[("пули", 10, 100), ("сразу", 100, 100), ("тотчас", 100, 100), ("и", 1000, 9000)]);
        let key = |typed: &str, text: &str| {
            let typed = format!("min_distinct=1,digest=crc32{typed}");
            key_over(&TfRidf, &typed, &stats, text)
        };
        let crc = |string: &str| Ok(u128::from(crc32(string.as_bytes())));
        for tf in ["", ",bm25_tf=true"] {
            assert_eq!(key(&format!(",words=1{tf}"), "И сразу пули"), crc("пули"));
            // A word in every document has the weight -0.0001, an unknown word has -0.0005, and "сразу" has -0.05.
            assert_eq!(key(&format!(",words=3{tf}"), "Сразу пули, бета, и, альфа"), crc("альфа и пули"));
        }
        // If the RIDF is negative, repeating a word lowers its weight.
        assert_eq!(key(",words=1", "сразу сразу тотчас"), crc("тотчас"));
        assert_eq!(key("", "..."), Err("no words"));
        assert_eq!(key_over(&TfRidf, "", &stats, "И сразу пули"), Err("fewer distinct words than min_distinct"));
    }
}

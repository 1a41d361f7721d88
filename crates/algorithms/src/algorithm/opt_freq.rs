//! `opt_freq` (A10): compares the six words whose frequency in the corpus is closest to the optimum.
//!
//! Source: Zelenkov, Segalovich 2007, Opt Freq (recall 0.59, precision 0.94 in that study). Cost: a first pass for the counts, O(words) and
//! one lookup per distinct word, one row per document.
//!
//! ```text
//! weight = TF IDF',   TF = 0.5 + 0.5 tf / tf_max,   IDF = -ln(df / N)
//! IDF' = sqrt(IDF / 11.5) where IDF < 11.5, else 11.5 / IDF:  a parabola below the optimum, a hyperbola above it
//! N = 500,000:  df 1 -> 0.8764, 5 -> 0.9989, 50 -> 0.8949, 5,000 -> 0.6328, 250,000 -> 0.2455
//! ```
//!
//! The optimum of 11.5 corresponds to a word that occurs in one in 98,716 documents. In a smaller corpus, no word is that rare, so the
//! rarest words weigh the most; `auto` moves the optimum to words that occur in five documents of this corpus, regardless of its size.
//! Limitations: signatures are comparable only within one statistics snapshot.

use super::contract::{
    Algorithm, Corpus, Facts, Key, KeySigner, Kind, Needs, ParamSpec, Params, SignatureScheme, Signer,
};
use super::kit::by_count::ByCount;
use super::kit::digest::{DIGEST, VERIFY_STRING};
use super::kit::word_string::{MIN_DISTINCT, WORDS, WordString, augmented_tf};
use dupsift_core::error::Result;
use dupsift_core::float;
use dupsift_core::row::Reason;
use dupsift_text::Analysis;

/// Implements the `opt_freq` algorithm.
pub(crate) struct OptFreq;

const FACTS: Facts = Facts {
    name: "opt_freq",
    aliases: &["A10"],
    source: "Zelenkov, Segalovich 2007, Opt Freq",
    summary: "Two documents are duplicates if the words whose frequency in the corpus is closest to the optimum are the same in both.",
    when_not_to_use: "on fewer than 100,000 documents without auto=true, because the rarest words, often typos, then have the highest weight",
    inputs: "text, word counts",
    params: &[
        WORDS,
        MIN_DISTINCT,
        ParamSpec {
            name: "idf_opt",
            kind: Kind::Real(0.01, 100.0),
            default: "11.5",
            help: "optimal IDF, -ln(df / N); 11.5 corresponds to one document in 98,716",
        },
        ParamSpec {
            name: "auto",
            kind: Kind::Flag,
            default: "false",
            help: "use the IDF of words that occur in five documents of this corpus, ln(N) - ln(5), as the optimum instead of idf_opt",
        },
        DIGEST,
        VERIFY_STRING,
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for OptFreq {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, _: &Params) -> Needs {
        Needs::counted_words()
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let documents = corpus.stats.documents();
        let auto = params.flag("auto");
        let optimum = if auto { optimum_of(documents) } else { params.real("idf_opt") };
        Ok(Box::new(OptFreqSigner {
            words: WordString::new("opt_freq", params)?,
            weight: ByCount::new(documents, move |df| idf_weight(documents, df, optimum)),
            optimum: auto.then_some(optimum),
        }))
    }
}

/// Returns the IDF of a word that occurs in five documents. If the corpus has at most ten documents, returns the IDF of a word that occurs
/// in half of them, because no lower optimum is meaningful.
fn optimum_of(documents: u64) -> f64 {
    (float::ln(documents as f64) - float::ln(5f64)).max(float::ln(2f64))
}

/// Returns IDF', from 0 for a word in every document to 1 at the optimum.
fn idf_weight(documents: u64, df: u64, optimum: f64) -> f64 {
    // A corpus that was not counted has no frequencies: all its words have the same weight.
    let idf = if documents == 0 { 0.0 } else { -float::ln(df as f64 / documents as f64) };
    if idf < optimum { (idf / optimum).max(0.0).sqrt() } else { optimum / idf }
}

struct OptFreqSigner {
    words: WordString,
    /// IDF' as a function of df.
    weight: ByCount,
    /// The optimal IDF, if it was computed from the corpus.
    optimum: Option<f64>,
}

impl OptFreqSigner {
    fn string(&self, document: &Analysis<'_>) -> Result<String, Reason> {
        self.words.of(document, |tf, most, frequency| augmented_tf(tf, most) * self.weight.of(frequency.df))
    }
}

impl KeySigner for OptFreqSigner {
    fn key(&self, document: &Analysis<'_>) -> Result<Key, Reason> {
        Ok(self.words.key.of(&self.string(document)?).into())
    }

    fn words(&self, document: &Analysis<'_>) -> Option<String> {
        self.string(document).ok()
    }

    fn key_scheme(&self) -> SignatureScheme {
        let note = |optimum: &f64| format!("optimal IDF: {optimum:.4} (words that occur in five documents)");
        let notes = self.optimum.iter().map(note).collect();
        SignatureScheme { notes, ..SignatureScheme::one_key(self.words.key.bits()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::examples::{counted, key_over};
    use dupsift_core::hash::crc32;

    #[test]
    fn published_weights() {
        for (df, expected) in [(1, 0.8764), (5, 0.9989), (50, 0.8949), (5_000, 0.6328), (250_000, 0.2455)] {
            assert!((idf_weight(500_000, df, 11.5) - expected).abs() < 5e-5, "{df}");
        }
        // The weight of a word in every document must not be -0.0, although -ln(1) is -0.0.
        assert_eq!(idf_weight(500_000, 500_000, 11.5).to_bits() & !(1 << 63), 0);
        // The hyperbola begins at exp(11.5) documents.
        assert!(idf_weight(98_715, 1, 11.5) < 1.0 && idf_weight(98_715, 1, 11.5) > idf_weight(98_715, 2, 11.5));
        assert!(idf_weight(500_000, 1, 11.5) < idf_weight(500_000, 5, 11.5));
    }

    #[test]
    fn auto_prefers_words_of_five_documents() {
        assert_eq!(optimum_of(500_000), 100_000f64.ln());
        assert_eq!([optimum_of(0), optimum_of(5), optimum_of(9)], [2f64.ln(); 3]);
        let stats = counted(1000, 50_000, &[("пять", 5, 5), ("один", 1, 1), ("сто", 100, 900), ("все", 1000, 5000)]);
        let key = |typed: &str| {
            key_over(&OptFreq, &format!("min_distinct=1,digest=crc32,{typed}"), &stats, "Все сто один пять")
        };
        let crc = |string: &str| Ok(u128::from(crc32(string.as_bytes())));
        assert_eq!(key("words=1"), crc("один"));
        assert_eq!(key("words=1,auto=true"), crc("пять"));
        assert_eq!(key("words=2,auto=true"), crc("один пять"));
        assert_eq!(key("words=3,idf_opt=2.3"), crc("один пять сто"));
        assert_eq!(key("words=1,idf_opt=2.3"), crc("сто"));
        assert_eq!(key_over(&OptFreq, "", &stats, "..."), Err("no words"));
    }
}

//! Builds the signature string from the heaviest words, for algorithms that differ only in how they weight words (`tf`, `tf_idf`,
//! `tf_ridf`, `opt_freq`). Words are ranked by weight (descending), then by word (ascending). The heaviest words, as many as the `words`
//! parameter specifies, are sorted alphabetically and joined with single spaces.

use super::digest::StringKey;
use super::top_words::Heaviest;
use crate::algorithm::contract::{Kind, ParamSpec, Params};
use dupsift_core::error::Result;
use dupsift_core::row::Reason;
use dupsift_text::{Analysis, Frequency};

/// The `words` parameter.
pub(crate) const WORDS: ParamSpec =
    ParamSpec { name: "words", kind: Kind::Int(1, 1000), default: "6", help: "number of words in the signature" };

/// The `min_distinct` parameter.
pub(crate) const MIN_DISTINCT: ParamSpec = ParamSpec {
    name: "min_distinct",
    kind: Kind::Int(1, 1000),
    default: "6",
    help: "documents with fewer distinct words have no signature; the paper uses 1",
};

/// Returns TF as 0.5 + 0.5 tf / tf_max; `most` is tf_max, the count of the document's most frequent word.
#[inline]
pub(crate) fn augmented_tf(tf: u32, most: u32) -> f64 {
    0.5 + 0.5 * f64::from(tf) / f64::from(most)
}

/// Defines how documents become signature strings and keys.
pub(crate) struct WordString {
    words: usize,
    min_distinct: usize,
    /// The settings that determine how strings become keys.
    pub key: StringKey,
}

impl WordString {
    /// Returns the settings from the parameters [`WORDS`] and [`MIN_DISTINCT`] and the parameters of [`StringKey`].
    ///
    /// # Errors
    /// Returns the errors of [`StringKey::new`].
    pub(crate) fn new(owner: &str, params: &Params) -> Result<WordString> {
        Ok(WordString {
            words: params.count(WORDS.name),
            min_distinct: params.count(MIN_DISTINCT.name),
            key: StringKey::new(owner, params)?,
        })
    }

    /// Returns the signature string of a document. `weigh` computes a weight from tf, the maximum tf, and the word's frequency in the
    /// corpus. Stop words are skipped.
    ///
    /// # Errors
    /// Returns the reason why the document has no signature string.
    pub(crate) fn of(
        &self,
        document: &Analysis<'_>,
        weigh: impl Fn(u32, u32, &Frequency) -> f64,
    ) -> Result<String, Reason> {
        let words = || document.counted().iter().zip(document.frequencies()).filter(|(counted, _)| !counted.word.stop);
        let (distinct, most) = words().fold((0, 0), |(distinct, most), (word, _)| (distinct + 1, word.tf.max(most)));
        if distinct == 0 {
            return Err("no words");
        }
        if distinct < self.min_distinct {
            return Err("fewer distinct words than min_distinct");
        }
        let mut heaviest = Heaviest::new(self.words);
        for (counted, frequency) in words() {
            heaviest.push(weigh(counted.tf, most, frequency), document, counted);
        }
        Ok(heaviest.join())
    }
}

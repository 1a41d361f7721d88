//! `heavy_sent` (A5): compares the two heaviest sentences; the weight of a sentence is the sum of TF-IDF over its words.
//!
//! Source: Zelenkov, Segalovich 2007, Heavy Sent (recall 0.62, precision 0.86 in that study). Cost: a first pass for the counts, O(words)
//! and one lookup per distinct word, one row per document.
//!
//! ```text
//! weight of a sentence = sum of TF IDF of its words (A2), each as often as it occurs there, in their order
//! "Кот спит. Птица улетела. Кот и кот."  with TF IDF  кот 0.1  спит 0.3  птица 0.6  улетела 0.7  и -0.2:
//!   0.4, 1.3, 0.0  ->  "кот спит" + "птица улетела"
//! ```
//!
//! Limitations: longer sentences weigh more, so the results are close to those of `long_sent`. Both algorithms have the same risks: notices
//! and licenses (set `max_sentence_df`), pages without punctuation, a single typo. Repeated sentences count once. Stop words have a weight
//! of 0. Signatures are comparable only within one statistics snapshot.

use super::contract::{
    Algorithm, Corpus, Facts, Key, KeySigner, Kind, Needs, ParamSpec, Params, SignatureScheme, Signer,
};
use super::kit::bm25::{B, Bm25, K};
use super::kit::digest::{DIGEST, StringKey, VERIFY_STRING};
use super::kit::places::Places;
use super::kit::sentences::{
    MAX_SENTENCE_DF, counted_sentences, heaviest_sentences, key_of_sentences, words_of_sentences,
};
use crate::corpus::CorpusStats;
use dupsift_core::error::Result;
use dupsift_core::row::Reason;
use dupsift_text::Analysis;

/// Implements the `heavy_sent` algorithm.
pub(crate) struct HeavySent;

const FACTS: Facts = Facts {
    name: "heavy_sent",
    aliases: &["A5"],
    source: "Zelenkov, Segalovich 2007, Heavy Sent",
    summary: "Two documents are duplicates if the same two sentences have the highest TF-IDF in both.",
    when_not_to_use: "if long_sent is good enough: it needs no first pass, and in the paper it found more duplicates at nearly the same precision",
    inputs: "text, word counts; sentence counts with max_sentence_df",
    params: &[
        ParamSpec {
            name: "sentences",
            kind: Kind::Int(1, 100),
            default: "2",
            help: "number of sentences in the signature",
        },
        MAX_SENTENCE_DF,
        K,
        B,
        DIGEST,
        VERIFY_STRING,
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for HeavySent {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, params: &Params) -> Needs {
        Needs { word_counts: true, features: counted_sentences(params), ..Needs::default() }
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        Ok(Box::new(HeavySentSigner {
            sentences: params.count("sentences"),
            max_df: params.count("max_sentence_df") as u64,
            tf: Bm25::new(params, corpus.stats),
            key: StringKey::new("heavy_sent", params)?,
            stats: corpus.stats,
        }))
    }
}

struct HeavySentSigner<'c> {
    sentences: usize,
    max_df: u64,
    tf: Bm25,
    key: StringKey,
    stats: &'c CorpusStats,
}

impl HeavySentSigner<'_> {
    /// Returns the weight of each distinct word, in the order of [`Analysis::counted`].
    fn word_weights(&self, document: &Analysis<'_>) -> Vec<f64> {
        let length = document.words().len();
        let words = document.counted().iter().zip(document.frequencies());
        let weight = words.map(|(counted, frequency)| match counted.word.stop {
            true => 0.0,
            false => self.tf.tf(counted.tf, length) * self.stats.idf_bm25(frequency.df),
        });
        weight.collect()
    }

    fn heaviest(&self, document: &Analysis<'_>) -> Result<Vec<String>, Reason> {
        let weights = self.word_weights(document);
        let places = Places::new(document.counted().iter().map(|counted| counted.word.hash));
        let words = document.words();
        let weight = |sentence: &std::ops::Range<u32>| -> f64 {
            let words = &words[sentence.start as usize..sentence.end as usize];
            words.iter().filter_map(|word| places.of(word.hash)).fold(0.0, |sum, place| sum + weights[place])
        };
        heaviest_sentences(document, weight, self.sentences, self.max_df, self.stats)
    }
}

impl KeySigner for HeavySentSigner<'_> {
    fn key(&self, document: &Analysis<'_>) -> Result<Key, Reason> {
        Ok(key_of_sentences(self.heaviest(document)?, self.sentences, &self.key))
    }

    fn words(&self, document: &Analysis<'_>) -> Option<String> {
        self.heaviest(document).ok().map(words_of_sentences)
    }

    fn key_scheme(&self) -> SignatureScheme {
        SignatureScheme::one_key(self.key.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::examples::{counted, key_over};
    use dupsift_core::hash::crc32;

    /// Checks that rare words outweigh many common words, whose weights are negative.
    #[test]
    fn the_heaviest_sentences_are_chosen_and_put_in_order() {
        let common = [("кот", 5), ("спит", 2), ("птица", 1), ("улетела", 1), ("и", 9), ("на", 9), ("окне", 3)];
        let words: Vec<(&str, u64, u64)> = common.iter().map(|&(word, df)| (word, df, df)).collect();
        let stats = counted(10, 100, &words);
        let key = |typed: &str, text: &str| key_over(&HeavySent, &format!("digest=crc32{typed}"), &stats, text);
        let crc = |string: &str| Ok(u128::from(crc32(string.as_bytes())));
        let text = "Птица улетела. И кот и кот и кот на окне. Кот спит.";
        assert_eq!(key("", text), crc("кот спит птица улетела"));
        assert_eq!(key("", "Кот спит! Птица улетела? И кот и кот и кот на окне"), key("", text));
        assert_eq!(key(",sentences=1", text), crc("птица улетела"));
        // A repeated sentence counts once, but every occurrence of a word in its sentence counts.
        assert_eq!(key("", "Птица улетела. Птица улетела. Кот спит."), crc("кот спит птица улетела"));
        assert_eq!(
            key(",sentences=1", "Птица улетела. Спит, спит, спит, спит, спит."),
            crc("спит спит спит спит спит")
        );
        // Equal weights are ordered alphabetically.
        assert_eq!(key(",sentences=1", "Улетела птица. Птица улетела."), crc("птица улетела"));
        assert_eq!(key("", "... !!!"), Err("no sentences"));
    }
}

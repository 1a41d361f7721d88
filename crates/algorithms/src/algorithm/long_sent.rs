//! `long_sent` (A4): compares the two longest sentences.
//!
//! Source: Zelenkov, Segalovich 2007, Long Sent (recall 0.84, precision 0.80: the best single signature in that study). Cost: O(words), one
//! row per document; a first pass only if `max_sentence_df` needs sentence counts. Limitations: a license or cookie notice is often the
//! longest sentence (then set `max_sentence_df`); a page without punctuation is one sentence, so its signature is the whole page; a typo in
//! either sentence is enough to miss a copy. Repeated sentences count once, so that the signature is not one repeated line.
//!
//! ```text
//! "Кот спит на окне. Кот видит птицу за окном. Птица улетела."
//!   -> "кот видит птицу за окном" + "кот спит на окне" -> CRC32 65232791
//! ```

use super::contract::{
    Algorithm, Corpus, Facts, Key, KeySigner, Kind, Needs, ParamSpec, Params, SignatureScheme, Signer,
};
use super::kit::digest::{DIGEST, StringKey, VERIFY_STRING};
use super::kit::sentences::{
    MAX_SENTENCE_DF, counted_sentences, key_of_sentences, longest_sentences, words_of_sentences,
};
use crate::corpus::CorpusStats;
use dupsift_core::error::Result;
use dupsift_core::row::Reason;
use dupsift_text::Analysis;

/// Implements the `long_sent` algorithm.
pub(crate) struct LongSent;

const FACTS: Facts = Facts {
    name: "long_sent",
    aliases: &["A4"],
    source: "Zelenkov, Segalovich 2007, Long Sent",
    summary: "Two documents are duplicates if they have the same two longest sentences.",
    when_not_to_use: "if pages share a long disclaimer but differ in content, unless max_sentence_df drops the disclaimer",
    inputs: "text; sentence counts with max_sentence_df",
    params: &[
        ParamSpec {
            name: "sentences",
            kind: Kind::Int(1, 100),
            default: "2",
            help: "number of sentences in the signature",
        },
        MAX_SENTENCE_DF,
        DIGEST,
        VERIFY_STRING,
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for LongSent {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, params: &Params) -> Needs {
        Needs { features: counted_sentences(params), ..Needs::default() }
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        Ok(Box::new(LongSentSigner {
            sentences: params.count("sentences"),
            max_df: params.count("max_sentence_df") as u64,
            key: StringKey::new("long_sent", params)?,
            stats: corpus.stats,
        }))
    }
}

struct LongSentSigner<'c> {
    sentences: usize,
    max_df: u64,
    key: StringKey,
    stats: &'c CorpusStats,
}

impl LongSentSigner<'_> {
    fn longest(&self, document: &Analysis<'_>) -> Result<Vec<String>, Reason> {
        longest_sentences(document, self.sentences, self.max_df, self.stats)
    }
}

impl KeySigner for LongSentSigner<'_> {
    fn key(&self, document: &Analysis<'_>) -> Result<Key, Reason> {
        Ok(key_of_sentences(self.longest(document)?, self.sentences, &self.key))
    }

    fn words(&self, document: &Analysis<'_>) -> Option<String> {
        self.longest(document).ok().map(words_of_sentences)
    }

    fn key_scheme(&self) -> SignatureScheme {
        SignatureScheme::one_key(self.key.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::examples::{D1, D2, D3, key};

    #[test]
    fn worked_examples() {
        assert_eq!(key(&LongSent, "digest=crc32", D1), Ok(0x6523_2791));
        assert_eq!(key(&LongSent, "digest=crc32", D2), Ok(0x6523_2791));
        assert_eq!(key(&LongSent, "digest=crc32", D3), Ok(0x47F7_8675));
        assert_eq!(key(&LongSent, "", D1), key(&LongSent, "", D2));
    }

    #[test]
    fn a_repeated_line_is_not_the_whole_signature() {
        let repeated = "Все права защищены законом. Кот спит. Все права защищены законом.";
        let once = "Кот спит. Все права защищены законом.";
        assert_eq!(key(&LongSent, "", repeated), key(&LongSent, "", once));
        assert_ne!(key(&LongSent, "", once), key(&LongSent, "", "Пёс спит. Все права защищены законом."));
    }

    #[test]
    fn punctuation_has_no_signature() {
        assert_eq!(key(&LongSent, "", "... !!! 。。"), Err("no sentences"));
    }
}

//! `tf` (A1): compares the six most frequent words.
//!
//! Source: Zelenkov, Segalovich 2007, the TF method (recall 0.60, precision 0.94 in that study). Cost: O(words), one row per document.
//! Limitations: if no stop words are given, the six words are mostly function words. Many words occur only once, so the tie-breaking order
//! (by code point) often determines which words are selected. A document with fewer distinct words than `min_distinct` has no signature,
//! because tiny pages would otherwise be merged. The study sets no minimum; to reproduce the study, use `min_distinct=1`.
//!
//! ```text
//! "Кот спит на окне. Кот видит птицу за окном. Птица улетела." -> "видит за кот на окне окном" -> CRC32 F2A67560
//! ```

use super::contract::{Algorithm, Corpus, Facts, Key, KeySigner, Kind, ParamSpec, Params, SignatureScheme, Signer};
use super::kit::digest::{DIGEST, StringKey, VERIFY_STRING};
use super::kit::top_words::Heaviest;
use dupsift_core::error::Result;
use dupsift_core::row::Reason;
use dupsift_text::Analysis;

/// Implements the `tf` algorithm.
pub(crate) struct Tf;

const FACTS: Facts = Facts {
    name: "tf",
    aliases: &["A1"],
    source: "Zelenkov, Segalovich 2007, TF",
    summary: "Two documents are duplicates if their most frequent words are the same.",
    when_not_to_use: "on short documents, in which nearly every word occurs only once, so alphabetical order decides",
    inputs: "text",
    params: &[
        ParamSpec { name: "words", kind: Kind::Int(1, 1000), default: "6", help: "number of words in the signature" },
        ParamSpec {
            name: "min_distinct",
            kind: Kind::Int(1, 1000),
            default: "6",
            help: "documents with fewer distinct words have no signature; the paper uses 1",
        },
        DIGEST,
        VERIFY_STRING,
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for Tf {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn signer<'c>(&self, params: &Params, _: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        Ok(Box::new(TfSigner {
            words: params.count("words"),
            min_distinct: params.count("min_distinct"),
            key: StringKey::new("tf", params)?,
        }))
    }
}

struct TfSigner {
    words: usize,
    min_distinct: usize,
    key: StringKey,
}

impl TfSigner {
    /// Returns the most frequent words in alphabetical order, joined with single spaces.
    fn string(&self, document: &Analysis<'_>) -> Result<String, Reason> {
        let words = || document.counted().iter().filter(|counted| !counted.word.stop);
        let distinct = words().count();
        if distinct == 0 {
            return Err("no words");
        }
        if distinct < self.min_distinct {
            return Err("fewer distinct words than min_distinct");
        }
        // Dividing by the document's length would not change the order, so the counts themselves are compared.
        let mut heaviest = Heaviest::new(self.words);
        words().for_each(|counted| heaviest.push(counted.tf.into(), document, counted));
        Ok(heaviest.join())
    }
}

impl KeySigner for TfSigner {
    fn key(&self, document: &Analysis<'_>) -> Result<Key, Reason> {
        Ok(self.key.of(&self.string(document)?).into())
    }

    fn words(&self, document: &Analysis<'_>) -> Option<String> {
        self.string(document).ok()
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
        assert_eq!(key(&Tf, "digest=crc32", D1), Ok(0xF2A6_7560));
        assert_eq!(key(&Tf, "digest=crc32", D2), Ok(0xF2A6_7560));
        assert_eq!(key(&Tf, "digest=crc32", D3), Ok(0x8DD8_B371));
        assert_eq!(key(&Tf, "", D1), key(&Tf, "", D2));
        assert_ne!(key(&Tf, "", D1), key(&Tf, "", D3));
    }

    #[test]
    fn tiny_pages_do_not_merge() {
        assert_eq!(key(&Tf, "", "нет да"), Err("fewer distinct words than min_distinct"));
        assert_eq!(key(&Tf, "min_distinct=1", "нет да"), key(&Tf, "min_distinct=1", "Да! Нет..."));
        assert_eq!(key(&Tf, "min_distinct=1", "..."), Err("no words"));
    }

    #[test]
    fn verified_strings_take_a_second_hash() {
        let plain = key(&Tf, "digest=crc32", D1).unwrap();
        let verified = key(&Tf, "digest=crc32,verify_string=true", D1).unwrap();
        assert_eq!(verified >> 64, plain);
        assert_ne!(verified as u64, 0);
    }
}

//! `first_words`: compares the first words of the text. This is the example in docs/dev/add-an-algorithm.md; only tests use it.
//!
//! Source: none. Cost: O(words), one row per document. Limitations: pages that begin with the same menu are all duplicates.
//!
//! ```text
//! "Кот, пёс; птица" with words=2 -> "кот пёс"
//! ```

use super::contract::{Algorithm, Corpus, Facts, Key, KeySigner, Kind, ParamSpec, Params, SignatureScheme, Signer};
use dupsift_core::error::Result;
use dupsift_core::hash::hash128;
use dupsift_core::row::Reason;
use dupsift_text::Analysis;

/// The algorithm.
pub(crate) struct FirstWords;

const FACTS: Facts = Facts {
    name: "first_words",
    aliases: &[],
    source: "none, an example",
    summary: "Two documents are duplicates if they begin with the same words.",
    when_not_to_use: "if pages begin with the same menu",
    inputs: "text",
    params: &[ParamSpec {
        name: "words",
        kind: Kind::Int(1, 100),
        default: "8",
        help: "number of words in the signature",
    }],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for FirstWords {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn signer<'c>(&self, params: &Params, _: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        Ok(Box::new(FirstWordsSigner { words: params.count("words") }))
    }
}

struct FirstWordsSigner {
    words: usize,
}

impl KeySigner for FirstWordsSigner {
    fn key(&self, document: &Analysis<'_>) -> Result<Key, Reason> {
        let first = document.words().get(..self.words).ok_or("fewer words than the signature needs")?;
        let first: Vec<&str> = first.iter().map(|word| document.word(word)).collect();
        Ok(hash128(first.join(" ").as_bytes()).into())
    }

    fn key_scheme(&self) -> SignatureScheme {
        SignatureScheme::one_key(128)
    }
}

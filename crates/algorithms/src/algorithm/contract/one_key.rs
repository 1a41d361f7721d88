//! Defines methods that compute one key per document.

use super::{SignatureScheme, Signer};
use dupsift_core::row::{Reason, Signatures};
use dupsift_text::Analysis;

/// Computes one key per document. Documents with equal keys are duplicates. Every `KeySigner` is a [`Signer`].
pub(crate) trait KeySigner: Send + Sync {
    /// Returns the key of the document.
    ///
    /// # Errors
    /// Returns the reason why the document has no key. `run.json` reports the number of documents for each reason.
    fn key(&self, document: &Analysis<'_>) -> Result<Key, Reason>;

    /// Returns [`SignatureScheme::one_key`] with the number of key bits, and any notes for run.json.
    fn key_scheme(&self) -> SignatureScheme;

    /// Returns the words that the key of a document represents, in readable form. Returns `None` if the key does not represent words.
    fn words(&self, _document: &Analysis<'_>) -> Option<String> {
        None
    }
}

/// Holds the key of a document. `into` converts a number to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The number that represents the key in comparisons.
    pub number: u128,
    /// The flag under which run.json counts this document.
    pub flag: Option<Reason>,
}

impl From<u128> for Key {
    fn from(number: u128) -> Key {
        Key { number, flag: None }
    }
}

impl<S: KeySigner> Signer for S {
    fn scheme(&self) -> SignatureScheme {
        self.key_scheme()
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        match self.key(document) {
            Ok(key) => {
                key.flag.into_iter().for_each(|flag| out.flag(flag));
                out.push(0, key.number, 0, &[]);
            }
            Err(reason) => out.none(reason),
        }
    }

    fn words_of_keys(&self, document: &Analysis<'_>, keys: &[u128]) -> Vec<Option<String>> {
        vec![self.words(document); keys.len()]
    }
}

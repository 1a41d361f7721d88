//! Methods with one key per document, where equal keys make duplicates.

use super::{SignatureScheme, Signer};
use dupsift_core::row::{Reason, Signatures};
use dupsift_text::Analysis;

/// A method with one key per document; documents with equal keys are duplicates. Every `KeySigner` is a [`Signer`].
pub trait KeySigner: Send + Sync {
    /// Returns the key of the document.
    ///
    /// # Errors
    /// The reason why the document has no key, as run.json counts it.
    fn key(&self, document: &Analysis<'_>) -> Result<Key, Reason>;

    /// Returns [`SignatureScheme::one_key`] with the bits of the key, and notes for run.json if there are any.
    fn key_scheme(&self) -> SignatureScheme;
}

/// The key of a document, made from a number by `into`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// What is compared.
    pub number: u128,
    /// What run.json counts of this document.
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
}

//! Methods with one key a document, where equal keys make duplicates.

use super::signer::{Describe, Match, Sign};
use dupsift_core::row::{Reason, RowShape, Signatures};
use dupsift_text::Analysis;

/// A method with one key a document; documents with equal keys are duplicates. It is a [`Signer`](super::Signer) by this alone.
pub trait KeySigner: Send + Sync {
    /// The key of the document, or why it has none.
    ///
    /// # Errors
    /// The reason, as run.json counts it.
    fn key(&self, document: &Analysis<'_>) -> Result<Key, Reason>;

    /// Bits that the number of expected chance collisions depends on. A key of no more than 64 is stored in 64 bits, others in 128.
    fn bits(&self) -> u32;

    /// What the method decided by itself for this corpus, for run.json.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The key of a document, made from a number by `into`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// What is compared.
    pub number: u128,
    /// What is worth counting of this document.
    pub flag: Option<Reason>,
}

impl From<u128> for Key {
    fn from(number: u128) -> Key {
        Key { number, flag: None }
    }
}

impl<S: KeySigner> Sign for S {
    fn shape(&self) -> RowShape {
        RowShape { key_bits: if self.bits() > 64 { 128 } else { 64 }, ..RowShape::KEY64 }
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

impl<S: KeySigner> Match for S {
    fn is_equivalence(&self) -> bool {
        true
    }
}

impl<S: KeySigner> Describe for S {
    fn signature_bits(&self) -> Option<u32> {
        Some(self.bits())
    }

    fn notes(&self) -> Vec<String> {
        KeySigner::notes(self)
    }
}

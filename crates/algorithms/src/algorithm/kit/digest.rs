//! Turns a signature string into a key. The single-signature algorithms share the `digest` and `verify_string`
//! parameters.
//!
//! A 32-bit digest is faithful to the original study but too short for a crawl (1e8 documents: about 1.2 million chance pairs), so the
//! default is 64 bits. `verify_string` adds a second, independent 64-bit hash of the same string to the key, so that equal keys mean equal
//! strings.

use crate::algorithm::contract::{Kind, ParamSpec, Params};
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::{Digest, hash64};
use dupsift_core::row::RowShape;

/// The `digest` parameter.
pub(crate) const DIGEST: ParamSpec = ParamSpec {
    name: "digest",
    kind: Kind::Choice(Digest::NAMES),
    default: "xxh3_64",
    help: "digest of the signature string; the 2007 study uses crc32, which is too short for large corpora",
};

/// The `verify_string` parameter.
pub(crate) const VERIFY_STRING: ParamSpec = ParamSpec {
    name: "verify_string",
    kind: Kind::Flag,
    default: "false",
    help: "also compare a second hash of the signature strings, so that a digest collision does not create a pair",
};

/// Defines how an algorithm's signature strings become keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StringKey {
    digest: Digest,
    verify: bool,
}

impl StringKey {
    /// Returns the settings from the parameters [`DIGEST`] and [`VERIFY_STRING`].
    ///
    /// # Errors
    /// Returns an error if `verify_string` is set with a 128-bit digest, which has no room for a second hash and needs none.
    pub(crate) fn new(owner: &str, params: &Params) -> Result<StringKey> {
        let name = params.word(DIGEST.name);
        let digest = Digest::by_name(name).ok_or_else(|| Error::Internal(format!("{owner}: no digest {name:?}")))?;
        let verify = params.flag(VERIFY_STRING.name);
        if verify && digest.bits() > 64 {
            return Err(Error::usage(format!(
                "{owner}: verify_string=true requires digest=crc32 or xxh3_64; {name} has 128 bits and needs no second hash"
            )));
        }
        Ok(StringKey { digest, verify })
    }

    /// Returns the shape of rows that hold one such key.
    pub(crate) fn shape(&self) -> RowShape {
        RowShape { key_bits: if self.verify { 128 } else { self.digest.bits().max(64) }, ..RowShape::KEY64 }
    }

    /// Returns the key of a signature string.
    pub(crate) fn of(&self, string: &str) -> u128 {
        self.of_bytes(string.as_bytes())
    }

    /// Returns the key of a signature string in a different encoding.
    pub(crate) fn of_bytes(&self, string: &[u8]) -> u128 {
        let key = self.digest.of(string);
        if self.verify { key << 64 | u128::from(hash64(string)) } else { key }
    }

    /// Returns the number of bits that determine the probability of a chance collision.
    pub(crate) fn bits(&self) -> u32 {
        self.digest.bits() + if self.verify { 64 } else { 0 }
    }

    /// Returns the separator between sentences in a signature string: a space in the faithful CRC32 mode, otherwise a line feed.
    pub(crate) fn sentence_separator(&self) -> char {
        if self.digest == Digest::Crc32 { ' ' } else { '\n' }
    }
}

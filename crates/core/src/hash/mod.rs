//! Provides hash functions with a fixed definition: values are the same on every machine and in every version.
//!
//! 64-bit and 128-bit values are XXH3 with seed 0 (frozen by its specification); [`mix64`] is the finalizer of SplitMix64. The digests of
//! the 2007 study are CRC32 and MD5; the digest of I-Match is SHA-1. Signatures are stored, so the functions in this module must never
//! change.

mod strings;

pub use strings::{StringHash, StringHasher, scalar_hash};

use md5::Digest as _;
use xxhash_rust::xxh3;

/// Returns the XXH3-64 hash of the bytes, with seed 0.
#[inline]
pub fn hash64(bytes: &[u8]) -> u64 {
    xxh3::xxh3_64(bytes)
}

/// Computes [`hash64`] incrementally.
#[derive(Clone, Default)]
pub struct Hash64(xxh3::Xxh3);

impl Hash64 {
    /// Appends bytes to the hashed data.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the hash of all added bytes.
    pub fn value(&self) -> u64 {
        self.0.digest()
    }
}

/// Returns the [`hash64`] of three bytes, the length of most Chinese characters, without branching on the length.
#[inline]
pub const fn hash64_of_3(bytes: [u8; 3]) -> u64 {
    // The two halves of the first eight bytes of XXH3's default secret, XORed with each other.
    const FLIP: u64 = 0x8727_5A9B;
    let [first, second, third] = bytes;
    let combined = (first as u32) << 16 | (second as u32) << 24 | third as u32 | 3 << 8;
    let mut hash = combined as u64 ^ FLIP;
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    hash = (hash ^ (hash >> 29)).wrapping_mul(0x1656_67B1_9E37_79F9);
    hash ^ (hash >> 32)
}

/// Returns the XXH3-128 hash of the bytes, with seed 0.
#[inline]
pub fn hash128(bytes: &[u8]) -> u128 {
    xxh3::xxh3_128(bytes)
}

/// Computes [`hash128`] incrementally.
#[derive(Clone, Default)]
pub struct Hash128(xxh3::Xxh3);

impl Hash128 {
    /// Appends bytes to the hashed data.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the hash of all added bytes.
    pub fn value(&self) -> u128 {
        self.0.digest128()
    }
}

/// Returns the CRC32 (IEEE, reflected polynomial EDB88320, initial and final xor FFFFFFFF).
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Returns the MD5 digest as a big-endian number, so that its hexadecimal form is the usual form of the digest.
pub fn md5(bytes: &[u8]) -> u128 {
    u128::from_be_bytes(md5::Md5::digest(bytes).into())
}

/// Returns the first 128 bits of SHA-1 as a big-endian number.
pub fn sha1(bytes: &[u8]) -> u128 {
    let digest: [u8; 20] = sha1::Sha1::digest(bytes).into();
    digest[..16].iter().fold(0, |value, &byte| value << 8 | u128::from(byte))
}

/// Mixes 64 bits bijectively: the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
#[inline]
pub const fn mix64(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Combines two hashes into one; the order matters, so `combine(a, b) != combine(b, a)`.
#[inline]
pub const fn combine(a: u64, b: u64) -> u64 {
    mix64(a.rotate_left(23).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ b)
}

/// Returns the `n`-th value (from 0) of the SplitMix64 stream that starts at `seed`.
#[inline]
pub const fn splitmix64(seed: u64, n: u64) -> u64 {
    mix64(seed.wrapping_add((n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)))
}

/// The function that turns a signature string into a key (the `digest` parameter).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digest {
    /// CRC32, 32 bits: the digest of the 2007 study.
    Crc32,
    /// XXH3-64.
    Xxh64,
    /// XXH3-128.
    Xxh128,
    /// MD5, 128 bits.
    Md5,
    /// The first 128 bits of SHA-1: the digest of I-Match.
    Sha1,
}

impl Digest {
    /// The values of the `digest` parameter, for methods whose paper does not specify a different digest.
    pub const NAMES: &'static [&'static str] = &["xxh3_64", "xxh3_128", "md5", "crc32"];

    /// Returns the digest with this name: `sha1`, or one of [`Digest::NAMES`].
    pub fn by_name(name: &str) -> Option<Digest> {
        Some(match name {
            "crc32" => Digest::Crc32,
            "xxh3_64" => Digest::Xxh64,
            "xxh3_128" => Digest::Xxh128,
            "md5" => Digest::Md5,
            "sha1" => Digest::Sha1,
            _ => return None,
        })
    }

    /// Returns the number of bits in the digest, which determines the expected number of chance collisions.
    pub const fn bits(self) -> u32 {
        match self {
            Digest::Crc32 => 32,
            Digest::Xxh64 => 64,
            Digest::Xxh128 | Digest::Md5 | Digest::Sha1 => 128,
        }
    }

    /// Returns the digest of the bytes, in the low [`Digest::bits`] bits.
    pub fn of(self, bytes: &[u8]) -> u128 {
        match self {
            Digest::Crc32 => crc32(bytes).into(),
            Digest::Xxh64 => hash64(bytes).into(),
            Digest::Xxh128 => hash128(bytes),
            Digest::Md5 => md5(bytes),
            Digest::Sha1 => sha1(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_bytes_hash_like_any_others() {
        for bytes in [[0, 0, 0], [1, 2, 3], [0xE4, 0xB8, 0xAD], [0xFF, 0xFF, 0xFF]] {
            assert_eq!(hash64_of_3(bytes), hash64(&bytes));
        }
    }

    #[test]
    fn published_check_values() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32("видит за кот на окне окном".as_bytes()), 0xF2A6_7560);
        assert_eq!(crc32("кот видит птицу за окном".as_bytes()), 0x2FCC_3B1B);
        assert_eq!(crc32("кот спит на окне".as_bytes()), 0xC82B_8F67);
        assert_eq!(crc32("птица улетела".as_bytes()), 0x799D_6A89);
        assert_eq!(format!("{:032x}", md5(b"")), "d41d8cd98f00b204e9800998ecf8427e");
        // The full 160-bit digest is a9993e364706816aba3e25717850c26c9cd0d89d.
        assert_eq!(format!("{:032x}", sha1(b"abc")), "a9993e364706816aba3e25717850c26c");
    }

    /// These values are pinned, because existing indexes must remain readable.
    #[test]
    fn values_are_pinned() {
        assert_eq!(hash64(b""), 0x2D06_8005_38D3_94C2);
        assert_eq!(hash128(b""), 0x99AA_06D3_0147_98D8_6001_C324_468D_497F);
        // This is the first published output of SplitMix64 for the seed 1234567.
        assert_eq!(splitmix64(1_234_567, 0), 6_457_827_717_110_365_317);
        assert_eq!(splitmix64(1_234_567, 1), 3_203_168_211_198_807_973);
        assert_ne!(combine(1, 2), combine(2, 1));
    }

    #[test]
    fn digests_fit_their_bits() {
        for name in Digest::NAMES {
            let digest = Digest::by_name(name).expect("listed");
            let value = digest.of("сигнатура".as_bytes());
            assert!(digest.bits() == 128 || value >> digest.bits() == 0, "{name}");
        }
        assert_eq!(Digest::by_name("sha1"), Some(Digest::Sha1));
        assert_eq!(Digest::by_name("sha2"), None);
    }
}

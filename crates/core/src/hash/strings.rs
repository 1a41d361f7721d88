//! Implements eight classic 32-bit string hash functions: RS, JS, PJW, ELF, BKDR, SDBM, DJB and AP.
//!
//! Source: Arash Partow's collection of general-purpose hash functions; a Chinese survey of page deduplication compares them. Cost: one to
//! three operations per byte. The functions are included only for comparison: none of them distributes values as well as
//! [`hash64`](super::hash64). PJW and ELF are the same function, and the four highest bits of its result are always 0.
//!
//! Implementations under these names differ: in 2010, the initial value and the parentheses of AP changed; many ports clear the highest bit
//! at the end; and if `char` is signed in C, bytes of 0x80 and above are negative numbers.

/// A string hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringHash {
    /// Robert Sedgewick's function, with a factor that changes with every byte.
    Rs,
    /// Justin Sobel's function.
    Js,
    /// Peter J. Weinberger's function.
    Pjw,
    /// The function from the Unix object format (ELF), which is equivalent to PJW.
    Elf,
    /// Brian Kernighan and Dennis Ritchie's function, which multiplies by 131.
    Bkdr,
    /// The function from the sdbm database library, which multiplies by 65599.
    Sdbm,
    /// Daniel J. Bernstein's function, which multiplies by 33.
    Djb,
    /// Arash Partow's function, as published until 2010.
    Ap,
    /// Arash Partow's function, as published since 2010.
    Ap2010,
}

impl StringHash {
    /// The names that [`StringHash::by_name`] accepts; `ap` is the version published until 2010.
    pub const NAMES: &'static [&'static str] = &["rs", "js", "pjw", "elf", "bkdr", "sdbm", "djb", "ap"];

    /// Returns the function with this name, one of [`StringHash::NAMES`].
    pub fn by_name(name: &str) -> Option<StringHash> {
        Some(match name {
            "rs" => StringHash::Rs,
            "js" => StringHash::Js,
            "pjw" => StringHash::Pjw,
            "elf" => StringHash::Elf,
            "bkdr" => StringHash::Bkdr,
            "sdbm" => StringHash::Sdbm,
            "djb" => StringHash::Djb,
            "ap" => StringHash::Ap,
            _ => return None,
        })
    }
}

/// A string hash function, including the variations that occur in its ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StringHasher {
    /// The function.
    pub hash: StringHash,
    /// Whether the highest bit is cleared at the end.
    pub mask31: bool,
    /// Whether bytes of 0x80 and above are negative numbers.
    pub signed_char: bool,
}

impl StringHasher {
    /// Returns the hash of the bytes.
    pub fn of(&self, bytes: &[u8]) -> u32 {
        let value = if self.signed_char {
            self.hash.of_units(bytes.iter().map(|&byte| i32::from(byte as i8) as u32))
        } else {
            self.hash.of_units(bytes.iter().map(|&byte| byte.into()))
        };
        if self.mask31 { value & 0x7FFF_FFFF } else { value }
    }
}

impl StringHash {
    /// Returns the hash of bytes converted to numbers.
    fn of_units(self, mut units: impl Iterator<Item = u32>) -> u32 {
        match self {
            StringHash::Rs => {
                let mut factor = 63_689u32;
                units.fold(0, |hash: u32, c| {
                    let next = hash.wrapping_mul(factor).wrapping_add(c);
                    factor = factor.wrapping_mul(378_551);
                    next
                })
            }
            StringHash::Js => {
                units.fold(1_315_423_911, |hash: u32, c| hash ^ (hash << 5).wrapping_add(c).wrapping_add(hash >> 2))
            }
            StringHash::Pjw => units.fold(0, |hash: u32, c| {
                let hash = (hash << 4).wrapping_add(c);
                match hash & 0xF000_0000 {
                    0 => hash,
                    high => (hash ^ (high >> 24)) & 0x0FFF_FFFF,
                }
            }),
            StringHash::Elf => units.fold(0, |hash: u32, c| {
                let hash = (hash << 4).wrapping_add(c);
                let high = hash & 0xF000_0000;
                (hash ^ (high >> 24)) & !high
            }),
            StringHash::Bkdr => units.fold(0, |hash: u32, c| hash.wrapping_mul(131).wrapping_add(c)),
            StringHash::Sdbm => {
                units.fold(0, |hash: u32, c| c.wrapping_add(hash << 6).wrapping_add(hash << 16).wrapping_sub(hash))
            }
            StringHash::Djb => units.fold(5381, |hash: u32, c| (hash << 5).wrapping_add(hash).wrapping_add(c)),
            StringHash::Ap => {
                let mut even = false;
                units.fold(0, |hash: u32, c| {
                    even = !even;
                    hash ^ if even { (hash << 7) ^ c ^ (hash >> 3) } else { !((hash << 11) ^ c ^ (hash >> 5)) }
                })
            }
            StringHash::Ap2010 => {
                let mut hash = 0xAAAA_AAAAu32;
                while let Some(c) = units.next() {
                    hash ^= (hash << 7) ^ c.wrapping_mul(hash >> 3);
                    let Some(c) = units.next() else { break };
                    hash ^= !(hash << 11).wrapping_add(c ^ (hash >> 5));
                }
                hash
            }
        }
    }
}

/// Returns the string hash of CPython 2, computed over Unicode scalars and truncated to `bits` bits (1 to 128): x starts as the first
/// scalar times 2^7; for each scalar c, x becomes 1000003 x xor c; at the end, x is XORed with the length. The SimHash in a Chinese article
/// is based on this function. The low bits do not depend on the width; an empty string has the hash 0.
pub fn scalar_hash(text: &str, bits: u32) -> u128 {
    let Some(first) = text.chars().next() else { return 0 };
    let (hash, length) = text.chars().fold((u128::from(u32::from(first)) << 7, 0), |(hash, length), c| {
        (hash.wrapping_mul(1_000_003) ^ u128::from(u32::from(c)), length + 1)
    });
    (hash ^ length) & (u128::MAX >> (128 - bits.clamp(1, 128)))
}

#[cfg(test)]
mod tests {
    use super::StringHash::*;
    use super::*;

    const TEXTS: [&str; 6] = ["a", "abc", "abcdefghijklmnopqrstuvwxyz1234567890", "网页", "дубликаты", ""];

    /// Compares the hashes with the results of the original C program, compiled with signed and with unsigned bytes.
    #[test]
    fn published_values() {
        for (hash, values) in [
            (Rs, [0x0000_0061, 0xB101_2AAC, 0xF440_01EE, 0x4A84_F332, 0xD97F_1A2F, 0]),
            (Js, [0xAEF5_004D, 0x1A9B_17A1, 0x6268_4EB6, 0x98F1_E2ED, 0x4D03_FEEC, 0x4E67_C6A7]),
            (Pjw, [0x0000_0061, 0x0000_6783, 0x078C_3F40, 0x0F37_03C5, 0x0434_BA8B, 0]),
            (Elf, [0x0000_0061, 0x0000_6783, 0x078C_3F40, 0x0F37_03C5, 0x0434_BA8B, 0]),
            (Bkdr, [0x0000_0061, 0x0019_98F2, 0xBBF7_E9B8, 0xFDAA_F9A6, 0xE738_3FDB, 0]),
            (Sdbm, [0x0000_0061, 0x3025_F862, 0xCD9C_4808, 0xF547_6482, 0x3DA2_5E3F, 0]),
            (Djb, [0x0002_B606, 0x0B88_5C8B, 0x2B77_57B1, 0x3066_3CD9, 0xA38A_B24A, 0x0000_1505]),
            (Ap, [0x0000_0061, 0x1E78_96E3, 0x7AEA_E22E, 0x7E39_57C5, 0x79CE_7410, 0]),
            (Ap2010, [0xEAAA_AA9F, 0x25C7_FF88, 0x349C_13E3, 0x86D6_6D80, 0x3886_1C6A, 0xAAAA_AAAA]),
        ] {
            for (text, value) in TEXTS.iter().zip(values) {
                for mask31 in [false, true] {
                    let hasher = StringHasher { hash, mask31, signed_char: false };
                    let expected = if mask31 { value & 0x7FFF_FFFF } else { value };
                    assert_eq!(hasher.of(text.as_bytes()), expected, "{hash:?} {text:?}");
                }
            }
        }
    }

    #[test]
    fn signed_bytes_change_every_text_that_is_not_ascii() {
        for (hash, value) in [
            (Rs, 0x74A6_1332),
            (Js, 0x3567_B399),
            (Pjw, 0x01D8_0B35),
            (Elf, 0x01D8_0B35),
            (Bkdr, 0xC918_0DA6),
            (Sdbm, 0xD6A6_A482),
            (Djb, 0xC894_56D9),
            (Ap, 0x5441_AB41),
        ] {
            let signed = StringHasher { hash, mask31: false, signed_char: true };
            assert_eq!(signed.of("网页".as_bytes()), value, "{hash:?}");
            let unsigned = StringHasher { signed_char: false, ..signed };
            assert_eq!(signed.of(b"abc"), unsigned.of(b"abc"), "{hash:?}");
        }
    }

    #[test]
    fn scalars_of_the_article() {
        assert_eq!(scalar_hash("a", 64), 12_416_037_344);
        assert_eq!(scalar_hash("abc", 64), 0x142A_6050_A093_D0A3);
        assert_eq!(scalar_hash("abc", 128), 0x2A1_142A_6050_A093_D0A3);
        assert_eq!(scalar_hash("网页", 64), 0x39E5_AB5E_4829_52C4);
        assert_eq!(scalar_hash("", 64), 0);
    }

    #[test]
    fn every_name_is_known() {
        assert!(StringHash::NAMES.iter().all(|name| StringHash::by_name(name).is_some()));
        assert_eq!(StringHash::by_name("fnv"), None);
    }
}

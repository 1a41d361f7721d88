//! Which columns of a Parquet file are encrypted.
//!
//! A file whose footer is encrypted ends in `PARE`. One with a plain footer has there, of each column chunk, whether it is
//! encrypted; the library skips that, so the bytes of such a footer, and of no other, are walked here. They are Thrift's
//! compact protocol: fields with a number and a type, of which all but a few are stepped over.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// What stands behind a plain footer that is signed: a nonce and a tag of AES GCM. Only files with encrypted columns have it.
const SIGNATURE_BYTES: usize = 28;
/// Structs in structs that are stepped over; a footer has a handful.
const MOST_DEPTH: usize = 64;

/// Whether the footer itself is encrypted.
pub(super) fn has_encrypted_footer(file: &File, bytes: u64) -> bool {
    let mut magic = [0; 4];
    bytes >= 8 && file.read_exact_at(&mut magic, bytes - 4).is_ok() && &magic == b"PARE"
}

/// The columns of which some chunk is encrypted, by their places in the file; none where the footer is not signed.
pub(super) fn encrypted_columns(file: &File, bytes: u64) -> Vec<usize> {
    signed_footer(file, bytes).and_then(|footer| Walk { rest: &footer }.file()).unwrap_or_default()
}

/// The footer of a file, if it may be signed: then a struct ends where the signature begins.
fn signed_footer(file: &File, bytes: u64) -> Option<Vec<u8>> {
    let mut tail = [0; 8];
    file.read_exact_at(&mut tail, bytes.checked_sub(8)?).ok()?;
    let length = u64::from(u32::from_le_bytes(tail[..4].try_into().ok()?));
    let start = bytes.checked_sub(8 + length)?;
    let mut end = [0];
    file.read_exact_at(&mut end, (start + length).checked_sub(SIGNATURE_BYTES as u64 + 1)?).ok()?;
    if end != [0] {
        return None;
    }
    let mut footer = vec![0; length as usize];
    file.read_exact_at(&mut footer, start).ok()?;
    Some(footer)
}

/// Types of the protocol.
mod kind {
    pub const BYTE: u8 = 3;
    pub const I64: u8 = 6;
    pub const DOUBLE: u8 = 7;
    pub const BINARY: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const MAP: u8 = 11;
    pub const STRUCT: u8 = 12;
}

/// The fields of the file that lead to the columns.
const ROW_GROUPS: i64 = 4;
const COLUMNS: i64 = 1;
const CRYPTO_METADATA: i64 = 8;

/// The bytes that are left. Nothing they say is believed before it is checked: none comes back where they are no footer.
struct Walk<'f> {
    rest: &'f [u8],
}

impl Walk<'_> {
    /// The encrypted columns of a whole footer that a signature follows.
    fn file(&mut self) -> Option<Vec<usize>> {
        let mut encrypted = Vec::new();
        self.fields(&mut |walk, field, kind| match (field, kind) {
            (ROW_GROUPS, kind::LIST) => walk.each(&mut |walk, _| walk.row_group(&mut encrypted)),
            _ => walk.skip(kind, 0),
        })?;
        if self.rest.len() != SIGNATURE_BYTES {
            return None;
        }
        encrypted.sort_unstable();
        encrypted.dedup();
        Some(encrypted)
    }

    fn row_group(&mut self, encrypted: &mut Vec<usize>) -> Option<()> {
        self.fields(&mut |walk, field, kind| match (field, kind) {
            (COLUMNS, kind::LIST) => walk.each(&mut |walk, at| {
                walk.fields(&mut |walk, field, kind| {
                    if field == CRYPTO_METADATA {
                        encrypted.push(at);
                    }
                    walk.skip(kind, 0)
                })
            }),
            _ => walk.skip(kind, 0),
        })
    }

    /// The fields of a struct: `each` steps over the value.
    fn fields(&mut self, each: &mut dyn FnMut(&mut Self, i64, u8) -> Option<()>) -> Option<()> {
        let mut field = 0i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => {
                    let number = self.varint()?;
                    (number >> 1) as i64 ^ -((number & 1) as i64)
                }
                step => field.checked_add(step.into())?,
            };
            each(self, field, head & 15)?;
        }
    }

    /// The structs of a list, with their places.
    fn each(&mut self, each: &mut dyn FnMut(&mut Self, usize) -> Option<()>) -> Option<()> {
        let (count, kind) = self.list()?;
        if kind != kind::STRUCT && count > 0 {
            return None;
        }
        (0..count).try_for_each(|at| each(self, usize::try_from(at).ok()?))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > MOST_DEPTH {
            return None;
        }
        match kind {
            // A truth value stands in its type.
            1 | 2 => Some(()),
            kind::BYTE => self.bytes(1),
            4..=kind::I64 => self.varint().map(drop),
            kind::DOUBLE => self.bytes(8),
            kind::BINARY => {
                let length = self.varint()?;
                self.bytes(length)
            }
            kind::LIST | kind::SET => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| self.skip_element(kind, depth + 1))
            }
            kind::MAP => {
                let count = self.varint()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                (0..count).try_for_each(|_| {
                    self.skip_element(kinds >> 4, depth + 1)?;
                    self.skip_element(kinds & 15, depth + 1)
                })
            }
            kind::STRUCT => self.fields(&mut |walk, _, kind| walk.skip(kind, depth + 1)),
            _ => None,
        }
    }

    /// As an element, a truth value is a byte.
    fn skip_element(&mut self, kind: u8, depth: usize) -> Option<()> {
        if matches!(kind, 1 | 2) { self.bytes(1) } else { self.skip(kind, depth) }
    }

    /// How many elements follow, and of which type.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        Some((count, head & 15))
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn bytes(&mut self, count: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer of one row group with two columns, of which the second is encrypted; `end` stands behind.
    fn footer(end: &[u8]) -> Vec<u8> {
        let plain = [0x26, 0x08, 0x00];
        // Field 2 (a place in the file), field 8 (a union with an empty struct).
        let encrypted = [0x26, 0x08, 0x6C, 0x1C, 0x00, 0x00, 0x00];
        let columns = [&[0x19, 0x2C][..], &plain, &encrypted].concat();
        let group = [&columns[..], &[0x16, 0x02, 0x00]].concat();
        // Version, a schema that is empty, rows, row groups, created by, a list of truth values that no footer has, a map.
        let head = [0x15, 0x02, 0x19, 0x0C, 0x16, 0x14];
        [
            &head[..],
            &[0x19, 0x1C],
            &group,
            &[0x28, 2, b'a', b'b', 0x19, 0x22, 1, 0, 0x1B, 1, 0x83, 2, b'k', b'v', 9, 0x00],
            end,
        ]
        .concat()
    }

    #[test]
    fn encrypted_columns_are_found_and_no_bytes_panic() {
        let walked = |bytes: &[u8]| Walk { rest: bytes }.file();
        let whole = footer(&[7; SIGNATURE_BYTES]);
        assert_eq!(walked(&whole), Some(vec![1]));
        assert_eq!(walked(&footer(&[])), None, "no signature, so nothing is encrypted");
        for end in 0..whole.len() {
            assert_eq!(walked(&whole[..end]), None, "{end}");
        }
        for at in 0..whole.len() {
            for byte in [0, 0x1C, 0x19, 0xF9, 0xFF] {
                let mut wrong = whole.clone();
                wrong[at] = byte;
                walked(&wrong);
            }
        }
        assert_eq!(walked(&[0x1C; 10_000]), None);
    }
}

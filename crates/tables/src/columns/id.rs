//! Defines document ids as they are read and held in memory, and the type of the output's id columns.
//!
//! A corpus may combine files with ids of different types. Only a read of the entire corpus shows whether all unsigned ids fit in Int64 and
//! whether any id is null. The read collects this information in [`IdsSeen`], from which a single pure function determines the output type.

use dupsift_core::hash::hash64;
use dupsift_core::number::counted_as;
use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The maximum size of an id, in bytes; a longer id means that the wrong column was chosen.
pub(crate) const MAX_ID_BYTES: usize = 16 << 20;

/// One id, borrowed from a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IdRef<'a> {
    /// A string.
    Text(&'a str),
    /// A byte string.
    Bytes(&'a [u8]),
    /// A signed integer, or an unsigned integer of at most 32 bits.
    Int(i64),
    /// An unsigned 64-bit integer.
    UInt(u64),
}

/// An owned id, which can be written later.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Id {
    /// A string.
    Text(String),
    /// A byte string.
    Bytes(Vec<u8>),
    /// An integer.
    Int(i64),
}

impl Id {
    /// Borrows the id in the form that the builders expect.
    pub fn as_ref(&self) -> IdRef<'_> {
        match self {
            Id::Text(text) => IdRef::Text(text),
            Id::Bytes(bytes) => IdRef::Bytes(bytes),
            Id::Int(number) => IdRef::Int(*number),
        }
    }
}

impl IdRef<'_> {
    /// Returns the hash of the id as a string: the number 7 and the string "7" are the same id.
    pub fn text_hash(self) -> u64 {
        match self {
            IdRef::Text(text) => hash64(text.as_bytes()),
            IdRef::Bytes(bytes) => hash64(bytes),
            other => hash64(other.to_string().as_bytes()),
        }
    }
}

impl From<IdRef<'_>> for Id {
    /// Converts an unsigned id that is out of range for Int64 into decimal text, because the ids of such a corpus are written as text
    /// anyway.
    fn from(id: IdRef<'_>) -> Id {
        match id {
            IdRef::Text(text) => Id::Text(text.to_owned()),
            IdRef::Bytes(bytes) => Id::Bytes(bytes.to_vec()),
            IdRef::Int(number) => Id::Int(number),
            IdRef::UInt(number) => i64::try_from(number).map_or_else(|_| Id::Text(number.to_string()), Id::Int),
        }
    }
}

impl fmt::Display for IdRef<'_> {
    /// Writes text unchanged, numbers in decimal, and bytes as UTF-8 or, if they are not UTF-8, as `0x` and hexadecimal digits.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IdRef::Text(text) => out.write_str(text),
            IdRef::Int(number) => write!(out, "{number}"),
            IdRef::UInt(number) => write!(out, "{number}"),
            IdRef::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => out.write_str(text),
                Err(_) => {
                    out.write_str("0x")?;
                    bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
                }
            },
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(out)
    }
}

/// The type of the output's id columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IdType {
    /// Utf8.
    Text,
    /// Binary.
    Bytes,
    /// Int32.
    Int32,
    /// Int64.
    Int64,
}

/// The kind of ids in an input.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash, Deserialize, Serialize)]
pub enum IdKind {
    /// Any string type, including dictionaries of strings.
    Text,
    /// Any binary type.
    Bytes,
    /// Integers that fit in 32 signed bits: Int8, Int16, Int32, UInt8, UInt16.
    Int32,
    /// Int64 and UInt32.
    Int64,
    /// UInt64.
    UInt64,
}

impl fmt::Display for IdKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            IdKind::Text => "text",
            IdKind::Bytes => "binary",
            IdKind::Int32 => "Int32",
            IdKind::Int64 => "Int64",
            IdKind::UInt64 => "UInt64",
        })
    }
}

/// A summary of the ids found by a read; the summaries of several reads can be merged in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct IdsSeen {
    /// The kinds of ids that occurred.
    pub kinds: BTreeSet<IdKind>,
    /// The largest unsigned 64-bit id.
    pub max_unsigned: u64,
    /// The number of rows that have a null id or belong to a file without an id column.
    pub nulls: u64,
    /// The number of rows in `nulls` whose id is of a kind that cannot be an id, or that have two ids.
    #[serde(default)]
    pub unusable: u64,
    /// The number of rejected rows with an unreadable id. Only a table with a row for every input row includes these rows.
    #[serde(default)]
    pub unreadable: u64,
}

impl IdsSeen {
    /// Adds the summary of another read.
    pub fn merge(&mut self, other: &IdsSeen) {
        self.kinds.extend(&other.kinds);
        self.max_unsigned = self.max_unsigned.max(other.max_unsigned);
        self.nulls += other.nulls;
        self.unusable += other.unusable;
        self.unreadable += other.unreadable;
    }

    /// Returns the summary for an output that includes a table with a row for every input row. In such a table, rejected rows without an id
    /// also get an id.
    #[must_use]
    pub fn of_every_row(mut self) -> IdsSeen {
        self.nulls += std::mem::take(&mut self.unreadable);
        self
    }

    /// Returns a warning if rows have ids that cannot be used.
    pub fn warning(&self) -> Option<String> {
        (self.unusable > 0).then(|| {
            let rows_have = counted_as(self.unusable, "row has an id|rows have ids");
            format!("{rows_have} that cannot be used (expected one string or integer per row); documents without an id are named FILE#ROW")
        })
    }

    /// Returns the type that can hold all these ids, and, if the type differs from the input's type, an explanation for run.json.
    ///
    /// A row without an id gets the text `FILE#ROW`, so a single null means that integer ids are written as text; binary ids can hold this
    /// text unchanged.
    pub fn id_type(&self) -> (IdType, Option<String>) {
        let only = |kinds: &[IdKind]| self.kinds.iter().all(|kind| kinds.contains(kind));
        if self.kinds.is_empty() {
            return (
                IdType::Text,
                Some("the input has no usable ids, so documents are named FILE#ROW; pass `id-column` if a different column contains the ids".to_owned()),
            );
        }
        let nulls = (self.nulls > 0).then(|| {
            format!("{} named FILE#ROW", counted_as(self.nulls, "row without an id is|rows without an id are"))
        });
        if only(&[IdKind::Text]) {
            return (IdType::Text, nulls);
        }
        if only(&[IdKind::Bytes]) {
            return (IdType::Bytes, nulls);
        }
        if !only(&[IdKind::Int32, IdKind::Int64, IdKind::UInt64]) {
            let kinds: Vec<String> = self.kinds.iter().map(IdKind::to_string).collect();
            return (IdType::Text, Some(format!("ids of different types ({}) are written as text", kinds.join(", "))));
        }
        if let Some(nulls) = nulls {
            return (IdType::Text, Some(format!("{nulls}, so the integer ids are written as text")));
        }
        if only(&[IdKind::Int32]) {
            return (IdType::Int32, None);
        }
        if !self.kinds.contains(&IdKind::UInt64) {
            return (IdType::Int64, None);
        }
        match i64::try_from(self.max_unsigned) {
            Ok(_) => {
                (IdType::Int64, Some("unsigned 64-bit ids are written as Int64; all values are in range".to_owned()))
            }
            Err(_) => (
                IdType::Text,
                Some(format!(
                    "unsigned 64-bit ids up to {} are out of range for Int64 and are written as text",
                    self.max_unsigned
                )),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(kinds: &[IdKind], max_unsigned: u64, nulls: u64) -> IdsSeen {
        IdsSeen { kinds: kinds.iter().copied().collect(), max_unsigned, nulls, unusable: 0, unreadable: 0 }
    }

    #[test]
    fn the_type_that_holds_all_ids() {
        use IdKind as K;
        let fits = i64::MAX as u64;
        for (kinds, max, nulls, expected, noted) in [
            (&[][..], 0, 9, IdType::Text, true),
            (&[K::Text], 0, 0, IdType::Text, false),
            (&[K::Text], 0, 2, IdType::Text, true),
            (&[K::Bytes], 0, 0, IdType::Bytes, false),
            (&[K::Bytes], 0, 3, IdType::Bytes, true),
            (&[K::Int32], 0, 0, IdType::Int32, false),
            (&[K::Int32], 0, 1, IdType::Text, true),
            (&[K::Int64], 0, 0, IdType::Int64, false),
            (&[K::Int32, K::Int64], 0, 0, IdType::Int64, false),
            (&[K::UInt64], fits, 0, IdType::Int64, true),
            (&[K::UInt64], fits + 1, 0, IdType::Text, true),
            (&[K::Int32, K::UInt64], 5, 0, IdType::Int64, true),
            (&[K::UInt64], 5, 1, IdType::Text, true),
            (&[K::Text, K::Int64], 0, 0, IdType::Text, true),
            (&[K::Text, K::Bytes], 0, 0, IdType::Text, true),
            (&[K::Bytes, K::Int32], 0, 0, IdType::Text, true),
        ] {
            let (id_type, note) = seen(kinds, max, nulls).id_type();
            assert_eq!((id_type, note.is_some()), (expected, noted), "{kinds:?} {max} {nulls}: {note:?}");
        }
    }

    #[test]
    fn rejected_rows_without_an_id_are_named_only_where_every_row_is() {
        let torn = IdsSeen { unreadable: 2, ..seen(&[IdKind::Int64], 0, 1) };
        let mut all = seen(&[IdKind::Int64], 0, 0);
        assert_eq!(all.id_type(), (IdType::Int64, None));
        all.merge(&IdsSeen { nulls: 0, ..torn });
        assert_eq!(all.id_type(), (IdType::Int64, None));
        let every = all.of_every_row();
        assert_eq!((every.id_type().0, every.nulls, every.unreadable), (IdType::Text, 2, 0));
        assert_eq!(every.clone().of_every_row(), every);
    }

    #[test]
    fn merging_is_the_same_in_any_order() {
        let parts = [seen(&[IdKind::Int32], 0, 0), seen(&[IdKind::UInt64], 77, 0), seen(&[], 0, 4)];
        let mut forward = IdsSeen::default();
        parts.iter().for_each(|part| forward.merge(part));
        let mut backward = IdsSeen::default();
        parts.iter().rev().for_each(|part| backward.merge(part));
        assert_eq!(forward, backward);
        assert_eq!(forward, seen(&[IdKind::Int32, IdKind::UInt64], 77, 4));
    }

    #[test]
    fn ids_as_text_and_owned() {
        assert_eq!(IdRef::Bytes("кот".as_bytes()).to_string(), "кот");
        assert_eq!(IdRef::Bytes(&[0xFF, 0x01]).to_string(), "0xff01");
        assert_eq!(Id::from(IdRef::UInt(5)), Id::Int(5));
        assert_eq!(Id::from(IdRef::UInt(u64::MAX)), Id::Text("18446744073709551615".to_owned()));
        assert_eq!(Id::from(IdRef::Int(-3)).as_ref().to_string(), "-3");
    }
}

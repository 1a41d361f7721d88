//! Builds an id column of an output table.
//!
//! All ids of a corpus are converted to the same type: numbers to decimal text, text to bytes. If an id cannot be converted (such as text
//! for an Int64 column), the type was determined from a different corpus. This is an error; the id never becomes null.

use crate::columns::id::{IdRef, IdType, MAX_ID_BYTES};
use arrow::array::builder::{BinaryBuilder, Int32Builder, Int64Builder, StringBuilder};
use arrow::array::{ArrayRef, BinaryArray, StringArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field};
use dupsift_core::error::{Error, Result};
use std::fmt::Write as _;
use std::sync::Arc;

/// Returns the field of an id column; document ids in the output are never null.
pub(crate) fn id_field(name: &str, id: IdType) -> Field {
    let data_type = match id {
        IdType::Text => DataType::Utf8,
        IdType::Bytes => DataType::Binary,
        IdType::Int32 => DataType::Int32,
        IdType::Int64 => DataType::Int64,
    };
    Field::new(name, data_type, false)
}

/// Builds one id column.
#[derive(Debug)]
pub struct IdBuilder {
    column: Column,
    bytes: usize,
    scratch: String,
}

#[derive(Debug)]
enum Column {
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    Int32(Int32Builder),
    Int64(Int64Builder),
}

impl IdBuilder {
    /// Creates an empty column of this type.
    pub fn new(id: IdType) -> IdBuilder {
        let column = match id {
            IdType::Text => Column::Text(StringBuilder::new()),
            IdType::Bytes => Column::Bytes(BinaryBuilder::new()),
            IdType::Int32 => Column::Int32(Int32Builder::new()),
            IdType::Int64 => Column::Int64(Int64Builder::new()),
        };
        IdBuilder { column, bytes: 0, scratch: String::new() }
    }

    /// Appends one id.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] for an id that is longer than [`MAX_ID_BYTES`] or does not fit the column's type.
    pub fn push(&mut self, id: IdRef<'_>) -> Result<()> {
        let length = match id {
            IdRef::Text(text) => text.len(),
            IdRef::Bytes(bytes) => bytes.len(),
            IdRef::Int(_) | IdRef::UInt(_) => 8,
        };
        check_length(length)?;
        self.bytes += length;
        match (&mut self.column, id) {
            (Column::Text(column), IdRef::Text(text)) => column.append_value(text),
            (Column::Text(column), other) => {
                self.scratch.clear();
                // Writing to a String cannot fail.
                let _ = write!(self.scratch, "{other}");
                column.append_value(&self.scratch);
            }
            (Column::Bytes(column), IdRef::Bytes(bytes)) => column.append_value(bytes),
            (Column::Bytes(column), IdRef::Text(text)) => column.append_value(text.as_bytes()),
            (Column::Int32(column), id) => column.append_value(integer(id)?),
            (Column::Int64(column), id) => column.append_value(integer(id)?),
            (Column::Bytes(_), id) => return Err(unfit(id, "a binary")),
        }
        Ok(())
    }

    /// Appends a null to a nullable column.
    pub(crate) fn push_null(&mut self) {
        match &mut self.column {
            Column::Text(column) => column.append_null(),
            Column::Bytes(column) => column.append_null(),
            Column::Int32(column) => column.append_null(),
            Column::Int64(column) => column.append_null(),
        }
    }

    /// Returns the size in bytes of the values appended since the last call to [`IdBuilder::finish`].
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the column and empties the builder.
    pub fn finish(&mut self) -> ArrayRef {
        self.bytes = 0;
        match &mut self.column {
            Column::Text(column) => Arc::new(column.finish()),
            Column::Bytes(column) => Arc::new(column.finish()),
            Column::Int32(column) => Arc::new(column.finish()),
            Column::Int64(column) => Arc::new(column.finish()),
        }
    }
}

/// Builds a text or binary id column from ids that are already converted to bytes. All ids are checked together for valid UTF-8.
#[derive(Debug)]
pub struct IdBytes {
    /// The offset where each id begins, and the end of the last id.
    offsets: Vec<i32>,
    values: Vec<u8>,
}

impl IdBytes {
    /// Creates an empty column with capacity for this many ids.
    pub fn new(ids: usize) -> IdBytes {
        let mut offsets = Vec::with_capacity(ids + 1);
        offsets.push(0);
        IdBytes { offsets, values: Vec::with_capacity(ids * 16) }
    }

    /// Appends one id.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] for an id longer than [`MAX_ID_BYTES`].
    #[inline]
    pub fn push(&mut self, id: &[u8]) -> Result<()> {
        check_length(id.len())?;
        self.values.extend_from_slice(id);
        self.offsets.push(self.values.len() as i32);
        Ok(())
    }

    /// Appends the last id this many more times; does nothing if there are no ids yet.
    pub fn repeat(&mut self, times: usize) {
        let [.., begin, end] = self.offsets[..] else { return };
        let (begin, length) = (begin as usize, (end - begin) as usize);
        // The length of the copied part doubles with each step.
        let whole = begin + length * (times + 1);
        while self.values.len() < whole {
            let more = (self.values.len() - begin).min(whole - self.values.len());
            self.values.extend_from_within(begin..begin + more);
        }
        self.offsets.extend((1..=times).map(|time| end + (time * length) as i32));
    }

    /// Returns the total size of all ids in bytes; the caller must finish the column well before this size reaches 2 GiB.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.values.len()
    }

    /// Returns the column.
    ///
    /// # Errors
    /// Returns [`Error::Table`] if `text` is set and an id is not UTF-8.
    pub fn finish(self, text: bool) -> Result<ArrayRef> {
        let (offsets, values) = (OffsetBuffer::new(self.offsets.into()), self.values.into());
        let failed = || Error::table("build a column of ids");
        Ok(if text {
            Arc::new(StringArray::try_new(offsets, values, None).map_err(failed())?)
        } else {
            Arc::new(BinaryArray::try_new(offsets, values, None).map_err(failed())?)
        })
    }
}

fn check_length(length: usize) -> Result<()> {
    if length > MAX_ID_BYTES {
        return Err(Error::usage(format!(
            "an id has {length} bytes, more than {MAX_ID_BYTES}; is `id-column` the right column?"
        )));
    }
    Ok(())
}

/// Returns the id as an integer of the column's width.
fn integer<N: TryFrom<i64> + TryFrom<u64>>(id: IdRef<'_>) -> Result<N> {
    let number = match id {
        IdRef::Int(number) => N::try_from(number).ok(),
        IdRef::UInt(number) => N::try_from(number).ok(),
        IdRef::Text(_) | IdRef::Bytes(_) => None,
    };
    number.ok_or_else(|| unfit(id, "an integer"))
}

fn unfit(id: IdRef<'_>, column: &str) -> Error {
    let shown: String = id.to_string().chars().take(100).collect();
    Error::usage(format!("the id {shown:?} cannot be stored in {column} column; did the input change during the run?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::AsArray;
    use arrow::datatypes::{Int32Type, Int64Type};

    #[test]
    fn each_type_holds_what_it_must_and_refuses_the_rest() {
        let mut text = IdBuilder::new(IdType::Text);
        for id in [IdRef::Text("a"), IdRef::Int(-1), IdRef::UInt(u64::MAX), IdRef::Bytes(b"\xFF"), IdRef::Bytes(b"b")] {
            text.push(id).expect("text holds all");
        }
        let column = text.finish();
        let values: Vec<_> = column.as_string::<i32>().iter().flatten().collect();
        assert_eq!(values, ["a", "-1", "18446744073709551615", "0xff", "b"]);

        let mut bytes = IdBuilder::new(IdType::Bytes);
        bytes.push(IdRef::Bytes(b"\xFF")).expect("bytes");
        bytes.push(IdRef::Text("f#1")).expect("a FILE#ROW name");
        assert!(bytes.push(IdRef::Int(1)).is_err());
        assert_eq!(bytes.finish().as_binary::<i32>().value(1), b"f#1");

        let mut int32 = IdBuilder::new(IdType::Int32);
        int32.push(IdRef::Int(i64::from(i32::MIN))).expect("fits");
        assert!(int32.push(IdRef::Int(1 << 31)).is_err());
        assert_eq!(int32.finish().as_primitive::<Int32Type>().values(), &[i32::MIN]);

        let mut int64 = IdBuilder::new(IdType::Int64);
        int64.push(IdRef::UInt(i64::MAX as u64)).expect("fits");
        assert!(int64.push(IdRef::UInt(1 << 63)).is_err());
        assert!(int64.push(IdRef::Text("1")).is_err());
        assert_eq!(int64.finish().as_primitive::<Int64Type>().values(), &[i64::MAX]);
    }

    #[test]
    fn bytes_make_the_same_column_as_ids_one_by_one() {
        let ids = ["", "a", "a", "a", "a", "a", "a", "a", "бв", "", ""];
        let mut builders = [IdBuilder::new(IdType::Text), IdBuilder::new(IdType::Bytes)];
        let (mut text, mut bytes) = (IdBytes::new(2), IdBytes::new(9));
        text.repeat(3);
        for (at, id) in ids.iter().enumerate() {
            builders.iter_mut().for_each(|builder| builder.push(IdRef::Text(id)).expect("both hold it"));
            for column in [&mut text, &mut bytes] {
                match at.checked_sub(1).map(|before| ids[before] == *id) {
                    // Appends the remaining copies of an id in one call.
                    Some(true) if ids[at - 2] == *id => {}
                    Some(true) => column.repeat(ids[at..].iter().take_while(|next| *next == id).count()),
                    _ => column.push(id.as_bytes()).expect("short"),
                }
            }
        }
        assert_eq!(text.bytes(), ids.concat().len());
        assert_eq!(&text.finish(true).expect("text"), &builders[0].finish());
        assert_eq!(&bytes.finish(false).expect("bytes"), &builders[1].finish());

        let mut bytes = IdBytes::new(1);
        bytes.push(b"\xFF").expect("short");
        assert!(bytes.finish(true).is_err());
    }

    #[test]
    fn an_absurdly_long_id_is_refused() {
        let long = "x".repeat(MAX_ID_BYTES + 1);
        assert!(IdBytes::new(1).push(long.as_bytes()).is_err());
        assert!(IdBuilder::new(IdType::Text).push(IdRef::Text(&long)).is_err());
        assert!(IdBuilder::new(IdType::Text).push(IdRef::Text(&long[1..])).is_ok());
    }
}

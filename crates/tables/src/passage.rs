//! Defines the `passages/` table: one row per passage that is cut, with the position of its first copy.

use crate::builder::{is_full, table};
use crate::columns::id::{IdRef, IdType};
use crate::columns::id_column::{IdBuilder, id_field};
use crate::columns::named::Named as _;
use arrow::array::builder::Int64Builder;
use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use dupsift_core::error::Result;
use std::sync::Arc;

/// Returns the schema of the table for ids of this type.
pub fn passage_schema(id: IdType) -> SchemaRef {
    let number = |name: &str, nullable| Field::new(name, DataType::Int64, nullable);
    Arc::new(Schema::new(vec![
        id_field("id", id),
        number("doc", false),
        number("start", false),
        number("end", false),
        number("start_byte", false),
        number("end_byte", false),
        number("copies", false),
        id_field("first_id", id).with_nullable(true),
        number("first_doc", true),
        number("first_start", true),
    ]))
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassageRow<'r> {
    /// The id of the document.
    pub id: IdRef<'r>,
    /// The number of the document.
    pub doc: u64,
    /// The start and end of the passage, in characters of the text.
    pub characters: [u64; 2],
    /// The start and end of the passage, in bytes of the text.
    pub bytes: [u64; 2],
    /// The number of occurrences of the most frequent unit or run in the passage.
    pub copies: u64,
    /// The document that contains the first copy (its id and its number), and the character at which the copy begins; `None` if the first
    /// copy is cut as well.
    pub first: Option<(IdRef<'r>, u64, u64)>,
}

/// A row of the table, as read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassageFound {
    /// The document number.
    pub doc: u64,
    /// The start and end of the passage, in characters of the text.
    pub characters: [u64; 2],
    /// The start and end of the passage, in bytes of the text.
    pub bytes: [u64; 2],
    /// The number of occurrences of the most frequent unit or run in the passage.
    pub copies: u64,
    /// The document that contains the first copy; `None` if the first copy is cut as well.
    pub first_doc: Option<u64>,
}

/// The columns that [`passages_found`] reads.
pub const PASSAGE_COLUMNS: [&str; 7] = ["doc", "start", "end", "start_byte", "end_byte", "copies", "first_doc"];

/// Returns the rows of a batch of [`PASSAGE_COLUMNS`]; `None` if a column has a different type.
pub fn passages_found(batch: &RecordBatch) -> Option<Vec<PassageFound>> {
    let [Some(doc), Some(start), Some(end), Some(start_byte), Some(end_byte), Some(copies), Some(first)] =
        PASSAGE_COLUMNS.map(|name| batch.numbers(name))
    else {
        return None;
    };
    let row = |row: usize| PassageFound {
        doc: doc.value(row) as u64,
        characters: [start, end].map(|column| column.value(row) as u64),
        bytes: [start_byte, end_byte].map(|column| column.value(row) as u64),
        copies: copies.value(row) as u64,
        first_doc: first.is_valid(row).then(|| first.value(row) as u64),
    };
    Some((0..batch.num_rows()).map(row).collect())
}

/// Builds batches of the table.
#[derive(Debug)]
pub struct PassageBuilder {
    schema: SchemaRef,
    ids: [IdBuilder; 2],
    /// The numeric columns, in order.
    numbers: [Int64Builder; 8],
    rows: usize,
}

impl PassageBuilder {
    /// Returns an empty builder for ids of this type.
    pub fn new(id: IdType) -> PassageBuilder {
        PassageBuilder {
            schema: passage_schema(id),
            ids: std::array::from_fn(|_| IdBuilder::new(id)),
            numbers: Default::default(),
            rows: 0,
        }
    }

    /// Appends one row.
    ///
    /// # Errors
    /// Returns an error for an id that does not fit the table's id type; the builder must not be used after an error.
    pub fn push(&mut self, row: &PassageRow<'_>) -> Result<()> {
        let [id, first_id] = &mut self.ids;
        id.push(row.id)?;
        match row.first {
            Some((first, ..)) => first_id.push(first)?,
            None => first_id.push_null(),
        }
        let ([start, end], [start_byte, end_byte]) = (row.characters, row.bytes);
        let known = [row.doc, start, end, start_byte, end_byte, row.copies].map(Some);
        let first = row.first.map_or([None; 2], |(_, doc, start)| [Some(doc), Some(start)]);
        let values = known.into_iter().chain(first);
        self.numbers
            .iter_mut()
            .zip(values)
            .for_each(|(column, value)| column.append_option(value.map(|value| value as i64)));
        self.rows += 1;
        Ok(())
    }

    /// Returns whether the builder has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns whether the builder is full and [`PassageBuilder::finish`] should be called.
    pub fn is_full(&self) -> bool {
        is_full(self.rows, self.ids.iter().map(IdBuilder::bytes).sum::<usize>())
    }

    /// Returns the rows as a batch and empties the builder.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let [id, first_id] = self.ids.each_mut().map(IdBuilder::finish);
        let [doc, start, end, start_byte, end_byte, copies, first_doc, first_start] =
            self.numbers.each_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let columns = vec![id, doc, start, end, start_byte, end_byte, copies, first_id, first_doc, first_start];
        table("passages", &self.schema, columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;

    #[test]
    fn a_batch_holds_what_was_pushed() {
        let mut builder = PassageBuilder::new(IdType::Text);
        let row = PassageRow {
            id: IdRef::Text("a"),
            doc: 1,
            characters: [2, 3],
            bytes: [4, 5],
            copies: 6,
            first: Some((IdRef::Text("b"), 7, 8)),
        };
        builder.push(&row).expect("fits");
        builder.push(&PassageRow { first: None, ..row }).expect("fits");
        let batch = builder.finish().expect("a table");
        assert_eq!(batch.schema(), passage_schema(IdType::Text));
        let number = |column: usize| batch.column(column).as_primitive::<Int64Type>().value(0);
        assert_eq!([1, 2, 3, 4, 5, 6, 8, 9].map(number), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(batch.column(7).as_string::<i32>().value(0), "b");
        assert!([7, 8, 9].iter().all(|&column| batch.column(column).is_null(1)));
        assert!(builder.is_empty());
        let found = PassageFound { doc: 1, characters: [2, 3], bytes: [4, 5], copies: 6, first_doc: Some(7) };
        assert_eq!(passages_found(&batch), Some(vec![found, PassageFound { first_doc: None, ..found }]));
        assert_eq!(passages_found(&batch.project(&[0]).expect("a column")), None);
    }
}

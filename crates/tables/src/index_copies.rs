//! Defines the table of `dupsift index copies`: one row for each kept document in an index that occurs more than once.

use crate::builder::{is_full, table};
use crate::columns::id::{IdRef, IdType};
use crate::columns::id_column::{IdBuilder, id_field};
use arrow::array::RecordBatch;
use arrow::array::builder::Int64Builder;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use dupsift_core::error::Result;
use std::sync::Arc;

/// Returns the schema of the table for ids of this type.
pub fn index_copies_schema(id: IdType) -> SchemaRef {
    let number = |name| Field::new(name, DataType::Int64, false);
    Arc::new(Schema::new(vec![id_field("id", id), number("batches"), number("count"), number("doc")]))
}

/// Builds batches of the table.
#[derive(Debug)]
pub struct IndexCopiesBuilder {
    schema: SchemaRef,
    id: IdBuilder,
    numbers: [Int64Builder; 3],
    rows: usize,
}

impl IndexCopiesBuilder {
    /// Creates an empty builder for ids of this type.
    pub fn new(id: IdType) -> IndexCopiesBuilder {
        IndexCopiesBuilder {
            schema: index_copies_schema(id),
            id: IdBuilder::new(id),
            numbers: Default::default(),
            rows: 0,
        }
    }

    /// Appends one row: the id of a kept document, the number of batches that contain it or a document that was removed in its favor, the
    /// number of these documents, and the number of the kept document.
    ///
    /// # Errors
    /// Returns an error for an id that does not fit the table's id type; the builder must not be used after an error.
    pub fn push(&mut self, id: IdRef<'_>, batches: u64, count: u64, doc: u64) -> Result<()> {
        self.id.push(id)?;
        self.numbers
            .iter_mut()
            .zip([batches, count, doc])
            .for_each(|(column, value)| column.append_value(value as i64));
        self.rows += 1;
        Ok(())
    }

    /// Returns whether the builder is full and [`IndexCopiesBuilder::finish`] should be called.
    pub fn is_full(&self) -> bool {
        is_full(self.rows, self.id.bytes())
    }

    /// Returns the rows as a batch and empties the builder.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let [batches, count, doc] = &mut self.numbers;
        let numbers = [batches, count, doc].map(|column| Arc::new(column.finish()) as _);
        table("copies", &self.schema, std::iter::once(self.id.finish()).chain(numbers).collect())
    }
}

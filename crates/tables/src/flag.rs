//! Defines the `flags/` table of the `stream` command: one row per document, in input order, with a flag that shows whether the document's
//! key was seen before.

use crate::builder::{is_full, table};
use crate::columns::id::{IdRef, IdType};
use crate::columns::id_column::{IdBuilder, id_field};
use arrow::array::RecordBatch;
use arrow::array::builder::{BooleanBuilder, Int32Builder, Int64Builder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use dupsift_core::error::Result;
use std::sync::Arc;

/// Returns the schema of the table for ids of this type. `duplicate` and `seen` are null for documents without a key.
pub fn flag_schema(id: IdType) -> SchemaRef {
    Arc::new(Schema::new(vec![
        id_field("id", id),
        Field::new("duplicate", DataType::Boolean, true),
        Field::new("seen", DataType::Int32, true),
        Field::new("doc", DataType::Int64, false),
    ]))
}

/// Builds batches of the table.
#[derive(Debug)]
pub struct FlagBuilder {
    schema: SchemaRef,
    id: IdBuilder,
    duplicate: BooleanBuilder,
    seen: Int32Builder,
    doc: Int64Builder,
    rows: usize,
}

impl FlagBuilder {
    /// Creates an empty builder for ids of this type.
    pub fn new(id: IdType) -> FlagBuilder {
        FlagBuilder {
            schema: flag_schema(id),
            id: IdBuilder::new(id),
            duplicate: BooleanBuilder::new(),
            seen: Int32Builder::new(),
            doc: Int64Builder::new(),
            rows: 0,
        }
    }

    /// Appends one row. `seen` is the number of times that the key was seen before (15 means 15 or more), or `None` if the document has no
    /// signature.
    ///
    /// # Errors
    /// Returns an error for an id that does not fit the table's id type; the builder must not be used after an error.
    pub fn push(&mut self, id: IdRef<'_>, seen: Option<u8>, doc: u64) -> Result<()> {
        self.id.push(id)?;
        self.duplicate.append_option(seen.map(|seen| seen > 0));
        self.seen.append_option(seen.map(i32::from));
        self.doc.append_value(doc as i64);
        self.rows += 1;
        Ok(())
    }

    /// Returns whether the builder has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns whether the builder is full and [`FlagBuilder::finish`] should be called.
    pub fn is_full(&self) -> bool {
        is_full(self.rows, self.id.bytes())
    }

    /// Returns the rows as a batch and empties the builder.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        table(
            "flags",
            &self.schema,
            vec![
                self.id.finish(),
                Arc::new(self.duplicate.finish()),
                Arc::new(self.seen.finish()),
                Arc::new(self.doc.finish()),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Array;
    use arrow::array::AsArray;

    #[test]
    fn rows_come_out_as_they_went_in() {
        let mut builder = FlagBuilder::new(IdType::Text);
        builder.push(IdRef::Text("a"), Some(0), 0).unwrap();
        builder.push(IdRef::Text("b"), Some(15), 1).unwrap();
        builder.push(IdRef::Text("c"), None, 2).unwrap();
        assert!(!builder.is_empty() && !builder.is_full());
        let batch = builder.finish().unwrap();
        assert!(builder.is_empty());
        let flags = batch.column(1).as_boolean();
        assert_eq!((flags.value(0), flags.value(1), flags.is_null(2)), (false, true, true));
        assert!(FlagBuilder::new(IdType::Int64).push(IdRef::Text("a"), Some(1), 3).is_err());
    }
}

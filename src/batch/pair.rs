//! The table `pairs/algorithm=NAME/`: one duplicate pair a row.

use super::id::{IdRef, IdType};
use super::id_column::{IdBuilder, id_field};
use super::{FULL_BYTES, FULL_ROWS, table};
use crate::error::Result;
use arrow_array::builder::{BooleanBuilder, Float32Builder, Int64Builder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

/// The columns of the table, for ids of that type.
pub fn pair_schema(id: IdType) -> SchemaRef {
    Arc::new(Schema::new(vec![
        id_field("id_a", id),
        id_field("id_b", id),
        Field::new("similarity", DataType::Float32, false),
        Field::new("distance", DataType::Float32, true),
        Field::new("matched_by", DataType::Utf8, false),
        Field::new("verified", DataType::Boolean, false),
        Field::new("doc_a", DataType::Int64, false),
        Field::new("doc_b", DataType::Int64, false),
    ]))
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairRow<'r> {
    /// The id of the document with the smaller number.
    pub id_a: IdRef<'r>,
    /// The id of the other one.
    pub id_b: IdRef<'r>,
    /// The checked value where there is one, else the method's own score; 0 to 1.
    pub similarity: f32,
    /// The method's own distance, where it has one.
    pub distance: Option<f32>,
    /// Which rules of the method found the pair, joined by `+`.
    pub matched_by: &'r str,
    /// Whether the pair was checked on the texts.
    pub verified: bool,
    /// The smaller document number.
    pub doc_a: u64,
    /// The larger one.
    pub doc_b: u64,
}

/// Builds batches of the table.
#[derive(Debug)]
pub struct PairBuilder {
    schema: SchemaRef,
    id_a: IdBuilder,
    id_b: IdBuilder,
    similarity: Float32Builder,
    distance: Float32Builder,
    matched_by: StringBuilder,
    verified: BooleanBuilder,
    doc_a: Int64Builder,
    doc_b: Int64Builder,
    rows: usize,
}

impl PairBuilder {
    /// An empty builder for ids of that type.
    pub fn new(id: IdType) -> PairBuilder {
        PairBuilder {
            schema: pair_schema(id),
            id_a: IdBuilder::new(id),
            id_b: IdBuilder::new(id),
            similarity: Float32Builder::new(),
            distance: Float32Builder::new(),
            matched_by: StringBuilder::new(),
            verified: BooleanBuilder::new(),
            doc_a: Int64Builder::new(),
            doc_b: Int64Builder::new(),
            rows: 0,
        }
    }

    /// Appends one row.
    ///
    /// # Errors
    /// An id that the table's type does not hold; the builder is of no use after that.
    pub fn push(&mut self, row: &PairRow<'_>) -> Result<()> {
        self.id_a.push(row.id_a)?;
        self.id_b.push(row.id_b)?;
        self.similarity.append_value(row.similarity);
        self.distance.append_option(row.distance);
        self.matched_by.append_value(row.matched_by);
        self.verified.append_value(row.verified);
        self.doc_a.append_value(row.doc_a as i64);
        self.doc_b.append_value(row.doc_b as i64);
        self.rows += 1;
        Ok(())
    }

    /// Rows since the last finish.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Whether it is time to [`PairBuilder::finish`]: by rows or by bytes.
    pub fn is_full(&self) -> bool {
        self.rows >= FULL_ROWS || self.id_a.bytes() + self.id_b.bytes() >= FULL_BYTES
    }

    /// The rows as a batch; the builder is empty again.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let columns = vec![
            self.id_a.finish(),
            self.id_b.finish(),
            Arc::new(self.similarity.finish()),
            Arc::new(self.distance.finish()),
            Arc::new(self.matched_by.finish()),
            Arc::new(self.verified.finish()),
            Arc::new(self.doc_a.finish()),
            Arc::new(self.doc_b.finish()),
        ];
        table("pairs", &self.schema, columns)
    }
}

/// A row of the table without its ids, read back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairFound {
    /// The smaller document number.
    pub a: u64,
    /// The larger one.
    pub b: u64,
    /// As [`PairRow::similarity`].
    pub similarity: f32,
    /// As [`PairRow::distance`].
    pub distance: Option<f32>,
}

/// The columns that [`pairs_found`] reads.
pub const PAIR_COLUMNS: [&str; 4] = ["similarity", "distance", "doc_a", "doc_b"];

/// The rows of a batch of [`PAIR_COLUMNS`], and of others that stand between them; none if a column is of another type.
pub fn pairs_found(batch: &RecordBatch) -> Option<Vec<PairFound>> {
    let similarity = batch.column_by_name("similarity")?.as_primitive_opt::<Float32Type>()?;
    let distance = batch.column_by_name("distance")?.as_primitive_opt::<Float32Type>()?;
    let a = batch.column_by_name("doc_a")?.as_primitive_opt::<Int64Type>()?;
    let b = batch.column_by_name("doc_b")?.as_primitive_opt::<Int64Type>()?;
    let row = |row: usize| PairFound {
        a: a.value(row) as u64,
        b: b.value(row) as u64,
        similarity: similarity.value(row),
        distance: distance.is_valid(row).then(|| distance.value(row)),
    };
    Some((0..batch.num_rows()).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float32Type;

    #[test]
    fn a_batch_holds_what_was_pushed_and_the_builder_starts_again() {
        for id in [IdType::Text, IdType::Bytes, IdType::Int32, IdType::Int64] {
            let mut builder = PairBuilder::new(id);
            let (id_a, id_b) = match id {
                IdType::Text => (IdRef::Text("а"), IdRef::Text("b")),
                IdType::Bytes => (IdRef::Bytes(b"\xFE"), IdRef::Bytes(b"\xFF")),
                IdType::Int32 | IdType::Int64 => (IdRef::Int(7), IdRef::UInt(8)),
            };
            let row = PairRow {
                id_a,
                id_b,
                similarity: 0.5,
                distance: None,
                matched_by: "band",
                verified: true,
                doc_a: 3,
                doc_b: 4,
            };
            builder.push(&row).expect("fits");
            builder.push(&PairRow { distance: Some(2.0), ..row }).expect("fits");
            let batch = builder.finish().expect("a table");
            assert_eq!((batch.num_rows(), batch.schema()), (2, pair_schema(id)));
            let distance = batch.column(3).as_primitive::<Float32Type>();
            assert!(distance.is_null(0) && distance.value(1) == 2.0);
            assert!(builder.is_empty());
            assert_eq!(builder.finish().expect("an empty table").num_rows(), 0);
        }
    }

    #[test]
    fn a_builder_is_full_by_bytes_too() {
        let long = "x".repeat(FULL_BYTES / 2);
        let mut builder = PairBuilder::new(IdType::Text);
        let id = IdRef::Text(&long);
        let row = PairRow {
            id_a: id,
            id_b: id,
            similarity: 1.0,
            distance: None,
            matched_by: "",
            verified: false,
            doc_a: 0,
            doc_b: 1,
        };
        assert!(!builder.is_full());
        builder.push(&row).expect("fits");
        assert!(builder.is_full());
    }
}

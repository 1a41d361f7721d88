//! Defines the `stats/` table: one row per term, with the number of documents that contain the term and the number of its occurrences.

use crate::builder::{FULL_ROWS, table};
use crate::columns::named::Named as _;
use arrow::array::RecordBatch;
use arrow::array::builder::Int64Builder;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use dupsift_core::error::Result;
use std::sync::Arc;

/// Returns the schema of the table. `term` contains the 64 bits of the hash unchanged, so hashes that are out of range for Int64 appear as
/// negative numbers. The column is signed because not all programs read unsigned columns in the same way.
pub fn term_schema() -> SchemaRef {
    let column = |name: &str| Field::new(name, DataType::Int64, false);
    Arc::new(Schema::new(vec![column("term"), column("df"), column("cf")]))
}

/// Builds batches of the table.
#[derive(Debug, Default)]
pub struct TermBuilder {
    columns: [Int64Builder; 3],
    rows: usize,
}

impl TermBuilder {
    /// Creates an empty builder.
    pub fn new() -> TermBuilder {
        TermBuilder::default()
    }

    /// Appends one term: its hash, the number of documents that contain the term, and the number of its occurrences.
    pub fn push(&mut self, term: u64, df: u64, cf: u64) {
        for (column, value) in self.columns.iter_mut().zip([term, df, cf]) {
            column.append_value(value as i64);
        }
        self.rows += 1;
    }

    /// Returns the number of rows since the last call to [`TermBuilder::finish`].
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether the builder has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns whether the builder is full and [`TermBuilder::finish`] should be called.
    pub fn is_full(&self) -> bool {
        self.rows >= FULL_ROWS
    }

    /// Returns the rows as a batch and empties the builder.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let columns = self.columns.iter_mut().map(|column| Arc::new(column.finish()) as _).collect();
        table("stats", &term_schema(), columns)
    }
}

/// The columns that [`terms_found`] reads.
pub const TERM_COLUMNS: [&str; 3] = ["term", "df", "cf"];

/// Returns the rows of a batch of [`TERM_COLUMNS`], with the same values as in [`TermBuilder::push`]; `None` if a column has a different
/// type.
pub fn terms_found(batch: &RecordBatch) -> Option<Vec<(u64, u64, u64)>> {
    let [term, df, cf] = TERM_COLUMNS.map(|name| batch.numbers(name));
    let (term, df, cf) = (term?, df?, cf?);
    let row = |row: usize| (term.value(row) as u64, df.value(row) as u64, cf.value(row) as u64);
    Some((0..batch.num_rows()).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;

    #[test]
    fn hashes_keep_their_bits() {
        let mut builder = TermBuilder::new();
        builder.push(u64::MAX - 1, 3, 5);
        let batch = builder.finish().expect("a table");
        assert_eq!(batch.column(0).as_primitive::<Int64Type>().value(0) as u64, u64::MAX - 1);
        assert_eq!(batch.column(2).as_primitive::<Int64Type>().value(0), 5);
        assert_eq!(terms_found(&batch), Some(vec![(u64::MAX - 1, 3, 5)]));
        assert!(builder.is_empty());
    }
}

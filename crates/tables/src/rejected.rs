//! Defines the `rejected/` table: one row per unusable row or file, with the reason.
//!
//! The reasons form a fixed set, so they can be counted; `detail` contains the information that differs from row to row.
//!
//! `input` contains the name of the input that the row comes from: `corpus` or another input, such as `reference`.
//!
//! In this table, ids are always strings, regardless of their type in the corpus, because the table is meant to be read by people. A row
//! for an entire file has no id.

use crate::builder::{is_full, table};
use crate::columns::id::IdRef;
use crate::columns::named::Named as _;
use crate::reason::RejectReason;
use arrow::array::builder::{Int64Builder, StringBuilder};
use arrow::array::{Array, RecordBatch, StringArray};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use dupsift_core::error::Result;
use std::sync::Arc;

/// The version of this table, as stored in the metadata of its schema.
const VERSION: (&str, &str) = ("schema_version", "1");

/// Returns the schema of the table; `row` is null if the entire file is rejected.
pub fn rejected_schema() -> SchemaRef {
    let columns = vec![
        Field::new("input", DataType::Utf8, false),
        Field::new("file", DataType::Utf8, false),
        Field::new("row", DataType::Int64, true),
        Field::new("id", DataType::Utf8, true),
        Field::new("reason", DataType::Utf8, false),
        Field::new("detail", DataType::Utf8, true),
    ];
    let version = std::collections::HashMap::from([(VERSION.0.to_owned(), VERSION.1.to_owned())]);
    Arc::new(Schema::new_with_metadata(columns, version))
}

/// Builds batches of the table.
#[derive(Debug, Default)]
pub struct RejectedBuilder {
    /// The input that contains the rows.
    of: &'static str,
    input: StringBuilder,
    file: StringBuilder,
    row: Int64Builder,
    id: StringBuilder,
    reason: StringBuilder,
    detail: StringBuilder,
    rows: usize,
    bytes: usize,
}

impl RejectedBuilder {
    /// Returns an empty builder for the rows of an input.
    pub fn new(input: &'static str) -> RejectedBuilder {
        RejectedBuilder { of: input, ..RejectedBuilder::default() }
    }

    /// Appends a row of a file (rows are counted from 0), or the file as a whole if `row` is `None`. An empty detail is written as null.
    pub fn push(&mut self, file: &str, row: Option<u64>, id: Option<IdRef<'_>>, reason: RejectReason, detail: &str) {
        let id = id.map(|id| id.to_string());
        self.input.append_value(self.of);
        self.bytes += self.of.len() + file.len() + id.as_ref().map_or(0, String::len) + detail.len();
        self.file.append_value(file);
        self.row.append_option(row.map(|row| row as i64));
        self.id.append_option(id);
        self.reason.append_value(reason.text());
        self.detail.append_option(Some(detail).filter(|detail| !detail.is_empty()));
        self.rows += 1;
    }

    /// Returns the number of rows since the last call to [`RejectedBuilder::finish`].
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether the builder has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns whether the builder is full and [`RejectedBuilder::finish`] should be called.
    pub fn is_full(&self) -> bool {
        is_full(self.rows, self.bytes)
    }

    /// Returns the rows as a batch and empties the builder.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        (self.rows, self.bytes) = (0, 0);
        let columns = vec![
            Arc::new(self.input.finish()) as _,
            Arc::new(self.file.finish()) as _,
            Arc::new(self.row.finish()) as _,
            Arc::new(self.id.finish()) as _,
            Arc::new(self.reason.finish()) as _,
            Arc::new(self.detail.finish()) as _,
        ];
        table("rejected", &rejected_schema(), columns)
    }
}

/// Returns a batch of this table with every value in the `input` column replaced by the given name.
///
/// # Errors
/// Returns [`dupsift_core::error::Error::Table`] if the batch has other columns.
pub fn rejected_of(batch: &RecordBatch, input: &str) -> Result<RecordBatch> {
    let mut columns = batch.columns().to_vec();
    if let Some(first) = columns.first_mut() {
        *first = Arc::new(StringArray::from_iter_values(std::iter::repeat_n(input, batch.num_rows())));
    }
    table("rejected", &rejected_schema(), columns)
}

/// The columns that [`rejected_for`] reads.
pub const REJECTED_FOR_COLUMNS: [&str; 4] = ["input", "file", "row", "reason"];

/// Returns the rows of one input in a batch of [`REJECTED_FOR_COLUMNS`] that were rejected for this reason, each as the name of its file and
/// its row number in that file. Returns `None` if a column has a different type.
pub fn rejected_for(batch: &RecordBatch, of: &str, reason: RejectReason) -> Option<Vec<(String, u64)>> {
    let reasons = batch.words("reason")?;
    let chosen = reasons.iter().map(|one| Some(one == Some(reason.text()))).collect();
    let rows = rejected_rows(&filter_record_batch(batch, &chosen).ok()?, of)?;
    Some(rows.into_iter().filter_map(|(file, row)| Some((file, row?))).collect())
}

/// The columns that [`rejected_rows`] reads.
pub const REJECTED_COLUMNS: [&str; 3] = ["input", "file", "row"];

/// Returns the rows of one input in a batch of [`REJECTED_COLUMNS`], each as the name of its file and its row number in that file (`None`
/// if the entire file is rejected). Returns `None` if a column has a different type.
pub fn rejected_rows(batch: &RecordBatch, of: &str) -> Option<Vec<(String, Option<u64>)>> {
    let input = batch.words("input")?;
    let file = batch.words("file")?;
    let row = batch.numbers("row")?;
    let one = |at: usize| (file.value(at).to_owned(), row.is_valid(at).then(|| row.value(at) as u64));
    Some((0..batch.num_rows()).filter(|&at| input.value(at) == of).map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::AsArray;

    #[test]
    fn a_row_and_a_whole_file() {
        let mut builder = RejectedBuilder::new("corpus");
        builder.push("a.jsonl", Some(7), Some(IdRef::Int(12)), RejectReason::NullText, "");
        builder.push("b.parquet", None, None, RejectReason::UnusableFile, "0 bytes");
        let batch = builder.finish().expect("a table");
        assert_eq!(batch.schema(), rejected_schema());
        assert_eq!(batch.column(3).as_string::<i32>().value(0), "12");
        assert!(batch.column(2).is_null(1) && batch.column(3).is_null(1));
        let (reasons, details) = (batch.column(4).as_string::<i32>(), batch.column(5).as_string::<i32>());
        assert_eq!((reasons.value(0), details.is_null(0)), ("null text", true));
        assert_eq!((reasons.value(1), details.value(1)), ("unusable file", "0 bytes"));
        assert!(builder.is_empty());
        let rows = |reason| rejected_for(&batch, "corpus", reason).expect("its own columns");
        assert_eq!(rows(RejectReason::NullText), [("a.jsonl".to_owned(), 7)]);
        assert!(rows(RejectReason::EmptyText).is_empty() && rows(RejectReason::UnusableFile).is_empty());
        let read = rejected_rows(&batch, "corpus").expect("its own columns");
        assert_eq!(read, [("a.jsonl".to_owned(), Some(7)), ("b.parquet".to_owned(), None)]);
        assert_eq!(rejected_rows(&batch, "reference"), Some(Vec::new()));
        let of_another = rejected_of(&batch, "reference").expect("a table");
        assert_eq!(rejected_rows(&of_another, "reference"), Some(read));
    }
}

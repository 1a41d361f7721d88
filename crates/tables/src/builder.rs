//! Says when the builder of an output table is full, and makes a batch of its columns.

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use dupsift_core::error::{Error, Result};

/// The builder of an output table is full once it has this many rows.
pub const FULL_ROWS: usize = 8192;
/// The builder of an output table is full once its variable-width values add up to this many bytes. The limit is far below the size at
/// which the 32-bit offsets of text columns would overflow.
pub const FULL_BYTES: usize = 4 << 20;

/// Returns whether a builder with this many rows, and with this many bytes in its longest columns, is full.
pub(crate) fn is_full(rows: usize, bytes: usize) -> bool {
    rows >= FULL_ROWS || bytes >= FULL_BYTES
}

/// Returns the columns as a batch with this schema. A failure indicates a bug, so the error names only the table.
pub(crate) fn table(name: &str, schema: &SchemaRef, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
    RecordBatch::try_new(schema.clone(), columns).map_err(Error::table(format!("build the table {name}")))
}

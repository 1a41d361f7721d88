//! Adds a column to a batch, or replaces an existing column.

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema};
use dupsift_core::error::{Error, Result};
use std::sync::Arc;

/// Returns the batch with this column, which replaces a column with the same name or is added at the end.
pub(crate) fn put(rows: RecordBatch, name: &str, column: ArrayRef) -> Result<RecordBatch> {
    let schema = rows.schema();
    let field = Arc::new(Field::new(name, column.data_type().clone(), true));
    let mut fields = schema.fields().to_vec();
    let mut columns = rows.columns().to_vec();
    match schema.index_of(name) {
        Ok(at) => (fields[at], columns[at]) = (field, column),
        Err(_) => {
            fields.push(field);
            columns.push(column);
        }
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(Error::columns("build a batch of documents"))
}

/// Returns the batch with one column replaced by a column of a different type.
pub(crate) fn replaced(rows: RecordBatch, name: &str, column: ArrayRef) -> Result<RecordBatch> {
    let schema = rows.schema();
    let Ok(at) = schema.index_of(name) else { return Ok(rows) };
    if schema.field(at).data_type() == column.data_type() {
        return Ok(rows);
    }
    let mut fields = schema.fields().to_vec();
    fields[at] = Arc::new(Field::new(name, column.data_type().clone(), fields[at].is_nullable()));
    let mut columns = rows.columns().to_vec();
    columns[at] = column;
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).map_err(Error::columns("build a batch of documents"))
}

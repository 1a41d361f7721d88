//! Defines the `stats/models/LABEL.parquet` table: the numbers that an algorithm learned from the corpus, one per row, in the order defined
//! by the algorithm.

use crate::builder::{FULL_ROWS, table};
use crate::columns::named::Named as _;
use arrow::array::{Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use dupsift_core::error::Result;
use std::sync::Arc;

/// The columns of the table.
pub const MODEL_COLUMNS: [&str; 1] = ["value"];

/// Returns the schema of the table. `value` contains 64 raw bits, whose meaning is defined by the algorithm.
pub fn model_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new(MODEL_COLUMNS[0], DataType::Int64, false)]))
}

/// Returns the numbers as batches.
///
/// # Errors
/// An error indicates a bug in this module.
pub fn model_batch(values: &[u64]) -> impl Iterator<Item = Result<RecordBatch>> {
    values.chunks(FULL_ROWS).map(|values| {
        let column = Int64Array::from_iter_values(values.iter().map(|&value| value as i64));
        table("model", &model_schema(), vec![Arc::new(column)])
    })
}

/// Returns the numbers in a batch of [`MODEL_COLUMNS`]; `None` if the column has a different type.
pub fn model_values(batch: &RecordBatch) -> Option<Vec<u64>> {
    let column = batch.numbers(MODEL_COLUMNS[0])?;
    Some(column.values().iter().map(|&value| value as u64).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_bits_and_their_order() {
        let values: Vec<u64> = (0..2 * FULL_ROWS as u64 + 3).map(|n| u64::MAX - n * n).collect();
        let batches: Vec<RecordBatch> = model_batch(&values).map(|batch| batch.expect("a table")).collect();
        assert_eq!(batches.len(), 3);
        let read: Vec<u64> = batches.iter().flat_map(|batch| model_values(batch).expect("numbers")).collect();
        assert_eq!(read, values);
        assert_eq!(model_batch(&[]).count(), 0);
    }
}

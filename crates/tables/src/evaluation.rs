//! Defines the `evaluation/evaluation.parquet` table: one row per algorithm, with its scores against the ground truth.

use crate::builder::table;
use arrow::array::builder::{Float64Builder, Int64Builder, StringBuilder};
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use dupsift_core::error::Result;
use std::sync::Arc;

/// The integer columns.
pub(crate) const EVALUATION_COUNTS: [&str; 5] = ["pairs", "pairs_true", "pairs_not_written", "pages", "pages_true"];

/// The score columns; null if a score is undefined.
pub(crate) const EVALUATION_FIGURES: [&str; 11] = [
    "pair_precision",
    "pair_recall",
    "pair_f1",
    "page_precision",
    "page_recall",
    "page_f1",
    "page_gamma",
    "bcubed_precision",
    "bcubed_recall",
    "bcubed_f1",
    "ari",
];

/// One row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationRow<'r> {
    /// The label of the algorithm.
    pub algorithm: &'r str,
    /// The counts, in the order of [`EVALUATION_COUNTS`].
    pub counts: [u64; EVALUATION_COUNTS.len()],
    /// The scores, in the order of [`EVALUATION_FIGURES`].
    pub figures: [Option<f64>; EVALUATION_FIGURES.len()],
}

/// Returns the schema of the table: the name of the algorithm, Int64 counts, and Float64 scores.
pub fn evaluation_schema() -> SchemaRef {
    let counts = EVALUATION_COUNTS.iter().map(|name| Field::new(*name, DataType::Int64, false));
    let figures = EVALUATION_FIGURES.iter().map(|name| Field::new(*name, DataType::Float64, true));
    let algorithm = Field::new("algorithm", DataType::Utf8, false);
    Arc::new(Schema::new([algorithm].into_iter().chain(counts).chain(figures).collect::<Vec<_>>()))
}

/// Returns the complete table, which has one row per algorithm.
pub fn evaluation_table(rows: &[EvaluationRow<'_>]) -> Result<RecordBatch> {
    let mut algorithm = StringBuilder::new();
    let mut counts: Vec<Int64Builder> = EVALUATION_COUNTS.iter().map(|_| Int64Builder::new()).collect();
    let mut figures: Vec<Float64Builder> = EVALUATION_FIGURES.iter().map(|_| Float64Builder::new()).collect();
    for row in rows {
        algorithm.append_value(row.algorithm);
        counts.iter_mut().zip(row.counts).for_each(|(column, value)| column.append_value(value as i64));
        figures.iter_mut().zip(row.figures).for_each(|(column, value)| column.append_option(value));
    }
    let mut columns: Vec<ArrayRef> = vec![Arc::new(algorithm.finish())];
    columns.extend(counts.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef));
    columns.extend(figures.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef));
    table("evaluation", &evaluation_schema(), columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Array;
    use arrow::array::AsArray;
    use arrow::datatypes::{Float64Type, Int64Type};

    #[test]
    fn undefined_figures_are_null() {
        let mut figures = [Some(0.5); EVALUATION_FIGURES.len()];
        figures[10] = None;
        let batch = evaluation_table(&[EvaluationRow { algorithm: "tf", counts: [1, 2, 3, 4, 5], figures }]).unwrap();
        assert_eq!(batch.schema(), evaluation_schema());
        let column = |name: &str| batch.column_by_name(name).unwrap().clone();
        assert_eq!(column("pages_true").as_primitive::<Int64Type>().value(0), 5);
        assert_eq!(column("bcubed_f1").as_primitive::<Float64Type>().value(0), 0.5);
        assert!(column("ari").is_null(0));
    }
}

//! Defines the `compare/pairs.parquet` table: one row per judged pair, in document order, with the verdict and the algorithms that found
//! the pair.

use crate::builder::{is_full, table};
use arrow::array::RecordBatch;
use arrow::array::builder::{BooleanBuilder, Float32Builder, Int64Builder, StringBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use dupsift_core::error::Result;
use std::sync::Arc;

/// Returns the schema of the table. `found_by` contains the labels of the algorithms, separated by commas. `similarity` is null if the
/// similarity is below the judge's threshold, because its computation stops early in that case.
pub fn judged_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("doc_a", DataType::Int64, false),
        Field::new("doc_b", DataType::Int64, false),
        Field::new("found_by", DataType::Utf8, false),
        Field::new("similarity", DataType::Float32, true),
        Field::new("duplicate", DataType::Boolean, false),
    ]))
}

/// Builds batches of the table.
#[derive(Debug, Default)]
pub struct JudgedBuilder {
    doc_a: Int64Builder,
    doc_b: Int64Builder,
    found_by: StringBuilder,
    similarity: Float32Builder,
    duplicate: BooleanBuilder,
    rows: usize,
}

impl JudgedBuilder {
    /// Appends one row; if a similarity is given, the documents of the pair are duplicates.
    pub fn push(&mut self, doc_a: u64, doc_b: u64, found_by: &str, similarity: Option<f32>) {
        self.doc_a.append_value(doc_a as i64);
        self.doc_b.append_value(doc_b as i64);
        self.found_by.append_value(found_by);
        self.similarity.append_option(similarity);
        self.duplicate.append_value(similarity.is_some());
        self.rows += 1;
    }

    /// Returns whether the builder is full and [`JudgedBuilder::finish`] should be called.
    pub fn is_full(&self) -> bool {
        is_full(self.rows, self.found_by.values_slice().len())
    }

    /// Returns the rows as a batch and empties the builder.
    ///
    /// # Errors
    /// An error indicates a bug in this module.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        table(
            "judged pairs",
            &judged_schema(),
            vec![
                Arc::new(self.doc_a.finish()),
                Arc::new(self.doc_b.finish()),
                Arc::new(self.found_by.finish()),
                Arc::new(self.similarity.finish()),
                Arc::new(self.duplicate.finish()),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FULL_ROWS;
    use arrow::array::Array;
    use arrow::array::AsArray;
    use arrow::datatypes::Float32Type;

    #[test]
    fn a_pair_with_a_similarity_is_one_of_duplicates() {
        let mut builder = JudgedBuilder::default();
        builder.push(1, 2, "exact,minhash", Some(0.9));
        builder.push(1, 3, "minhash", None);
        assert!(!builder.is_full());
        let batch = builder.finish().unwrap();
        let similarity = batch.column(3).as_primitive::<Float32Type>();
        assert!(similarity.value(0) == 0.9 && similarity.is_null(1));
        let duplicate = batch.column(4).as_boolean();
        assert!(duplicate.value(0) && !duplicate.value(1));
        assert_eq!(builder.finish().unwrap().num_rows(), 0);
        (0..FULL_ROWS as u64).for_each(|n| builder.push(n, n + 1, "", None));
        assert!(builder.is_full());
    }
}

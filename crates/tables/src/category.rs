//! Defines the `model/` table of `purify --train`, which contains the counts for each class and each of its words.

use crate::builder::{FULL_ROWS, table};
use crate::columns::named::Named as _;
use arrow::array::builder::{Int64Builder, StringBuilder};
use arrow::array::{Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use dupsift_core::error::Result;
use std::sync::Arc;

/// The columns of the table.
pub const CATEGORY_COLUMNS: [&str; 3] = ["class", "word", "count"];

/// One row: a class, one of its words, and how often the word occurs in the class. If the word is missing, the count is the number of
/// documents in the class.
pub type CategoryRow = (String, Option<String>, u64);

/// Returns the schema of the table.
pub fn category_schema() -> SchemaRef {
    let [class, word, count] = CATEGORY_COLUMNS;
    Arc::new(Schema::new(vec![
        Field::new(class, DataType::Utf8, false),
        Field::new(word, DataType::Utf8, true),
        Field::new(count, DataType::Int64, false),
    ]))
}

/// Builds batches of the table.
#[derive(Debug, Default)]
pub struct CategoryBuilder {
    class: StringBuilder,
    word: StringBuilder,
    count: Int64Builder,
}

impl CategoryBuilder {
    /// Appends a row.
    pub fn push(&mut self, class: &str, word: Option<&str>, count: u64) {
        self.class.append_value(class);
        self.word.append_option(word);
        self.count.append_value(count as i64);
    }

    /// Returns whether the builder is full and [`CategoryBuilder::finish`] should be called.
    pub fn is_full(&self) -> bool {
        self.count.values_slice().len() >= FULL_ROWS
    }

    /// Returns the rows as a batch and empties the builder.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        let columns = vec![
            Arc::new(self.class.finish()) as _,
            Arc::new(self.word.finish()) as _,
            Arc::new(self.count.finish()) as _,
        ];
        table("model", &category_schema(), columns)
    }
}

/// Returns the rows of a batch of [`CATEGORY_COLUMNS`]; `None` if a column has the wrong type or a count is negative.
pub fn categories_found(batch: &RecordBatch) -> Option<Vec<CategoryRow>> {
    let class = batch.words("class")?;
    let word = batch.words("word")?;
    let count = batch.numbers("count")?;
    let row = |at: usize| {
        let word = word.is_valid(at).then(|| word.value(at).to_owned());
        Some((class.value(at).to_owned(), word, u64::try_from(count.value(at)).ok()?))
    };
    (0..batch.num_rows()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_they_were_written() {
        let mut builder = CategoryBuilder::default();
        builder.push("sport", None, 3);
        builder.push("sport", Some("мяч"), 7);
        let batch = builder.finish().expect("a table");
        let rows = [("sport".to_owned(), None, 3), ("sport".to_owned(), Some("мяч".to_owned()), 7)];
        assert_eq!(categories_found(&batch).expect("its own columns"), rows);
        assert!(!builder.is_full());
        builder.push("sport", None, u64::MAX);
        assert_eq!(categories_found(&builder.finish().expect("a table")), None);
    }
}

//! Defines the `removed/` table: one row per removed document, with the kept document that it was matched to and the reason for the
//! removal.

use crate::builder::{is_full, table};
use crate::columns::id::{IdRef, IdType};
use crate::columns::id_column::{IdBuilder, id_field};
use crate::columns::named::Named as _;
use arrow::array::builder::{Float32Builder, Int64Builder, StringBuilder};
use arrow::array::{Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use dupsift_core::error::Result;
use std::sync::Arc;

/// Returns the schema of the table for ids of this type.
pub fn removal_schema(id: IdType) -> SchemaRef {
    Arc::new(Schema::new(vec![
        id_field("id", id),
        id_field("kept_id", id),
        Field::new("similarity", DataType::Float32, true),
        Field::new("algorithm", DataType::Utf8, false),
        Field::new("reason", DataType::Utf8, false),
        Field::new("keep_rule", DataType::Utf8, false),
        Field::new("doc", DataType::Int64, false),
        Field::new("kept_doc", DataType::Int64, false),
        Field::new("contained", DataType::Float32, true),
        Field::new("numbers", DataType::Float32, true),
        Field::new("kept_in", DataType::Utf8, true),
    ]))
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemovalRow<'r> {
    /// The id of the removed document.
    pub id: IdRef<'r>,
    /// The id of the kept document that the removed document was matched to.
    pub kept_id: IdRef<'r>,
    /// The similarity of the two documents; `None` if they do not form a pair.
    pub similarity: Option<f32>,
    /// The algorithms that found the duplicate.
    pub algorithm: &'r str,
    /// The reason, one of [`REASONS`].
    pub reason: &'r str,
    /// The rule that preferred the kept document.
    pub keep_rule: &'r str,
    /// The number of the removed document.
    pub doc: u64,
    /// The number of the kept document.
    pub kept_doc: u64,
    /// The share of the removed document's distinct 3-grams that are in the kept document, if computed.
    pub contained: Option<f32>,
    /// The share of the removed document's distinct numbers that are in the kept document, if computed.
    pub numbers: Option<f32>,
    /// The batch or the file of the reference that contains the kept document; `None` if it is in the corpus.
    pub kept_in: Option<&'r str>,
}

/// The values of a row, without the ids and the words that only readers need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemovalFound {
    /// The removed document.
    pub doc: u64,
    /// The document that is kept instead.
    pub kept: u64,
    /// The similarity of the two documents; `None` if they are connected only through a chain.
    pub similarity: Option<f32>,
    /// The reason, one of [`REASONS`].
    pub reason: &'static str,
    /// The share of the removed document's 3-grams that are in the kept document, if computed.
    pub contained: Option<f32>,
    /// The share of the removed document's numbers that are in the kept document, if computed.
    pub numbers: Option<f32>,
}

/// The reasons for removing a document: it has the same text as another document, it forms a pair with the kept document, it is connected
/// to the kept document through a chain, its text is in the index, too little of its text remains after repeated passages were cut, or it
/// is a representative and no duplicate is kept.
pub const REASONS: [&str; 6] = ["copy", "pair", "chain", "seen", EMPTIED, REPRESENTATIVE];

/// The reason for removing a document in which too little text remains.
pub const EMPTIED: &str = "emptied";

/// The reason for removing a representative if no duplicate is kept. The row lists the removed document itself as the kept document.
pub const REPRESENTATIVE: &str = "representative";

/// The columns that [`removals_found`] reads.
pub const REMOVAL_COLUMNS: [&str; 6] = ["similarity", "reason", "doc", "kept_doc", "contained", "numbers"];

/// Returns the rows of a batch of [`REMOVAL_COLUMNS`]; `None` if a column has a different type, or a reason is unknown.
pub fn removals_found(batch: &RecordBatch) -> Option<Vec<RemovalFound>> {
    let shares = ["similarity", "contained", "numbers"].map(|name| batch.shares(name));
    let [Some(similarity), Some(contained), Some(numbers)] = shares else { return None };
    let reason = batch.words("reason")?;
    let (doc, kept) = (batch.numbers("doc")?, batch.numbers("kept_doc")?);
    let row = |row: usize| {
        Some(RemovalFound {
            doc: doc.value(row) as u64,
            kept: kept.value(row) as u64,
            similarity: similarity.is_valid(row).then(|| similarity.value(row)),
            reason: REASONS.into_iter().find(|known| *known == reason.value(row))?,
            contained: contained.is_valid(row).then(|| contained.value(row)),
            numbers: numbers.is_valid(row).then(|| numbers.value(row)),
        })
    };
    (0..batch.num_rows()).map(row).collect()
}

/// Builds batches of the table.
#[derive(Debug)]
pub struct RemovalBuilder {
    schema: SchemaRef,
    id: IdBuilder,
    kept_id: IdBuilder,
    similarity: Float32Builder,
    words: [StringBuilder; 3],
    doc: Int64Builder,
    kept_doc: Int64Builder,
    contained: Float32Builder,
    numbers: Float32Builder,
    kept_in: StringBuilder,
    rows: usize,
}

impl RemovalBuilder {
    /// Creates an empty builder for ids of this type.
    pub fn new(id: IdType) -> RemovalBuilder {
        RemovalBuilder {
            schema: removal_schema(id),
            id: IdBuilder::new(id),
            kept_id: IdBuilder::new(id),
            similarity: Float32Builder::new(),
            words: [StringBuilder::new(), StringBuilder::new(), StringBuilder::new()],
            doc: Int64Builder::new(),
            kept_doc: Int64Builder::new(),
            contained: Float32Builder::new(),
            numbers: Float32Builder::new(),
            kept_in: StringBuilder::new(),
            rows: 0,
        }
    }

    /// Appends one row.
    ///
    /// # Errors
    /// Returns an error for an id that does not fit the table's id type; the builder must not be used after an error.
    pub fn push(&mut self, row: &RemovalRow<'_>) -> Result<()> {
        self.id.push(row.id)?;
        self.kept_id.push(row.kept_id)?;
        self.similarity.append_option(row.similarity);
        for (column, word) in self.words.iter_mut().zip([row.algorithm, row.reason, row.keep_rule]) {
            column.append_value(word);
        }
        self.doc.append_value(row.doc as i64);
        self.kept_doc.append_value(row.kept_doc as i64);
        self.contained.append_option(row.contained);
        self.numbers.append_option(row.numbers);
        self.kept_in.append_option(row.kept_in);
        self.rows += 1;
        Ok(())
    }

    /// Returns the number of rows since the last call to [`RemovalBuilder::finish`].
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether the builder has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns whether the builder is full and [`RemovalBuilder::finish`] should be called.
    pub fn is_full(&self) -> bool {
        is_full(self.rows, self.id.bytes() + self.kept_id.bytes() + self.kept_in.values_slice().len())
    }

    /// Returns the rows as a batch and empties the builder.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let [algorithm, reason, keep_rule] = &mut self.words;
        let columns = vec![
            self.id.finish(),
            self.kept_id.finish(),
            Arc::new(self.similarity.finish()),
            Arc::new(algorithm.finish()),
            Arc::new(reason.finish()),
            Arc::new(keep_rule.finish()),
            Arc::new(self.doc.finish()),
            Arc::new(self.kept_doc.finish()),
            Arc::new(self.contained.finish()),
            Arc::new(self.numbers.finish()),
            Arc::new(self.kept_in.finish()),
        ];
        table("removed", &self.schema, columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;

    #[test]
    fn a_batch_holds_what_was_pushed() {
        let mut builder = RemovalBuilder::new(IdType::Int64);
        let row = RemovalRow {
            id: IdRef::Int(5),
            kept_id: IdRef::Int(6),
            similarity: None,
            algorithm: "exact",
            reason: "chain",
            keep_rule: "length desc",
            doc: 50,
            kept_doc: 60,
            contained: Some(0.75),
            numbers: None,
            kept_in: None,
        };
        builder.push(&row).expect("fits");
        let batch = builder.finish().expect("a table");
        assert_eq!(batch.schema(), removal_schema(IdType::Int64));
        assert_eq!(batch.column(4).as_string::<i32>().value(0), "chain");
        assert_eq!(batch.column(7).as_primitive::<Int64Type>().values(), &[60]);
        assert_eq!((batch.column(8).null_count(), batch.column(9).null_count()), (0, 1));
        assert!(builder.is_empty());
        let (contained, numbers) = (Some(0.75), None);
        let found = RemovalFound { doc: 50, kept: 60, similarity: None, reason: "chain", contained, numbers };
        assert_eq!(removals_found(&batch), Some(vec![found]));
        builder.push(&RemovalRow { reason: "a whim", ..row }).expect("fits");
        assert_eq!(removals_found(&builder.finish().expect("a table")), None);
    }
}

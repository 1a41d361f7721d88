//! Defines the tables of `contaminated`: `contaminated/` has a row per document and item, `items/` a row per item, and `suites/` a row per
//! suite.

use crate::builder::{is_full, table};
use crate::columns::id::{IdRef, IdType};
use crate::columns::id_column::{IdBuilder, id_field};
use arrow::array::builder::{BooleanBuilder, Float32Builder, Int64Builder, StringBuilder};
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use dupsift_core::error::Result;
use std::sync::Arc;

fn text(name: &str) -> Field {
    Field::new(name, DataType::Utf8, false)
}

fn number(name: &str) -> Field {
    Field::new(name, DataType::Int64, false)
}

/// Returns the schema of `contaminated/` for ids of this type.
pub fn contaminated_schema(id: IdType) -> SchemaRef {
    Arc::new(Schema::new(vec![
        id_field("id", id),
        number("doc"),
        text("eval_id"),
        text("suite"),
        text("relation"),
        Field::new("score", DataType::Float32, false),
        number("grams"),
        number("grams_found"),
        Field::new("answer_found", DataType::Boolean, true),
        number("start"),
        number("end"),
        number("start_byte"),
        number("end_byte"),
        text("text"),
    ]))
}

/// A document that contains an item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContaminatedRow<'r> {
    /// The id of the document.
    pub id: IdRef<'r>,
    /// The number of the document.
    pub doc: u64,
    /// The id of the item.
    pub eval_id: &'r str,
    /// The evaluation set that contains the item.
    pub suite: &'r str,
    /// The relation of the document to the item: `leak`, `variant` or `public`.
    pub relation: &'r str,
    /// The share of the item found in the span, from 0 to 1; half of it for a variant.
    pub score: f64,
    /// The number of n-grams in the item, and the number of these n-grams that are in the span.
    pub grams: [u64; 2],
    /// Whether the answer is next to the span; `None` if the item has no answer.
    pub answer_found: Option<bool>,
    /// The start and end of the span, in characters of the text.
    pub characters: [u64; 2],
    /// The start and end of the span, in bytes of the text.
    pub bytes: [u64; 2],
    /// The beginning of the span.
    pub text: &'r str,
}

/// Builds batches of `contaminated/`.
#[derive(Debug)]
pub struct ContaminatedBuilder {
    schema: SchemaRef,
    id: IdBuilder,
    /// The numeric columns, in order.
    numbers: [Int64Builder; 7],
    texts: [StringBuilder; 4],
    score: Float32Builder,
    answer_found: BooleanBuilder,
    rows: usize,
}

impl ContaminatedBuilder {
    /// Returns an empty builder for ids of this type.
    pub fn new(id: IdType) -> ContaminatedBuilder {
        ContaminatedBuilder {
            schema: contaminated_schema(id),
            id: IdBuilder::new(id),
            numbers: Default::default(),
            texts: Default::default(),
            score: Float32Builder::new(),
            answer_found: BooleanBuilder::new(),
            rows: 0,
        }
    }

    /// Appends one row.
    ///
    /// # Errors
    /// Returns an error for an id that does not fit the table's id type; the builder must not be used after an error.
    pub fn push(&mut self, row: &ContaminatedRow<'_>) -> Result<()> {
        self.id.push(row.id)?;
        let ([grams, found], [start, end], [start_byte, end_byte]) = (row.grams, row.characters, row.bytes);
        let values = [row.doc, grams, found, start, end, start_byte, end_byte];
        self.numbers.iter_mut().zip(values).for_each(|(column, value)| column.append_value(value as i64));
        let texts = [row.eval_id, row.suite, row.relation, row.text];
        self.texts.iter_mut().zip(texts).for_each(|(column, value)| column.append_value(value));
        self.score.append_value(row.score as f32);
        self.answer_found.append_option(row.answer_found);
        self.rows += 1;
        Ok(())
    }

    /// Returns whether the builder has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns whether the builder is full and [`ContaminatedBuilder::finish`] should be called.
    pub fn is_full(&self) -> bool {
        is_full(self.rows, self.id.bytes() + self.texts.iter().map(|texts| texts.values_slice().len()).sum::<usize>())
    }

    /// Returns the rows as a batch and empties the builder.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let [doc, grams, found, start, end, start_byte, end_byte] =
            self.numbers.each_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let [eval_id, suite, relation, text] =
            self.texts.each_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let (score, answer_found) = (Arc::new(self.score.finish()), Arc::new(self.answer_found.finish()));
        let id = self.id.finish();
        let of_item = [id, doc, eval_id, suite, relation, score, grams, found, answer_found];
        let columns = of_item.into_iter().chain([start, end, start_byte, end_byte, text]).collect();
        table("contaminated", &self.schema, columns)
    }
}

/// Returns the schema of `items/`.
pub fn item_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        text("eval_id"),
        text("suite"),
        number("tokens"),
        text("status"),
        number("documents_80"),
        number("documents_50"),
        number("variants"),
        Field::new("score", DataType::Float32, false),
        text("text"),
    ]))
}

/// One row of `items/`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ItemRow<'r> {
    /// The id of the item.
    pub eval_id: &'r str,
    /// The evaluation set that contains the item.
    pub suite: &'r str,
    /// The number of tokens in the item.
    pub tokens: u64,
    /// The status of the item: `found`, `variant`, `not found`, `public`, `shared` or `too short`.
    pub status: &'r str,
    /// The number of documents in which the item's score is at least 0.8, the number of documents in which the score is at least 0.5, and
    /// the number of documents that contain a variant.
    pub documents: [u64; 3],
    /// The highest score in any document; 0 if no document contains more than a few words of the item.
    pub score: f64,
    /// The beginning of the item's text.
    pub text: &'r str,
}

/// Builds batches of `items/`.
#[derive(Debug, Default)]
pub struct ItemBuilder {
    numbers: [Int64Builder; 4],
    texts: [StringBuilder; 4],
    score: Float32Builder,
    rows: usize,
}

impl ItemBuilder {
    /// Appends one row.
    pub fn push(&mut self, row: &ItemRow<'_>) {
        let [documents_80, documents_50, variants] = row.documents;
        let values = [row.tokens, documents_80, documents_50, variants];
        self.numbers.iter_mut().zip(values).for_each(|(column, value)| column.append_value(value as i64));
        let texts = [row.eval_id, row.suite, row.status, row.text];
        self.texts.iter_mut().zip(texts).for_each(|(column, value)| column.append_value(value));
        self.score.append_value(row.score as f32);
        self.rows += 1;
    }

    /// Returns whether the builder has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns whether the builder is full and [`ItemBuilder::finish`] should be called.
    pub fn is_full(&self) -> bool {
        is_full(self.rows, self.texts.iter().map(|texts| texts.values_slice().len()).sum::<usize>())
    }

    /// Returns the rows as a batch and empties the builder.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let [tokens, documents_80, documents_50, variants] =
            self.numbers.each_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let [eval_id, suite, status, text] = self.texts.each_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let score = Arc::new(self.score.finish());
        let columns = vec![eval_id, suite, tokens, status, documents_80, documents_50, variants, score, text];
        table("items", &item_schema(), columns)
    }
}

/// The numeric columns of `suites/`, which follow the name of the suite.
pub(crate) const SUITE_NUMBERS: [&str; 8] =
    ["items", "too_short", "public", "found_80", "found_50", "documents_80", "documents_50", "variants"];

/// Returns the schema of `suites/`.
pub fn suite_schema() -> SchemaRef {
    Arc::new(Schema::new([text("suite")].into_iter().chain(SUITE_NUMBERS.map(number)).collect::<Vec<_>>()))
}

/// Builds the `suites/` table from the name of each suite and its [`SUITE_NUMBERS`].
///
/// # Errors
/// Returns an error if there are too many suites for a table.
pub fn suite_table<'s>(suites: impl IntoIterator<Item = (&'s str, [u64; 8])>) -> Result<RecordBatch> {
    let (mut names, mut numbers) = (StringBuilder::new(), <[Int64Builder; 8]>::default());
    for (name, values) in suites {
        names.append_value(name);
        numbers.iter_mut().zip(values).for_each(|(column, value)| column.append_value(value as i64));
    }
    let numbers = numbers.each_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
    let columns = [Arc::new(names.finish()) as ArrayRef].into_iter().chain(numbers).collect();
    table("suites", &suite_schema(), columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Array, AsArray};
    use arrow::datatypes::{Float32Type, Int64Type};

    #[test]
    fn batches_hold_what_was_pushed() {
        let mut builder = ContaminatedBuilder::new(IdType::Text);
        let row = ContaminatedRow {
            id: IdRef::Text("a"),
            doc: 1,
            eval_id: "q",
            suite: "s",
            relation: "leak",
            score: 0.5,
            grams: [2, 3],
            answer_found: None,
            characters: [4, 5],
            bytes: [6, 7],
            text: "t",
        };
        builder.push(&row).expect("fits");
        let batch = builder.finish().expect("a table");
        let number = |name: &str| batch.column_by_name(name).expect(name).as_primitive::<Int64Type>().value(0);
        let names = ["doc", "grams", "grams_found", "start", "end", "start_byte", "end_byte"];
        assert_eq!(names.map(number), [1, 2, 3, 4, 5, 6, 7]);
        let string = |name: &str| batch.column_by_name(name).expect(name).as_string::<i32>().value(0).to_owned();
        assert_eq!(["id", "eval_id", "suite", "relation", "text"].map(string), ["a", "q", "s", "leak", "t"]);
        assert!(batch.column_by_name("answer_found").expect("a column").is_null(0) && builder.is_empty());
    }

    #[test]
    fn items_and_suites_are_tables() {
        let mut builder = ItemBuilder::default();
        let row = ItemRow {
            eval_id: "q",
            suite: "s",
            tokens: 9,
            status: "found",
            documents: [1, 2, 3],
            score: 0.9,
            text: "t",
        };
        builder.push(&row);
        let batch = builder.finish().expect("a table");
        assert_eq!((batch.num_rows(), batch.column(7).as_primitive::<Float32Type>().value(0)), (1, 0.9f32));
        assert_eq!(batch.column(3).as_string::<i32>().value(0), "found");
        let suites = suite_table([("s", [1, 2, 3, 4, 5, 6, 7, 8])]).expect("a table");
        assert_eq!(suites.column(8).as_primitive::<Int64Type>().value(0), 8);
    }
}

//! Defines the `pairs/algorithm=NAME/` table: one row per duplicate pair.

use crate::builder::table;
use crate::columns::id::IdType;
use crate::columns::id_column::id_field;
use crate::columns::named::Named as _;
use arrow::array::{ArrayRef, BooleanArray, Float32Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use dupsift_core::error::Result;
use dupsift_core::row::RelationKind;
use std::sync::Arc;

/// Returns the schema of the table for ids of this type.
pub fn pair_schema(id: IdType) -> SchemaRef {
    Arc::new(Schema::new(vec![
        id_field("id_a", id),
        id_field("id_b", id),
        Field::new("similarity", DataType::Float32, false),
        Field::new("distance", DataType::Float32, true),
        Field::new("matched_by", DataType::Utf8, false),
        Field::new("verified", DataType::Boolean, false),
        Field::new("doc_a", DataType::Int64, false),
        Field::new("doc_b", DataType::Int64, false),
        Field::new("contained_a", DataType::Float32, true),
        Field::new("contained_b", DataType::Float32, true),
        Field::new("numbers_a", DataType::Float32, true),
        Field::new("numbers_b", DataType::Float32, true),
        Field::new("relation", DataType::Utf8, true),
        Field::new("why", DataType::Utf8, true),
        Field::new("next_best", DataType::Float32, true),
        Field::new("other_title", DataType::Boolean, true),
    ]))
}

/// Rows of the table, column by column, all of the same length.
#[derive(Clone, Debug)]
pub struct PairColumns {
    /// The id of the document with the smaller number in each pair; built by [`crate::columns::id_column::IdBuilder`] or [`crate::columns::id_column::IdBytes`].
    pub id_a: ArrayRef,
    /// The id of the document with the larger number in each pair.
    pub id_b: ArrayRef,
    /// The verified similarity if there is one, otherwise the algorithm's own score; 0 to 1.
    pub similarity: Float32Array,
    /// The algorithm's own distance, if it has one.
    pub distance: Float32Array,
    /// The rules of the algorithm that found the pair, joined by `+`.
    pub matched_by: StringArray,
    /// Whether the pair was verified by comparing the text of the two documents.
    pub verified: BooleanArray,
    /// The smaller document number in each pair.
    pub doc_a: Int64Array,
    /// The larger document number in each pair.
    pub doc_b: Int64Array,
    /// The share of a's distinct 3-grams that are in b, if computed.
    pub contained_a: Float32Array,
    /// The share of b's distinct 3-grams that are in a, if computed.
    pub contained_b: Float32Array,
    /// The share of a's distinct numbers that are in b, if computed.
    pub numbers_a: Float32Array,
    /// The share of b's distinct numbers that are in a, if computed.
    pub numbers_b: Float32Array,
    /// The relation between the two documents, if the algorithm classifies pairs: version, contained or template.
    pub relation: StringArray,
    /// The reason for the relation.
    pub why: StringArray,
    /// The similarity of the next-best partner of either document.
    pub next_best: Float32Array,
    /// Whether the titles, code or labels refer to different things. In this case, neither document is removed in favor of the other.
    pub other_title: BooleanArray,
}

impl PairColumns {
    /// Returns the rows as a batch of [`pair_schema`].
    ///
    /// # Errors
    /// Returns an error if columns differ in length, or if the type of the ids differs from the schema.
    pub fn table(self, schema: &SchemaRef) -> Result<RecordBatch> {
        let columns = vec![
            self.id_a,
            self.id_b,
            Arc::new(self.similarity),
            Arc::new(self.distance),
            Arc::new(self.matched_by),
            Arc::new(self.verified),
            Arc::new(self.doc_a),
            Arc::new(self.doc_b),
            Arc::new(self.contained_a),
            Arc::new(self.contained_b),
            Arc::new(self.numbers_a),
            Arc::new(self.numbers_b),
            Arc::new(self.relation),
            Arc::new(self.why),
            Arc::new(self.next_best),
            Arc::new(self.other_title),
        ];
        table("pairs", schema, columns)
    }
}

/// The values of a row that are needed to count pairs: the two documents and their similarity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairFound {
    /// The smaller document number.
    pub a: u64,
    /// The larger document number.
    pub b: u64,
    /// The similarity; see [`PairColumns::similarity`].
    pub similarity: f32,
}

/// The columns that [`pairs_found`] reads.
pub const PAIR_COLUMNS: [&str; 4] = ["similarity", "doc_a", "doc_b", "relation"];

/// Returns the duplicate pairs in a batch of [`PAIR_COLUMNS`], excluding pairs of documents that only share a template. Returns `None` if a
/// column has a different type.
pub fn pairs_found(batch: &RecordBatch) -> Option<Vec<PairFound>> {
    let similarity = batch.shares("similarity")?.values();
    let a = batch.numbers("doc_a")?.values();
    let b = batch.numbers("doc_b")?.values();
    let relation = batch.words("relation")?;
    let rows = a.iter().zip(b).zip(similarity).zip(relation);
    let duplicates = rows.filter(|(_, relation)| *relation != Some(RelationKind::Template.name()));
    Some(duplicates.map(|(((&a, &b), &similarity), _)| PairFound { a: a as u64, b: b as u64, similarity }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::AsArray;
    use arrow::array::{Array, BinaryArray, Int32Array};
    use arrow::datatypes::Float32Type;

    #[test]
    fn columns_become_a_table_for_ids_of_each_type() {
        for id in [IdType::Text, IdType::Bytes, IdType::Int32, IdType::Int64] {
            let ids: ArrayRef = match id {
                IdType::Text => Arc::new(StringArray::from(vec!["а", "b"])),
                IdType::Bytes => Arc::new(BinaryArray::from(vec![&b"\xFE"[..], b"\xFF"])),
                IdType::Int32 => Arc::new(Int32Array::from(vec![7, 8])),
                IdType::Int64 => Arc::new(Int64Array::from(vec![7, 8])),
            };
            let columns = PairColumns {
                id_a: ids.clone(),
                id_b: ids,
                similarity: vec![0.5, 0.25].into(),
                distance: vec![None, Some(2.0)].into(),
                matched_by: vec!["band", "band"].into(),
                verified: vec![true, false].into(),
                doc_a: vec![3, 3].into(),
                doc_b: vec![4, 5].into(),
                contained_a: vec![None, Some(0.75)].into(),
                contained_b: vec![None, Some(1.0)].into(),
                numbers_a: vec![None, Some(0.5)].into(),
                numbers_b: vec![None, Some(0.25)].into(),
                relation: vec![None, Some("template")].into(),
                why: vec![None, Some("one word differs")].into(),
                next_best: vec![None, Some(0.5)].into(),
                other_title: vec![None, Some(false)].into(),
            };
            let batch = columns.clone().table(&pair_schema(id)).expect("a table");
            assert_eq!((batch.num_rows(), batch.schema()), (2, pair_schema(id)));
            let distance = batch.column(3).as_primitive::<Float32Type>();
            assert!(distance.is_null(0) && distance.value(1) == 2.0);
            let shares = (8..12).map(|column| batch.column(column).as_primitive::<Float32Type>());
            assert_eq!(shares.map(|column| column.value(1)).collect::<Vec<_>>(), [0.75, 1.0, 0.5, 0.25]);
            let found = |a, b, similarity| PairFound { a, b, similarity };
            assert_eq!(pairs_found(&batch), Some(vec![found(3, 4, 0.5)]));
            assert_eq!(pairs_found(&batch.project(&[0, 1]).expect("two columns")), None);
            let short = PairColumns { doc_b: vec![4].into(), ..columns };
            assert!(short.table(&pair_schema(id)).is_err());
        }
    }
}

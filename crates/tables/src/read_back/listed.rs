//! Reads the rows of `removed/`, `pairs/` and `clusters/` that are listed for a reader. The ids are read only for the rows that are shown.

use crate::columns::named::Named as _;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Int32Type, Int64Type};
use dupsift_core::row::{COPY, RelationKind};

/// The columns that [`removals_found`](crate::removals_found), [`listed_id`] and [`kept_in`] read.
pub const LISTED_REMOVAL_COLUMNS: [&str; 9] =
    ["id", "kept_id", "similarity", "reason", "doc", "kept_doc", "contained", "numbers", "kept_in"];

/// A row of `pairs/`, without its ids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ListedPair {
    /// The two documents, smaller number first.
    pub docs: [u64; 2],
    /// The similarity of the two documents.
    pub similarity: f32,
    /// Whether the two documents have the same text.
    pub copy: bool,
    /// Whether the two documents share only a template.
    pub template: bool,
    /// Whether the titles, code or labels refer to different things.
    pub other_title: bool,
    /// The similarity of the next best match of either document, if computed.
    pub next_best: Option<f32>,
    /// The shares of each document's 3-grams and numbers that are in the other document, if computed.
    pub shares: [Option<[f32; 2]>; 2],
}

/// The columns that [`listed_id`] and [`listed_pairs`] read.
pub const LISTED_PAIR_COLUMNS: [&str; 13] = [
    "id_a",
    "id_b",
    "similarity",
    "matched_by",
    "doc_a",
    "doc_b",
    "contained_a",
    "contained_b",
    "numbers_a",
    "numbers_b",
    "relation",
    "next_best",
    "other_title",
];

/// The columns that [`listed_pairs`] reads: all but the ids.
pub const PAIR_FACT_COLUMNS: &[&str] = LISTED_PAIR_COLUMNS.split_at(2).1;

/// Returns the rows of a batch of [`PAIR_FACT_COLUMNS`]; `None` if a column has a different type.
pub fn listed_pairs(batch: &RecordBatch) -> Option<Vec<ListedPair>> {
    let (a, b, similarity) = (batch.numbers("doc_a")?, batch.numbers("doc_b")?, batch.shares("similarity")?);
    let (matched_by, relation) = (batch.words("matched_by")?, batch.words("relation")?);
    let (next_best, other_title) = (batch.shares("next_best")?, batch.flags("other_title")?);
    let shares = [
        [batch.shares("contained_a")?, batch.shares("numbers_a")?],
        [batch.shares("contained_b")?, batch.shares("numbers_b")?],
    ];
    let pair = |row: usize| ListedPair {
        docs: [a.value(row) as u64, b.value(row) as u64],
        similarity: similarity.value(row),
        copy: matched_by.value(row).split('+').any(|rule| rule == COPY),
        template: relation.is_valid(row) && relation.value(row) == RelationKind::Template.name(),
        other_title: other_title.is_valid(row) && other_title.value(row),
        next_best: next_best.is_valid(row).then(|| next_best.value(row)),
        shares: shares.map(|[grams, numbers]| grams.is_valid(row).then(|| [grams.value(row), numbers.value(row)])),
    };
    Some((0..batch.num_rows()).map(pair).collect())
}

/// Returns an id in a row of a batch as it is typed on a command line; `None` if there is no such column, or if it is not a column of ids.
/// Bytes that are not UTF-8 are written in hexadecimal.
pub fn listed_id(batch: &RecordBatch, column: &str, row: usize) -> Option<String> {
    let ids = batch.column_by_name(column)?;
    Some(match ids.data_type() {
        DataType::Utf8 => ids.as_string::<i32>().value(row).to_owned(),
        DataType::Int32 => ids.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => ids.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Binary => crate::columns::id::IdRef::Bytes(ids.as_binary::<i32>().value(row)).to_string(),
        _ => return None,
    })
}

/// Returns the batch or the file of the reference that contains the kept document; `None` if it is in the corpus.
pub fn kept_in(batch: &RecordBatch, row: usize) -> Option<&str> {
    let names = batch.words("kept_in")?;
    names.is_valid(row).then(|| names.value(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::id::{IdRef, IdType};
    use crate::removal::{RemovalBuilder, RemovalFound, RemovalRow, removals_found};

    #[test]
    fn a_removal_is_read_with_its_ids() {
        for (id, kept_id, kind) in [
            (IdRef::Text("a b"), IdRef::Text("c"), IdType::Text),
            (IdRef::Int(5), IdRef::Int(-6), IdType::Int64),
            (IdRef::Int(5), IdRef::Int(-6), IdType::Int32),
            (IdRef::Bytes(b"x"), IdRef::Bytes(b"y\xff"), IdType::Bytes),
        ] {
            let mut builder = RemovalBuilder::new(kind);
            let row = RemovalRow {
                id,
                kept_id,
                similarity: Some(0.5),
                algorithm: "exact",
                reason: "pair",
                keep_rule: "length desc",
                doc: 3,
                kept_doc: 1,
                contained: Some(0.75),
                numbers: None,
                kept_in: Some("2026-11-20"),
            };
            builder.push(&row).expect("fits");
            let batch = builder.finish().expect("a table");
            let listed = RemovalFound {
                doc: 3,
                kept: 1,
                reason: "pair",
                similarity: Some(0.5),
                contained: Some(0.75),
                numbers: None,
            };
            assert_eq!(removals_found(&batch), Some(vec![listed]));
            assert_eq!(listed_id(&batch, "id", 0), Some(id.to_string()));
            assert_eq!(kept_in(&batch, 0), Some("2026-11-20"));
            assert_eq!(listed_id(&batch, "kept_id", 0), Some(kept_id.to_string()));
            assert_eq!((listed_id(&batch, "similarity", 0), listed_id(&batch, "none", 0)), (None, None));
            assert_eq!(listed_pairs(&batch), None);
        }
    }
}

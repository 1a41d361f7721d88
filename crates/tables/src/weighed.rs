//! Reads pairs from the pair table, with all columns that the survivor rule uses.

use crate::named::Named as _;
use arrow::array::{Array, RecordBatch};

use dupsift_core::row::{COPY, RelationKind};

/// A pair as used by the survivor rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairWeighed {
    /// The two document numbers, smaller first.
    pub docs: [u64; 2],
    /// The similarity of the two documents.
    pub similarity: f32,
    /// Whether the two documents have the same text.
    pub copy: bool,
    /// Whether the titles refer to different things.
    pub other_title: bool,
    /// The shares of each document's 3-grams and numbers that are in the other document, if computed.
    pub shares: [Option<[f32; 2]>; 2],
}

/// The columns that [`pairs_weighed`] reads.
pub const WEIGHED_COLUMNS: [&str; 10] = [
    "similarity",
    "matched_by",
    "doc_a",
    "doc_b",
    "contained_a",
    "contained_b",
    "numbers_a",
    "numbers_b",
    "relation",
    "other_title",
];

/// Returns the duplicate pairs in a batch of [`WEIGHED_COLUMNS`], excluding pairs of documents that only share a template. Returns `None`
/// if a column has a different type.
pub fn pairs_weighed(batch: &RecordBatch) -> Option<Vec<PairWeighed>> {
    let (a, b, similarity) = (batch.numbers("doc_a")?, batch.numbers("doc_b")?, batch.shares("similarity")?);
    let matched_by = batch.words("matched_by")?;
    let relation = batch.words("relation")?;
    let other_title = batch.flags("other_title")?;
    let shares = [
        [batch.shares("contained_a")?, batch.shares("numbers_a")?],
        [batch.shares("contained_b")?, batch.shares("numbers_b")?],
    ];
    let is_template = |row: usize| relation.is_valid(row) && relation.value(row) == RelationKind::Template.name();
    let pair = |row: usize| PairWeighed {
        docs: [a.value(row) as u64, b.value(row) as u64],
        similarity: similarity.value(row),
        copy: matched_by.value(row).split('+').any(|rule| rule == COPY),
        other_title: other_title.is_valid(row) && other_title.value(row),
        shares: shares.map(|[grams, numbers]| grams.is_valid(row).then(|| [grams.value(row), numbers.value(row)])),
    };
    Some((0..batch.num_rows()).filter(|&row| !is_template(row)).map(pair).collect())
}

//! Looks up individual rows of `pairs/` and `removed/` for queries about one or two documents.

use crate::columns::named::Named as _;
use arrow::array::{Array, RecordBatch, StringArray};
use dupsift_core::row::{COPY, RelationKind};

/// A row of the pair table.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPair {
    /// The similarity; see [`PairColumns::similarity`](crate::pair::PairColumns::similarity).
    pub similarity: f32,
    /// The distance; see [`PairColumns::distance`](crate::pair::PairColumns::distance).
    pub distance: Option<f32>,
    /// The rules that found the pair, joined by `+`.
    pub matched_by: String,
    /// Whether the pair was verified by comparing the text of the two documents.
    pub verified: bool,
    /// The relation between the two documents, if the algorithm classifies pairs.
    pub relation: Option<String>,
    /// The reason for the relation.
    pub why: Option<String>,
    /// The similarity of the next-best partner; see [`PairColumns::next_best`](crate::pair::PairColumns::next_best).
    pub next_best: Option<f32>,
    /// Whether the titles, code or labels refer to different things; see [`PairColumns::other_title`](crate::pair::PairColumns::other_title).
    pub other_title: bool,
}

/// The result of searching one batch of the table for a pair; the table is sorted by (doc_a, doc_b).
#[derive(Clone, Debug, PartialEq)]
pub enum PairSearch {
    /// The pair is in this batch.
    Found(FoundPair),
    /// The pair is not in this batch, but may be in a later batch.
    Further,
    /// The pair is not in the table, because this batch extends beyond the position that the pair would have.
    Nowhere,
}

/// The columns that [`pair_of`] reads.
pub const PAIR_LOOK_UP_COLUMNS: [&str; 10] = [
    "similarity",
    "distance",
    "matched_by",
    "verified",
    "doc_a",
    "doc_b",
    "relation",
    "why",
    "next_best",
    "other_title",
];

/// Searches a batch of [`PAIR_LOOK_UP_COLUMNS`] for the pair (a, b), where a < b. Returns `None` if a column has a different type.
pub fn pair_of(batch: &RecordBatch, a: u64, b: u64) -> Option<PairSearch> {
    let similarity = batch.shares("similarity")?;
    let distance = batch.shares("distance")?;
    let matched_by = batch.words("matched_by")?;
    let verified = batch.flags("verified")?;
    let doc_a = batch.numbers("doc_a")?;
    let doc_b = batch.numbers("doc_b")?;
    let relation = batch.words("relation")?;
    let why = batch.words("why")?;
    let next_best = batch.shares("next_best")?;
    let other_title = batch.flags("other_title")?;
    let text = |column: &StringArray, row: usize| column.is_valid(row).then(|| column.value(row).to_string());
    let docs = |row: usize| (doc_a.value(row) as u64, doc_b.value(row) as u64);
    let (mut low, mut high) = (0, batch.num_rows());
    while low < high {
        let middle = low + (high - low) / 2;
        if docs(middle) < (a, b) { low = middle + 1 } else { high = middle }
    }
    Some(match low {
        row if row == batch.num_rows() => PairSearch::Further,
        row if docs(row) == (a, b) => PairSearch::Found(FoundPair {
            similarity: similarity.value(row),
            distance: distance.is_valid(row).then(|| distance.value(row)),
            matched_by: matched_by.value(row).to_string(),
            verified: verified.value(row),
            relation: text(relation, row),
            why: text(why, row),
            next_best: next_best.is_valid(row).then(|| next_best.value(row)),
            other_title: other_title.is_valid(row) && other_title.value(row),
        }),
        _ => PairSearch::Nowhere,
    })
}

/// The columns that [`partners_of`] reads.
pub const PARTNER_COLUMNS: [&str; 4] = ["similarity", "doc_a", "doc_b", "relation"];

/// Finds the pairs of a document in a batch of [`PARTNER_COLUMNS`]. Returns the other document of each pair, the similarity, and whether
/// the relation is "same template". Returns `None` if a column has a different type.
pub fn partners_of(batch: &RecordBatch, doc: u64) -> Option<Vec<(u64, f32, bool)>> {
    let similarity = batch.shares("similarity")?;
    let doc_a = batch.numbers("doc_a")?;
    let doc_b = batch.numbers("doc_b")?;
    let relation = batch.words("relation")?;
    let mut found = Vec::new();
    for row in 0..batch.num_rows() {
        let (a, b) = (doc_a.value(row) as u64, doc_b.value(row) as u64);
        if a == doc || b == doc {
            let is_template = relation.is_valid(row) && relation.value(row) == RelationKind::Template.name();
            found.push((if a == doc { b } else { a }, similarity.value(row), is_template));
        }
    }
    Some(found)
}

/// The columns that [`copies_of`] reads.
pub const COPY_LOOK_UP_COLUMNS: [&str; 3] = ["matched_by", "doc_a", "doc_b"];

/// Returns the exact-copy pairs in a batch of [`COPY_LOOK_UP_COLUMNS`] that include one of the documents in `docs`. In each returned pair,
/// the document from `docs` comes first. Returns `None` if a column has a different type.
pub fn copies_of(batch: &RecordBatch, docs: &[u64]) -> Option<Vec<(u64, u64)>> {
    let matched_by = batch.words("matched_by")?;
    let doc_a = batch.numbers("doc_a")?;
    let doc_b = batch.numbers("doc_b")?;
    let mut found = Vec::new();
    for row in 0..batch.num_rows() {
        let (a, b) = (doc_a.value(row) as u64, doc_b.value(row) as u64);
        let both = [(a, b), (b, a)].into_iter().filter(|(doc, _)| docs.contains(doc));
        found.extend(both.filter(|_| matched_by.value(row) == COPY));
    }
    Some(found)
}

/// A row of the removal table.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundRemoval {
    /// The removed document.
    pub doc: u64,
    /// The kept document that the removed document was matched to.
    pub kept_doc: u64,
    /// The similarity of the two documents; see [`RemovalRow::similarity`](crate::removal::RemovalRow::similarity).
    pub similarity: Option<f32>,
    /// The algorithms that found the duplicate; see [`RemovalRow::algorithm`](crate::removal::RemovalRow::algorithm).
    pub algorithm: String,
    /// The reason for the removal; see [`RemovalRow::reason`](crate::removal::RemovalRow::reason).
    pub reason: String,
}

/// The columns that [`removals_of`] reads.
pub const REMOVAL_LOOK_UP_COLUMNS: [&str; 5] = ["similarity", "algorithm", "reason", "doc", "kept_doc"];

/// Returns the rows for these documents in a batch of [`REMOVAL_LOOK_UP_COLUMNS`]; `None` if a column has a different type.
pub fn removals_of(batch: &RecordBatch, docs: &[u64]) -> Option<Vec<FoundRemoval>> {
    let similarity = batch.shares("similarity")?;
    let algorithm = batch.words("algorithm")?;
    let reason = batch.words("reason")?;
    let doc = batch.numbers("doc")?;
    let kept = batch.numbers("kept_doc")?;
    let rows = (0..batch.num_rows()).filter(|&row| docs.contains(&(doc.value(row) as u64)));
    let told = rows.map(|row| FoundRemoval {
        doc: doc.value(row) as u64,
        kept_doc: kept.value(row) as u64,
        similarity: similarity.is_valid(row).then(|| similarity.value(row)),
        algorithm: algorithm.value(row).to_string(),
        reason: reason.value(row).to_string(),
    });
    Some(told.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::id::{IdRef, IdType};
    use crate::pair::{PairColumns, pair_schema};
    use crate::removal::{RemovalBuilder, RemovalRow};
    use arrow::array::{ArrayRef, Int64Array};
    use std::sync::Arc;

    #[test]
    fn a_pair_is_found_where_it_stands() {
        let ids = Arc::new(Int64Array::from(vec![0; 3]));
        let columns = PairColumns {
            id_a: ids.clone(),
            id_b: ids,
            similarity: vec![0.5, 0.9, 0.4].into(),
            distance: vec![None, None, Some(2.0)].into(),
            matched_by: vec!["band"; 3].into(),
            verified: vec![true; 3].into(),
            doc_a: vec![1, 1, 3].into(),
            doc_b: vec![5, 9, 4].into(),
            contained_a: vec![None; 3].into(),
            contained_b: vec![None; 3].into(),
            numbers_a: vec![None; 3].into(),
            numbers_b: vec![None; 3].into(),
            relation: vec![None, Some("template"), None].into(),
            why: vec![None, Some("one word differs"), None].into(),
            next_best: vec![None, Some(0.5), None].into(),
            other_title: vec![None, Some(true), None].into(),
        };
        let batch = columns.table(&pair_schema(IdType::Int64)).expect("a table");
        let found = |a, b| pair_of(&batch, a, b).expect("the columns");
        let told = |similarity, distance| {
            let template = similarity == 0.9;
            PairSearch::Found(FoundPair {
                similarity,
                distance,
                matched_by: "band".into(),
                verified: true,
                relation: template.then(|| "template".into()),
                why: template.then(|| "one word differs".into()),
                next_best: template.then_some(0.5),
                other_title: template,
            })
        };
        assert_eq!((found(1, 5), found(1, 9), found(3, 4)), (told(0.5, None), told(0.9, None), told(0.4, Some(2.0))));
        assert_eq!(
            (found(0, 2), found(1, 6), found(3, 5)),
            (PairSearch::Nowhere, PairSearch::Nowhere, PairSearch::Further)
        );
        assert_eq!(pair_of(&batch.project(&[0, 1]).expect("two columns"), 1, 5), None);
        assert_eq!(partners_of(&batch, 1), Some(vec![(5, 0.5, false), (9, 0.9, true)]));
        assert_eq!(partners_of(&batch, 4), Some(vec![(3, 0.4, false)]));
        assert_eq!(partners_of(&batch.project(&[0, 1]).expect("two columns"), 1), None);
        let docs = |docs: [i64; 3]| Arc::new(Int64Array::from(docs.to_vec())) as ArrayRef;
        let matched_by: ArrayRef = Arc::new(StringArray::from(vec!["band", COPY, COPY]));
        let batch = [("matched_by", matched_by), ("doc_a", docs([1, 1, 3])), ("doc_b", docs([5, 9, 4]))];
        let batch = RecordBatch::try_from_iter(batch).expect("a table");
        assert_eq!(copies_of(&batch, &[1, 4, 9]), Some(vec![(1, 9), (9, 1), (4, 3)]));
        assert_eq!(copies_of(&batch.project(&[0, 1]).expect("two columns"), &[1]), None);
    }

    #[test]
    fn removals_of_the_asked_documents() {
        let mut builder = RemovalBuilder::new(IdType::Text);
        for doc in [3, 7, 8] {
            let row = RemovalRow {
                id: IdRef::Text("x"),
                kept_id: IdRef::Text("y"),
                similarity: (doc == 7).then_some(0.5),
                algorithm: "exact",
                reason: "pair",
                keep_rule: "length desc",
                doc,
                kept_doc: 1,
                contained: None,
                numbers: None,
                kept_in: None,
            };
            builder.push(&row).expect("fits");
        }
        let told = removals_of(&builder.finish().expect("a table"), &[7, 9]).expect("the columns");
        assert_eq!(told.len(), 1);
        assert_eq!(
            (told[0].doc, told[0].kept_doc, told[0].similarity, &*told[0].algorithm),
            (7, 1, Some(0.5), "exact")
        );
    }
}

//! What is asked of a reading: which columns of which rows, and how much at a time.

use std::fmt;
use std::sync::Arc;

/// What is asked of a reading.
#[derive(Clone, Debug)]
pub struct Want {
    /// The text column; with the pages of a web archive their types come too, as `content_type`.
    pub text: bool,
    /// The id column.
    pub id: bool,
    /// Which of [`Columns::others`](super::schema::Columns::others); a file that has none of that name leaves it out.
    pub others: Vec<String>,
    /// Whether the others come as text where the file gives them no type of their own (JSON lines): else as the narrowest type
    /// that fits the values of a batch.
    pub spelled: bool,
    /// Those of them that come as text in any case from a file that gives them no type of its own: what they are then does not depend on
    /// what else the batch holds.
    pub as_text: Vec<String>,
    /// Those of them that are asked for as plain columns: a list or an object of JSON lines is null there, as a nested column of
    /// Parquet is none.
    pub plain: Vec<String>,
    /// Only these rows; all where none is given.
    pub rows: Option<RowFilter>,
    /// How many bytes of values a batch aims at: it is handed on as soon as it has them, or 1,024 rows.
    pub batch_bytes: usize,
}

impl Want {
    /// With one more column, whose values are asked for as they would be spelled.
    #[must_use]
    pub fn with_values(mut self, column: Option<&String>) -> Want {
        if let Some(column) = column.filter(|column| !self.others.contains(column)) {
            self.plain.push(column.clone());
            self.others.push(column.clone());
        }
        self
    }
}

impl Default for Want {
    /// The texts of all rows, about 4 MiB at a time.
    fn default() -> Want {
        Want {
            text: true,
            id: false,
            others: Vec::new(),
            spelled: false,
            as_text: Vec::new(),
            plain: Vec::new(),
            rows: None,
            batch_bytes: 4 << 20,
        }
    }
}

/// Which documents a reading gives.
#[derive(Clone)]
pub enum RowFilter {
    /// These numbers, ascending.
    Docs(Arc<[u64]>),
    /// Those for which the function says yes.
    Where(Arc<dyn Fn(u64) -> bool + Send + Sync>),
}

impl fmt::Debug for RowFilter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowFilter::Docs(docs) => write!(out, "Docs({} of them)", docs.len()),
            RowFilter::Where(_) => out.write_str("Where(..)"),
        }
    }
}

impl RowFilter {
    /// The rows of a range of documents that pass, counted from its first one.
    pub(super) fn within(&self, first_doc: u64, rows: u64) -> Vec<u64> {
        match self {
            RowFilter::Docs(docs) => {
                debug_assert!(docs.is_sorted());
                let from = docs.partition_point(|&doc| doc < first_doc);
                let to = docs.partition_point(|&doc| doc < first_doc + rows);
                let mut chosen: Vec<u64> = docs[from..to].iter().map(|doc| doc - first_doc).collect();
                chosen.dedup();
                chosen
            }
            RowFilter::Where(passes) => (0..rows).filter(|row| passes(first_doc + row)).collect(),
        }
    }
}

/// Rows of a batch at most.
pub(super) const MAX_BATCH_ROWS: usize = 1024;

//! Selects the columns and rows to read, and the batch size.

use std::fmt;
use std::sync::Arc;

/// The columns, rows and batch size of a read.
#[derive(Clone, Debug)]
pub struct Want {
    /// Whether to read the text column. If the file is a web archive, batches also contain the types of the pages as `content_type`.
    pub text: bool,
    /// Whether to read the id column.
    pub id: bool,
    /// The columns from [`Columns::others`](crate::format::columns::Columns::others) to read; a batch does not contain columns that are missing from
    /// the file.
    pub others: Vec<String>,
    /// Whether the columns in `others` are returned as text if the file defines no types (JSON lines). Otherwise, each column has the
    /// narrowest type that can represent all values of a batch.
    pub spelled: bool,
    /// Further columns that are always returned as text if the file defines no types, so that the returned value does not depend on other
    /// values in the batch.
    pub as_text: Vec<String>,
    /// Further columns that must be plain: a list or an object in JSON lines becomes null, because nested Parquet columns are not read
    /// either.
    pub plain: Vec<String>,
    /// The rows to read; `None` for all rows.
    pub rows: Option<RowFilter>,
    /// The target size of a batch, in bytes of values; a batch is passed on once it reaches this size or 1,024 rows.
    pub batch_bytes: usize,
}

impl Want {
    /// Adds a column whose values are requested as text.
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
    /// Requests the text of all rows, about 4 MiB at a time.
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

/// Selects documents to read.
#[derive(Clone)]
pub enum RowFilter {
    /// The documents with these numbers, in ascending order.
    Docs(Arc<[u64]>),
    /// The documents for which the function returns `true`.
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
    /// Returns the selected rows in a range of documents, counted from the first document of the range.
    pub(crate) fn within(&self, first_doc: u64, rows: u64) -> Vec<u64> {
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

/// The maximum number of rows in a batch.
pub(crate) const MAX_BATCH_ROWS: usize = 1024;

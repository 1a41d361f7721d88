//! Reading one piece of the corpus: batches of documents, of the asked columns and the asked rows only.

use super::jsonl;
use super::parquet_read::{self, Plan};
use super::source::{InputFile, Source};
use super::split::{Part, Split};
use super::warc;
use crate::batch::Documents;
use crate::error::Result;
use std::fmt;
use std::sync::Arc;

/// What is asked of a reading.
#[derive(Clone, Debug)]
pub struct Want {
    /// The text column; with the pages of a web archive their types come too, as `content_type`.
    pub text: bool,
    /// The id column.
    pub id: bool,
    /// Which of [`Columns::others`](super::source::Columns::others); a file that has none of that name leaves it out.
    pub others: Vec<String>,
    /// Whether the others come as text where the file gives them no type of their own (JSON lines): else as the narrowest type
    /// that fits the values of a batch.
    pub spelled: bool,
    /// Only these rows; all where none is given.
    pub rows: Option<RowFilter>,
    /// How many bytes of values a batch aims at: it is handed on as soon as it has them, or 1,024 rows.
    pub batch_bytes: usize,
}

impl Default for Want {
    /// The texts of all rows, about 4 MiB at a time.
    fn default() -> Want {
        Want { text: true, id: false, others: Vec::new(), spelled: false, rows: None, batch_bytes: 4 << 20 }
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
    fn within(&self, first_doc: u64, rows: u64) -> Vec<u64> {
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

impl Source {
    /// Calls `each` with the documents of the piece, in order.
    ///
    /// # Errors
    /// [`Error::BadFile`](crate::error::Error::BadFile) where the file is damaged or not the one that was opened; then
    /// what `each` got before must not count. Whatever `each` returns.
    pub fn read(&self, split: &Split, want: &Want, each: &mut dyn FnMut(Documents) -> Result<()>) -> Result<()> {
        let chosen = want.rows.as_ref().map(|filter| filter.within(split.first_doc, split.rows));
        if chosen.as_ref().is_some_and(Vec::is_empty) {
            return Ok(());
        }
        let input = &self.files[split.file];
        let file = input.reopen()?;
        let watch = file.try_clone().map_err(|error| input.bad(format!("cannot be opened any more: {error}")))?;
        let read = match split.part {
            Part::RowGroups { first, count, skip } => {
                let names = self.names(want);
                let plan = Plan {
                    row_groups: first..first + count,
                    skip,
                    rows: split.rows,
                    chosen: chosen.as_deref(),
                    names: &names,
                    batch_bytes: want.batch_bytes,
                    batch_rows: MAX_BATCH_ROWS,
                };
                self.read_parquet(split, want, &plan, file, each)
            }
            Part::Lines { from, to } => {
                let piece = jsonl::Piece { range: Some((from, to)), rows: split.rows, chosen: chosen.as_deref() };
                jsonl::read(file, input, split.first_doc, &piece, &self.columns, want, each)
            }
            Part::Records { from, to } => {
                let piece = warc::Piece { range: (from, to), rows: split.rows, chosen: chosen.as_deref() };
                warc::read(file, input, split.first_doc, &piece, &self.columns, want, each)
            }
            Part::Whole => {
                let piece = jsonl::Piece { range: None, rows: split.rows, chosen: chosen.as_deref() };
                jsonl::read(file, input, split.first_doc, &piece, &self.columns, want, each)
            }
        };
        // A file that is being rewritten shows as some damage or other: the change is the better explanation.
        match read {
            Ok(()) | Err(crate::error::Error::BadFile { .. }) => input.check_unchanged(&watch).and(read),
            other => other,
        }
    }

    fn read_parquet(
        &self,
        split: &Split,
        want: &Want,
        plan: &Plan<'_>,
        file: std::fs::File,
        each: &mut dyn FnMut(Documents) -> Result<()>,
    ) -> Result<()> {
        let input: &InputFile = &self.files[split.file];
        let footer = self.footer(split.file, &file)?;
        let text = want.text.then_some(self.columns.text.as_str());
        let id = (want.id && input.id.is_some()).then_some(self.columns.id.as_str());
        let mut at = 0;
        parquet_read::read(file, &footer, plan, &|why| input.bad(why), &mut |rows| {
            let count = rows.num_rows();
            let documents = match plan.chosen {
                None => Documents::new(split.first_doc + at as u64, rows, text, id)?,
                Some(chosen) => {
                    let docs: Vec<u64> = chosen[at..at + count].iter().map(|row| split.first_doc + row).collect();
                    Documents::new(docs[0], rows, text, id)?.with_docs(docs)
                }
            };
            at += count;
            each(documents.with_html(self.columns.html))
        })
    }

    /// The names that a reading projects, in the order in which they stand in a batch.
    fn names<'s>(&'s self, want: &'s Want) -> Vec<&'s str> {
        let asked = |name: &str| {
            (want.text && name == self.columns.text)
                || (want.id && name == self.columns.id)
                || want.others.iter().any(|other| other == name)
        };
        self.columns.names().into_iter().filter(|name| asked(name)).collect()
    }
}

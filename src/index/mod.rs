//! An index of everything already seen: documents, their texts and their rows, and a manifest that says which of them there are.
//!
//! ```text
//! INDEX/
//!   lock
//!   manifest-00000031.json           one a generation; the highest whole one counts
//!   statistics/s-.../                the output that signatures are made by: run.json, stats/
//!   batches/b-.../part-00000.parquet the documents of a night: ids and texts, one row a number, null where the text came before
//!   rows/r-.../LABEL.run             by what documents meet: a key, a document
//! ```
//!
//! Each text is there once, by the document that is kept of those with it, or else by the first of them. Files never change: a night adds a folder of documents and one of
//! rows, and a generation that names them.

mod folder;
mod manifest;
mod open;
mod part;
mod report;
mod rows;

pub use folder::{Named, seal, seal_below};
pub use manifest::{Batch, FORMAT, Line, Manifest, Part, Rows};
pub use open::{BATCHES, Index, ROWS, STATISTICS, State, statistics_in, stop_at};
pub use part::{COPY_HASH, KEPT_DOC, PartWriter, TEXT, field_column, part_schema, read_rows};
pub use report::{IndexReport, NightMet};
pub use rows::{Groups, meet};

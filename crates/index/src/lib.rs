//! Stores an index of all documents seen so far: their text, their rows, and a manifest that lists the files.
//!
//! ```text
//! INDEX/
//!   lock
//!   manifest-00000031.json           one per generation; the highest one counts
//!   generation.json                  its number, so that a missing manifest is noticed
//!   statistics/s-.../                the output that signatures are computed with: run.json, stats/
//!   batches/b-.../part-00000.parquet the documents of a batch: ids and texts, one row per number, null if the text is stored earlier
//!                 part-00000.sums    checksums of its blocks
//!   rows/r-.../LABEL.run             keys by which documents match: a key, a document
//! ```
//!
//! Each distinct text is stored once: with the kept document that contains it, or, if no such document is kept, with the first document
//! that contains it. Files never change: an incremental run adds a folder of documents, a folder of rows, and a generation that refers to
//! them.

// Tests write files to their own folders and use the platform's math library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod files;
mod generations;
mod manifest;
mod open;
mod report;

pub use files::folder::{BATCHES, Named, ROWS, STATISTICS, seal, seal_below};
pub use files::part::{COPY_HASH, KEPT_DOC, PartWriter, TEXT, field_column, part_schema, read_rows};
pub use files::rows::{Groups, meet};
pub use files::sums::sums_of;
pub use generations::Generations;
pub use generations::State;
pub use manifest::{Batch, DocumentFile, FORMAT, Line, Manifest, Rows};
pub use open::restore::{Restored, restore};
pub use open::rights::check_rights;
pub use open::{Index, statistics_in, stop_at};
pub use report::{IndexReport, MatchedBatch};

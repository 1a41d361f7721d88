//! An index of everything already seen: documents, their texts and their rows, and a manifest that says which of them there are.
//!
//! ```text
//! INDEX/
//!   lock
//!   manifest-00000031.json           one a generation; the highest one counts
//!   generation.json                  its number, so that a manifest that is missing is noticed
//!   statistics/s-.../                the output that signatures are made by: run.json, stats/
//!   batches/b-.../part-00000.parquet the documents of a night: ids and texts, one row a number, null where the text came before
//!                 part-00000.sums    checksums of its blocks
//!   rows/r-.../LABEL.run             by what documents meet: a key, a document
//! ```
//!
//! Each text is there once, by the document that is kept of those with it, or else by the first of them. Files never change: a night adds a folder of documents and one of
//! rows, and a generation that names them.

// Tests write files into folders of their own, and compute with the library of the platform.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod folder;
mod generations;
mod lock;
mod manifest;
mod open;
mod part;
mod report;
mod restore;
mod rights;
mod rows;
mod sums;
mod sweep;

pub use folder::{BATCHES, Named, ROWS, STATISTICS, seal, seal_below};
pub use generations::Generations;
pub use manifest::{Batch, FORMAT, Line, Manifest, Part, Rows};
pub use open::{Index, State, statistics_in, stop_at};
pub use part::{COPY_HASH, KEPT_DOC, PartWriter, TEXT, field_column, part_schema, read_rows};
pub use report::{IndexReport, NightMet};
pub use restore::{Restored, restore};
pub use rights::check_rights;
pub use rows::{Groups, meet};
pub use sums::sums_of;

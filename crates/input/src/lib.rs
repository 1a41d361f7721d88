//! Finds and reads input files.
//!
//! Part of dupsift; the repository's ARCHITECTURE.md explains how the parts fit together.

// Tests write files into their own folders and use the platform's math library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod archive;
mod arrow;
mod compressed;
mod copy;
mod corpus;
mod cut_off;
mod damaged;
mod dialect;
mod find;
mod format;
pub mod formats;
mod lines;
mod parallel;
mod parquet;

#[cfg(test)]
mod coded_tests;
#[cfg(test)]
mod corrupt_tests;
#[cfg(test)]
mod read_tests;
#[cfg(test)]
mod repacking_tests;
#[cfg(test)]
mod row_tests;
#[cfg(test)]
mod testkit;

pub use self::parquet::table_read::TableReader;
pub use compressed::coding::Coding;
pub use copy::added::{Added, AddedList};
pub use copy::copying::Copying;
pub use copy::edits::Edits;
pub use corpus::asked::{Asked, check_asked, likely_id};
pub use corpus::id_rows::{column_names, line_at, read_ids};
pub use corpus::own_columns::{OwnColumn, OwnColumns, own_columns};
pub use corpus::segments::{LargePage, Segment};
pub use corpus::several_texts;
pub use corpus::source::{BadInput, Columns, InputFile, Source, open};
pub use corpus::split::Split;
pub use corpus::stamp::Stamp;
pub use dialect::{Quoting, Separator};
pub use find::found::{Downloads, Found, absolute, sort};
pub use find::found_file::FoundFile;
pub use find::glob::searched;
pub use find::inputs::{FOLLOW_LINKS, find, find_all, find_all_in};
pub use find::staged::{CopyFolder, Objects};
pub use find::standard_input::{Stored, store};
pub use find::taking::Taking;
pub use format::ids::{IdColumns, IdRow};
pub use format::stretch::Unit;
pub use format::want::{RowFilter, Want};
pub use formats::TextFiles;

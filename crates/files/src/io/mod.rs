//! Opens the input files and writes the results. No other module accesses these files.
//!
//! [`find()`] turns the inputs into a list of files, [`open`] numbers their rows, and [`Source::read`] streams the requested columns of one
//! piece. [`Stage`] is a folder that gets its final name in a single rename; [`TableWriter`] writes a Parquet file in that folder. A
//! damaged file is reported as a value ([`BadInput`], `Error::BadFile`), never by a panic.

mod added;
mod again;
mod asked;
mod bad_input;
mod before_damage;
mod bounded;
mod catalogs;
pub mod coding;
mod copy_file;
mod copy_leaf;
mod copy_lines;
mod copy_parquet;
pub mod copying;
mod damaged;
mod edits;
pub mod find;
mod fitting;
mod foreign;
pub mod format;
pub mod formats;
mod held;
mod hive;
pub mod id_rows;
mod input;
mod ipc;
mod items;
mod joined;
mod json_paths;
mod json_row;
mod json_value;
mod json_walk;
mod jsonl;
mod ledger;
mod lines;
mod lock;
mod made_folders;
mod members;
mod mended;
pub(crate) mod messages;
mod mounts;
mod names;
mod nested;
mod not_json;
mod ours;
mod overwrite;
mod own_columns;
pub mod packing;
mod page_headers;
mod page_memory;
mod page_starts;
mod parallel;
mod parquet;
mod parquet_levels;
mod parquet_read;
mod parquet_rows;
mod place;
mod quotes;
mod read;
mod reference_folder;
mod repacked;
mod repacking;
mod rest;
mod row_groups;
pub mod schema;
pub mod segments;
mod separated;
pub mod several_texts;
pub mod sink;
pub mod source;
pub mod split;
mod stamp;
mod standard_input;
pub mod table;
mod table_lengths;
pub mod table_read;
mod temporary_folder;
pub mod unfinished;
mod unpack;
mod unpacked_bytes;
pub mod unread;
pub mod want;
mod warc;
mod warc_head;
mod warc_page;
mod warc_records;
mod work_files;
mod work_folder;
mod zstd_frames;

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
mod sink_tests;
#[cfg(test)]
mod testkit;
#[cfg(test)]
mod warc_laws;
#[cfg(test)]
mod warc_tests;
#[cfg(test)]
mod work_folder_tests;

pub use added::Added;
pub use asked::{Asked, check_asked, likely_id};
pub use coding::Coding;
pub use copying::Copying;
pub use edits::Edits;
pub use find::{FOLLOW_LINKS, Found, FoundFile, Taking, absolute, find, find_all, find_all_in, searched, sort};
pub use format::{Archived, Format, IdColumns, IdRow, Unit};
pub use formats::TextFiles;
pub use held::Held;
pub use id_rows::{column_names, line_at, read_ids};
pub use ledger::{Ledger, LedgerEntry, LedgerFile, LedgerInput, LedgerInputs, LedgerMatch, SkippedFile};
pub use lock::{Locking, is_at, locking};
pub use made_folders::MadeFolders;
pub use names::{DASH, HELD, SUCCESS};
pub use ours::Ours;
pub use overwrite::{APPLIED, is_inside, leads_out};
pub use own_columns::{OwnColumn, OwnColumns, own_columns};
pub use place::{Cleared, empty_folder, folder_above, held_path, may_write, real_path};
pub use quotes::{Quoting, Separator};
pub use reference_folder::ReferenceFolder;
pub use segments::{LargePage, Segment};
pub use sink::Stage;
pub use source::{BadInput, Columns, InputFile, Source, open};
pub use split::Split;
pub use stamp::Stamp;
pub use standard_input::{Stored, store};
pub use table::TableWriter;
pub use table_read::TableReader;
pub use temporary_folder::{FRAME, FrameFolder, TemporaryFolder};
pub use unread::Unread;
pub use want::{RowFilter, Want};
pub use work_files::{INDEXED, LEDGER, REJECTED, is_plain, is_work_file};
pub use work_folder::{WorkFolder, clean, clean_output};

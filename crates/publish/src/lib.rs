//! Publishes results: an output folder appears complete or not at all.
//!
//! Part of dupsift; the repository's ARCHITECTURE.md explains how the parts fit together.

// Tests write files into their own folders and use the platform's math library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod fitting;
mod held;
mod ledger;
mod lock;
mod made_folders;
mod mounts;
pub mod names;
pub mod ours;
mod overwrite;
mod place;
mod reference_folder;
mod row_groups;
pub mod sink;
pub mod table;
mod table_lengths;
mod temporary_folder;
pub mod unfinished;
pub mod work_files;
mod work_folder;

#[cfg(test)]
mod sink_tests;
#[cfg(test)]
mod work_folder_tests;

pub use held::Held;
pub use ledger::{Ledger, LedgerEntry, LedgerFile, LedgerInput, LedgerInputs, LedgerMatch, SkippedFile};
pub use lock::{Locking, is_at, locking};
pub use made_folders::MadeFolders;
pub use names::{DASH, HELD, SUCCESS};
pub use ours::Ours;
pub use overwrite::{APPLIED, is_inside, leads_out};
pub use place::{Cleared, empty_folder, folder_above, held_path, may_write, real_path};
pub use reference_folder::ReferenceFolder;
pub use sink::Stage;
pub use table::TableWriter;
pub use temporary_folder::{FRAME, FrameFolder, TemporaryFolder};
pub use work_files::{INDEXED, LEDGER, REJECTED, is_plain, is_work_file};
pub use work_folder::{WorkFolder, clean, clean_output};

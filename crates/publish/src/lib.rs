//! Publishes results: an output folder appears complete or not at all.
//!
//! Part of dupsift; the repository's ARCHITECTURE.md explains how the parts fit together.

// Tests write files into their own folders and use the platform's math library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod output;
mod place;
mod table;
mod temporary;
#[cfg(test)]
mod test_kit;
pub mod unfinished;

pub use output::held::Held;
pub use output::sink::Stage;
pub use place::made_folders::MadeFolders;
pub use place::names::{DASH, HELD, SUCCESS, refuse_standard_input};
pub use place::ours::{MOST_RECORD, Ours, Owners};
pub use place::overwrite::{APPLIED, is_inside, leads_out};
pub use place::work_files::{INDEXED, LEDGER, OBJECT, REJECTED, STANDARD_INPUT, is_plain, is_work_file};
pub use place::{Cleared, empty_folder, folder_above, held_path, may_write, real_path};
pub use table::TableWriter;
pub use temporary::ledger::{Ledger, LedgerEntry, LedgerFile, LedgerInput, LedgerInputs, LedgerMatch, SkippedFile};
pub use temporary::lock::{Locking, is_at, locking};
pub use temporary::reference_folder::ReferenceFolder;
pub use temporary::temporary_folder::{FRAME, FrameFolder, TemporaryFolder};
pub use temporary::work_folder::{WorkFolder, clean, clean_output};

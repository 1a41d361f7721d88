//! Describes files that are completely or partly unreadable.

use crate::find::found_file::FoundFile;
use std::path::PathBuf;

/// A file that is completely or partly unreadable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadInput {
    /// The path of the file.
    pub path: PathBuf,
    /// The label of the file in messages.
    pub label: String,
    /// A description of the problem.
    pub why: String,
    /// The number of bytes on disk that cannot be used; 0 if unknown.
    pub bytes: u64,
    /// Whether the rows before the damage are used, in which case only part of the file is lost.
    pub takes_part: bool,
}

impl BadInput {
    /// Returns the description of a file that is skipped completely.
    pub(crate) fn whole(found: FoundFile, why: String) -> BadInput {
        BadInput { path: found.path, label: found.label, why, bytes: found.bytes, takes_part: false }
    }
}

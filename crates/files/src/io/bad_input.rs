//! Files that cannot take part, and why.

use super::find::FoundFile;
use std::path::PathBuf;

/// A file that cannot take part, or not with all that it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadInput {
    /// Where it is.
    pub path: PathBuf,
    /// How it is called.
    pub label: String,
    /// What was expected and what came.
    pub why: String,
    /// Bytes on disk of what is lost; 0 where that is not known.
    pub bytes: u64,
    /// Whether no more than a part of it is lost: the rows before that take part.
    pub takes_part: bool,
}

impl BadInput {
    /// A file of which nothing takes part.
    pub(super) fn whole(found: FoundFile, why: String) -> BadInput {
        BadInput { path: found.path, label: found.label, why, bytes: found.bytes, takes_part: false }
    }
}

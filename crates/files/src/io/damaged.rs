//! The error of a file that cannot be read.

use dupsift_core::error::{Error, too_many_open};
use std::path::Path;

/// The error of a file that cannot be read: its own fault, or that of a limit of open files.
pub(super) fn damaged(path: &Path, why: String) -> Error {
    match too_many_open(&why) {
        Some(error) => Error::reading("read", path)(error),
        None => Error::BadFile { path: path.to_path_buf(), why },
    }
}

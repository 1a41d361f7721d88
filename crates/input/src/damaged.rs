//! Provides the error for a file that cannot be read.

use dupsift_core::error::{Error, too_many_open};
use std::path::Path;

/// Returns the error for a file that cannot be read, or the error for too many open files if that is the cause.
pub(crate) fn damaged(path: &Path, why: String) -> Error {
    match too_many_open(&why) {
        Some(error) => Error::reading("read", path)(error),
        None => Error::BadFile { path: path.to_path_buf(), why },
    }
}

//! Accepts or rejects a held result. The command line and Python share these functions.

use std::path::Path;

use dupsift_core::error::Result;
use dupsift_engine::engine;
use dupsift_study::{self as study, Accepted};

/// Publishes the held result in a folder, and adds it to the index that it was matched against. Returns its new location.
///
/// # Errors
/// Returns an error if the folder is not a held result, or if it cannot be renamed.
pub fn accept(folder: &Path, reason: Option<String>) -> Result<Accepted> {
    let page = &crate::report::accepted_page;
    let accepted = study::accept(folder, engine::now(), reason, page, &dupsift_incremental::accept)?;
    if accepted.before {
        tracing::info!("already accepted: an earlier command published the result");
    }
    Ok(accepted)
}

/// Removes the held result in a folder, and makes its index forget the batch. Returns whether the index still had the batch; `None` if the
/// result was not matched against an index.
///
/// # Errors
/// Returns an error if the folder is not a held result, or if it or its index cannot be changed.
pub fn reject(folder: &Path) -> Result<Option<bool>> {
    study::reject(folder, &dupsift_incremental::reject)
}

//! Whether a folder is the output of a batch: not whether something stands there, but whether it is that publication.

use std::path::Path;

use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::{self, MOST_JSON};
use dupsift_engine::job::run_report::RunReport;
use dupsift_files::io::SUCCESS;
use dupsift_index::{Batch, State};

/// Whether the output of a batch stands where its run put it.
///
/// # Errors
/// As [`is_output_of`].
pub fn state(batch: &Batch) -> Result<State> {
    Ok(if is_output_of(batch, &batch.out)? { State::Published } else { State::Lost })
}

/// Whether a folder is the output of that publication of a batch.
///
/// # Errors
/// A record that is there and cannot be read: then nobody can tell.
pub fn is_output_of(batch: &Batch, out: &Path) -> Result<bool> {
    let path = out.join("run.json");
    if !path.is_file() || !out.join(SUCCESS).is_file() {
        // A folder that may not be looked into is no folder that is not there.
        return match path.symlink_metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                Err(Error::reading("read", &path)(error))
            }
            _ => Ok(false),
        };
    }
    let unknown = |why: &dyn std::fmt::Display| {
        Error::usage(format!(
            "{}: {why}; so it is not known whether {} is the result of the batch {}, which the index has or was about to have; mend the file, or move the folder away",
            path.display(),
            out.display(),
            batch.name
        ))
    };
    let json = safe_fs::read(&path, MOST_JSON).map_err(|error| unknown(&error))?;
    // Other verbs write other records.
    let record: serde_json::Value = serde_json::from_slice(&json).map_err(|error| unknown(&error))?;
    let publication = record["index"]["publication"].as_str().unwrap_or_default();
    Ok(!publication.is_empty() && publication == batch.publication)
}

/// Reads the record of an output.
///
/// # Errors
/// A record that is not there, or is none of a run.
pub fn record(out: &Path) -> Result<RunReport> {
    let path = out.join("run.json");
    let json = safe_fs::read(&path, MOST_JSON).map_err(Error::reading("read", &path))?;
    serde_json::from_slice(&json).map_err(|error| Error::BadFile { path, why: error.to_string() })
}

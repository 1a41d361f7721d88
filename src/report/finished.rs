//! Formats the summary of an existing output folder.

use std::path::{Path, PathBuf};

use super::{Detail, applied, comparison, summary};
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::listing::is_file;
use dupsift_core::safe_fs::{self, MOST_JSON};
use dupsift_publish::HELD;
use dupsift_study::{AppliedReport, Finished};
use serde::de::DeserializeOwned;

/// Returns the summary that the command line printed at the end of the run, the comparison or the `apply` that wrote this folder. If
/// `apply` added the corpus to the output of a run, the summary of the run includes it.
///
/// # Errors
/// Returns an error if none of these commands wrote the folder, or if a record cannot be parsed.
pub fn finished(dir: &Path, detail: Detail) -> Result<String> {
    if AppliedReport::is_alone(dir)? {
        return Ok(applied(&AppliedReport::read(dir)?, dir));
    }
    let finished = Finished::open(dir)?;
    let out = asked(dir)?;
    let path = dir.join("compare").join("comparison.json");
    match is_file(&path)? {
        true => Ok(comparison(&record(&path)?, &finished.report, &out)),
        false => Ok(summary(&finished.report, &out, detail)),
    }
}

/// Returns the output folder that was requested for a run. If the result is held, this is the name without `.held`.
fn asked(dir: &Path) -> Result<PathBuf> {
    let name = dir.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".held"));
    Ok(match name {
        Some(name) if is_file(&dir.join(HELD))? => dir.with_file_name(name),
        _ => dir.to_path_buf(),
    })
}

fn record<R: DeserializeOwned>(path: &Path) -> Result<R> {
    let json = safe_fs::read(path, MOST_JSON).map_err(Error::reading("read", path))?;
    serde_json::from_slice(&json).map_err(|error| Error::BadFile {
        path: path.to_path_buf(),
        why: format!("{error}; expected a record written by this version of dupsift"),
    })
}

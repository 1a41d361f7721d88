//! Checks whether a folder is the output of a batch. A folder is the output of a batch if its record contains the publication identifier
//! that the index stores for the batch.

use std::path::Path;

use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::listing::{is_file, is_folder};
use dupsift_core::safe_fs::{self, MOST_JSON};
use dupsift_engine::job::run_report::RunReport;
use dupsift_index::{Batch, State};
use dupsift_publish::SUCCESS;

/// Determines whether the output of a batch is still where its run wrote it. A batch counts as lost only if the parent folder of its output
/// exists: if the parent folder is missing, for example because a disk is not mounted, the output may still exist.
///
/// # Errors
/// Returns the errors of [`is_output_of`], or an error if the parent folder does not exist.
pub(crate) fn state(batch: &Batch) -> Result<State> {
    if is_output_of(batch, &batch.out)? {
        return Ok(State::Published);
    }
    let above = batch.out.parent().unwrap_or(Path::new("/"));
    if !is_folder(above)? {
        return Err(Error::usage(format!(
            "{} does not exist, so it is unknown whether {} is the result of the unfinished batch {}; mount the disk, or, if the result is lost, create the folder: mkdir -p {0}",
            above.display(),
            batch.out.display(),
            batch.name
        )));
    }
    Ok(State::Lost)
}

/// Returns whether a folder is the output that was published for a batch.
///
/// # Errors
/// Returns an error if a record cannot be accessed or read, because then it is unknown whether the folder is the output.
pub(crate) fn is_output_of(batch: &Batch, out: &Path) -> Result<bool> {
    let path = out.join("run.json");
    if !is_file(&path)? || !is_file(&out.join(SUCCESS))? {
        return Ok(false);
    }
    let unknown = |why: &dyn std::fmt::Display| {
        Error::usage(format!(
            "{}: {why}, so it is unknown whether {} is the result of the batch {}; repair the file, or move the folder elsewhere",
            path.display(),
            out.display(),
            batch.name
        ))
    };
    let json = safe_fs::read(&path, MOST_JSON).map_err(|error| unknown(&error))?;
    // The record may come from another command, which writes different fields.
    let record: serde_json::Value = serde_json::from_slice(&json).map_err(|error| unknown(&error))?;
    let publication = record["index"]["publication"].as_str().unwrap_or_default();
    Ok(!publication.is_empty() && publication == batch.publication)
}

/// Reads the record of an output.
///
/// # Errors
/// Returns an error if there is no record, or if it is not the record of a run.
pub(crate) fn record(out: &Path) -> Result<RunReport> {
    let path = out.join("run.json");
    let json = safe_fs::read(&path, MOST_JSON).map_err(Error::reading("read", &path))?;
    serde_json::from_slice(&json).map_err(|error| Error::BadFile { path, why: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_lost_only_if_its_place_can_be_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let batch = |out: &str| Batch { out: folder.path().join(out), publication: "1".into(), ..Batch::default() };
        let told = |out: &str| state(&batch(out)).map_err(|error| error.to_string());
        assert_eq!(told("out"), Ok(State::Lost));
        // The output is on a disk that is not mounted.
        let unmounted = told("mnt/disk/out").unwrap_err();
        assert!(unmounted.contains("mnt/disk does not exist") && unmounted.contains("mkdir -p"), "{unmounted}");
        // The path leads to a file instead of a folder, or to a link to itself.
        std::fs::write(folder.path().join("file"), "").unwrap();
        assert_eq!(told("file"), Ok(State::Lost));
        std::os::unix::fs::symlink(folder.path().join("loop"), folder.path().join("loop")).unwrap();
        assert!(told("loop").unwrap_err().contains("look at"));
        let out = folder.path().join("out");
        std::fs::create_dir(&out).unwrap();
        std::fs::write(out.join("run.json"), r#"{"index": {"publication": "1"}}"#).unwrap();
        assert_eq!(told("out"), Ok(State::Lost));
        std::fs::write(out.join(SUCCESS), "").unwrap();
        assert_eq!(told("out"), Ok(State::Published));
    }
}

//! Defines `applied.json`, the record of a corpus that `apply` wrote from a finished run.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::listing::{is_file, is_there};
use dupsift_core::safe_fs::{self, MOST_JSON};
use dupsift_engine::job::run_report::CorpusReport;
use dupsift_publish::{APPLIED, is_inside, leads_out};

/// The version of the record's format.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// Describes a corpus that was written from a finished run; stored in `applied.json`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct AppliedReport {
    /// The version of this record's format.
    pub schema_version: u32,
    /// The version of the program.
    pub dupsift: String,
    /// The output folder of the run.
    pub run: String,
    /// The removal rule.
    pub remove_if: String,
    /// Thresholds that are higher than in the run, by label.
    pub thresholds: BTreeMap<String, f64>,
    /// The folders that were written.
    pub corpus: CorpusReport,
    /// The files that were written; they are added when the record is written.
    #[serde(default, skip_serializing)]
    pub files: Vec<String>,
}

impl AppliedReport {
    /// Returns whether a folder was written by `apply` alone, not by a run.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if it is unknown whether the records exist.
    pub fn is_alone(dir: &Path) -> Result<bool> {
        Ok(is_file(&dir.join(APPLIED))? && !is_there(&dir.join("run.json"))?)
    }

    /// Reads the record in a folder.
    ///
    /// # Errors
    /// Returns an error if the record is missing or cannot be parsed.
    pub fn read(dir: &Path) -> Result<AppliedReport> {
        let path = dir.join(APPLIED);
        let json = safe_fs::read(&path, MOST_JSON).map_err(Error::reading("read", &path))?;
        let report: AppliedReport = serde_json::from_slice(&json).map_err(|error| {
            let why = format!("{error}; expected a record written by this version of dupsift");
            Error::BadFile { path: path.clone(), why }
        })?;
        match report.files.iter().chain(report.corpus.folders.keys()).find(|file| !is_inside(file)) {
            Some(wrong) => Err(leads_out(path, wrong)),
            None => Ok(report),
        }
    }

    /// Returns the folders that `apply` added to the output of a run and that still exist; `None` if there are none.
    ///
    /// # Errors
    /// Returns the errors of [`AppliedReport::read`], unless there is no record.
    pub(crate) fn added(dir: &Path) -> Result<Option<CorpusReport>> {
        if !is_there(&dir.join(APPLIED))? {
            return Ok(None);
        }
        let mut corpus = AppliedReport::read(dir)?.corpus;
        corpus.folders.retain(|name, _| dir.join(name).is_dir());
        Ok((!corpus.folders.is_empty()).then_some(corpus))
    }
}

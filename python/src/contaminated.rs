//! Implements the `contaminated` command, the summary of its result, and the mask of the rows that are kept.

use std::path::{Path, PathBuf};

use arrow::array::AsArray;
use arrow::datatypes::{Float32Type, Int64Type};
use dupsift::error::{Error, Result};
use dupsift::report;
use dupsift_commands::contaminated::{Contaminated, ContaminationReport};
use dupsift_engine::job;
use dupsift_engine::options::{Spelling, Verb};
use dupsift_input::TableReader;
use dupsift_publish::refuse_standard_input;
use pyo3::prelude::*;

use crate::call::call;
use crate::columns::Column;
use crate::error::raised;
use crate::settings::{Given, settings};

/// Finds the documents that contain items from an evaluation set.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn contaminated_run(
    py: Python<'_>,
    inputs: Vec<String>,
    options: Vec<(String, Given)>,
    told: Option<Py<PyAny>>,
) -> PyResult<PathBuf> {
    call(py, told, move |cancel, progress| {
        let command = Contaminated::resolve(inputs, &settings(Verb::Contaminated, options)?)?;
        refuse_standard_input(&command.run.input.paths)?;
        let report = command.run(Some(&report::contamination_page), progress, cancel)?;
        Ok(job::stands_in(&report, &command.run.output.folder))
    })
}

/// Returns the summary of the search that wrote this folder, as printed on the command line.
///
/// # Errors
/// Returns an error if the folder is not the output of a finished search.
#[pyfunction]
pub fn contaminated_summary(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    read(&folder)
        .map(|record| Spelling::Keywords.of(&report::contamination(&record, &folder)).into_owned())
        .map_err(|error| raised(py, error))
}

/// Returns a mask over the rows in the corpus. A value is true if the row is not contaminated.
///
/// # Errors
/// Returns an error if the folder is not the output of a finished search, or if a table is damaged.
#[pyfunction]
pub fn contaminated_mask(py: Python<'_>, folder: PathBuf) -> PyResult<Column> {
    mask(&folder).map(Column::of_flags).map_err(|error| raised(py, error))
}

fn read(folder: &Path) -> Result<ContaminationReport> {
    let path = folder.join("run.json");
    let json = std::fs::read(&path).map_err(Error::reading("read", &path))?;
    serde_json::from_slice(&json)
        .map_err(|error| Error::BadFile { path, why: format!("{error}; expected the record of dupsift contaminated") })
}

fn mask(folder: &Path) -> Result<Vec<bool>> {
    let record = read(folder)?;
    let mut clean = vec![true; record.rows as usize];
    let path = folder.join("contaminated/part-00000.parquet");
    let wrong = || Error::BadFile {
        path: path.clone(),
        why: "expected the columns doc, relation and score, as written by dupsift contaminated".into(),
    };
    for batch in TableReader::open(&path, &["doc", "relation", "score"])? {
        let batch = batch?;
        let docs = batch.column_by_name("doc").and_then(|column| column.as_primitive_opt::<Int64Type>());
        let scores = batch.column_by_name("score").and_then(|column| column.as_primitive_opt::<Float32Type>());
        let relations = batch.column_by_name("relation").and_then(|column| column.as_string_opt::<i32>());
        let ((docs, scores), relations) = docs.zip(scores).zip(relations).ok_or_else(wrong)?;
        for ((&doc, &score), relation) in docs.values().iter().zip(scores.values()).zip(relations) {
            let clean = usize::try_from(doc).ok().and_then(|doc| clean.get_mut(doc)).ok_or_else(wrong)?;
            *clean &= relation != Some("leak") || score < record.threshold as f32;
        }
    }
    Ok(clean)
}

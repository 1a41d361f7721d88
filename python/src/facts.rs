//! Returns facts about algorithms and presets, and computes signatures and similarities of individual texts.

use dupsift::cli::commands::algorithms::json_of_all;
use dupsift::error::Error;
use dupsift_algorithms::recipe::{DEFAULT_PRESET, PRESETS};
use pyo3::prelude::*;

use crate::error::raised;

type Preset = (&'static str, &'static str, &'static str, Vec<(&'static str, &'static str)>, bool);

/// Returns the facts about all algorithms, as printed by `dupsift algorithms --json`.
///
/// # Errors
/// Returns an error if there is too little memory.
#[pyfunction]
pub fn algorithms(py: Python<'_>) -> PyResult<String> {
    json_of_all().map_err(|error| raised(py, Error::Table { action: "write JSON".into(), source: error.into() }))
}

/// Returns the presets: the name, summary, algorithms and options of each preset, and whether it is the default.
#[pyfunction]
pub fn presets() -> Vec<Preset> {
    let preset = |one: &dupsift_algorithms::recipe::Preset| {
        (one.name, one.summary, one.algorithms, one.options.to_vec(), one.name == DEFAULT_PRESET.name)
    };
    PRESETS.iter().map(preset).collect()
}

/// The signature of one text: its rows (position, key, order and sketch), the evidence for verification, and the reason
/// why there is no signature.
type Signed = (Vec<(u32, u128, u32, Vec<u8>)>, Vec<u64>, Option<&'static str>);

/// Returns the signature of one text.
///
/// # Errors
/// Raises ValueError if the algorithm is unknown or needs a corpus.
#[pyfunction]
pub fn sign(py: Python<'_>, text: &str, algorithm: &str) -> PyResult<Signed> {
    let signature = py.detach(|| dupsift::sign(text, algorithm)).map_err(|error| raised(py, error))?;
    let rows = signature.rows.into_iter().map(|row| (row.position, row.key, row.order, row.sketch));
    Ok((rows.collect(), signature.sketch, signature.reason))
}

/// Returns the similarity of two texts, from 0 to 1.
///
/// # Errors
/// Raises ValueError if the measure is unknown, or if the texts are too long to be compared.
#[pyfunction]
pub fn similarity(py: Python<'_>, a: &str, b: &str, measure: &str) -> PyResult<f64> {
    py.detach(|| dupsift::similarity(a, b, measure)).map_err(|error| raised(py, error))
}

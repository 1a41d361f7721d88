//! The registry: algorithms and presets.

use dupsift::cli::algorithms::json_of_all;
use dupsift::error::Error;
use dupsift::stage::recipe::{DEFAULT_PRESET, PRESETS};
use pyo3::prelude::*;

use crate::error::raised;

type Preset = (&'static str, &'static str, &'static str, Vec<(&'static str, &'static str)>, bool);

/// All that is known of the algorithms, as `dupsift algorithms --json` prints it.
///
/// # Errors
/// Too little memory.
#[pyfunction]
pub fn algorithms(py: Python<'_>) -> PyResult<String> {
    json_of_all().map_err(|error| raised(py, Error::Table { action: "write JSON".into(), source: error.into() }))
}

/// The presets: name, summary, algorithms, options that go with it, whether it is the default.
#[pyfunction]
pub fn presets() -> Vec<Preset> {
    let preset = |one: &dupsift::stage::recipe::Preset| {
        (one.name, one.summary, one.algorithms, one.options.to_vec(), one.name == DEFAULT_PRESET.name)
    };
    PRESETS.iter().map(preset).collect()
}

/// The signature of one text: rows of position, key, order and sketch; what the texts that met are compared by; why there is none.
type Signed = (Vec<(u32, u128, u32, Vec<u8>)>, Vec<u64>, Option<&'static str>);

/// Signs one text.
///
/// # Errors
/// ValueError: an unknown algorithm, or one that needs a corpus.
#[pyfunction]
pub fn sign(py: Python<'_>, text: &str, algorithm: &str) -> PyResult<Signed> {
    let signature = py.detach(|| dupsift::sign(text, algorithm)).map_err(|error| raised(py, error))?;
    let rows = signature.rows.into_iter().map(|row| (row.position, row.key, row.order, row.sketch));
    Ok((rows.collect(), signature.sketch, signature.reason))
}

/// How alike two texts are, 0 to 1.
///
/// # Errors
/// ValueError: an unknown measure, or texts too long for one comparison.
#[pyfunction]
pub fn similarity(py: Python<'_>, a: &str, b: &str, measure: &str) -> PyResult<f64> {
    py.detach(|| dupsift::similarity(a, b, measure)).map_err(|error| raised(py, error))
}

//! Passes tables to other libraries through the Arrow PyCapsule interface, as streams of record batches without copies.

use std::ffi::CStr;

use arrow::array::{ArrayRef, RecordBatchReader};
use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow::ffi_stream::FFI_ArrowArrayStream;
use dupsift::error::Error;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::raised;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// Converts an Arrow error to an exception. An error from the library keeps its class.
pub fn refused(error: ArrowError) -> PyErr {
    let said = error.to_string();
    match error {
        ArrowError::ExternalError(error) => match error.downcast::<Error>() {
            Ok(error) => Python::attach(|py| raised(py, *error)),
            Err(_) => PyValueError::new_err(said),
        },
        _ => PyValueError::new_err(said),
    }
}

/// Returns a stream of batches. Requested types are ignored, as the interface allows.
///
/// # Errors
/// Returns an error if there is too little memory.
pub fn stream<'py>(py: Python<'py>, reader: Box<dyn RecordBatchReader + Send>) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// Returns the schema of a stream.
///
/// # Errors
/// Returns an error if the interface does not support a type.
pub fn schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(schema).map_err(refused)?, SCHEMA)
}

/// Returns the type and the values of an array.
///
/// # Errors
/// Returns the errors of [`schema`].
pub fn array<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let schema = FFI_ArrowSchema::try_from(array.data_type()).map_err(refused)?;
    let values = FFI_ArrowArray::new(&array.to_data());
    Ok((PyCapsule::new_with_value(py, schema, SCHEMA)?, PyCapsule::new_with_value(py, values, ARRAY)?))
}

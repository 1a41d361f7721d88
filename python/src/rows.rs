//! Converts table rows to Python dictionaries, one row at a time, for callers that do not use a data frame library.

use std::sync::{Mutex, TryLockError};

use arrow::array::AsArray;
use arrow::array::{Array, RecordBatch};
use arrow::datatypes::DataType;
use arrow::datatypes::{Float32Type, Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow::error::ArrowError;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::stream_out::refused;

type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// Iterates over the rows of batches as dictionaries.
#[pyclass(frozen)]
pub struct Dictionaries {
    left: Mutex<Left>,
}

struct Left {
    batches: Batches,
    now: Option<(RecordBatch, usize)>,
}

impl Dictionaries {
    /// Returns an iterator over the rows of these batches.
    pub fn new(batches: Batches) -> Dictionaries {
        Dictionaries { left: Mutex::new(Left { batches, now: None }) }
    }
}

#[pymethods]
impl Dictionaries {
    fn __iter__(rows: PyRef<'_, Self>) -> PyRef<'_, Self> {
        rows
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        // Creating a value may run other Python code, which may also request the next row.
        let mut left = match self.left.try_lock() {
            Ok(left) => left,
            Err(TryLockError::Poisoned(left)) => left.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(PyValueError::new_err("the rows are already being read")),
        };
        loop {
            if let Some((batch, next)) = &mut left.now
                && *next < batch.num_rows()
            {
                let row = PyDict::new(py);
                for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
                    row.set_item(field.name(), value(py, column, *next)?)?;
                }
                *next += 1;
                return Ok(Some(row));
            }
            match left.batches.next() {
                Some(batch) => left.now = Some((batch.map_err(refused)?, 0)),
                None => return Ok(None),
            }
        }
    }
}

/// Converts a cell; null becomes None.
fn value<'py>(py: Python<'py>, column: &dyn Array, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match column.data_type() {
        DataType::Boolean => column.as_boolean().value(row).into_pyobject(py)?.to_owned().into_any(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into_pyobject(py)?.into_any(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into_pyobject(py)?.into_any(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into_pyobject(py)?.into_any(),
        DataType::Float32 => column.as_primitive::<Float32Type>().value(row).into_pyobject(py)?.into_any(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).into_pyobject(py)?.into_any(),
        DataType::Utf8 => column.as_string::<i32>().value(row).into_pyobject(py)?.into_any(),
        DataType::LargeUtf8 => column.as_string::<i64>().value(row).into_pyobject(py)?.into_any(),
        DataType::Binary => PyBytes::new(py, column.as_binary::<i32>().value(row)).into_any(),
        DataType::LargeBinary => PyBytes::new(py, column.as_binary::<i64>().value(row)).into_any(),
        DataType::List(_) => list(py, &column.as_list::<i32>().value(row))?.into_any(),
        DataType::LargeList(_) => list(py, &column.as_list::<i64>().value(row))?.into_any(),
        DataType::Struct(fields) => {
            let named = PyDict::new(py);
            for (field, column) in fields.iter().zip(column.as_struct().columns()) {
                named.set_item(field.name(), value(py, column, row)?)?;
            }
            named.into_any()
        }
        other => {
            return Err(PyTypeError::new_err(format!(
                "values of type {other} cannot be converted to Python; use to_arrow()"
            )));
        }
    })
}

fn list<'py>(py: Python<'py>, values: &dyn Array) -> PyResult<Bound<'py, PyList>> {
    let each = (0..values.len()).map(|row| value(py, values, row));
    PyList::new(py, each.collect::<PyResult<Vec<_>>>()?)
}

//! Defines columns with one value per row, such as whether the row is kept or was seen before. Each column is both an Arrow array and a
//! Python sequence.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::AsArray;
use arrow::array::{Array, ArrayRef, BooleanArray, Int64Array};
use arrow::datatypes::Int64Type;
use dupsift_core::number::thousands;
use dupsift_study::{Finished, refuse_sample};
use parquet::arrow::ProjectionMask;
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::slice::PySliceIndices;
use pyo3::types::{PyBytes, PyCapsule, PyList, PySlice, PySliceMethods};

use crate::error::{Package, raised};
use crate::stream_out::{self, refused};
use crate::table::{NotOpened, opened};

/// The number of values that `repr` shows at each end of a longer column.
const SHOWN: usize = 5;

/// Holds a column of booleans or row numbers.
#[pyclass(frozen, sequence, module = "dupsift._dupsift")]
pub struct Column {
    values: ArrayRef,
}

impl Column {
    /// Creates a column of booleans.
    pub fn of_flags(flags: Vec<bool>) -> Column {
        Column { values: Arc::new(BooleanArray::from(flags)) }
    }

    /// Returns the value in an existing row.
    fn value<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyAny>> {
        match self.values.as_boolean_opt() {
            Some(flags) => Ok(flags.value(row).into_pyobject(py)?.to_owned().into_any()),
            None => Ok(self.values.as_primitive::<Int64Type>().value(row).into_pyobject(py)?.into_any()),
        }
    }

    /// Creates a column of row numbers.
    pub fn of_rows(rows: impl IntoIterator<Item = u64>) -> Column {
        let rows: Int64Array = rows.into_iter().map(|row| row as i64).collect();
        Column { values: Arc::new(rows) }
    }
}

impl Column {
    /// Returns the values as numbers. True is 1, and false is 0.
    fn numbers(&self) -> Box<dyn Iterator<Item = i64> + '_> {
        match self.values.as_boolean_opt() {
            Some(flags) => Box::new(flags.values().iter().map(i64::from)),
            None => Box::new(self.values.as_primitive::<Int64Type>().values().iter().copied()),
        }
    }

    /// Returns a column with the values in these rows.
    fn taken(&self, rows: impl Iterator<Item = usize>) -> Column {
        match self.values.as_boolean_opt() {
            Some(flags) => Column::of_flags(rows.map(|row| flags.value(row)).collect()),
            None => {
                let numbers = self.values.as_primitive::<Int64Type>();
                Column::of_rows(rows.map(|row| numbers.value(row) as u64))
            }
        }
    }

    /// Returns the value in an existing row, formatted as in Python.
    fn shown(&self, row: usize) -> String {
        match self.values.as_boolean_opt() {
            Some(flags) => if flags.value(row) { "True" } else { "False" }.to_owned(),
            None => self.values.as_primitive::<Int64Type>().value(row).to_string(),
        }
    }

    fn flags(&self, operator: &str) -> PyResult<&BooleanArray> {
        let why =
            || PyTypeError::new_err(format!("{operator} requires columns of booleans, but this one has row numbers"));
        self.values.as_boolean_opt().ok_or_else(why)
    }

    fn both(&self, operator: &str, other: &Column, join: impl Fn(bool, bool) -> bool) -> PyResult<Column> {
        let (one, other) = (self.flags(operator)?, other.flags(operator)?);
        if one.len() != other.len() {
            let (one, other) = (one.len(), other.len());
            return Err(PyValueError::new_err(format!("{operator}: the columns have {one} and {other} values")));
        }
        let flags = one.values().iter().zip(other.values().iter()).map(|(a, b)| join(a, b)).collect();
        Ok(Column::of_flags(flags))
    }
}

/// Converts a number or a boolean; returns `None` for anything else.
fn number(value: &Bound<'_, PyAny>) -> Option<i64> {
    value.extract::<bool>().map(i64::from).ok().or_else(|| value.extract::<i64>().ok())
}

/// The result of `__reduce__`: the function that recreates the value, and its arguments.
type Reduced<'py> = (Bound<'py, PyAny>, (&'static str, Bound<'py, PyBytes>));

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.values.len()
    }

    /// Shows the type, the number of values, and the first and last values.
    fn __repr__(&self) -> String {
        let count = self.values.len();
        let shown: Vec<String> = match count <= 2 * SHOWN {
            true => (0..count).map(|row| self.shown(row)).collect(),
            false => {
                let ends = |rows: Range<usize>| rows.map(|row| self.shown(row));
                ends(0..SHOWN).chain(["…".to_owned()]).chain(ends(count - SHOWN..count)).collect()
            }
        };
        let values = if count == 1 { "value" } else { "values" };
        format!("<dupsift.Column of {}: {} {values} [{}]>", self.dtype(), thousands(count as u64), shown.join(", "))
    }

    fn __getitem__<'py>(&self, py: Python<'py>, at: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let length = self.values.len();
        if let Ok(slice) = at.cast::<PySlice>() {
            let PySliceIndices { start, step, slicelength, .. } = slice.indices(length as isize)?;
            let rows = (0..slicelength as isize).map(|row| (start + row * step) as usize);
            return Ok(self.taken(rows).into_pyobject(py)?.into_any());
        }
        let at: isize = at.extract()?;
        let place = if at < 0 { at.checked_add_unsigned(length) } else { Some(at) };
        let place = place.and_then(|place| usize::try_from(place).ok()).filter(|place| *place < length);
        match place {
            Some(place) => self.value(py, place),
            None => Err(PyIndexError::new_err(format!("row {at} does not exist in a column of {length} values"))),
        }
    }

    /// Returns the inverted booleans.
    fn __invert__(&self) -> PyResult<Column> {
        let flags = self.flags("~")?;
        Ok(Column::of_flags(flags.values().iter().map(|flag| !flag).collect()))
    }

    fn __and__(&self, other: &Column) -> PyResult<Column> {
        self.both("&", other, |a, b| a & b)
    }

    fn __or__(&self, other: &Column) -> PyResult<Column> {
        self.both("|", other, |a, b| a | b)
    }

    fn __xor__(&self, other: &Column) -> PyResult<Column> {
        self.both("^", other, |a, b| a ^ b)
    }

    /// Compares each value with a number, with a boolean, or with the value in another column or sequence of the same length.
    fn __richcmp__(&self, other: &Bound<'_, PyAny>, operator: CompareOp) -> PyResult<Column> {
        let length = self.values.len();
        let others: Vec<i64> = match number(other) {
            Some(number) => vec![number; length],
            None => other.try_iter()?.map(|one| one?.extract::<i64>()).collect::<PyResult<_>>()?,
        };
        if others.len() != length {
            let others = others.len();
            return Err(PyValueError::new_err(format!(
                "a column of {length} values cannot be compared with {others} values"
            )));
        }
        let flags = self.numbers().zip(others).map(|(one, other)| operator.matches(one.cmp(&other))).collect();
        Ok(Column::of_flags(flags))
    }

    /// Returns whether a column of row numbers has values, as for any sequence: Polars asks this before it takes the rows. Comparisons return
    /// columns of booleans, whose truth value is ambiguous.
    fn __bool__(&self) -> PyResult<bool> {
        match self.values.as_boolean_opt() {
            Some(_) => Err(PyValueError::new_err(
                "the truth value of a column of booleans is ambiguous; use sum() or len(), or frame.filter(column) to select rows in Polars",
            )),
            None => Ok(!self.values.is_empty()),
        }
    }

    fn __iter__(column: Bound<'_, Self>) -> Values {
        Values { column: column.unbind(), next: AtomicUsize::new(0) }
    }

    /// Returns the NumPy name of the type: `bool` or `int64`.
    #[getter]
    fn dtype(&self) -> &'static str {
        if self.values.as_boolean_opt().is_some() { "bool" } else { "int64" }
    }

    /// Returns the values as bytes in native byte order: one byte per boolean, eight bytes per number.
    fn tobytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        match self.values.as_boolean_opt() {
            Some(flags) => PyBytes::new(py, &flags.values().iter().map(u8::from).collect::<Vec<u8>>()),
            None => PyBytes::new(py, self.values.as_primitive::<Int64Type>().values().inner().as_slice()),
        }
    }

    /// Returns the values as a list.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        match self.values.as_boolean_opt() {
            Some(flags) => PyList::new(py, flags.values().iter().collect::<Vec<bool>>()),
            None => PyList::new(py, self.values.as_primitive::<Int64Type>().values().iter()),
        }
    }

    /// Returns the values as a read-only NumPy array.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("numpy")?.call_method1("frombuffer", (self.tobytes(py), self.dtype()))
    }

    /// Returns the values as a NumPy array. pandas calls an indexer that is callable, so `frame[column]` takes rows by their flags, while it
    /// takes any other sequence for names of columns.
    fn __call__<'py>(&self, py: Python<'py>, frame: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let _ = frame;
        self.to_numpy(py)
    }

    /// Returns how often a value is in the column.
    fn count(&self, value: &Bound<'_, PyAny>) -> usize {
        number(value).map_or(0, |value| self.numbers().filter(|one| *one == value).count())
    }

    /// Returns the first row with a value.
    fn index(&self, value: &Bound<'_, PyAny>) -> PyResult<usize> {
        let row = number(value).and_then(|value| self.numbers().position(|one| one == value));
        row.ok_or_else(|| PyValueError::new_err(format!("{value} is not in the column")))
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let values = self.to_numpy(py)?;
        match dtype {
            Some(dtype) => values.call_method1("astype", (dtype,)),
            None if copy == Some(true) => values.call_method0("copy"),
            None => Ok(values),
        }
    }

    /// Recreates a column from its type and its bytes.
    #[staticmethod]
    fn from_bytes(dtype: &str, values: &[u8]) -> PyResult<Column> {
        match dtype {
            "bool" => Ok(Column::of_flags(values.iter().map(|&value| value != 0).collect())),
            "int64" => Ok(Column::of_rows(values.as_chunks().0.iter().map(|&row| u64::from_ne_bytes(row)))),
            other => Err(PyValueError::new_err(format!("dtype={other:?}: expected bool or int64"))),
        }
    }

    /// Makes the column picklable, because Hugging Face `datasets` computes cache names from pickled values.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        Ok((py.get_type::<Column>().getattr("from_bytes")?, (self.dtype(), self.tobytes(py))))
    }

    /// Returns the number of true values in a column of booleans, or the sum of a column of row numbers.
    fn sum(&self) -> i64 {
        match self.values.as_boolean_opt() {
            Some(flags) => flags.true_count() as i64,
            None => self.values.as_primitive::<Int64Type>().values().iter().sum(),
        }
    }

    /// Returns the numbers of the rows whose value is true.
    fn rows(&self) -> Column {
        let rows = self.values.as_boolean_opt().map(|flags| flags.values().set_indices());
        Column::of_rows(rows.into_iter().flatten().map(|row| row as u64))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema;
        stream_out::array(py, &self.values)
    }
}

/// Iterates over the values of a column.
#[pyclass(frozen)]
struct Values {
    column: Py<Column>,
    next: AtomicUsize,
}

#[pymethods]
impl Values {
    fn __iter__(values: PyRef<'_, Self>) -> PyRef<'_, Self> {
        values
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (column, row) = (self.column.get(), self.next.fetch_add(1, Ordering::Relaxed));
        if row < column.values.len() { column.value(py, row).map(Some) } else { Ok(None) }
    }
}

/// Returns a mask over the rows in the corpus of a run. A value is true if the row is not in the removal list and its text is not blank.
///
/// # Errors
/// Returns an error if the folder is not the output of a finished run, if the run read only a sample of the corpus, or if the list is
/// damaged or belongs to a different corpus.
#[pyfunction]
pub fn kept_mask(py: Python<'_>, folder: PathBuf) -> PyResult<Column> {
    let finished = Finished::open(&folder).map_err(|error| raised(py, error))?;
    refuse_sample(&finished.report).map_err(|error| raised(py, error))?;
    // In an incremental run, document numbers continue from the earlier batches.
    let (first, rows) = (finished.first_doc() as i64, finished.rows());
    let removed = folder.join("removed/part-00000.parquet");
    let mut kept = vec![true; rows as usize];
    let builder = opened(&removed).map_err(|error| error.raised(py))?;
    let mask = ProjectionMask::columns(builder.parquet_schema(), ["doc"]);
    let wrong = |why: String| Package::InputError.raise(py, format!("{}: {why}", removed.display()));
    let reader =
        builder.with_projection(mask).build().map_err(|error| NotOpened::Damaged(error.to_string()).raised(py))?;
    for batch in reader {
        let batch = batch.map_err(refused)?;
        let docs = batch.columns().first().and_then(|column| column.as_primitive_opt::<Int64Type>());
        let docs = docs.ok_or_else(|| wrong("it has no Int64 column doc".into()))?;
        for &doc in docs.values() {
            match usize::try_from(doc - first).ok().and_then(|doc| kept.get_mut(doc)) {
                Some(kept) => *kept = false,
                None => {
                    return Err(wrong(format!(
                        "it refers to row {doc}, but the corpus has {rows} rows, starting at row {first}"
                    )));
                }
            }
        }
    }
    finished.blank_rows(|row| kept[row as usize] = false).map_err(|error| raised(py, error))?;
    finished.check_not_replaced().map_err(|error| raised(py, error))?;
    Ok(Column::of_flags(kept))
}

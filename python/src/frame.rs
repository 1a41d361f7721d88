//! Reads data frames through the Arrow PyCapsule interface. The requested columns are written to a Parquet file, batch by batch, so that a
//! frame may be larger than the memory limit and a run can read the data twice.

use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::array::{ArrayRef, BinaryViewBuilder, RecordBatch, RecordBatchIterator, RecordBatchReader, new_null_array};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow::ffi_stream::FFI_ArrowArrayStream;
use dupsift::error::{Error, Result, did_you_mean};
use dupsift_input::several_texts::several;
use dupsift_publish::TableWriter;
use dupsift_tables::columns::read_as;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyCapsuleMethods, PyString};

use crate::call::call;
use crate::error::raised;
use crate::settings::{self, Asked, Given};
use crate::stream_in::{StreamIn, batch};
use crate::stream_out::refused;

/// The number of rows that are converted and written at a time.
const ROWS: usize = 8192;

/// Collected text is written when it reaches this size, in bytes.
const TEXT_BYTES: usize = 8 << 20;

/// The keywords that may name several columns.
const SEVERAL: [&str; 3] = ["text_column", "item_column", "choices_column"];

/// Returns the batches of an object that has `__arrow_c_stream__`, or `__arrow_c_array__` for a single batch.
///
/// # Errors
/// Raises TypeError if the object has neither method, and ValueError if the stream is not a table. Passes on exceptions from the object.
pub fn batches(frame: &Bound<'_, PyAny>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    if frame.hasattr("__arrow_c_stream__")? {
        let capsule = frame.call_method0("__arrow_c_stream__")?;
        return Ok(Box::new(of_stream(capsule.cast::<PyCapsule>()?)?));
    }
    if frame.hasattr("__arrow_c_array__")? {
        let capsules = frame.call_method0("__arrow_c_array__")?;
        let (schema, array) = capsules.extract::<(Bound<'_, PyCapsule>, Bound<'_, PyCapsule>)>()?;
        let batch = of_array(&schema, &array)?;
        let schema = batch.schema();
        return Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
    }
    Err(PyTypeError::new_err(format!(
        "expected an Arrow table, an object with __arrow_c_stream__ such as a polars, pandas, pyarrow or DuckDB frame; got {}",
        frame.get_type().name()?
    )))
}

#[allow(unsafe_code)]
fn of_stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<StreamIn> {
    const NAME: &CStr = c"arrow_array_stream";
    let pointer = capsule.pointer_checked(Some(NAME))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: according to the interface, a capsule with this name holds an Arrow stream; the stream is moved out of
    // the capsule and marked as released.
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    StreamIn::new(stream).map_err(|error| {
        PyValueError::new_err(format!("{error}; expected a table or another stream of named columns, such as a frame"))
    })
}

#[allow(unsafe_code)]
fn of_array(schema: &Bound<'_, PyCapsule>, array: &Bound<'_, PyCapsule>) -> PyResult<RecordBatch> {
    let schema = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
    let array = array.pointer_checked(Some(c"arrow_array"))?.cast::<FFI_ArrowArray>();
    // SAFETY: according to the interface, capsules with these names hold an Arrow array and its schema; the array is moved out of its
    // capsule and marked as released, and the schema is read while its capsule is alive.
    let (array, schema) = unsafe { (FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
    match DataType::try_from(schema).map_err(refused)? {
        DataType::Struct(fields) => batch(array, &Arc::new(Schema::new(fields))).map_err(refused),
        other => Err(PyValueError::new_err(format!("expected a batch of named columns, got an array of {other}"))),
    }
}

/// A new private folder for a frame, locked as long as this object exists. The caller removes the folder.
#[pyclass(frozen, module = "dupsift._dupsift")]
pub struct FrameFolder(dupsift_publish::FrameFolder);

#[pymethods]
impl FrameFolder {
    /// Creates the folder in `beside`, or in the system's temporary folder.
    #[new]
    fn new(py: Python<'_>, beside: Option<PathBuf>) -> PyResult<FrameFolder> {
        let folder = py.detach(|| dupsift_publish::FrameFolder::create(beside.as_deref()));
        folder.map(FrameFolder).map_err(|error| raised(py, error))
    }

    /// The path of the folder.
    #[getter]
    fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Returns the columns of a frame that a run with these keywords reads, and whether all other columns are also needed. A column that was
/// specified by a keyword is returned together with that keyword.
///
/// # Errors
/// Raises ValueError for keywords that `run` does not accept.
#[pyfunction]
pub fn frame_columns(py: Python<'_>, options: Vec<(String, Given)>) -> PyResult<(Vec<Asked>, bool)> {
    settings::frame_columns(options).map_err(|error| raised(py, error))
}

/// Writes the requested columns of a frame, or all columns if `all` is set, to a new Parquet file. Returns the number of rows.
///
/// # Errors
/// Returns an error if a column is missing or the disk is full. Passes on exceptions from the frame, and KeyboardInterrupt.
#[pyfunction]
pub fn write(frame: &Bound<'_, PyAny>, columns: Vec<Asked>, all: bool, path: PathBuf) -> PyResult<u64> {
    let batches = batches(frame)?;
    let written = call(frame.py(), None, move |cancel, _| write_parquet(batches, &columns, all, &path, cancel));
    written.map_err(|error| interrupted(frame.py(), error))
}

/// Writes document texts, each of which is a string or None, to the `text` column of a new Parquet file. Returns the number of rows.
///
/// # Errors
/// Raises TypeError with the row number for any other value. Returns an error if the disk is full. Passes on exceptions from the iterator.
#[pyfunction]
pub fn write_texts(texts: &Bound<'_, PyAny>, path: PathBuf) -> PyResult<u64> {
    let py = texts.py();
    let schema = Schema::new(vec![Field::new("text", DataType::Utf8View, true)]);
    let mut table = TableWriter::create_of_bytes(&path, &schema).map_err(|error| raised(py, error))?;
    let mut column = BinaryViewBuilder::new();
    let (mut bytes, mut rows) = (0, 0_u64);
    for text in texts.try_iter()? {
        let text = text?;
        if text.is_none() {
            column.append_null();
        } else if let Ok(text) = text.cast::<PyString>() {
            // A string that contains half of a surrogate pair is not valid UTF-8; its row is rejected when the file is read.
            let value = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
            let value = value.cast::<PyBytes>()?.as_bytes();
            column.append_value(value);
            bytes += value.len();
        } else {
            let kind = text.get_type().name()?;
            return Err(PyTypeError::new_err(format!("row {rows}: expected a string or None, got {kind}")));
        }
        rows += 1;
        if bytes >= TEXT_BYTES || rows.is_multiple_of(ROWS as u64) {
            py.check_signals()?;
            write_column(&mut table, &mut column).map_err(|error| raised(py, error))?;
            bytes = 0;
        }
    }
    write_column(&mut table, &mut column).map_err(|error| raised(py, error))?;
    table.close().map(|(rows, _)| rows).map_err(|error| raised(py, error))
}

fn write_column(table: &mut TableWriter, column: &mut BinaryViewBuilder) -> Result<()> {
    let values: ArrayRef = Arc::new(column.finish());
    let rows = RecordBatch::try_from_iter_with_nullable([("text", values, true)]);
    table.write(&rows.map_err(Error::table("write the texts"))?)
}

/// Returns KeyboardInterrupt if the frame raised it, or else the error itself. KeyboardInterrupt is recognized by its name in the message,
/// because Arrow passes on only the message of an exception.
pub fn interrupted(py: Python<'_>, error: PyErr) -> PyErr {
    let said = error.value(py).to_string();
    let last = said.trim_end().lines().next_back().unwrap_or_default();
    let is_request = error.is_instance_of::<PyException>(py) && said.contains("Python exception: ");
    if is_request && last.split(':').next() == Some("KeyboardInterrupt") {
        PyKeyboardInterrupt::new_err(())
    } else {
        error
    }
}

fn write_parquet(
    batches: Box<dyn RecordBatchReader + Send>,
    columns: &[Asked],
    all: bool,
    path: &Path,
    cancel: &AtomicBool,
) -> Result<u64> {
    let mut chosen = chosen(&batches.schema(), columns)?;
    if all {
        let schema = batches.schema();
        let field = |at: usize| Field::new(schema.field(at).name(), written_as(schema.field(at).data_type()), true);
        chosen = (0..schema.fields().len()).map(|at| (at, field(at))).collect();
        if let Some(name) = twice(&schema, |_| true) {
            return Err(two_of(name));
        }
    }
    let schema = Schema::new(chosen.iter().map(|(_, field)| field.clone()).collect::<Vec<Field>>());
    let mut table = TableWriter::create_of_bytes(path, &schema)?;
    for batch in batches {
        let batch = batch.map_err(Error::columns("read the frame"))?;
        for from in (0..batch.num_rows()).step_by(ROWS) {
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let rows = batch.slice(from, ROWS.min(batch.num_rows() - from));
            table.write(&plain(&rows, &chosen).map_err(Error::columns("read the frame"))?)?;
        }
    }
    table.close().map(|(rows, _)| rows)
}

/// Returns the positions of the requested columns, and the field with which each column is written.
fn chosen(schema: &SchemaRef, columns: &[Asked]) -> Result<Vec<(usize, Field)>> {
    let mut chosen: Vec<(usize, Field)> = Vec::new();
    let is_there = |name: &str| schema.fields().iter().any(|field| field.name() == name);
    let is_several = |keyword: &Option<String>| keyword.as_deref().is_some_and(|keyword| SEVERAL.contains(&keyword));
    let each = columns.iter().flat_map(|(name, keyword)| {
        // If no column has the complete name, the name is a list of columns. Depending on the keyword, their strings are joined, or each
        // column holds one choice.
        let names = if is_several(keyword) && !is_there(name) { several(name) } else { Vec::new() };
        let names = if names.is_empty() { vec![name.clone()] } else { names };
        names.into_iter().map(move |name| (name, keyword))
    });
    for (name, keyword) in each {
        let name = &name;
        let at = schema.fields().iter().position(|field| field.name() == name);
        if let Some(name) = twice(schema, |other| other == name) {
            return Err(two_of(name));
        }
        match (at, keyword) {
            (Some(at), _) if chosen.iter().all(|(other, _)| *other != at) => {
                chosen.push((at, Field::new(name, written_as(schema.field(at).data_type()), true)));
            }
            (None, Some(keyword)) => {
                let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
                let hint = did_you_mean(name, names.iter().copied());
                let there = names.join(", ");
                return Err(Error::usage(format!(
                    "{keyword}={name:?}: the frame has no such column{hint}; available: {there}"
                )));
            }
            _ => {}
        }
    }
    // The columns of the copy are in the order of the frame.
    chosen.sort_by_key(|(at, _)| *at);
    Ok(chosen)
}

/// Returns a requested name that two columns share.
fn twice(schema: &SchemaRef, is_asked: impl Fn(&str) -> bool) -> Option<&str> {
    let names = || schema.fields().iter().map(|field| field.name().as_str());
    names().filter(|name| is_asked(name)).find(|name| names().filter(|other| other == name).count() > 1)
}

fn two_of(name: &str) -> Error {
    Error::usage(format!("the frame has two columns named {name:?}; expected unique names"))
}

/// Returns the type with which a column is written. Strings are written as views, to avoid copies, and dictionaries are written as their
/// values.
fn written_as(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Null => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary | DataType::FixedSizeBinary(_) => DataType::BinaryView,
        DataType::Dictionary(_, values) => written_as(values),
        other => other.clone(),
    }
}

/// Returns the chosen columns, with strings as bytes. The interface does not guarantee UTF-8; the reader of the file checks each value.
fn plain(rows: &RecordBatch, chosen: &[(usize, Field)]) -> Result<RecordBatch, ArrowError> {
    let column = |(at, field): &(usize, Field)| {
        let column = read_as::plain(&read_as::unchecked(rows.column(*at))?)?;
        let nulls = || new_null_array(&DataType::BinaryView, rows.num_rows());
        let column = if *rows.column(*at).data_type() == DataType::Null { nulls() } else { column };
        Ok((field.name().clone(), column, true))
    };
    let columns = chosen.iter().map(column).collect::<Result<Vec<(String, ArrayRef, bool)>, ArrowError>>()?;
    RecordBatch::try_from_iter_with_nullable(columns)
}

//! Provides the tables in an output folder. The tables are read from their Parquet files on request, one batch at a time.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchReader, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use dupsift::error::Error;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::{Package, raised};
use crate::rows::Dictionaries;
use crate::stream_out;

/// The number of rows in a batch.
const ROWS: usize = 8192;

/// Holds a table that consists of one or more Parquet files with the same columns.
#[pyclass(frozen, subclass, module = "dupsift._dupsift")]
pub struct Table {
    parts: Vec<Part>,
    /// The name of the additional column that contains the name of each row's file, if requested.
    part_column: Option<String>,
    schema: SchemaRef,
    rows: u64,
    /// An object that keeps the files from being deleted as long as the table or one of its streams exists.
    keeps: Option<Arc<Py<PyAny>>>,
}

#[derive(Clone)]
struct Part {
    path: PathBuf,
    name: String,
}

#[pymethods]
impl Table {
    /// Opens the files. If `part_column` is given, a column of that name contains the name of each row's file. The files are not deleted as
    /// long as `keeps` exists.
    #[new]
    #[pyo3(signature = (parts, part_column=None, keeps=None))]
    fn new(
        py: Python<'_>,
        parts: Vec<(String, PathBuf)>,
        part_column: Option<String>,
        keeps: Option<Py<PyAny>>,
    ) -> PyResult<Table> {
        let (mut rows, mut fields) = (0, None);
        for (_, path) in &parts {
            let builder = opened(path).map_err(|error| error.raised(py))?;
            rows += u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
            fields.get_or_insert_with(|| builder.schema().fields().clone());
        }
        let own = fields.iter().flat_map(|fields| fields.iter().cloned());
        let more = part_column.iter().map(|name| Arc::new(Field::new(name, DataType::Utf8, false)));
        let schema = Arc::new(Schema::new(own.chain(more).collect::<Vec<_>>()));
        let parts = parts.into_iter().map(|(name, path)| Part { path, name }).collect();
        Ok(Table { parts, part_column, schema, rows, keeps: keeps.map(Arc::new) })
    }

    fn __len__(&self) -> usize {
        self.rows as usize
    }

    /// Returns the names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Returns the paths of the files.
    #[getter]
    fn paths(&self) -> Vec<PathBuf> {
        self.parts.iter().map(|part| part.path.clone()).collect()
    }

    /// Iterates over the rows as dictionaries.
    fn __iter__(&self) -> PyResult<Dictionaries> {
        self.check()?;
        Ok(Dictionaries::new(Box::new(self.batches())))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        self.check()?;
        stream_out::stream(py, Box::new(self.batches()))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        stream_out::schema(py, &self.schema)
    }
}

impl Table {
    /// Checks that the files still exist. If a file were missing while a stream is read, the library that reads the
    /// stream would hide the class of the error.
    ///
    /// # Errors
    /// Raises FileNotFoundError with the folder that no longer exists.
    fn check(&self) -> PyResult<()> {
        match self.parts.iter().find(|part| matches!(part.path.try_exists(), Ok(false))) {
            None => Ok(()),
            Some(part) => {
                let gone = part
                    .path
                    .ancestors()
                    .take_while(|place| matches!(place.try_exists(), Ok(false)))
                    .last()
                    .unwrap_or(&part.path);
                let why = "the output folder no longer exists, or is no longer an output";
                Err(PyFileNotFoundError::new_err((libc::ENOENT, why, gone.as_os_str().to_owned())))
            }
        }
    }

    fn batches(&self) -> Rows {
        let (parts, schema) = (self.parts.clone().into_iter(), self.schema.clone());
        Rows { parts, now: None, schema, names: self.part_column.is_some(), _keeps: self.keeps.clone() }
    }
}

/// The reason why a table cannot be opened.
pub enum NotOpened {
    /// A system error.
    System(Error),
    /// The file is damaged, or is not a table.
    Damaged(String),
}

impl NotOpened {
    /// Converts the reason to an exception.
    pub fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            NotOpened::System(error) => raised(py, error),
            NotOpened::Damaged(why) => Package::InputError.raise(py, why),
        }
    }

    fn arrow(self) -> ArrowError {
        match self {
            NotOpened::System(error) => ArrowError::ExternalError(Box::new(error)),
            NotOpened::Damaged(why) => ArrowError::ParquetError(why),
        }
    }
}

/// Opens a Parquet file and reads its footer.
///
/// # Errors
/// Returns an error if the file does not exist or is not Parquet.
pub fn opened(path: &Path) -> Result<ParquetRecordBatchReaderBuilder<File>, NotOpened> {
    let file = File::open(path).map_err(|error| NotOpened::System(Error::reading("open", path)(error)))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file);
    let why = |error| format!("{}: {error}; expected a table written by dupsift", path.display());
    Ok(builder.map_err(|error| NotOpened::Damaged(why(error)))?.with_batch_size(ROWS))
}

/// Returns an iterator over the first rows of a Parquet file. The rows are dictionaries that contain only these columns.
///
/// # Errors
/// Raises OSError or InputError if the file cannot be read.
#[pyfunction]
pub fn head(py: Python<'_>, path: PathBuf, columns: Vec<String>, rows: usize) -> PyResult<Dictionaries> {
    let builder = opened(&path).map_err(|error| error.raised(py))?;
    let fields = builder.schema().fields().iter().enumerate();
    let chosen: Vec<usize> = fields.filter(|(_, field)| columns.contains(field.name())).map(|(at, _)| at).collect();
    let mask = ProjectionMask::roots(builder.parquet_schema(), chosen);
    let reader = builder.with_projection(mask).with_limit(rows).build();
    let damaged = |error| NotOpened::Damaged(format!("{}: {error}", path.display())).raised(py);
    Ok(Dictionaries::new(Box::new(reader.map_err(damaged)?)))
}

/// Iterates over the batches of files, which are opened one by one.
struct Rows {
    parts: std::vec::IntoIter<Part>,
    now: Option<(ParquetRecordBatchReader, String)>,
    schema: SchemaRef,
    names: bool,
    _keeps: Option<Arc<Py<PyAny>>>,
}

impl Iterator for Rows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((reader, name)) = &mut self.now
                && let Some(batch) = reader.next()
            {
                let named = |batch: RecordBatch| {
                    let name = self.names.then(|| {
                        Arc::new(StringArray::from_iter_values(std::iter::repeat_n(&*name, batch.num_rows())))
                    });
                    let columns = batch.columns().iter().cloned().chain(name.map(|name| name as ArrayRef));
                    RecordBatch::try_new(self.schema.clone(), columns.collect())
                };
                return Some(batch.and_then(named));
            }
            let part = self.parts.next()?;
            let reader = opened(&part.path).and_then(|builder| {
                builder.build().map_err(|error| NotOpened::Damaged(format!("{}: {error}", part.path.display())))
            });
            match reader {
                Ok(reader) => self.now = Some((reader, part.name)),
                Err(error) => return Some(Err(error.arrow())),
            }
        }
    }
}

impl RecordBatchReader for Rows {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

//! Reads only the requested columns of a table in a finished output folder, one batch at a time.

use crate::damaged;
use crate::parquet::bounded::{Bounded, check_pages};
use crate::parquet::load::guarded;
use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use arrow::array::RecordBatch;
use dupsift_core::error::{Error, Result};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The number of rows per batch.
const BATCH_ROWS: usize = 8192;

/// The batches of one Parquet file written by this program.
pub struct TableReader {
    path: PathBuf,
    reader: ParquetRecordBatchReader,
}

impl TableReader {
    /// Opens a table; batches contain the columns in file order.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the file cannot be opened, or [`Error::BadFile`] if it is damaged or lacks one of the columns.
    pub fn open(path: &Path, columns: &[&str]) -> Result<TableReader> {
        let file = File::open(path).map_err(Error::reading("open", path))?;
        let reader = guarded(|| {
            let file = Bounded::new(file)?;
            let again = file.file().try_clone()?;
            let builder = ParquetRecordBatchReaderBuilder::try_new(file)?.with_batch_size(BATCH_ROWS);
            let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
            check_pages(&again, builder.metadata(), |leaf| mask.leaf_included(leaf))?;
            builder.with_projection(mask).build()
        });
        let reader = reader.map_err(|why| damaged(path, why))?;
        let schema = arrow::array::RecordBatchReader::schema(&reader);
        if let Some(missing) = columns.iter().find(|name| schema.column_with_name(name).is_none()) {
            return Err(damaged(path, format!("it has no column {missing:?}")));
        }
        Ok(TableReader { path: path.to_path_buf(), reader })
    }
}

impl Iterator for TableReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        let batch = guarded(|| self.reader.next().transpose().map_err(Into::into));
        batch.map_err(|why| damaged(&self.path, why)).transpose()
    }
}

fn damaged(path: &Path, why: String) -> Error {
    damaged::damaged(path, format!("{why}; expected a table written by dupsift"))
}

//! Checks the lengths in Parquet page headers. Before a decoder reads a page, it allocates as much memory as the page header states.
//! Impossible lengths must therefore be detected first.

use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;
use std::fs::File;
use std::io::BufReader;

use crate::parquet::page_headers;

/// A file and its length in bytes.
#[derive(Debug)]
pub(super) struct Bounded {
    file: File,
    bytes: u64,
}

impl Bounded {
    /// Determines the length of a file.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub(crate) fn new(file: File) -> Result<Bounded> {
        let bytes = file.metadata()?.len();
        Ok(Bounded { file, bytes })
    }

    /// Returns the underlying file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }
}

impl Length for Bounded {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for Bounded {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<BufReader<File>> {
        self.file.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        match start.checked_add(length as u64) {
            Some(end) if end <= self.bytes => self.file.get_bytes(start, length),
            _ => Err(ParquetError::EOF(format!(
                "a header refers to {length} bytes from byte {start} on, but the file has only {}",
                self.bytes
            ))),
        }
    }
}

/// Checks the page headers of all leaf columns that are read. This check prevents memory from being allocated for an impossible length.
///
/// # Errors
/// Returns a message about the first implausible header.
pub(super) fn check_pages(file: &File, metadata: &ParquetMetaData, is_read: impl Fn(usize) -> bool) -> Result<()> {
    for group in metadata.row_groups() {
        for (_, chunk) in group.columns().iter().enumerate().filter(|(leaf, _)| is_read(*leaf)) {
            check_chunk(file, chunk)?;
        }
    }
    Ok(())
}

/// Checks the page headers of one column chunk, like [`check_pages`].
///
/// # Errors
/// Returns the same errors as [`check_pages`].
pub(super) fn check_chunk(file: &File, chunk: &ColumnChunkMetaData) -> Result<()> {
    match page_headers::look(file.try_clone()?, chunk) {
        Ok(_) => Ok(()),
        Err(why) => Err(ParquetError::General(format!("column {}: {why}", chunk.column_path().string()))),
    }
}

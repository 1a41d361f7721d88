//! Writes and reads document files. A file has one row per document number, in order, so a document can be located by its number alone. The
//! text is null if it is already stored with another document, or if the document contains no text; the kept document is stored in either
//! case.
//!
//! Text is stored in small pages that can be read separately, so looking up a few documents reads little more than their text.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection, RowSelectionPolicy, RowSelector,
};
use parquet::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::PageIndexPolicy;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};

use super::sums::{Checked, Summing};
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::{self, private};

/// The column that contains the text.
pub const TEXT: &str = "text";
/// The column that contains a 128-bit hash of everything that the algorithms read from the document.
pub const COPY_HASH: &str = "copy_hash";
/// The column that contains the number of the kept document in favor of which this document was removed.
pub const KEPT_DOC: &str = "kept_doc";

/// The number of bytes in a page.
const PAGE: usize = 8 << 10;
/// The number of rows that are encoded before the page size is checked.
const AT_ONCE: usize = 2;
/// The number of rows in a row group.
const GROUP_ROWS: usize = 1 << 17;

/// Returns the schema of a document file: the id as written in the input, the text, the `fields` as strings, the hash, and the kept
/// document in favor of which this document was removed.
pub fn part_schema(id: DataType, fields: &[String]) -> SchemaRef {
    let mut columns = vec![Field::new("id", id, true), Field::new(TEXT, DataType::Utf8, true)];
    columns.extend(fields.iter().map(|name| Field::new(field_column(name), DataType::Utf8, true)));
    columns.push(Field::new(COPY_HASH, DataType::FixedSizeBinary(16), true));
    columns.push(Field::new(KEPT_DOC, DataType::Int64, true));
    Arc::new(Schema::new(columns))
}

/// Returns the column name of a field.
pub fn field_column(name: &str) -> String {
    format!("field_{name}")
}

/// Writes a document file.
pub struct PartWriter {
    path: PathBuf,
    writer: ArrowWriter<Summing>,
    rows: u64,
    /// Whether the checksums of the blocks are written next to the file.
    is_kept: bool,
}

impl PartWriter {
    /// Creates a new file.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn create(path: &Path, schema: SchemaRef) -> Result<PartWriter> {
        let file = safe_fs::create_new(path).map_err(Error::io("create", path))?;
        let zstd = Compression::ZSTD(ZstdLevel::try_new(3).unwrap_or_default());
        let small = WriterProperties::builder().set_data_page_size_limit(PAGE).set_write_batch_size(AT_ONCE);
        PartWriter::with(file, path, schema, small.set_compression(zstd), true)
    }

    /// Creates a temporary file, which is read completely once and then removed. An existing file with the same name is replaced.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn create_passing(path: &Path, schema: SchemaRef) -> Result<PartWriter> {
        let file = private::create(path).map_err(Error::io("create", path))?;
        PartWriter::with(file, path, schema, WriterProperties::builder(), false)
    }

    fn with(
        file: File,
        path: &Path,
        schema: SchemaRef,
        properties: WriterPropertiesBuilder,
        is_kept: bool,
    ) -> Result<PartWriter> {
        let file = Summing::new(file);
        let properties = properties
            .set_dictionary_enabled(false)
            // Documents are looked up by number, so the minimum and maximum of each page would never be used.
            .set_statistics_enabled(EnabledStatistics::None)
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_created_by("dupsift index 1".to_owned())
            .build();
        let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(file, schema, options).map_err(|error| failed(path, error))?;
        Ok(PartWriter { path: path.to_path_buf(), writer, rows: 0, is_kept })
    }

    /// Appends rows.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        self.writer.write(batch).map_err(|error| failed(&self.path, error))
    }

    /// Finishes the file, and returns the number of rows in it.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn close(self) -> Result<u64> {
        let file = self.writer.into_inner().map_err(|error| failed(&self.path, error))?;
        if self.is_kept {
            file.write_sums(&self.path)?;
        }
        Ok(self.rows)
    }
}

/// Reads some or all rows of a file in ascending order, with some or all columns, and passes them to `each` in batches. Returns the number
/// of bytes that were read from the file. Every block is verified against its checksum before it is decoded. `list` is the checksum that
/// the manifest records for the list of these checksums ([`Named::list`](crate::Named::list)).
///
/// # Errors
/// Returns [`Error::Damaged`] if the file was changed after it was written, or an error from `each`.
pub fn read_rows(
    path: &Path,
    list: Option<u32>,
    rows: Option<&[u64]>,
    columns: Option<&[&str]>,
    each: &mut dyn FnMut(RecordBatch) -> Result<()>,
) -> Result<u64> {
    let damaged = |why: String| Error::Damaged { path: path.to_path_buf(), why };
    let file = Checked::open(path, list)?;
    let counted = file.clone();
    let options = ArrowReaderOptions::new().with_offset_index_policy(PageIndexPolicy::Optional);
    let opened = dupsift_core::guard::guarded(|| ParquetRecordBatchReaderBuilder::try_new_with_options(file, options));
    let builder = opened.map_err(damaged)?.map_err(|error| damaged(error.to_string()))?;
    let builder = match columns {
        Some(columns) => {
            let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
            builder.with_projection(mask)
        }
        None => builder,
    };
    // If the requested rows are close together, the default policy would read and decompress all pages and filter the rows afterwards.
    let builder = builder.with_row_selection_policy(RowSelectionPolicy::Selectors);
    let builder = match rows {
        Some(rows) => builder.with_row_selection(selection(rows)),
        None => builder,
    };
    let expected = rows.map_or(builder.metadata().file_metadata().num_rows() as usize, <[u64]>::len);
    let reader = builder.with_batch_size(1024).build();
    let mut reader = reader.map_err(|error| damaged(error.to_string()))?;
    let mut found = 0;
    loop {
        let batch = dupsift_core::guard::guarded(|| reader.next().transpose()).map_err(damaged)?;
        let Some(batch) = batch.map_err(|error| damaged(error.to_string()))? else { break };
        found += batch.num_rows();
        each(batch)?;
    }
    if found == expected {
        return Ok(counted.read());
    }
    Err(damaged(format!("{found} of {expected} rows are present")))
}

fn selection(rows: &[u64]) -> RowSelection {
    let mut selectors: Vec<RowSelector> = Vec::new();
    let mut next = 0;
    for run in rows.chunk_by(|a, b| a + 1 == *b) {
        selectors.push(RowSelector::skip((run[0] - next) as usize));
        selectors.push(RowSelector::select(run.len()));
        next = run[0] + run.len() as u64;
    }
    selectors.into()
}

fn failed(path: &Path, error: ParquetError) -> Error {
    Error::table(format!("write {}", path.display()))(error)
}

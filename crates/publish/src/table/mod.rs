//! Writes one Parquet file of the output; the bytes of the file depend only on its rows.
//!
//! The encoder ends pages where its input batches end, so rows are first collected into blocks whose boundaries depend only on the rows.
//! The same rows therefore result in the same bytes, no matter how threads, memory limits or files divide the rows into batches. The file
//! contains no library version, no time and no host name.
//!
//! The parquet crate (60.1) writes no page checksums; Zstandard detects most damage when the file is read.

mod lengths;
mod row_groups;

use crate::unfinished::unless_ending;
use ::parquet::arrow::ArrowSchemaConverter;
use ::parquet::arrow::arrow_writer::ArrowWriterOptions;
use ::parquet::basic::{Compression, Encoding, ZstdLevel};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use ::parquet::schema::types::{ColumnPath, SchemaDescriptor};
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};
use dupsift_core::error::{Error, Kind, Result};
use dupsift_core::safe_fs;
use lengths::Lengths;
use row_groups::RowGroups;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The schema version recorded in the metadata of an output table, unless the schema contains its own version.
const SCHEMA_VERSION: &str = "1";

/// Columns with few distinct values; only these columns benefit from a dictionary.
const REPETITIVE: [&str; 8] = ["matched_by", "relation", "why", "algorithm", "reason", "keep_rule", "file", "input"];

/// Columns of pair tables, which may have hundreds of rows per document. These columns use a lower compression level, which saves 10% of
/// the CPU time for the table and adds 1% to its size.
const OF_PAIRS: &str = "id_a id_b similarity distance matched_by verified doc_a doc_b contained_a contained_b numbers_a numbers_b relation why next_best other_title";
const LEVEL: i32 = 3;
const LEVEL_OF_PAIRS: i32 = 1;

/// Columns whose values mostly increase in small steps.
const ASCENDING: [&str; 2] = ["doc_a", "doc_b"];

/// The number of rows per block.
const BLOCK_ROWS: usize = 8192;
/// A block ends once its strings and binary values add up to this many bytes.
const BLOCK_BYTES: usize = 8 << 20;
/// Like [`BLOCK_BYTES`], for tables with view columns, whose values may be as long as documents; each page of such a table ends where a
/// block ends.
const VIEWS_BLOCK_BYTES: usize = 1 << 20;
/// The number of rows per row group.
const GROUP_ROWS: usize = 1 << 18;
/// The number of encoded bytes after which a row group ends; until then, the bytes are held in memory.
const GROUP_BYTES: usize = 16 << 20;

/// Writes one Parquet file.
pub struct TableWriter {
    path: PathBuf,
    groups: RowGroups,
    schema: SchemaRef,
    block_bytes: usize,
    pending: Vec<RecordBatch>,
    pending_rows: usize,
    pending_bytes: usize,
    rows: u64,
}

impl TableWriter {
    /// Creates a new file and its parent folders.
    ///
    /// # Errors
    /// Returns an [`Error::Io`] that names the file.
    pub fn create(path: &Path, schema: SchemaRef) -> Result<TableWriter> {
        TableWriter::start(path, schema, false)
    }

    /// Creates a file for values that are tens of megabytes long. Only three copies of each value are held in memory instead of six,
    /// because the file has no minimum and maximum values and uses the page version that compresses values in place.
    ///
    /// # Errors
    /// Returns the same errors as [`TableWriter::create`].
    pub fn create_for_long_values(path: &Path, schema: SchemaRef) -> Result<TableWriter> {
        TableWriter::start(path, schema, true)
    }

    /// Creates a file for rows with unchecked strings. A column of unchecked strings has the type `Utf8View` in `schema`, but its values
    /// are passed as `BinaryView`. The file declares the values as strings, so readers must check them.
    ///
    /// # Errors
    /// Returns the same errors as [`TableWriter::create`].
    pub fn create_of_bytes(path: &Path, schema: &Schema) -> Result<TableWriter> {
        let file = TableWriter::new_file(path)?;
        let as_written = ArrowSchemaConverter::new().convert(schema).map_err(|error| failed(path, error))?;
        let bytes = |field: &FieldRef| match field.data_type() {
            DataType::Utf8View => field.as_ref().clone().with_data_type(DataType::BinaryView),
            _ => field.as_ref().clone(),
        };
        let schema = Arc::new(Schema::new(schema.fields().iter().map(bytes).collect::<Vec<_>>()));
        TableWriter::into_file(file, path, schema, false, Some(as_written))
    }

    fn start(path: &Path, schema: SchemaRef, long_values: bool) -> Result<TableWriter> {
        TableWriter::into_file(TableWriter::new_file(path)?, path, schema, long_values, None)
    }

    fn new_file(path: &Path) -> Result<File> {
        if let Some(parent) = path.parent() {
            unless_ending(|| std::fs::create_dir_all(parent)).map_err(Error::io("create the folder", parent))?;
        }
        safe_fs::create_new(path).map_err(Error::io("create", path))
    }

    fn into_file(
        file: File,
        path: &Path,
        schema: SchemaRef,
        long_values: bool,
        as_written: Option<SchemaDescriptor>,
    ) -> Result<TableWriter> {
        // The Arrow schema is not written to the file: these plain types do not need it, and the stored schema would change with the
        // library version.
        let options =
            ArrowWriterOptions::new().with_properties(properties(&schema, long_values)).with_skip_arrow_metadata(true);
        let options = match as_written {
            Some(as_written) => options.with_parquet_schema(as_written),
            None => options,
        };
        let groups = RowGroups::new(file, schema.clone(), options).map_err(|error| failed(path, error))?;
        let path = path.to_path_buf();
        let is_view = |field: &FieldRef| matches!(field.data_type(), DataType::Utf8View | DataType::BinaryView);
        let block_bytes = if schema.fields().iter().any(is_view) { VIEWS_BLOCK_BYTES } else { BLOCK_BYTES };
        let (pending, pending_rows, pending_bytes, rows) = (Vec::new(), 0, 0, 0);
        Ok(TableWriter { path, groups, schema, block_bytes, pending, pending_rows, pending_bytes, rows })
    }

    /// Appends the rows of a batch that has the given schema.
    ///
    /// # Errors
    /// Returns an [`Error::Io`] that names the file, for example if the disk is full.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        let lengths = Lengths::of(batch);
        let mut from = 0;
        while from < batch.num_rows() {
            let full = |to: usize| {
                self.pending_rows + (to - from) >= BLOCK_ROWS
                    || self.pending_bytes + lengths.bytes(from..to) >= self.block_bytes
            };
            // Appends the rows that still fit and the row that fills the block.
            let end = first(from + 1, batch.num_rows(), full);
            let ends = full(end);
            let (rows, bytes) = (end - from, lengths.bytes(from..end));
            self.pending.push(batch.slice(from, rows));
            self.pending_rows += rows;
            self.pending_bytes += bytes;
            if ends {
                self.write_block()?;
            }
            from = end;
        }
        Ok(())
    }

    /// Returns the approximate amount of memory, in bytes, that the unfinished row group and the rows not yet encoded occupy.
    pub fn memory(&self) -> usize {
        self.groups.memory() + self.pending.iter().map(RecordBatch::get_array_memory_size).sum::<usize>()
    }

    /// Finishes the file and syncs it to disk. Returns the number of rows and the number of bytes on disk.
    ///
    /// # Errors
    /// Returns an [`Error::Io`] that names the file.
    pub fn close(mut self) -> Result<(u64, u64)> {
        self.write_block()?;
        let file = self.groups.finish().map_err(|error| failed(&self.path, error))?;
        let bytes = file.sync_all().and_then(|()| file.metadata()).map_err(Error::io("write", &self.path))?.len();
        Ok((self.rows, bytes))
    }

    fn write_block(&mut self) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        let rows = std::mem::take(&mut self.pending_rows);
        self.pending_bytes = 0;
        let block = match pending.as_slice() {
            [] => return Ok(()),
            [one] => one.clone(),
            many => arrow::compute::concat_batches(&self.schema, many)
                .map_err(Error::table(format!("gather rows of {}", self.path.display())))?,
        };
        let failed = |error| failed(&self.path, error);
        if self.groups.rows() + rows > GROUP_ROWS {
            self.groups.flush().map_err(failed)?;
        }
        self.groups.write(&block).map_err(failed)?;
        if self.groups.rows() == GROUP_ROWS || self.groups.bytes() >= GROUP_BYTES {
            self.groups.flush().map_err(failed)?;
        }
        Ok(())
    }
}

fn properties(schema: &Schema, long_values: bool) -> WriterProperties {
    let version = schema.metadata().get("schema_version").map_or(SCHEMA_VERSION, String::as_str).to_owned();
    let level = |level| Compression::ZSTD(ZstdLevel::try_new(level).unwrap_or_default());
    let mut properties = WriterProperties::builder()
        .set_compression(level(LEVEL))
        .set_dictionary_enabled(false)
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_created_by("dupsift version 1".to_owned())
        .set_key_value_metadata(Some(vec![KeyValue::new("schema_version".to_owned(), version)]));
    if long_values {
        properties = properties
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_encoding(Encoding::PLAIN)
            .set_statistics_enabled(EnabledStatistics::None);
    }
    for field in schema.fields() {
        let (name, path) = (field.name().as_str(), ColumnPath::from(field.name().as_str()));
        if REPETITIVE.contains(&name) {
            properties = properties.set_column_dictionary_enabled(path.clone(), true);
        }
        if OF_PAIRS.split(' ').any(|of_pairs| of_pairs == name) {
            properties = properties.set_column_compression(path.clone(), level(LEVEL_OF_PAIRS));
        }
        // In a table of pages, an input column with a different type may have this name.
        if ASCENDING.contains(&name) && *field.data_type() == DataType::Int64 {
            properties = properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
    }
    properties.build()
}

/// Returns the first number in `low..=high` for which `is` returns `true`, or `high` if there is none. `is` must be monotonic.
fn first(low: usize, high: usize, is: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (low, high);
    while low < high {
        let middle = low + (high - low) / 2;
        if is(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

/// Converts an encoder error. If the disk caused the error, returns the I/O error.
fn failed(path: &Path, error: ParquetError) -> Error {
    match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(source) => Error::Io { kind: Kind::Output, action: "write", path: path.to_path_buf(), source: *source },
            Err(source) => Error::Table { action: format!("write {}", path.display()), source },
        },
        other => Error::table(format!("write {}", path.display()))(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use arrow::array::{Int64Array, StringArray, StringViewArray};
    use dupsift_tables::{IdType, PairColumns, pair_schema};
    use std::ops::Range;
    use std::sync::Arc;

    /// Returns pairs with ids of very different lengths, so that some blocks end because of their size.
    fn pairs(rows: u64) -> RecordBatch {
        let ids = (0..rows)
            .map(|row| format!("{row}-{}", "x".repeat(if row % 997 == 0 { 300_000 } else { (row % 13) as usize })));
        let columns = PairColumns {
            id_a: Arc::new(ids.map(Some).collect::<StringArray>()),
            id_b: Arc::new(StringArray::from(vec!["b"; rows as usize])),
            similarity: (0..rows).map(|row| row as f32 / rows as f32).collect::<Vec<_>>().into(),
            distance: (0..rows).map(|row| (row % 3 == 0).then_some(1.0)).collect(),
            matched_by: (0..rows).map(|row| Some(if row % 2 == 0 { "band" } else { "lsh+band" })).collect(),
            verified: (0..rows).map(|row| Some(row % 5 == 0)).collect(),
            doc_a: Int64Array::from_iter_values(0..rows as i64),
            doc_b: Int64Array::from_iter_values(1..=rows as i64),
            contained_a: vec![None; rows as usize].into(),
            contained_b: vec![None; rows as usize].into(),
            numbers_a: vec![None; rows as usize].into(),
            numbers_b: vec![None; rows as usize].into(),
            relation: vec![None::<&str>; rows as usize].into(),
            why: vec![None::<&str>; rows as usize].into(),
            next_best: vec![None; rows as usize].into(),
            other_title: vec![None; rows as usize].into(),
        };
        columns.table(&pair_schema(IdType::Text)).expect("a table")
    }

    fn written(folder: &Path, name: &str, batch: &RecordBatch, cuts: &[usize]) -> Vec<u8> {
        let path = folder.join(name);
        let mut writer = TableWriter::create(&path, pair_schema(IdType::Text)).expect("a file");
        let (mut from, mut cut) = (0, cuts.iter().cycle());
        while from < batch.num_rows() {
            let rows = (*cut.next().expect("a cycle")).min(batch.num_rows() - from);
            writer.write(&batch.slice(from, rows)).expect("written");
            from += rows;
        }
        let (rows, bytes) = writer.close().expect("closed");
        let content = std::fs::read(&path).expect("there");
        assert_eq!((rows, bytes), (batch.num_rows() as u64, content.len() as u64));
        content
    }

    #[test]
    fn the_same_rows_give_the_same_bytes_however_they_are_cut() {
        let folder = tempfile::tempdir().expect("a folder");
        let batch = pairs(30_000);
        let whole = written(folder.path(), "a.parquet", &batch, &[usize::MAX]);
        assert!(whole == written(folder.path(), "b.parquet", &batch, &[1, 5000, 3]));
        assert!(whole == written(folder.path(), "c.parquet", &batch, &[8192]));
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(whole)).expect("Parquet");
        let metadata = reader.metadata().file_metadata();
        assert_eq!(metadata.created_by(), Some("dupsift version 1"));
        let pairs = metadata.key_value_metadata().expect("metadata");
        assert_eq!((pairs[0].key.as_str(), pairs[0].value.as_deref()), ("schema_version", Some(SCHEMA_VERSION)));
        assert_eq!(pairs.len(), 1);
        let back: Vec<RecordBatch> = reader.build().expect("a reader").map(|batch| batch.expect("rows")).collect();
        let back = arrow::compute::concat_batches(&batch.schema(), &back).expect("one schema");
        assert!(back == batch);
    }

    #[test]
    fn numbers_of_documents_are_stored_as_differences_and_columns_of_the_user_as_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let encoded = |name: &str, batch: &RecordBatch| {
            let path = folder.path().join(name);
            let mut writer = TableWriter::create(&path, batch.schema()).expect("a file");
            writer.write(batch).expect("written");
            writer.close().expect("closed");
            let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).expect("there")).expect("Parquet");
            let columns = reader.metadata().row_group(0).columns();
            let is_delta = |column: &::parquet::file::metadata::ColumnChunkMetaData| {
                column.encodings().any(|encoding| encoding == Encoding::DELTA_BINARY_PACKED)
            };
            let delta: Vec<String> =
                columns.iter().filter(|column| is_delta(column)).map(|c| c.column_path().string()).collect();
            let back = reader.build().expect("a reader").next().expect("rows").expect("rows");
            assert!(back == batch.slice(0, back.num_rows()), "{name}");
            delta
        };
        assert_eq!(encoded("pairs.parquet", &pairs(1000)), ASCENDING);
        let text: arrow::array::ArrayRef = Arc::new(StringArray::from(vec!["x"; 3]));
        let pages = RecordBatch::try_from_iter([("doc_a", text.clone()), ("id_b", text)]).expect("a table");
        assert_eq!(encoded("pages.parquet", &pages), [""; 0]);
    }

    #[test]
    fn rows_of_long_views_do_not_wait_for_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let long = |rows: Range<usize>| {
            let values = rows.map(|row| (row % 5 != 3).then(|| format!("{row} ").repeat(100_000 / (1 + row % 4))));
            Arc::new(values.collect::<StringViewArray>())
        };
        let batch =
            |rows| RecordBatch::try_from_iter_with_nullable([("body", long(rows) as _, true)]).expect("a table");
        let written = |name: &str, rows_a_batch: usize| {
            let path = folder.path().join(name);
            let mut writer = TableWriter::create(&path, batch(0..1).schema()).expect("a file");
            for row in (0..120).step_by(rows_a_batch) {
                writer.write(&batch(row..row + rows_a_batch)).expect("written");
                assert!(writer.memory() < 24 << 20, "{} in row {row}", writer.memory());
            }
            writer.close().expect("closed");
            std::fs::read(path).expect("there")
        };
        assert!(written("a.parquet", 4) == written("b.parquet", 1));
    }

    #[test]
    fn a_table_for_long_values_has_the_same_rows_and_no_statistics() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.parquet");
        let batch = pairs(3000);
        let mut writer = TableWriter::create_for_long_values(&path, batch.schema()).expect("a file");
        writer.write(&batch).expect("written");
        writer.close().expect("closed");
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).expect("there")).expect("Parquet");
        let columns = reader.metadata().row_group(0).columns();
        assert!(columns.iter().all(|column| column.statistics().is_none()));
        let back: Vec<RecordBatch> = reader.build().expect("a reader").map(|batch| batch.expect("rows")).collect();
        assert!(arrow::compute::concat_batches(&batch.schema(), &back).expect("one schema") == batch);
    }

    #[test]
    fn row_groups_end_by_rows() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("sub/terms.parquet");
        let mut writer = TableWriter::create(&path, dupsift_tables::term_schema()).expect("a file");
        let mut terms = dupsift_tables::TermBuilder::new();
        (0..GROUP_ROWS as u64 + 10).for_each(|term| terms.push(dupsift_core::hash::mix64(term), 1, term));
        writer.write(&terms.finish().expect("a table")).expect("written");
        assert!(writer.memory() > 0);
        writer.close().expect("closed");
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).expect("there")).expect("Parquet");
        let rows: Vec<i64> = reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
        assert_eq!(rows, [GROUP_ROWS as i64, 10]);
    }

    #[test]
    fn a_table_without_rows_has_its_schema() {
        let folder = tempfile::tempdir().expect("a folder");
        for id in [IdType::Text, IdType::Bytes, IdType::Int32, IdType::Int64] {
            let path = folder.path().join(format!("{id:?}.parquet"));
            let writer = TableWriter::create(&path, pair_schema(id)).expect("a file");
            assert_eq!(writer.close().expect("closed").0, 0);
            let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).expect("there")).expect("Parquet");
            assert_eq!(reader.schema().fields(), pair_schema(id).fields());
            assert!(TableWriter::create(&path, pair_schema(id)).is_err(), "a file is never written over");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let full = File::options().write(true).open("/dev/full").expect("Linux has it");
        let mut writer =
            TableWriter::into_file(full, Path::new("pairs.parquet"), pair_schema(IdType::Text), false, None)
                .expect("not yet full");
        let outcome = writer.write(&pairs(30_000)).and_then(|()| writer.close());
        let error = outcome.expect_err("the disk is full");
        assert!(matches!(&error, Error::Io { path, .. } if path == Path::new("pairs.parquet")), "{error:?}");
        assert!(error.to_string().starts_with("cannot write pairs.parquet: "));
    }
}

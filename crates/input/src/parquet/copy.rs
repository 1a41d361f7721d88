//! Copies Parquet row groups. If all rows of a group are chosen, its column chunks are copied as bytes, with their statistics, indexes and
//! Bloom filters. In all other groups, each leaf column is read and written as values and levels. Arrow is bypassed in order to preserve
//! nested columns, logical types and field ids. The complete footer is loaded because all columns are copied.

use crate::copy::added::{Added, AddedList};
use crate::copy::copying::{Copying, Fits};
use crate::copy::edits::Edits;
use crate::copy::output::{Output, Stop};
use crate::format::stretch::Stretch;
use crate::parquet::bounded::{Bounded, check_chunk};
use crate::parquet::copy_leaf;
use crate::parquet::copy_leaf::Rows;
use crate::parquet::levels;
use crate::parquet::load::{check_plain, guarded, unread};
use crate::parquet::page_headers;
use crate::parquet::page_memory::{Column, stretches};
use crate::parquet::turn::turn;
use ::parquet::arrow::{ARROW_SCHEMA_META_KEY, encode_arrow_schema, parquet_to_arrow_schema};
use ::parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as PhysicalType};
use ::parquet::bloom_filter::Sbbf;
use ::parquet::column::writer::ColumnCloseResult;
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType as ParquetType, Int32Type, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::page_index::RowGroupPageIndex;
use ::parquet::file::metadata::{
    ColumnChunkMetaData, KeyValue, PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};
use ::parquet::file::properties::{EnabledStatistics, ReaderProperties, WriterProperties};
use ::parquet::file::reader::RowGroupReader;
use ::parquet::file::serialized_reader::SerializedRowGroupReader;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{Type, TypePtr};
use arrow::datatypes::{DataType, Field, SchemaBuilder};
use dupsift_core::error::Result;
use dupsift_tables::{IdRef, IdType};
use std::fs::File;
use std::sync::Arc;

/// The number of rows for which the values of added columns are collected at a time.
const ADDED_ROWS: usize = 64 << 10;

/// The value encodings that a copied column keeps, with or without a dictionary.
const ENCODINGS: [Encoding; 4] = [
    Encoding::DELTA_BINARY_PACKED,
    Encoding::DELTA_LENGTH_BYTE_ARRAY,
    Encoding::DELTA_BYTE_ARRAY,
    Encoding::BYTE_STREAM_SPLIT,
];

/// Checks that each column can be read and written. Returns the first page that does not fit into memory, if any.
pub(super) fn check(file: &File, fits: &Fits<'_>) -> Result<Option<Stretch>, String> {
    let _turn = turn(file, u64::MAX)?;
    let metadata = load(file)?;
    let name = |leaf: usize| metadata.file_metadata().schema_descr().column(leaf).path().string();
    check_plain(file, &metadata)?;
    for group in metadata.row_groups() {
        for (leaf, chunk) in group.columns().iter().enumerate() {
            if chunk.compression() == Compression::LZO {
                return Err(format!(
                    "column {:?} is compressed with LZO, which dupsift cannot write; write the file again with another codec",
                    name(leaf)
                ));
            }
            if !fits(Column::bytes_of(chunk), 0) {
                let stretch = held(file, chunk);
                if !fits(stretch.bytes, 0) {
                    return Ok(Some(stretch));
                }
            }
        }
    }
    Ok(None)
}

/// Copies the chosen rows.
pub(super) fn copy(file: File, copying: &Copying<'_>) -> Result<()> {
    let stop = Stop::default();
    let out = Output::create(copying.out, &stop)?;
    let done = guarded(|| {
        // A large footer stays in memory until the copy is complete, so files with large footers are copied one at a time.
        let _turn = turn(&file, u64::MAX).map_err(ParquetError::General)?;
        let metadata = load(&file).map_err(ParquetError::General)?;
        let file = Arc::new(Bounded::new(file)?);
        Copy { file, metadata: &metadata, copying, stop: &stop }.all(out)
    });
    stop.check()?;
    done.map_err(|why| copying.bad(format!("cannot be read any further: {why}")))
}

/// Loads the footer with statistics and indexes. Damaged indexes are ignored because reading rows does not require them.
fn load(file: &File) -> Result<ParquetMetaData, String> {
    let load = |policy| {
        guarded(|| ParquetMetaDataReader::new().with_page_index_policy(policy).parse_and_finish(file))
            .map_err(|why| unread(file, &why))
    };
    load(PageIndexPolicy::Optional).or_else(|_| load(PageIndexPolicy::Skip))
}

/// Returns the largest part of a chunk that a read holds in memory at a time.
fn held(file: &File, chunk: &ColumnChunkMetaData) -> Stretch {
    // The rows of version 2 pages cannot be separated in nested columns, so the size of the complete chunk is used.
    let pages = file.try_clone().ok().and_then(|file| page_headers::pages(file, chunk)).unwrap_or_default();
    let column = Column::new(chunk, pages.into(), false);
    stretches(vec![vec![column]], 0..u64::MAX, u64::MAX).pop().unwrap_or_default()
}

struct Copy<'c> {
    file: Arc<Bounded>,
    metadata: &'c ParquetMetaData,
    copying: &'c Copying<'c>,
    stop: &'c Stop,
}

impl Copy<'_> {
    fn all(&self, out: Output) -> Result<(), ParquetError> {
        let added = self.copying.added.as_ref();
        let schema = with_columns(&self.metadata.file_metadata().schema_descr().root_schema_ptr(), added)?;
        let mut writer =
            SerializedFileWriter::new(out, schema, Arc::new(properties(self.file.file(), self.metadata, added)))?;
        let mut next = 0;
        for (at, group) in self.metadata.row_groups().iter().enumerate() {
            let rows = Rows { chosen: self.copying.chosen, within: next..next + group.num_rows().max(0) as u64 };
            next = rows.within.end;
            let count = rows.count();
            if count > 0 {
                let mut to = writer.next_row_group()?;
                let is_all = count == group.num_rows() as u64;
                if is_all && self.edits_of(&rows).is_none() {
                    self.splice(at, group, &mut to)?
                } else {
                    self.rewrite(at, group, (&rows, is_all), &mut to)?
                }
                if let Some(added) = self.copying.added {
                    self.add(added, &rows, &mut to)?;
                }
                to.close()?;
            }
        }
        if next != self.copying.rows {
            return Err(ParquetError::General(format!("{} rows before, {next} now", self.copying.rows)));
        }
        writer.close().map(|_| ())
    }

    /// Writes the added columns of the chosen rows.
    fn add(
        &self,
        added: Added<'_>,
        rows: &Rows<'_>,
        to: &mut SerializedRowGroupWriter<'_, Output>,
    ) -> Result<(), ParquetError> {
        for at in 0..added.names.len() {
            let mut column = to.next_column()?.ok_or_else(|| ParquetError::General("a column is missing".into()))?;
            let mut chosen = rows.within.clone().filter(|&row| (rows.chosen)(row)).peekable();
            while chosen.peek().is_some() {
                self.go_on()?;
                let values: Vec<i64> =
                    chosen.by_ref().take(ADDED_ROWS).map(|row| (added.value)(row, at) as i64).collect();
                column.typed::<Int64Type>().write_batch(&values, None, None)?;
            }
            column.close()?;
        }
        match added.list {
            None => Ok(()),
            Some(list) => match list.kind {
                IdType::Text | IdType::Bytes => self.add_list::<ByteArrayType>(list, rows, to, |id| match id {
                    IdRef::Text(text) => text.into(),
                    IdRef::Bytes(bytes) => bytes.to_vec().into(),
                    number => ByteArray::from(number.to_string().into_bytes()),
                }),
                IdType::Int32 => self.add_list::<Int32Type>(list, rows, to, |id| number(id) as i32),
                IdType::Int64 => self.add_list::<Int64Type>(list, rows, to, number),
            },
        }
    }

    /// Writes the lists of the chosen rows.
    fn add_list<T: ParquetType>(
        &self,
        list: AddedList<'_>,
        rows: &Rows<'_>,
        to: &mut SerializedRowGroupWriter<'_, Output>,
        value: impl Fn(IdRef<'_>) -> T::T,
    ) -> Result<(), ParquetError> {
        let mut column = to.next_column()?.ok_or_else(|| ParquetError::General("a column is missing".into()))?;
        let mut chosen = rows.within.clone().filter(|&row| (rows.chosen)(row)).peekable();
        let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(row) = chosen.next() {
            let begin = values.len();
            (list.each)(row, &mut |id| {
                repeated.push(i16::from(values.len() > begin));
                values.push(value(id));
                defined.push(1);
            });
            if values.len() == begin {
                // An empty list.
                repeated.push(0);
                defined.push(0);
            }
            if defined.len() >= ADDED_ROWS || chosen.peek().is_none() {
                self.go_on()?;
                column.typed::<T>().write_batch(&values, Some(&defined), Some(&repeated))?;
                values.clear();
                defined.clear();
                repeated.clear();
            }
        }
        column.close()
    }

    /// Copies column chunks as bytes.
    fn splice(
        &self,
        at: usize,
        group: &RowGroupMetaData,
        to: &mut SerializedRowGroupWriter<'_, Output>,
    ) -> Result<(), ParquetError> {
        (0..group.num_columns()).try_for_each(|leaf| self.splice_leaf(at, group, leaf, to))
    }

    /// Copies one column chunk as bytes.
    fn splice_leaf(
        &self,
        at: usize,
        group: &RowGroupMetaData,
        leaf: usize,
        to: &mut SerializedRowGroupWriter<'_, Output>,
    ) -> Result<(), ParquetError> {
        self.go_on()?;
        let (chunk, indexes) = (group.column(leaf), self.metadata.page_index_for_row_group(at));
        let dictionary = chunk.dictionary_page_offset().filter(|&at| at > 0 && at < chunk.data_page_offset());
        let bloom_filter = Sbbf::read_from_column_chunk(chunk, &*self.file)?;
        let close = ColumnCloseResult {
            bytes_written: chunk.compressed_size().max(0) as u64,
            rows_written: group.num_rows().max(0) as u64,
            metadata: chunk.clone().into_builder().set_dictionary_page_offset(dictionary).build()?,
            bloom_filter,
            column_index: indexes.column_index(leaf).cloned(),
            offset_index: indexes.offset_index(leaf).cloned(),
        };
        to.append_column(&*self.file, close)
    }

    /// Returns the edits if at least one of the chosen rows is edited.
    fn edits_of(&self, rows: &Rows<'_>) -> Option<Edits<'_>> {
        let is_edited = |edits: &Edits<'_>| rows.within.clone().any(|row| (rows.chosen)(row) && (edits.is_edited)(row));
        self.copying.edits.filter(is_edited)
    }

    /// Writes the values of the chosen rows, one leaf column after another. If all rows are chosen, columns without edits are copied as
    /// bytes.
    fn rewrite(
        &self,
        at: usize,
        group: &RowGroupMetaData,
        (rows, is_all): (&Rows<'_>, bool),
        to: &mut SerializedRowGroupWriter<'_, Output>,
    ) -> Result<(), ParquetError> {
        let none = RowGroupPageIndex::new(at, None);
        let properties = Arc::new(ReaderProperties::builder().build());
        let reader = SerializedRowGroupReader::new(self.file.clone(), group, none, properties)?;
        let edits = self.edits_of(rows);
        for (leaf, chunk) in group.columns().iter().enumerate() {
            let edits = edits.filter(|edits| chunk.column_path().string() == edits.column);
            if is_all && edits.is_none() {
                self.splice_leaf(at, group, leaf, to)?;
                continue;
            }
            check_chunk(self.file.file(), chunk)?;
            let all = Column::bytes_of(chunk);
            let bytes = if all <= self.copying.small { all } else { held(self.file.file(), chunk).bytes };
            let mut column = to.next_column()?.ok_or_else(|| ParquetError::General("a column is missing".into()))?;
            let mut done = Ok(());
            let held = (self.copying.hold)(bytes, &mut || {
                let average = all / group.num_rows().max(1) as u64;
                done = reader
                    .get_column_reader(leaf)
                    .and_then(|from| copy_leaf::copy(from, column.untyped(), rows, (average, edits), &|| self.go_on()));
            });
            self.noted(held)?;
            done?;
            column.close()?;
        }
        Ok(())
    }

    fn go_on(&self) -> Result<(), ParquetError> {
        self.noted((self.copying.go_on)())
    }

    fn noted(&self, done: Result<()>) -> Result<(), ParquetError> {
        done.map_err(|error| {
            self.stop.note(error);
            ParquetError::General("ended".into())
        })
    }
}

/// Returns an integer id.
fn number(id: IdRef<'_>) -> i64 {
    match id {
        IdRef::Int(number) => number,
        _ => 0,
    }
}

/// The name of the values of a list.
const ELEMENT: &str = "element";

/// Returns the schema with the added columns.
fn with_columns(schema: &TypePtr, added: Option<&Added<'_>>) -> Result<TypePtr, ParquetError> {
    let Some(added) = added else { return Ok(schema.clone()) };
    let mut fields = schema.get_fields().to_vec();
    for name in added.names {
        let column = Type::primitive_type_builder(name, PhysicalType::INT64).with_repetition(Repetition::REQUIRED);
        fields.push(Arc::new(column.build()?));
    }
    if let Some(list) = added.list {
        let (physical, logical) = match list.kind {
            IdType::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            IdType::Bytes => (PhysicalType::BYTE_ARRAY, None),
            IdType::Int32 => (PhysicalType::INT32, None),
            IdType::Int64 => (PhysicalType::INT64, None),
        };
        let element = Type::primitive_type_builder(ELEMENT, physical)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(logical);
        let values = Type::group_type_builder("list")
            .with_repetition(Repetition::REPEATED)
            .with_fields(vec![Arc::new(element.build()?)]);
        let column = Type::group_type_builder(list.name)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::List))
            .with_fields(vec![Arc::new(values.build()?)]);
        fields.push(Arc::new(column.build()?));
    }
    Ok(Arc::new(Type::group_type_builder(schema.name()).with_fields(fields).build()?))
}

/// Returns the key-value metadata for a file with added columns. The columns are added to the Arrow schema. The entry written by Hugging
/// Face `datasets` is dropped because `datasets` can read a file only if its columns match this entry exactly.
fn key_values(metadata: &ParquetMetaData, added: Option<&Added<'_>>) -> Option<Vec<KeyValue>> {
    let file = metadata.file_metadata();
    let known = file.key_value_metadata();
    let (Some(added), true) = (added, known.is_some()) else { return known.cloned() };
    let schema = parquet_to_arrow_schema(file.schema_descr(), known).ok().map(|schema| {
        let mut columns = SchemaBuilder::from(schema.fields().clone());
        added.names.iter().for_each(|name| columns.push(Field::new(*name, DataType::Int64, false)));
        if let Some(list) = added.list {
            let values = match list.kind {
                IdType::Text => DataType::Utf8,
                IdType::Bytes => DataType::Binary,
                IdType::Int32 => DataType::Int32,
                IdType::Int64 => DataType::Int64,
            };
            columns.push(Field::new_list(list.name, Field::new(ELEMENT, values, false), false));
        }
        let mut about = schema.metadata().clone();
        about.remove(HUGGING_FACE);
        encode_arrow_schema(&columns.finish().with_metadata(about))
    });
    let kept = known.into_iter().flatten().filter(|pair| pair.key != HUGGING_FACE).cloned();
    let with_schema = kept.filter_map(|pair| match pair.key == ARROW_SCHEMA_META_KEY {
        true => schema.clone().map(|schema| KeyValue::new(pair.key, schema)),
        false => Some(pair),
    });
    Some(with_schema.collect())
}

/// The key under which Hugging Face `datasets` stores the features of a file.
const HUGGING_FACE: &str = "huggingface";

/// Returns writer settings that preserve the layout of the columns. The layout is taken from the first row group because all row groups
/// have the same layout.
fn properties(file: &File, metadata: &ParquetMetaData, added: Option<&Added<'_>>) -> WriterProperties {
    let first = metadata.row_groups().first();
    let mut properties = WriterProperties::builder()
        .set_key_value_metadata(key_values(metadata, added))
        .set_sorting_columns(first.and_then(|group| group.sorting_columns().cloned()));
    let indexes = metadata.page_index_for_row_group(0);
    for (leaf, chunk) in first.iter().flat_map(|group| group.columns()).enumerate() {
        let path = || chunk.column_path().clone();
        let statistics = match (chunk.statistics(), indexes.column_index(leaf)) {
            (None, _) => EnabledStatistics::None,
            (_, None) => EnabledStatistics::Chunk,
            (_, Some(_)) => EnabledStatistics::Page,
        };
        let in_dictionary = |encoding| matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
        let has_dictionary = chunk.dictionary_page_offset().is_some() || chunk.encodings().any(in_dictionary);
        properties = properties
            .set_column_compression(path(), levels::codec(file, chunk))
            .set_column_dictionary_enabled(path(), has_dictionary)
            .set_column_bloom_filter_enabled(path(), chunk.bloom_filter_offset().is_some())
            .set_column_statistics_enabled(path(), statistics);
        if let Some(encoding) = chunk.encodings().find(|encoding| ENCODINGS.contains(encoding)) {
            properties = properties.set_column_encoding(path(), encoding);
        }
    }
    properties.build()
}

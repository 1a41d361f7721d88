//! The footer of a Parquet file: which columns, how many rows, and the little of it that a reading needs.
//!
//! Before anything else the footer is cut down to the columns asked for. So a column of a type that nobody here knows,
//! or a deeply nested one, cannot make a file unreadable, and a footer with thousands of columns stays small in memory.
//! Files are input: nothing they claim is believed before it is checked, and what panics inside the decoder is caught.

use super::format::Piece;
use super::schema::{Columns, Shown};
use crate::guard;
use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use ::parquet::arrow::parquet_to_arrow_schema;
use ::parquet::basic::Repetition;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{
    FileMetaData, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader, ParquetStatisticsPolicy,
    RowGroupMetaData,
};
use ::parquet::schema::types::{SchemaDescriptor, Type, TypePtr};
use arrow_schema::{DataType, Field, Schema};
use std::fs::File;
use std::sync::Arc;

/// Runs a call into the decoder; an error, and a panic too, becomes the sentence of what went wrong.
pub(super) fn guarded<T>(call: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    match guard::guarded(call) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(said) => Err(format!("the decoder gave up on it ({said})")),
    }
}

/// The whole footer, without statistics.
pub(super) fn load(file: &File) -> Result<ParquetMetaData, String> {
    let bytes = file.metadata().map_err(|error| error.to_string())?.len();
    if bytes == 0 {
        return Err("0 bytes; expected a Parquet file".to_owned());
    }
    let options = ParquetMetaDataOptions::new()
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_encoding_stats_as_mask(true);
    guarded(|| ParquetMetaDataReader::new().with_metadata_options(Some(options)).parse_and_finish(file))
        .map_err(|why| format!("not a whole Parquet file ({bytes} bytes): {why}"))
}

/// The columns of the file, as messages show them and as checks need them.
pub(super) fn describe(metadata: &ParquetMetaData) -> Vec<Shown> {
    let describe = |field: &TypePtr| {
        let (data_type, says) = match data_type(field) {
            Some(Ok(data_type)) => (Some(data_type.clone()), data_type.to_string()),
            Some(Err(_)) => (None, "of an unknown type".to_owned()),
            None => (None, "nested".to_owned()),
        };
        Shown { name: field.name().to_owned(), data_type, says }
    };
    metadata.file_metadata().schema().get_fields().iter().map(describe).collect()
}

/// The Arrow type of a plain column; none for a nested or repeated one.
fn data_type(field: &TypePtr) -> Option<Result<DataType, String>> {
    let info = field.get_basic_info();
    if !field.is_primitive() || (info.has_repetition() && info.repetition() == Repetition::REPEATED) {
        return None;
    }
    Some(guarded(|| {
        let schema = schema_of("schema", vec![field.clone()])?;
        Ok(parquet_to_arrow_schema(&schema, None)?.field(0).data_type().clone())
    }))
}

fn schema_of(name: &str, fields: Vec<TypePtr>) -> Result<SchemaDescriptor, ParquetError> {
    Ok(SchemaDescriptor::new(Arc::new(Type::group_type_builder(name).with_fields(fields).build()?)))
}

/// Rows and text bytes of every row group, checked against each other and the size of the file.
pub(super) fn pieces(metadata: &ParquetMetaData, text: &str, file_bytes: u64) -> Result<Vec<Piece>, String> {
    let schema = metadata.file_metadata().schema_descr();
    let leaf = root_of(schema, text).and_then(|root| leaf_of(schema, root)).ok_or("the footer lost a column")?;
    let mut pieces = Vec::with_capacity(metadata.num_row_groups());
    for (at, group) in metadata.row_groups().iter().enumerate() {
        let wrong = |what: &str| format!("row group {at} of the footer {what}");
        let rows = u64::try_from(group.num_rows()).map_err(|_| wrong("has a negative number of rows"))?;
        let chunk = group.columns().get(leaf).ok_or_else(|| wrong("has too few columns"))?;
        if chunk.num_values() != group.num_rows() {
            return Err(wrong(&format!("says {rows} rows, but column {text:?} has {} values", chunk.num_values())));
        }
        let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset()).min(chunk.data_page_offset());
        let end = start.checked_add(chunk.compressed_size()).filter(|_| start >= 0 && chunk.compressed_size() >= 0);
        if end.is_none_or(|end| end as u64 > file_bytes) {
            return Err(wrong(&format!("places column {text:?} outside of the file of {file_bytes} bytes")));
        }
        let unencoded = chunk.unencoded_byte_array_data_bytes().unwrap_or(0);
        pieces.push(Piece { start: at as u64, rows, bytes: chunk.uncompressed_size().max(unencoded).max(0) as u64 });
    }
    let rows: u128 = pieces.iter().map(|piece| u128::from(piece.rows)).sum();
    let said = metadata.file_metadata().num_rows();
    if i64::try_from(rows) != Ok(said) {
        return Err(format!("the footer says {said} rows, but its row groups hold {rows}"));
    }
    Ok(pieces)
}

/// What a reading needs of a footer: the columns asked for, strings as views.
#[derive(Debug)]
pub(super) struct Footer {
    pub metadata: ArrowReaderMetadata,
}

impl Footer {
    /// The footer cut down to the flat columns that `columns` names.
    pub fn new(metadata: &ParquetMetaData, columns: &Columns) -> Result<Footer, String> {
        let schema = metadata.file_metadata().schema_descr();
        let fields = schema.root_schema().get_fields();
        let usable = |root: usize| data_type(&fields[root]).is_some_and(|data_type| data_type.is_ok());
        let mut chosen: Vec<(usize, usize)> = columns
            .names()
            .into_iter()
            .filter_map(|name| root_of(schema, name))
            .filter(|&root| usable(root))
            .filter_map(|root| leaf_of(schema, root).map(|leaf| (root, leaf)))
            .collect();
        chosen.sort_unstable();
        guarded(|| Footer::cut(metadata, &chosen)).map_err(|why| format!("not a whole Parquet file: {why}"))
    }

    fn cut(metadata: &ParquetMetaData, chosen: &[(usize, usize)]) -> Result<Footer, ParquetError> {
        let all = metadata.file_metadata();
        let fields = chosen.iter().map(|&(root, _)| all.schema().get_fields()[root].clone()).collect();
        let schema = Arc::new(schema_of(all.schema().name(), fields)?);
        let groups: Vec<RowGroupMetaData> = metadata
            .row_groups()
            .iter()
            .map(|group| {
                RowGroupMetaData::builder(schema.clone())
                    .set_num_rows(group.num_rows())
                    .set_column_metadata(chosen.iter().map(|&(_, leaf)| group.column(leaf).clone()).collect())
                    .build()
            })
            .collect::<Result<_, _>>()?;
        let created_by = all.created_by().map(str::to_owned);
        let file = FileMetaData::new(all.version(), all.num_rows(), created_by, None, schema.clone(), None);
        let arrow = as_views(&parquet_to_arrow_schema(&schema, None)?);
        let options = ArrowReaderOptions::new().with_schema(Arc::new(arrow));
        let metadata = ArrowReaderMetadata::try_new(Arc::new(ParquetMetaData::new(file, groups)), options)?;
        Ok(Footer { metadata })
    }
}

/// The same columns, strings and binary as view types: decoded without copying, and without 32-bit offsets.
fn as_views(schema: &Schema) -> Schema {
    let view = |field: &Arc<Field>| {
        let data_type = match field.data_type() {
            DataType::Utf8 => DataType::Utf8View,
            DataType::Binary => DataType::BinaryView,
            other => other.clone(),
        };
        field.as_ref().clone().with_data_type(data_type)
    };
    Schema::new(schema.fields().iter().map(view).collect::<Vec<_>>())
}

fn root_of(schema: &SchemaDescriptor, name: &str) -> Option<usize> {
    schema.root_schema().get_fields().iter().position(|field| field.name() == name)
}

fn leaf_of(schema: &SchemaDescriptor, root: usize) -> Option<usize> {
    (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == root)
}

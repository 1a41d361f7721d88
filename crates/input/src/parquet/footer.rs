//! Reduces the footer of a Parquet file to what is required for reading the requested columns.
//!
//! As a result, an unrelated column with an unsupported type or deep nesting cannot make a file unreadable, and a footer with thousands of
//! columns takes little memory. Files are untrusted input: sizes and counts are checked before they are used, and panics in the decoder are
//! caught.

use super::fields::{is_string, is_struct, kept, leaf_of, resolve, schema_of};
use super::load::guarded;
use crate::format::columns::Columns;
use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use ::parquet::arrow::parquet_to_arrow_schema;
use ::parquet::basic::Compression;
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{FileMetaData, ParquetMetaData, RowGroupMetaData};
use ::parquet::schema::types::TypePtr;
use arrow::datatypes::{DataType, Field, Fields, Schema};
use dupsift_tables::nested::attached;
use std::sync::Arc;

/// The supported compression methods, as listed in messages.
const CODECS: &str = "none, Snappy, gzip, Zstandard, Brotli or LZ4";

/// The parts of a footer that are needed for reading: the requested columns, with strings and bytes as byte views.
#[derive(Debug)]
pub(super) struct Footer {
    pub metadata: ArrowReaderMetadata,
    /// The name and path of each column, in the order of the reduced footer.
    pub columns: Vec<(String, Vec<String>)>,
    /// The name of the column that contains each leaf of the reduced footer. A column of messages has several leaves.
    pub leaves: Vec<String>,
    /// The names of string columns. These columns are read as bytes; the caller checks each value.
    pub strings: Vec<String>,
    /// The names of columns whose lists are returned as JSON.
    pub lists: Vec<String>,
    /// Whether the file has a column with pictures beside the text.
    pub has_pictures: bool,
}

/// A leaf of a requested column: the name of the column, the fields that lead to the leaf, and its position among the file's leaves.
struct Chosen {
    name: String,
    path: Vec<TypePtr>,
    leaf: usize,
}

impl Chosen {
    /// Checks that all chunks use a supported compression method.
    fn can_be_unpacked(&self, metadata: &ParquetMetaData) -> Result<(), String> {
        let chunks = metadata.row_groups().iter().filter_map(|group| group.columns().get(self.leaf));
        match chunks.map(|chunk| chunk.compression()).find(|codec| matches!(codec, Compression::LZO)) {
            None => Ok(()),
            Some(codec) => Err(format!(
                "column {:?} is compressed with {codec}; expected {CODECS}: write the file again with one of these",
                self.name
            )),
        }
    }
}

impl Footer {
    /// Reduces the footer to the plain columns named in `columns`.
    pub(crate) fn new(metadata: &ParquetMetaData, columns: &Columns) -> Result<Footer, String> {
        let schema = metadata.file_metadata().schema_descr();
        let fields = schema.root_schema().get_fields();
        let mut chosen: Vec<Chosen> = columns
            .names()
            .into_iter()
            .flat_map(|name| {
                let is_text = name == columns.text && columns.parts.is_empty() && !columns.html;
                let paths = resolve(fields, name, is_text || columns.lists.iter().any(|list| list == name));
                let chosen = |path: Vec<TypePtr>| {
                    let leaf = leaf_of(schema, &path)?;
                    Some(Chosen { name: name.to_owned(), path, leaf })
                };
                paths.into_iter().filter_map(chosen).collect::<Vec<_>>()
            })
            .collect();
        chosen.sort_unstable_by_key(|chosen| chosen.leaf);
        chosen.iter().try_for_each(|chosen| chosen.can_be_unpacked(metadata))?;
        let footer = guarded(|| Footer::cut(metadata, &chosen))
            .map_err(|why| format!("the footer of the Parquet file cannot be used: {why}"))?;
        let is_attached = |field: &TypePtr| attached::is_attached(field.name()) && !columns.is_text(field.name());
        let has_pictures = !columns.html && fields.iter().any(is_attached);
        Ok(Footer { lists: columns.lists.clone(), has_pictures, ..footer })
    }

    /// Returns the positions of a column's leaves in the reduced footer.
    pub(crate) fn places(&self, name: &str) -> impl Iterator<Item = usize> {
        self.leaves.iter().enumerate().filter(move |(_, known)| *known == name).map(|(at, _)| at)
    }

    /// Returns whether the file has a column.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.places(name).next().is_some()
    }

    fn cut(metadata: &ParquetMetaData, chosen: &[Chosen]) -> Result<Footer, ParquetError> {
        let all = metadata.file_metadata();
        let paths: Vec<&[TypePtr]> = chosen.iter().map(|chosen| chosen.path.as_slice()).collect();
        let schema = Arc::new(schema_of(all.schema().name(), kept(all.schema().get_fields(), &paths)?)?);
        let groups: Vec<RowGroupMetaData> = metadata
            .row_groups()
            .iter()
            .map(|group| {
                RowGroupMetaData::builder(schema.clone())
                    .set_num_rows(group.num_rows())
                    .set_column_metadata(chosen.iter().map(|chosen| group.column(chosen.leaf).clone()).collect())
                    .build()
            })
            .collect::<Result<_, _>>()?;
        let created_by = all.created_by().map(str::to_owned);
        let file = FileMetaData::new(all.version(), all.num_rows(), created_by, None, schema.clone(), None);
        let arrow = Schema::new(as_views(parquet_to_arrow_schema(&schema, None)?.fields()));
        let options = ArrowReaderOptions::new().with_schema(Arc::new(arrow));
        let metadata = ArrowReaderMetadata::try_new(Arc::new(ParquetMetaData::new(file, groups)), options)?;
        // A list and its contents count as one column.
        let path = |chosen: &Chosen| {
            let list = chosen.path.iter().position(|field| field.is_group() && !is_struct(field));
            let column = &chosen.path[..list.map_or(chosen.path.len(), |list| list + 1)];
            column.iter().map(|field| field.name().to_owned()).collect()
        };
        let mut columns: Vec<_> = chosen.iter().map(|chosen| (chosen.name.clone(), path(chosen))).collect();
        columns.dedup();
        // Lists are converted to text, whatever their leaves contain.
        let is_string = |chosen: &&Chosen| {
            let is_list = chosen.path.iter().any(|field| field.is_group() && !is_struct(field));
            is_list || chosen.path.last().is_some_and(is_string)
        };
        let mut strings: Vec<_> = chosen.iter().filter(is_string).map(|chosen| chosen.name.clone()).collect();
        strings.dedup();
        let leaves = chosen.iter().map(|chosen| chosen.name.clone()).collect();
        Ok(Footer { metadata, columns, leaves, strings, lists: Vec::new(), has_pictures: false })
    }
}

/// Returns the same columns with byte columns replaced by views, which are decoded without copying and without 32-bit offsets.
fn as_views(fields: &Fields) -> Fields {
    let view = |field: &Arc<Field>| {
        let data_type = match field.data_type() {
            DataType::Binary => DataType::BinaryView,
            DataType::Struct(inside) => DataType::Struct(as_views(inside)),
            other => other.clone(),
        };
        field.as_ref().clone().with_data_type(data_type)
    };
    fields.iter().map(view).collect()
}

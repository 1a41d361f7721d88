//! Reads the footer of a Parquet file: the columns, the number of rows, and the metadata required for reading.
//!
//! First, the footer is reduced to the requested columns. As a result, an unrelated column with an unsupported type or deep nesting cannot
//! make a file unreadable, and a footer with thousands of columns takes little memory. Files are untrusted input: sizes and counts are
//! checked before they are used, and panics in the decoder are caught.

use crate::format::columns::Columns;
use crate::format::known::Shown;
use crate::format::open::Piece;
use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use ::parquet::arrow::parquet_to_arrow_schema;
use ::parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as PhysicalType};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader,
    ParquetStatisticsPolicy, RowGroupMetaData,
};
use ::parquet::schema::types::{SchemaDescriptor, Type, TypePtr};
use arrow::datatypes::{DataType, Field, Fields, Schema};
use dupsift_core::guard;
use dupsift_tables::nested::attached;
use dupsift_tables::nested::lists::is_texts;
use dupsift_tables::nested::message_fields;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The supported compression methods, as listed in messages.
const CODECS: &str = "none, Snappy, gzip, Zstandard, Brotli or LZ4";

/// Calls the decoder and converts errors and panics into a message.
pub(super) fn guarded<T>(call: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    match guard::guarded(call) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(said) => Err(format!("the decoder failed ({said})")),
    }
}

/// The number of bytes of memory that a footer takes per byte of its size in the file; a column chunk takes about 1.5 kB.
const IN_MEMORY: u64 = 14;
/// The size in the file, in bytes, above which only one footer is held in memory at a time.
const LARGE_FOOTER: u64 = 256 << 10;
/// The size in the file, in bytes, above which the memory of a footer is returned to the system. Otherwise, the heap of each thread would
/// keep the memory of the largest footer that the thread has read.
const RETURNED_FOOTER: u64 = 1 << 20;
/// Locked while a large footer is in memory.
static TURN: Mutex<()> = Mutex::new(());

/// Allows a thread to hold a large footer in memory. Drop the footer before the turn.
pub(super) struct Turn {
    is_returned: bool,
    _lock: MutexGuard<'static, ()>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.is_returned {
            dupsift_core::allocator::release();
        }
    }
}

/// Waits until no other large footer is in memory. Returns a [`Turn`] if this footer is large.
///
/// # Errors
/// Returns a message if the footer would take more than `most` bytes of memory.
pub(super) fn turn(file: &File, most: u64) -> Result<Option<Turn>, String> {
    let bytes = file.metadata().map_err(|error| error.to_string())?.len();
    let mut length = [0; 4];
    // Read errors are reported when the footer is loaded.
    let is_there = bytes >= 8 && file.read_exact_at(&mut length, bytes - 8).is_ok();
    let length = if is_there { u64::from(u32::from_le_bytes(length)) } else { 0 };
    if length > bytes || length <= LARGE_FOOTER {
        return Ok(None);
    }
    let needed = length.saturating_mul(IN_MEMORY);
    if needed > most {
        return Err(format!(
            "the footer of the Parquet file has {length} bytes and would take about {needed} in memory, but only {most} is left; raise `memory`, or use a file with fewer columns or row groups"
        ));
    }
    let lock = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Some(Turn { is_returned: length > RETURNED_FOOTER, _lock: lock }))
}

/// Loads the entire footer except the statistics.
pub(super) fn load(file: &File) -> Result<ParquetMetaData, String> {
    let bytes = file.metadata().map_err(|error| error.to_string())?.len();
    if bytes == 0 {
        return Err("0 bytes; expected a Parquet file".to_owned());
    }
    let mut magic = [0; 4];
    if bytes >= 8 && file.read_exact_at(&mut magic, bytes - 4).is_ok() && &magic == b"PARE" {
        return Err("the Parquet file is encrypted; use a decrypted copy".to_owned());
    }
    let options = ParquetMetaDataOptions::new()
        .with_column_stats_policy(ParquetStatisticsPolicy::SkipAll)
        .with_encoding_stats_as_mask(true);
    guarded(|| ParquetMetaDataReader::new().with_metadata_options(Some(options)).parse_and_finish(file))
        .map_err(|why| unread(file, &why))
}

/// Returns the message for a file with an unusable footer. A file that has the magic number at both ends is not truncated.
pub(super) fn unread(file: &File, why: &str) -> String {
    const MARK: &[u8; 4] = b"PAR1";
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    let is_mark = |at: u64| {
        let mut mark = [0; 4];
        file.read_exact_at(&mut mark, at).is_ok() && &mark == MARK
    };
    if bytes >= 12 && is_mark(0) && is_mark(bytes - 4) {
        format!("the footer of the Parquet file cannot be read ({bytes} bytes): {why}")
    } else {
        format!("not a complete Parquet file ({bytes} bytes): {why}")
    }
}

/// Checks that no column is encrypted in a file with a plain footer.
///
/// # Errors
/// Returns a message that names the first encrypted column.
pub(super) fn check_plain(file: &File, metadata: &ParquetMetaData) -> Result<(), String> {
    // A column is encrypted either in all row groups or in none, so checking one row group is enough.
    let Some(group) = metadata.row_groups().iter().find(|group| group.num_rows() > 0) else { return Ok(()) };
    match group.columns().iter().find(|chunk| is_encrypted(file, chunk)) {
        None => Ok(()),
        Some(chunk) => Err(format!(
            "column {:?} is encrypted; use a decrypted copy of the Parquet file",
            chunk.column_path().string()
        )),
    }
}

/// Returns whether the pages of a chunk are encrypted.
///
/// An encrypted chunk begins with the length of the first encrypted page header (nonce, header and tag) in 4 little-endian bytes. A plain
/// page header begins with the bytes 0x15, kind, 0x15, which, read as a length, would exceed 1 MiB.
fn is_encrypted(file: &File, chunk: &ColumnChunkMetaData) -> bool {
    const NONCE_AND_TAG: u32 = 12 + 16;
    const LONGEST: u32 = 1 << 20;
    let dictionary = chunk.dictionary_page_offset().filter(|&at| at > 0).unwrap_or(i64::MAX);
    let mut length = [0; 4];
    u64::try_from(dictionary.min(chunk.data_page_offset()))
        .is_ok_and(|start| file.read_exact_at(&mut length, start).is_ok())
        && (NONCE_AND_TAG + 1..LONGEST).contains(&u32::from_le_bytes(length))
}

/// Returns the columns of the file for messages and checks; struct fields are identified by their paths. Top-level columns come first, so a
/// top-level column takes precedence over a nested column of the same name.
pub(super) fn describe(metadata: &ParquetMetaData) -> Vec<Shown> {
    let mut described = Vec::new();
    for field in metadata.file_metadata().schema().get_fields() {
        describe_below(&[], field, &mut described);
    }
    described.sort_by_key(|(path, _)| path.len());
    described.into_iter().map(|(_, shown)| shown).collect()
}

fn describe_below(above: &[String], field: &TypePtr, described: &mut Vec<(Vec<String>, Shown)>) {
    let path: Vec<String> = above.iter().cloned().chain([field.name().to_owned()]).collect();
    if is_struct(field) {
        field.get_fields().iter().for_each(|child| describe_below(&path, child, described));
        return;
    }
    described.push((path.clone(), shown(path.join("."), field)));
}

/// Returns the columns on the top level of the file.
pub(super) fn describe_top(metadata: &ParquetMetaData) -> Vec<Shown> {
    let shown = |field: &TypePtr| match is_struct(field) {
        true => Shown::nested(field.name(), "a struct"),
        false => shown(field.name().to_owned(), field),
    };
    metadata.file_metadata().schema().get_fields().iter().map(shown).collect()
}

/// Describes a column that is no struct.
fn shown(name: String, field: &TypePtr) -> Shown {
    let is_texts = !texts_below(field).is_empty();
    let (data_type, says) = match data_type(field) {
        Some(Ok(data_type)) => (Some(data_type.clone()), data_type.to_string()),
        Some(Err(_)) => (None, "of an unknown type".to_owned()),
        None => (None, "a list".to_owned()),
    };
    Shown { name, data_type, says, is_texts }
}

/// Returns whether the field is a struct: a group of columns with one value per row, but not a list or a map.
fn is_struct(field: &TypePtr) -> bool {
    let info = field.get_basic_info();
    let annotated = info.logical_type_ref().is_some() || info.converted_type() != ConvertedType::NONE;
    field.is_group() && !annotated && !is_repeated(field)
}

fn is_repeated(field: &TypePtr) -> bool {
    let info = field.get_basic_info();
    info.has_repetition() && info.repetition() == Repetition::REPEATED
}

/// Returns the fields from the root to the plain column with this name or path. A column whose own name contains a dot takes precedence. If
/// `or_texts` is set, a list that contains text is also accepted; in that case, there is one path for each leaf of the list that is read.
/// Returns nothing if there is no such column.
fn resolve(fields: &[TypePtr], name: &str, or_texts: bool) -> Vec<Vec<TypePtr>> {
    if let Some(field) = fields.iter().find(|field| field.name() == name) {
        return match data_type(field) {
            Some(Ok(_)) => vec![vec![field.clone()]],
            _ if or_texts => texts_below(field),
            _ => Vec::new(),
        };
    }
    let below = fields.iter().filter(|field| is_struct(field)).map(|field| {
        let rest = name.strip_prefix(field.name()).and_then(|rest| rest.strip_prefix('.'));
        let mut paths = rest.map_or_else(Vec::new, |rest| resolve(field.get_fields(), rest, or_texts));
        paths.iter_mut().for_each(|path| path.insert(0, field.clone()));
        paths
    });
    below.into_iter().find(|paths| !paths.is_empty()).unwrap_or_default()
}

/// Returns the fields that lead to each leaf that is read from a list of strings or of messages; nothing for any other field.
fn texts_below(list: &TypePtr) -> Vec<Vec<TypePtr>> {
    let info = list.get_basic_info();
    let is_list = info.logical_type_ref() == Some(&LogicalType::List) || info.converted_type() == ConvertedType::LIST;
    if !list.is_group() || !is_list || is_repeated(list) {
        return Vec::new();
    }
    let [repeated] = list.get_fields() else { return Vec::new() };
    let items = if repeated.is_group() { repeated.get_fields() } else { &[] };
    let [item] = items else { return Vec::new() };
    let is_read = |field: &&TypePtr| {
        item.is_primitive() || message_fields::Field::of(field.name()) != message_fields::Field::Label
    };
    let fields = if item.is_primitive() { std::slice::from_ref(item) } else { item.get_fields() };
    if !item.is_primitive() && !is_struct(item) {
        return Vec::new();
    }
    let mut paths = Vec::new();
    for field in fields.iter().filter(is_read) {
        let mut path = vec![list.clone(), repeated.clone(), item.clone()];
        path.extend((!item.is_primitive()).then(|| field.clone()));
        leaves_below(path, &mut paths);
    }
    // The types of the leaves that are read determine whether the items are text.
    let is_texts = !paths.is_empty()
        && guarded(|| {
            let schema = schema_of("schema", kept(std::slice::from_ref(list), &borrowed(&paths))?)?;
            Ok(is_texts(parquet_to_arrow_schema(&schema, None)?.field(0).data_type()))
        })
        .unwrap_or(false);
    if is_texts { paths } else { Vec::new() }
}

/// Adds the paths of all leaves below the last field of a path.
fn leaves_below(path: Vec<TypePtr>, paths: &mut Vec<Vec<TypePtr>>) {
    let Some(last) = path.last() else { return };
    if last.is_primitive() {
        return paths.push(path);
    }
    for field in last.get_fields() {
        leaves_below(path.iter().chain([field]).cloned().collect(), paths);
    }
}

fn borrowed(paths: &[Vec<TypePtr>]) -> Vec<&[TypePtr]> {
    paths.iter().map(Vec::as_slice).collect()
}

/// Returns the Arrow type of a plain column; `None` for a nested or repeated column.
fn data_type(field: &TypePtr) -> Option<Result<DataType, String>> {
    if !field.is_primitive() || is_repeated(field) {
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

/// Returns the number of rows and the number of text bytes in every row group. Checks that these numbers are consistent with each other and
/// with the file size.
pub(super) fn pieces(metadata: &ParquetMetaData, columns: &Columns, file_bytes: u64) -> Result<Vec<Piece>, String> {
    let texts = if columns.parts.is_empty() { std::slice::from_ref(&columns.text) } else { &columns.parts };
    let (first, rest) = texts.split_first().ok_or("it has no text column")?;
    let mut pieces = pieces_of(metadata, first, file_bytes)?;
    for text in rest {
        for (piece, other) in pieces.iter_mut().zip(pieces_of(metadata, text, file_bytes)?) {
            piece.bytes = piece.bytes.saturating_add(other.bytes);
        }
    }
    Ok(pieces)
}

fn pieces_of(metadata: &ParquetMetaData, text: &str, file_bytes: u64) -> Result<Vec<Piece>, String> {
    let schema = metadata.file_metadata().schema_descr();
    let fields = schema.root_schema().get_fields();
    let paths = resolve(fields, text, true);
    let mut leaves = paths.iter().filter_map(|path| leaf_of(schema, path));
    let mut pieces = pieces_of_leaf(metadata, text, leaves.next().ok_or("the footer lacks a column")?, file_bytes)?;
    for leaf in leaves {
        for (piece, other) in pieces.iter_mut().zip(pieces_of_leaf(metadata, text, leaf, file_bytes)?) {
            piece.bytes = piece.bytes.saturating_add(other.bytes);
        }
    }
    Ok(pieces)
}

fn pieces_of_leaf(metadata: &ParquetMetaData, text: &str, leaf: usize, file_bytes: u64) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::with_capacity(metadata.num_row_groups());
    for (at, group) in metadata.row_groups().iter().enumerate() {
        let wrong = |what: &str| format!("row group {at} in the footer {what}");
        let rows = u64::try_from(group.num_rows()).map_err(|_| wrong("has a negative number of rows"))?;
        let chunk = group.columns().get(leaf).ok_or_else(|| wrong("has too few columns"))?;
        // A list column has at least one value per row, even if the list is null.
        let is_list = chunk.column_descr().max_rep_level() > 0 && chunk.num_values() > group.num_rows();
        if chunk.num_values() != group.num_rows() && !is_list {
            return Err(wrong(&format!("declares {rows} rows, but column {text:?} has {} values", chunk.num_values())));
        }
        let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset()).min(chunk.data_page_offset());
        let end = start.checked_add(chunk.compressed_size()).filter(|_| start >= 0 && chunk.compressed_size() >= 0);
        if end.is_none_or(|end| end as u64 > file_bytes) {
            return Err(wrong(&format!("places column {text:?} outside the file, which has {file_bytes} bytes")));
        }
        let unencoded = chunk.unencoded_byte_array_data_bytes().unwrap_or(0);
        let bytes = chunk.uncompressed_size().max(unencoded).max(0) as u64;
        pieces.push(Piece { start: at as u64, rows, bytes, held: 0 });
    }
    let rows: u128 = pieces.iter().map(|piece| u128::from(piece.rows)).sum();
    let said = metadata.file_metadata().num_rows();
    if i64::try_from(rows) != Ok(said) {
        return Err(format!("the footer declares {said} rows, but its row groups have {rows}"));
    }
    Ok(pieces)
}

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

/// Returns the fields that lead to one of the columns. Structs are reduced to these fields, and strings become bytes.
fn kept(fields: &[TypePtr], paths: &[&[TypePtr]]) -> Result<Vec<TypePtr>, ParquetError> {
    let mut kept_fields = Vec::new();
    for field in fields {
        let here = paths.iter().filter_map(|path| path.split_first());
        let below: Vec<&[TypePtr]> =
            here.filter(|(first, _)| Arc::ptr_eq(first, field)).map(|(_, rest)| rest).collect();
        if below.is_empty() {
            continue;
        }
        kept_fields.push(if field.is_group() {
            let info = field.get_basic_info();
            let group = Type::group_type_builder(field.name()).with_repetition(info.repetition());
            let group =
                group.with_logical_type(info.logical_type_ref().cloned()).with_converted_type(info.converted_type());
            Arc::new(group.with_fields(kept(field.get_fields(), &below)?).build()?)
        } else if is_string(field) {
            let bytes = Type::primitive_type_builder(field.name(), PhysicalType::BYTE_ARRAY);
            Arc::new(bytes.with_repetition(field.get_basic_info().repetition()).build()?)
        } else {
            field.clone()
        });
    }
    Ok(kept_fields)
}

/// Returns whether the field is a plain string column. Such columns are read as bytes, because otherwise the decoder would check the
/// strings and reject an entire page because of a single invalid value.
fn is_string(field: &TypePtr) -> bool {
    matches!(data_type(field), Some(Ok(DataType::Utf8)))
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

/// Returns the position of a column among all columns of the file.
fn leaf_of(schema: &SchemaDescriptor, path: &[TypePtr]) -> Option<usize> {
    let same = |parts: &[String]| {
        parts.len() == path.len() && parts.iter().zip(path).all(|(part, field)| part == field.name())
    };
    schema.columns().iter().position(|column| same(column.path().parts()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::file_of;

    #[test]
    fn large_footers_take_turns_and_one_beyond_the_memory_is_refused() {
        let length: u32 = 1 << 20;
        let bytes = [&b"PAR1"[..], &vec![0; length as usize], &length.to_le_bytes(), b"PAR1"].concat();
        let file = file_of(&bytes);
        let held = turn(&file, IN_MEMORY << 20).expect("room");
        assert!(held.is_some() && TURN.try_lock().is_err());
        drop(held);
        let refused = turn(&file, (IN_MEMORY << 20) - 1).err().expect("no room");
        assert!(refused.contains("footer") && refused.contains("`memory`"), "{refused}");
        assert!(turn(&file_of(b"PAR1"), 0).expect("too short to tell").is_none());
        // Copying waits for the same lock, so the file is recognized as invalid only after the lock is released.
        let held = turn(&file, u64::MAX).expect("room");
        let again = file.try_clone().expect("a handle");
        let copied = std::thread::spawn(move || crate::parquet::copy::check(&again, &|_, _| true).map(drop));
        std::thread::sleep(std::time::Duration::from_millis(200));
        assert!(!copied.is_finished(), "a copy took no turn");
        drop(held);
        assert!(copied.join().expect("no panic").is_err());
        let held = turn(&file, u64::MAX).expect("room");
        let again = file.try_clone().expect("a handle");
        let labels = std::thread::spawn(move || {
            let path = std::path::Path::new("a.parquet");
            let (format, _) = crate::formats::of(path, crate::formats::TextFiles::Skipped).expect("a format");
            let ids = format.ids().expect("Parquet has ids");
            ids.read_ids(
                again,
                crate::compressed::coding::Coding::default(),
                crate::format::ids::IdColumns { ids: ["a", "b"], labels: &[] },
                &mut |_| Ok(true),
            )
            .is_err()
        });
        std::thread::sleep(std::time::Duration::from_millis(200));
        assert!(!labels.is_finished(), "labels took no turn");
        drop(held);
        assert!(labels.join().expect("no panic"));
        assert!(unread(&file, "why").starts_with("the footer of the Parquet file cannot be read (1048588 bytes)"));
        assert!(unread(&file_of(&bytes[..99]), "why").starts_with("not a complete Parquet file (99 bytes)"));
    }
}

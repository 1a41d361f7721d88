//! The pieces in which a Parquet file is read: its row groups, with their rows and the size of their text.

use super::fields::{leaf_of, resolve};
use crate::format::columns::Columns;
use crate::format::open::Piece;
use ::parquet::file::metadata::ParquetMetaData;

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

//! Loads the footer of a Parquet file. If that fails, the message says what is wrong with the file: it is truncated, encrypted or damaged.

use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader, ParquetStatisticsPolicy,
};
use dupsift_core::guard;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// Calls the decoder and converts errors and panics into a message.
pub(super) fn guarded<T>(call: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    match guard::guarded(call) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(said) => Err(format!("the decoder failed ({said})")),
    }
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

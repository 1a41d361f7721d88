//! Reads the columns of a file.

use crate::find::foreign;
use crate::find::found_file::FoundFile;
use crate::format::known::{KnownColumns, Look};
use std::fs::File;

/// Returns the columns of a file that can be determined without reading the complete file. The result always includes the columns in
/// `asked` that exist.
///
/// # Errors
/// Returns the reason why the file cannot be read.
pub(super) fn columns_of(file: &FoundFile, asked: &[&str]) -> std::result::Result<Option<KnownColumns>, String> {
    let opened = File::open(file.on_disk()).map_err(|error| format!("cannot be opened: {error}"))?;
    foreign::pointer(&opened).map_or(Ok(()), Err)?;
    file.format.columns(opened, file.coding, Look::Named(asked))
}

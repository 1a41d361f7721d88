//! The files of a term table, which have no names and are mapped into memory after they are written.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::private;

/// Creates a new file and removes its name immediately, so that the file disappears no matter how the process ends.
pub(crate) fn nameless(path: &Path) -> Result<File> {
    private::create_nameless(path).map_err(Error::io("create the term table", path))
}

/// Maps a complete file. Returns `None` if the file is empty.
#[allow(unsafe_code)]
pub(crate) fn map(file: &File, path: &Path) -> Result<Option<Mmap>> {
    let bytes = file.metadata().map_err(Error::io("read the size of", path))?.len();
    if bytes == 0 {
        return Ok(None);
    }
    // SAFETY: the file has no name, so nothing else can open it, and from this point on this process only reads it.
    let map = unsafe { Mmap::map(file) }.map_err(Error::io("map the term table", path))?;
    Ok(Some(map))
}

//! The files of a term table: they have no names, and are mapped once they are written.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::private;

/// A new file that loses its name at once: however the process ends, nothing of it is left. The path is kept for messages.
pub fn nameless(path: &Path) -> Result<File> {
    private::create_nameless(path).map_err(Error::io("create the term table", path))
}

/// Maps a whole file; an empty one is none.
#[allow(unsafe_code)]
pub fn map(file: &File, path: &Path) -> Result<Option<Mmap>> {
    let bytes = file.metadata().map_err(Error::io("read the size of", path))?.len();
    if bytes == 0 {
        return Ok(None);
    }
    // SAFETY: the file has no name, so nothing else can open it, and here it is only read from now on.
    let map = unsafe { Mmap::map(file) }.map_err(Error::io("map the term table", path))?;
    Ok(Some(map))
}

//! Work files of terms, and work on them by stretches, on any threads.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use memmap2::Mmap;

use crate::error::{Error, Result};

/// Terms that one thread goes through at a time.
pub const STRETCH: usize = if cfg!(test) { 300 } else { 1 << 18 };

/// Does so many pieces of work by a function, which takes their numbers, on any threads.
pub type Spread<'s> = &'s dyn Fn(usize, &(dyn Fn(usize) + Sync));

/// What a function makes of stretches of so many terms, in their order.
pub fn by_stretches<T: Send + Sync>(len: usize, spread: Spread<'_>, each: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let made: Vec<OnceLock<T>> = (0..len.div_ceil(STRETCH)).map(|_| OnceLock::new()).collect();
    spread(made.len(), &|at| {
        made[at].get_or_init(|| each(at * STRETCH..((at + 1) * STRETCH).min(len)));
    });
    made.into_iter().filter_map(OnceLock::into_inner).collect()
}

/// A new file that loses its name at once: however the process ends, nothing of it is left. The path is kept for messages.
pub fn nameless(path: &Path) -> Result<File> {
    let file = File::options().read(true).write(true).create(true).truncate(true).open(path);
    let file = file.map_err(Error::io("create the term table", path))?;
    std::fs::remove_file(path).map_err(Error::io("unlink the term table", path))?;
    Ok(file)
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

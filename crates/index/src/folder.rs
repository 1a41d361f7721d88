//! Folders and files of an index: made durable before anything names them.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use dupsift_core::error::{Error, Result};
use dupsift_core::hash::Hash128;
use dupsift_core::safe_fs::{self, sync_folder};

/// The folder of documents.
pub const BATCHES: &str = "batches";
/// The folder of rows.
pub const ROWS: &str = "rows";
/// The folder of statistics and models.
pub const STATISTICS: &str = "statistics";
/// All folders of an index.
pub const FOLDERS: [&str; 3] = [BATCHES, ROWS, STATISTICS];

/// A file with all that tells it from another one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// Its name in its folder.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// XXH3-128 over it, in hexadecimal.
    pub xxh3: String,
}

/// Whether a folder of that kind may have that name: a letter and a number, as in `b-00000031`.
pub fn is_folder(kind: &str, name: &str) -> bool {
    let letter = match kind {
        BATCHES => "b",
        ROWS => "r",
        STATISTICS => "s",
        _ => return false,
    };
    let number = name.strip_prefix(letter).and_then(|rest| rest.strip_prefix('-'));
    number.is_some_and(|number| (1..=20).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The names in a folder; none where it is not there.
pub fn names(dir: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::reading("list the folder", dir)(error)),
    };
    let name = |entry: std::io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    entries.map(name).collect::<std::io::Result<_>>().map_err(Error::reading("list the folder", dir))
}

/// What stands around the name of a file while it is written.
const UNFINISHED: (&str, &str) = (".", ".unfinished");

/// Writes a file that is complete or not there, under its name in the folder, and makes both durable.
///
/// # Errors
/// [`Error::Io`].
pub fn write_durably(dir: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let (path, unfinished) = (dir.join(name), dir.join(format!("{}{name}{}", UNFINISHED.0, UNFINISHED.1)));
    safe_fs::write_durably(&unfinished, bytes)?;
    fs::rename(&unfinished, &path).map_err(Error::io("rename", &unfinished))?;
    sync_folder(dir)
}

/// Returns the name that a file would have got whose writer died; `None` for any other name.
pub fn unfinished(name: &str) -> Option<&str> {
    name.strip_prefix(UNFINISHED.0)?.strip_suffix(UNFINISHED.1)
}

/// Makes all files of a folder durable, and says what tells each from others; in order of the names.
pub fn seal(dir: &Path) -> Result<Vec<Named>> {
    let mut files = names(dir)?;
    files.sort_unstable();
    let files = files.into_iter().map(|name| {
        let path = dir.join(&name);
        File::open(&path).and_then(|file| file.sync_all()).map_err(Error::io("write", &path))?;
        look(&path, name)
    });
    let files = files.collect::<Result<_>>()?;
    sync_folder(dir)?;
    Ok(files)
}

/// Makes all files and folders below a folder durable, and says what tells each file from others; by their paths below the folder, in
/// order.
pub fn seal_below(dir: &Path) -> Result<Vec<Named>> {
    let mut files = Vec::new();
    for name in names(dir)? {
        let path = dir.join(&name);
        if path.is_dir() {
            let below = seal_below(&path)?.into_iter();
            files.extend(below.map(|file| Named { name: format!("{name}/{}", file.name), ..file }));
        } else {
            File::open(&path).and_then(|file| file.sync_all()).map_err(Error::io("write", &path))?;
            files.push(look(&path, name)?);
        }
    }
    files.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    sync_folder(dir)?;
    Ok(files)
}

/// Compares a file with what was written.
///
/// # Errors
/// [`Error::Damaged`] with what differs.
pub fn check(dir: &Path, known: &Named) -> Result<()> {
    let path = dir.join(&known.name);
    let damaged = |why: String| Error::Damaged { path: path.clone(), why };
    if !path.is_file() {
        return Err(damaged("it is not there".into()));
    }
    let found = look(&path, known.name.clone())?;
    if found.bytes != known.bytes {
        return Err(damaged(format!("it has {} bytes and not {}", found.bytes, known.bytes)));
    }
    if found.xxh3 != known.xxh3 {
        return Err(damaged(format!("it has checksum {} and not {}", found.xxh3, known.xxh3)));
    }
    Ok(())
}

fn look(path: &Path, name: String) -> Result<Named> {
    let mut file = safe_fs::open_behind_link(path).map_err(Error::reading("open", path))?;
    let (mut hash, mut bytes, mut buffer) = (Hash128::default(), 0, vec![0; 1 << 20]);
    loop {
        let count = file.read(&mut buffer).map_err(Error::reading("read", path))?;
        if count == 0 {
            return Ok(Named { name, bytes, xxh3: format!("{:032x}", hash.value()) });
        }
        hash.add(&buffer[..count]);
        bytes += count as u64;
    }
}

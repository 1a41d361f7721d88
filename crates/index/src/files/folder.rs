//! Writes the folders and files of an index. All files and folders are durable before anything refers to them.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use dupsift_core::error::{Error, Result};
use dupsift_core::hash::Hash128;
use dupsift_core::safe_fs::{self, Readers, listing, sync_folder};
use dupsift_spill::shuffle::run::Run;

use super::sums::list_in;

/// The folder for documents.
pub const BATCHES: &str = "batches";
/// The folder for rows.
pub const ROWS: &str = "rows";
/// The folder for statistics and models.
pub const STATISTICS: &str = "statistics";
/// All folders of an index.
pub(crate) const FOLDERS: [&str; 3] = [BATCHES, ROWS, STATISTICS];

/// Identifies a file by its name, size and checksum.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// The name of the file within its folder.
    pub name: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The XXH3-128 hash of the content, in hexadecimal.
    pub xxh3: String,
    /// The checksum of the file's list of checksums, if its blocks are verified one by one. The list is compared with this checksum when
    /// the file is opened, so a complete and valid file of another batch or generation is not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<u32>,
}

/// Returns the checksum of a file's list of checksums, if the file has such a list.
fn list_of(path: &Path) -> Result<Option<u32>> {
    match path.extension().and_then(OsStr::to_str) {
        Some("run") => Run::open(path).map(|run| Some(run.list())),
        Some("sums") => list_in(path).map(Some),
        _ => Ok(None),
    }
}

/// Returns whether this name is valid for a folder of this kind. A valid name consists of a letter and a number, as in `b-00000031`.
pub(crate) fn is_folder(kind: &str, name: &str) -> bool {
    let letter = match kind {
        BATCHES => "b",
        ROWS => "r",
        STATISTICS => "s",
        _ => return false,
    };
    let number = name.strip_prefix(letter).and_then(|rest| rest.strip_prefix('-'));
    number.is_some_and(|number| (1..=20).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the names in a folder, or an empty list if the folder does not exist.
pub(crate) fn names(dir: &Path) -> Result<Vec<String>> {
    match listing::names(dir) {
        Ok(names) => Ok(names.into_iter().map(|name| name.to_string_lossy().into_owned()).collect()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::reading("list the folder", dir)(error)),
    }
}

/// The prefix and suffix of a file name while the file is being written.
const UNFINISHED: (&str, &str) = (".", ".unfinished");

/// Writes a file atomically under its name in the folder, and makes the file and the folder durable.
///
/// # Errors
/// Returns [`Error::Io`].
pub(crate) fn write_durably(dir: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    write_durably_for(dir, name, bytes, &Readers::default())
}

/// Writes a file like [`write_durably`] that only these users may read, if the file system supports permissions.
///
/// # Errors
/// Returns [`Error::Io`].
pub(crate) fn write_durably_for(dir: &Path, name: &str, bytes: &[u8], readers: &Readers) -> Result<()> {
    let (path, unfinished) = (dir.join(name), dir.join(format!("{}{name}{}", UNFINISHED.0, UNFINISHED.1)));
    safe_fs::write_durably(&unfinished, bytes)?;
    let _ = safe_fs::open(&unfinished).and_then(|file| readers.limit(&file));
    fs::rename(&unfinished, &path).map_err(Error::io("rename", &unfinished))?;
    sync_folder(dir)
}

/// Returns the final name of a file whose writer died, given its current name; returns `None` for any other file.
pub(crate) fn unfinished(name: &str) -> Option<&str> {
    name.strip_prefix(UNFINISHED.0)?.strip_suffix(UNFINISHED.1)
}

/// Makes all files in a folder durable, and returns their names, sizes and checksums in the order of the names.
pub fn seal(dir: &Path) -> Result<Vec<Named>> {
    let mut files = names(dir)?;
    files.sort_unstable();
    let files = files.into_iter().map(|name| {
        let path = dir.join(&name);
        File::open(&path).and_then(|file| file.sync_all()).map_err(Error::io("write", &path))?;
        Ok(Named { list: list_of(&path)?, ..look(&path, name)? })
    });
    let files = files.collect::<Result<_>>()?;
    sync_folder(dir)?;
    Ok(files)
}

/// Makes all files and folders below a folder durable, and returns the relative paths, sizes and checksums of the files in the order of the
/// paths.
pub fn seal_below(dir: &Path) -> Result<Vec<Named>> {
    let mut files = Vec::new();
    for name in names(dir)? {
        let path = dir.join(&name);
        if listing::is_folder(&path)? {
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

/// Checks that a file has its recorded size and checksum.
///
/// # Errors
/// Returns [`Error::Damaged`] with a description of the difference.
pub(crate) fn check(dir: &Path, known: &Named) -> Result<()> {
    let path = dir.join(&known.name);
    let damaged = |why: String| Error::Damaged { path: path.clone(), why };
    if !listing::is_file(&path)? {
        return Err(damaged("it is missing".into()));
    }
    let found = look(&path, known.name.clone())?;
    if found.bytes != known.bytes {
        return Err(damaged(format!("it has {} bytes instead of {}", found.bytes, known.bytes)));
    }
    if found.xxh3 != known.xxh3 {
        return Err(damaged(format!("it has checksum {} instead of {}", found.xxh3, known.xxh3)));
    }
    Ok(())
}

fn look(path: &Path, name: String) -> Result<Named> {
    let mut file = safe_fs::open_behind_link(path).map_err(Error::reading("open", path))?;
    let (mut hash, mut bytes, mut buffer) = (Hash128::default(), 0, vec![0; 1 << 20]);
    loop {
        let count = file.read(&mut buffer).map_err(Error::reading("read", path))?;
        if count == 0 {
            return Ok(Named { name, bytes, xxh3: format!("{:032x}", hash.value()), list: None });
        }
        hash.add(&buffer[..count]);
        bytes += count as u64;
    }
}

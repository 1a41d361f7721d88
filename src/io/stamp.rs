//! What tells a file from another one of its name: its size and its time.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::time::SystemTime;

/// What tells that a file is still the one that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub(super) bytes: u64,
    modified: Option<SystemTime>,
}

impl fmt::Display for Stamp {
    /// Bytes and time, such as `7 1763800000.000000001`.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = self.modified.map(|time| time.duration_since(SystemTime::UNIX_EPOCH));
        match since {
            Some(Ok(since)) => write!(to, "{} {}.{:09}", self.bytes, since.as_secs(), since.subsec_nanos()),
            Some(Err(before)) => write!(to, "{} -{:?}", self.bytes, before.duration()),
            None => write!(to, "{} at no time", self.bytes),
        }
    }
}

impl Stamp {
    /// That of a path as it is now.
    ///
    /// # Errors
    /// What the system says.
    pub fn of(path: &Path) -> std::io::Result<Stamp> {
        Stamp::made(std::fs::metadata(path)?)
    }

    pub(super) fn of_file(file: &File) -> std::io::Result<Stamp> {
        Stamp::made(file.metadata()?)
    }

    fn made(metadata: std::fs::Metadata) -> std::io::Result<Stamp> {
        if metadata.is_dir() {
            return Err(std::io::Error::other("it is a folder"));
        }
        Ok(Stamp { bytes: metadata.len(), modified: metadata.modified().ok() })
    }
}

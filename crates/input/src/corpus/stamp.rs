//! Holds metadata that distinguishes a file from other files with the same name: size, times and location on disk.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// File system metadata of a file, for comparison with later metadata.
///
/// Copies that preserve times (`cp -p`, `rsync -t`, archives) have the same size and modification time as the original but a different
/// ctime, which programs cannot set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub(crate) bytes: u64,
    /// The modification time in seconds and nanoseconds.
    modified: (i64, i64),
    /// The ctime in seconds and nanoseconds.
    changed: (i64, i64),
    /// The device and inode numbers.
    place: (u64, u64),
}

impl fmt::Display for Stamp {
    /// Writes the size in bytes, times, device and inode, such as `7 1763800000.000000001 1763800000.000000001 2049:131`.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stamp { bytes, modified, changed, place } = self;
        write!(to, "{bytes} {}.{:09} {}.{:09} {}:{}", modified.0, modified.1, changed.0, changed.1, place.0, place.1)
    }
}

impl Stamp {
    /// Returns the current metadata of a path.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub fn of(path: &Path) -> std::io::Result<Stamp> {
        Stamp::made(&std::fs::metadata(path)?)
    }

    pub(crate) fn of_file(file: &File) -> std::io::Result<Stamp> {
        Stamp::made(&file.metadata()?)
    }

    fn made(metadata: &std::fs::Metadata) -> std::io::Result<Stamp> {
        if metadata.is_dir() {
            return Err(std::io::Error::other("it is a folder"));
        }
        Ok(Stamp {
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            place: (metadata.dev(), metadata.ino()),
        })
    }

    /// Returns whether the file was neither modified nor replaced between the two stamps. Device and inode numbers are ignored: some file
    /// systems renumber a file while it is open, and replacing a file changes the ctime anyway.
    pub(crate) fn stays(&self, now: &Stamp) -> bool {
        self.looks_like(now) && self.changed == now.changed
    }

    /// Returns whether two files have the same size and modification time; their contents may differ.
    pub(crate) fn looks_like(&self, other: &Stamp) -> bool {
        self.bytes == other.bytes && self.modified == other.modified
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_same_size_and_time_is_distinguished_from_the_one_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "one").expect("written");
        let before = Stamp::of(&path).expect("there");
        assert!(before.stays(&Stamp::of(&path).expect("there")));
        let time = std::fs::metadata(&path).expect("there").modified().expect("a time");
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::fs::write(&path, "two").expect("written");
        File::options().write(true).open(&path).expect("open").set_modified(time).expect("set");
        let after = Stamp::of(&path).expect("there");
        assert!(before.looks_like(&after) && !before.stays(&after) && before.to_string() != after.to_string());
        assert!(Stamp::of(folder.path()).is_err());
    }
}

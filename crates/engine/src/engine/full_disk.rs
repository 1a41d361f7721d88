//! Extends full-disk errors with the amount of space that is missing and the amount of work that has been saved.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use bytesize::ByteSize;

use super::checkpoints::goes_on;
use dupsift_core::error::Error;

/// Holds the amount of free space on the disk that contains a folder, as it was when the work began.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    folder: PathBuf,
    free: Option<u64>,
}

impl Disk {
    /// Returns the current state of the disk that contains this folder.
    pub(crate) fn of(folder: &Path) -> Disk {
        Disk { free: free(folder), folder: folder.to_path_buf() }
    }

    /// Extends a full-disk error with the amount of space that is missing, based on the number of bytes that the work is expected to write.
    /// Returns any other error unchanged.
    pub(crate) fn tell(&self, error: Error, expected: impl FnOnce() -> Option<u64>) -> Error {
        self.tell_of(error, expected, goes_on().map(|kept| kept.to_string()))
    }

    /// Works like `tell`; `kept` describes the work that the process has saved.
    fn tell_of(&self, error: Error, expected: impl FnOnce() -> Option<u64>, kept: Option<String>) -> Error {
        let Some(code) = error.full() else { return error };
        let way_out = match code {
            libc::EFBIG => "the file size limit of this process (`ulimit -f`) is too low".to_owned(),
            _ => match self.other_disk(&error) {
                Some(folder) => more_in(&folder, free(&folder)),
                None => self.needed(expected(), free(&self.folder)),
            },
        };
        let kept = kept
            .map_or_else(|| "no output was written".to_owned(), |kept| format!("completed work is not lost: {kept}"));
        Error::Full { source: Box::new(error), said: format!("{way_out}; {kept}") }
    }

    /// Returns the folder that a failed write was to, if it is on another disk than the temporary files: an output or an index.
    fn other_disk(&self, error: &Error) -> Option<PathBuf> {
        let path = match error {
            Error::Io { path, .. } => path.as_path(),
            // The errors of tables contain the path as text.
            Error::Table { action, .. } => Path::new(action.strip_prefix("write ")?),
            _ => return None,
        };
        let disk = |path: &Path| path.metadata().ok().map(|there| there.dev());
        let full = disk(path.ancestors().find(|folder| folder.is_dir())?)?;
        if full == disk(&self.folder)? {
            return None;
        }
        // Unfinished folders are hidden, and are removed when the run ends.
        let is_shown =
            |path: &Path| path.components().all(|part| !part.as_os_str().as_encoded_bytes().starts_with(b"."));
        let on_it: Vec<&Path> =
            path.ancestors().filter(|folder| folder.is_dir() && disk(folder) == Some(full)).collect();
        on_it.iter().find(|folder| is_shown(folder)).or(on_it.last()).map(|folder| folder.to_path_buf())
    }

    /// Describes the amount of space that is missing. `now` is the number of bytes that are currently free.
    fn needed(&self, expected: Option<u64>, now: Option<u64>) -> String {
        let (folder, size) = (self.folder.display(), |bytes| ByteSize(bytes).to_string());
        let (Some(expected), Some(before), Some(now)) = (expected, self.free, now) else {
            return format!("more space is needed in {folder}");
        };
        let written = before.saturating_sub(now);
        let rest = expected.saturating_sub(written);
        if rest <= now {
            return format!(
                "{folder} needs more than the expected {} ({} written so far): candidate pairs and saved stages take additional space",
                size(expected),
                size(written.min(expected))
            );
        }
        format!(
            "about {} more is needed in {folder}, where {} is free (temporary files of the complete run: about {})",
            size(rest - now),
            size(now),
            size(expected)
        )
    }
}

/// Describes a full disk on which it is unknown how much more is needed.
fn more_in(folder: &Path, now: Option<u64>) -> String {
    let free = now.map_or_else(String::new, |now| format!(", where {} is free", ByteSize(now)));
    format!("more space is needed in {}{free}", folder.display())
}

/// Returns the number of bytes that this process may still write to the disk that contains a folder, if the system reports that number.
fn free(folder: &Path) -> Option<u64> {
    rustix::fs::statvfs(folder).ok().map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_is_what_is_expected_without_what_is_written_and_free() {
        let disk = Disk { folder: "work".into(), free: Some(10 << 20) };
        assert_eq!(
            disk.needed(Some(100 << 20), Some(2 << 20)),
            "about 90.0 MiB more is needed in work, where 2.0 MiB is free (temporary files of the complete run: about 100.0 MiB)"
        );
        assert!(disk.needed(Some(9 << 20), Some(1 << 20)).starts_with("work needs more than the expected 9.0 MiB"));
        assert_eq!(disk.needed(None, Some(1)), "more space is needed in work");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_disk_that_is_full_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::of(folder.path());
        let full = || std::io::Error::from_raw_os_error(libc::ENOSPC);
        // `/proc` is always a disk of its own.
        let io = Error::io("write", Path::new("/proc/sys/.partial-b-1/part.parquet"))(full());
        let table = Error::table::<std::io::Error>("write /proc/sys/part.parquet")(full());
        for error in [io, table] {
            let told = disk.tell_of(error, || Some(u64::MAX), None).to_string();
            assert!(told.contains("; more space is needed in /proc/sys, where "), "{told}");
        }
        let here = Error::io("write", &folder.path().join("deep/file"))(full());
        let told = disk.tell_of(here, || None, None).to_string();
        assert!(told.contains(&format!("more space is needed in {}", folder.path().display())), "{told}");
    }

    #[test]
    fn a_full_disk_is_reported_and_no_other_error() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::of(folder.path());
        assert!(disk.free > Some(0));
        let of = |code| Error::io("write", Path::new("a"))(std::io::Error::from_raw_os_error(code));
        for code in [libc::ENOSPC, libc::EDQUOT] {
            let told = disk.tell_of(of(code), || Some(u64::MAX), None).to_string();
            assert!(told.starts_with("cannot write a: ") && told.contains(" more is needed in "), "{told}");
            assert!(told.ends_with("; no output was written"), "{told}");
            let told = disk.tell_of(of(code), || None, Some("run it again".into())).to_string();
            assert!(told.ends_with("; completed work is not lost: run it again"), "{told}");
        }
        assert!(disk.tell(of(libc::EFBIG), || None).to_string().contains("`ulimit -f`"));
        assert!(matches!(disk.tell(of(libc::EACCES), || None), Error::Io { .. }));
        // A read error does not concern the output disk.
        let read = Error::reading("read", Path::new("a"))(std::io::Error::from_raw_os_error(libc::ENOSPC));
        assert!(matches!(disk.tell(read, || None), Error::Io { .. }));
        let table = Error::table::<std::io::Error>("write b")(std::io::Error::from_raw_os_error(libc::ENOSPC));
        assert!(matches!(disk.tell(table, || None), Error::Full { .. }));
    }
}

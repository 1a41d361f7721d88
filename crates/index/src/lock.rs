//! Locks of an index: one writer at a time, and no file is removed while somebody reads.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs;
use dupsift_files::io::{Locking, MadeFolders, is_at, locking};

/// The name of the lock file of a writer.
pub(super) const LOCK: &str = "lock";

/// Holds the lock of a writer.
#[derive(Debug)]
pub(super) struct Lock {
    pub path: PathBuf,
    _file: File,
    /// Whether the lock file was made for it, and folders above it.
    pub made: Option<MadeFolders>,
}

/// Lets no writer remove a file as long as the value lives; `None` if the file system has no such locks, where only the number of
/// generations that are kept protects a reader. For that the folder is opened, and nothing is written.
pub(super) fn hold_files(dir: &Path) -> Option<File> {
    let folder = File::open(dir).ok()?;
    folder.lock_shared().is_ok().then_some(folder)
}

/// Lets no reader begin as long as the value lives; `None` if there is one.
pub(super) fn no_reader(dir: &Path) -> Option<Option<File>> {
    let Ok(folder) = File::open(dir) else { return Some(None) };
    match folder.try_lock() {
        Ok(()) => Some(Some(folder)),
        Err(TryLockError::WouldBlock) => None,
        // A file system without locks.
        Err(TryLockError::Error(_)) => Some(None),
    }
}

impl Lock {
    /// Locks the folder, which is made if it is not there; another process that holds it is waited for.
    pub(super) fn take(dir: &Path) -> Result<Lock> {
        let path = dir.join(LOCK);
        loop {
            let above = MadeFolders::create(dir).map_err(Error::io("create the folder", dir))?;
            let is_new = path.symlink_metadata().is_err();
            let file = safe_fs::open_or_create(&path).map_err(Error::io("open", &path))?;
            let asked = locking(file.try_lock()).map_err(Error::io("lock", &path))?;
            // On a file system without locks every run counts as the only one.
            if asked == Locking::Held {
                tracing::warn!("another run is using the index {}; waiting for it", dir.display());
                file.lock().map_err(Error::io("lock", &path))?;
            }
            // Who made an index in vain removes the file.
            if is_at(&file, &path) {
                return Ok(Lock { path, _file: file, made: is_new.then_some(above) });
            }
        }
    }
}

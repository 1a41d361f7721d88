//! Locks an index so that there is only one writer at a time and no file is removed while another process is reading the index.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs;
use dupsift_publish::{Locking, MadeFolders, is_at, locking};

/// The name of the writer's lock file.
pub(crate) const LOCK: &str = "lock";

/// Holds a writer's lock.
#[derive(Debug)]
pub(crate) struct Lock {
    pub path: PathBuf,
    _file: File,
    /// The folders that were created for the index; `None` if the lock file already existed.
    pub made: Option<MadeFolders>,
}

/// Keeps writers from removing files while the returned file is open. Returns `None` if the file system does not support locks; in that
/// case, readers rely on old generations being kept. The lock is on the folder itself, and nothing is written.
pub(crate) fn hold_files(dir: &Path) -> Option<File> {
    let folder = File::open(dir).ok()?;
    folder.lock_shared().is_ok().then_some(folder)
}

/// Keeps readers from starting while the returned file is open. Returns `None` if another process is reading.
pub(crate) fn no_reader(dir: &Path) -> Option<Option<File>> {
    let Ok(folder) = File::open(dir) else { return Some(None) };
    match folder.try_lock() {
        Ok(()) => Some(Some(folder)),
        Err(TryLockError::WouldBlock) => None,
        // The file system does not support locks.
        Err(TryLockError::Error(_)) => Some(None),
    }
}

impl Lock {
    /// Creates the folder if it is missing, and locks it. Waits while another process holds the lock.
    pub(crate) fn take(dir: &Path) -> Result<Lock> {
        let path = dir.join(LOCK);
        loop {
            let above = MadeFolders::create(dir).map_err(Error::io("create the folder", dir))?;
            let is_new = path.symlink_metadata().is_err();
            let file = safe_fs::open_or_create(&path).map_err(Error::io("open", &path))?;
            let asked = locking(file.try_lock()).map_err(Error::io("lock", &path))?;
            // On a file system without locks, every run assumes that it is the only one.
            if asked == Locking::Held {
                tracing::warn!("another run is using the index {}; waiting for it", dir.display());
                file.lock().map_err(Error::io("lock", &path))?;
            }
            // The lock file may be gone, because a process that created an index but published nothing removes the lock file.
            if is_at(&file, &path) {
                return Ok(Lock { path, _file: file, made: is_new.then_some(above) });
            }
        }
    }
}

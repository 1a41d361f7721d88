//! Keeps track of unfinished folders, so that a process that ends early can remove them, even while threads are still working.
//!
//! Stop requests are checked between two steps of the work. However, a step may take a long time, for example if a library decomposes a
//! large matrix, a document contains a hundred megabytes of text, or a disk does not respond. In that case, one thread ends the process
//! with [`end`] while other threads are still running:
//!
//! ```text
//! no folder is begun and no result gets its name -> the folders are removed -> the process ends
//! ```
//!
//! A result that already has its final name is kept: once a result has been renamed, the process ends normally.

use std::fs;
use std::io::{ErrorKind, Result};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dupsift_core::error;
use dupsift_core::safe_fs::listing::remove_all;
use dupsift_core::safe_fs::private;

/// The number of attempts to remove a folder in which other threads are still creating files.
const ATTEMPTS: usize = 50;
/// The time between retries.
const A_MOMENT: Duration = Duration::from_millis(10);

/// State shared by the threads of this process.
static KNOWN: Mutex<Known> = Mutex::new(Known { folders: Vec::new(), ends_by_itself: false });

struct Known {
    folders: Vec<(PathBuf, Removal)>,
    ends_by_itself: bool,
}

/// A function that removes a folder.
type Removal = fn(&Path) -> Result<()>;

fn whole(folder: &Path) -> Result<()> {
    remove_all(folder)
}

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of a subfolder that is briefly created in an unfinished folder to determine the permissions of new folders. A killed run may
/// leave this subfolder behind.
pub(super) const PROBE: &str = ".mode";

/// A folder that is removed with its contents when this value is dropped, or when [`end`] ends the process.
#[derive(Debug)]
pub(crate) struct Unfinished {
    path: PathBuf,
    /// The permissions that the folder gets together with its final name; before that, other users have no access.
    mode: u32,
}

impl Unfinished {
    /// Creates a folder with this name. Other users have no access to the folder until [`Unfinished::opens`] is called.
    pub(super) fn create(path: PathBuf) -> Result<Unfinished> {
        let mut known = known();
        private::make(&path)?;
        known.folders.push((path.clone(), whole));
        drop(known);
        let mut made = Unfinished { mode: 0o700, path };
        made.mode = made.usual_mode()?;
        Ok(made)
    }

    /// Returns the permissions that new folders get if this process creates them inside this folder. Briefly creates a folder to determine
    /// them.
    fn usual_mode(&self) -> Result<u32> {
        let probe = self.path.join(PROBE);
        fs::create_dir(&probe)?;
        let mode = probe.symlink_metadata().map(|there| there.mode() & 0o7777);
        fs::remove_dir(&probe)?;
        mode
    }

    /// Creates a folder with a unique name that begins with this prefix. Other users have no access to the folder.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub(super) fn create_in(parent: &Path, prefix: &str) -> Result<Unfinished> {
        let mut known = known();
        let path = private::make_in(parent, prefix)?;
        known.folders.push((path.clone(), whole));
        Ok(Unfinished { path, mode: 0o700 })
    }

    /// Gives the folder the permissions that folders created by this process usually have; called once the folder is complete.
    pub(super) fn opens(&self) {
        self.set_mode(self.mode);
    }

    fn set_mode(&self, mode: u32) {
        // Setting permissions fails on a file system that does not support them.
        let _ = fs::set_permissions(&self.path, fs::Permissions::from_mode(mode));
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Marks the folder as renamed to its final name, so that it is not removed.
    pub(super) fn finish(&mut self) {
        stays(&self.path);
        self.path = PathBuf::new();
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // Failures are ignored, because the next run removes the folder.
            let _ = remove_all(&self.path);
            stays(&self.path);
        }
    }
}

/// Registers the folder for removal when the process is ended.
pub(super) fn goes(folder: &Path, removal: Removal) {
    let mut known = known();
    if known.folders.iter().all(|(known, _)| known != folder) {
        known.folders.push((folder.to_path_buf(), removal));
    }
}

/// Unregisters the folder, so that it is kept when the process is ended.
pub(super) fn stays(folder: &Path) {
    known().folders.retain(|(known, _)| known != folder);
}

/// Performs a short piece of work, such as creating a folder, that must not happen while the process is being ended.
pub(super) fn unless_ending<T>(work: impl FnOnce() -> T) -> T {
    let _known = known();
    work()
}

/// Gives a result its final name; this step must not be interrupted. If that succeeds, [`end`] no longer has any effect.
///
/// # Errors
/// Returns the error from `work`.
pub fn publish<T>(work: impl FnOnce() -> error::Result<T>) -> error::Result<T> {
    let mut known = known();
    let done = work()?;
    known.ends_by_itself = true;
    Ok(done)
}

/// Disables [`end`], so that the process ends normally. Does not return while the process is being ended.
pub fn ends_by_itself() {
    known().ends_by_itself = true;
}

/// Removes every unfinished folder and ends the process by calling `last`, which does not return. Does nothing after a call to
/// `ends_by_itself`.
pub fn end(last: impl FnOnce()) {
    let known = known();
    if !known.ends_by_itself {
        known.folders.iter().for_each(|(folder, removal)| remove(folder, *removal));
        last();
    }
}

/// Removes every unfinished folder; called when other code, such as an interpreter, ends the process while threads are still working.
/// Afterward, no folder can be created and no result can get its final name.
pub fn left() {
    let known = known();
    known.folders.iter().for_each(|(folder, removal)| remove(folder, *removal));
    std::mem::forget(known);
}

/// Removes a folder in which files may still be created.
fn remove(folder: &Path, removal: Removal) {
    for _ in 0..ATTEMPTS {
        match removal(folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => std::thread::sleep(A_MOMENT),
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_all_that_is_in_it() {
        let parent = tempfile::tempdir().expect("a folder");
        let listed = |path: &Path| known().folders.iter().any(|(folder, _)| folder == path);
        let named = Unfinished::create(parent.path().join("named")).expect("made");
        assert!(Unfinished::create(parent.path().join("named")).is_err());
        let other = Unfinished::create_in(named.path(), "work-").expect("made");
        fs::write(other.path().join("file"), b"half").expect("written");
        let (first, second) = (named.path().to_path_buf(), other.path().to_path_buf());
        assert!(listed(&first) && listed(&second));
        drop(other);
        assert!(!second.exists() && first.is_dir() && !listed(&second));
        drop(named);
        assert!(!first.exists() && !listed(&first));
        // After a folder has been renamed, a different folder with the old name is not removed.
        let mut named = Unfinished::create(first.clone()).expect("made");
        named.finish();
        assert!(!listed(&first));
        drop(named);
        assert!(first.is_dir());
    }

    #[test]
    fn a_folder_is_closed_until_it_opens_with_the_usual_rights() {
        let parent = tempfile::tempdir().expect("a folder");
        let mode = |path: &Path| path.symlink_metadata().expect("there").mode() & 0o7777;
        for above in [0o755, 0o2755] {
            fs::set_permissions(parent.path(), fs::Permissions::from_mode(above)).expect("set");
            let usual = parent.path().join("usual");
            fs::create_dir(&usual).expect("made");
            let made = Unfinished::create(parent.path().join("new")).expect("made");
            assert_eq!(mode(made.path()) & 0o777, 0o700);
            assert_eq!(fs::read_dir(made.path()).expect("a folder").count(), 0);
            made.opens();
            assert_eq!(mode(made.path()), mode(&usual));
            fs::remove_dir(usual).expect("removed");
        }
    }

    #[test]
    fn a_folder_in_which_files_are_made_is_removed() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("busy");
        fs::create_dir(&folder).expect("made");
        std::thread::scope(|scope| {
            scope.spawn(|| (0..10_000).take_while(|n| fs::write(folder.join(n.to_string()), b"").is_ok()).count());
            remove(&folder, whole);
        });
        assert!(!folder.exists());
    }
}

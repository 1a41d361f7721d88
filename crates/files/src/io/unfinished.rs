//! What would this process leave behind, if it ended now? Folders that are half made, and how they go while threads still work.
//!
//! A request to stop is looked for between two steps of the work. A step may be long all the same: a decomposition in a library, a
//! text of a hundred megabytes, a disk that does not answer. Then one thread ends the process by [`end`], over the heads of the others:
//!
//! ```text
//! no folder is begun, no result gets its name any more -> the folders go -> the process ends
//! ```
//!
//! A result that has its name stays: from then on the process ends by itself.

use std::fs;
use std::io::{ErrorKind, Result};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dupsift_core::error;
use dupsift_core::safe_fs::private;

/// How often the removal of a folder is tried in which others still make files.
const ATTEMPTS: usize = 50;
/// The time between two of them.
const A_MOMENT: Duration = Duration::from_millis(10);

/// What the threads of this process share.
static KNOWN: Mutex<Known> = Mutex::new(Known { folders: Vec::new(), ends_by_itself: false });

struct Known {
    folders: Vec<(PathBuf, Removal)>,
    ends_by_itself: bool,
}

/// How a folder is removed.
type Removal = fn(&Path) -> Result<()>;

fn whole(folder: &Path) -> Result<()> {
    fs::remove_dir_all(folder)
}

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder that goes with all that is in it when this value is dropped, and when the process is ended by [`end`].
#[derive(Debug)]
pub struct Unfinished {
    path: PathBuf,
    /// What others may do in it when it has its name; until then, nothing.
    mode: u32,
}

impl Unfinished {
    /// Makes a folder of that name. Nobody else may look into it before [`Unfinished::opens`].
    pub(super) fn create(path: PathBuf) -> Result<Unfinished> {
        let mut known = known();
        private::make(&path)?;
        known.folders.push((path.clone(), whole));
        drop(known);
        let mut made = Unfinished { mode: 0o700, path };
        made.mode = made.usual_mode()?;
        Ok(made)
    }

    /// Returns the rights that a folder gets here that this process makes: those of a new one, which is removed again.
    fn usual_mode(&self) -> Result<u32> {
        let probe = self.path.join(".mode");
        fs::create_dir(&probe)?;
        let mode = probe.symlink_metadata().map(|there| there.mode() & 0o7777);
        fs::remove_dir(&probe)?;
        mode
    }

    /// Makes a folder whose name begins so, and is no other's.
    ///
    /// # Errors
    /// What the system says.
    pub fn create_in(parent: &Path, prefix: &str) -> Result<Unfinished> {
        let mut known = known();
        let path = tempfile::Builder::new().prefix(prefix).tempdir_in(parent)?.keep();
        known.folders.push((path.clone(), whole));
        Ok(Unfinished { path, mode: 0o700 })
    }

    /// It is whole, and others may do in it what they may in any folder that this process makes.
    pub(super) fn opens(&self) {
        self.set_mode(self.mode);
    }

    fn set_mode(&self, mode: u32) {
        // A file system that keeps no modes refuses.
        let _ = fs::set_permissions(&self.path, fs::Permissions::from_mode(mode));
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// It has got its name: there is nothing to be removed any more.
    pub(super) fn finish(&mut self) {
        stays(&self.path);
        self.path = PathBuf::new();
    }

    /// Removes it now.
    ///
    /// # Errors
    /// What the system says.
    pub fn close(self) -> Result<()> {
        fs::remove_dir_all(&self.path)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // Nothing can be done about a failure here; the next run clears the folder away.
            let _ = fs::remove_dir_all(&self.path);
            stays(&self.path);
        }
    }
}

/// From now on the folder goes when the process is ended.
pub(super) fn goes(folder: &Path, removal: Removal) {
    let mut known = known();
    if known.folders.iter().all(|(known, _)| known != folder) {
        known.folders.push((folder.to_path_buf(), removal));
    }
}

/// From now on the folder stays when the process is ended.
pub(super) fn stays(folder: &Path) {
    known().folders.retain(|(known, _)| known != folder);
}

/// Does what must not happen while the process is being ended, and is short.
pub(super) fn unless_ending<T>(work: impl FnOnce() -> T) -> T {
    let _known = known();
    work()
}

/// Gives a result its name, which is not to be ended half way. If that succeeds, the process ends by itself.
///
/// # Errors
/// What `work` returns.
pub fn publish<T>(work: impl FnOnce() -> error::Result<T>) -> error::Result<T> {
    let mut known = known();
    let done = work()?;
    known.ends_by_itself = true;
    Ok(done)
}

/// From now on the process ends by itself: [`end`] has no effect any more. While the process is being ended, this does not return.
pub fn ends_by_itself() {
    known().ends_by_itself = true;
}

/// Removes every unfinished folder and ends the process by `last`, which does not return; unless the process ends by itself.
pub fn end(last: impl FnOnce()) {
    let known = known();
    if !known.ends_by_itself {
        known.folders.iter().for_each(|(folder, removal)| remove(folder, *removal));
        last();
    }
}

/// Removes every unfinished folder of a process that another program's code ends, such as an interpreter, while threads still work:
/// from now on no folder is begun and no result gets its name.
pub fn left() {
    let known = known();
    known.folders.iter().for_each(|(folder, removal)| remove(folder, *removal));
    std::mem::forget(known);
}

/// Removes a folder in which files may be made meanwhile.
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
        other.close().expect("removed");
        assert!(!second.exists() && first.is_dir() && !listed(&second));
        drop(named);
        assert!(!first.exists() && !listed(&first));
        // What has got another name is not looked for under its old one.
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

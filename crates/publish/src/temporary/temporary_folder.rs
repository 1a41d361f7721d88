//! Manages temporary folders with unique names, which no later run resumes from.
//!
//! ```text
//! .dupsift-work-XXXXXX/     in the system's temporary folder, or --work DIR: the temporary files of a command that reads a finished run
//! .dupsift-frame-XXXXXX/    there, or next to an output: a frame that Python saves as a file
//! ```
//!
//! A lock on the folder shows that a running process is using it. A folder that a killed process left behind is removed by the next command
//! that creates such a folder in the same place, or by `clean`.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::lock::{Asked, Lock, Owner};
use crate::place::overwrite::WORK;
use crate::place::work_files::{LOCK, is_work_file};
use crate::place::{Cleared, size_below};
use crate::unfinished::Unfinished;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::{listing, private};

/// The prefix of folders that contain a frame.
pub const FRAME: &str = ".dupsift-frame-";
/// The output of a run in a temporary folder.
pub(crate) const OUTPUT: &str = "out";
/// The files of a frame, besides its Parquet file, and the folder into which Spark writes the rows of a frame.
const OF_FRAME: [&str; 2] = ["left_out.json", "rows"];

/// A locked temporary folder. Dropping this value removes the folder.
#[derive(Debug)]
pub struct TemporaryFolder {
    made: Unfinished,
    lock: Lock,
}

impl TemporaryFolder {
    /// Creates a temporary folder in `parent`, or in the system's temporary folder. Removes those that killed processes left there.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn create(parent: Option<&Path>) -> Result<TemporaryFolder> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_path_buf);
        let _ = clear_killed(&parent);
        TemporaryFolder::create_in(&parent, WORK)
    }

    /// Creates a temporary folder whose name begins with this prefix.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub(crate) fn create_in(parent: &Path, prefix: &str) -> Result<TemporaryFolder> {
        let failed = Error::io("create a temporary folder in", parent);
        let made = Unfinished::create_in(parent, prefix).map_err(failed)?;
        let lock = locked(made.path())?;
        Ok(TemporaryFolder { made, lock })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.made.path()
    }
}

/// A locked folder for a frame. The caller removes the folder; dropping this value only releases the lock.
#[derive(Debug)]
pub struct FrameFolder {
    path: PathBuf,
    _lock: Lock,
}

impl FrameFolder {
    /// Creates a folder in `parent`, or in the system's temporary folder. Removes those that killed processes left there.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn create(parent: Option<&Path>) -> Result<FrameFolder> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_path_buf);
        let _ = clear_killed(&parent);
        let TemporaryFolder { mut made, lock } = TemporaryFolder::create_in(&parent, FRAME)?;
        let path = made.path().to_path_buf();
        made.finish();
        Ok(FrameFolder { path, _lock: lock })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn locked(folder: &Path) -> Result<Lock> {
    let failed = || Error::io("lock the temporary folder", folder);
    let lock = match Lock::take(folder).map_err(failed())? {
        Asked::Mine(lock) => lock,
        Asked::Theirs(owner) => return Err(failed()(io::Error::other(owner.to_string()))),
        Asked::Refused(why) => return Err(failed()(io::Error::other(why))),
    };
    lock.sign(&Owner::here(None)).map_err(failed())?;
    Ok(lock)
}

/// Removes the temporary folders in `parent` that killed processes left behind, and reports how each folder was handled.
pub(crate) fn clear_killed(parent: &Path) -> Result<Vec<Cleared>> {
    let of_output = format!(".{OUTPUT}.dupsift-");
    let is_ours = |name: &str| {
        is_work_file(name)
            || name == OUTPUT
            || name.starts_with(&of_output)
            || OF_FRAME.contains(&name)
            || name.ends_with(".parquet")
    };
    let mut cleared = clear_away(parent, WORK, is_ours)?;
    cleared.extend(clear_away(parent, FRAME, is_ours)?);
    Ok(cleared)
}

/// Removes the folders in `parent` whose names begin with `prefix` and that killed processes left behind, and reports how each folder was
/// handled. Skips folders that a running process uses, that other users can access, or that have no lock, unless they are empty and old.
/// A folder that contains a name that `is_ours` does not accept is kept.
pub(crate) fn clear_away(parent: &Path, prefix: &str, is_ours: impl Fn(&str) -> bool) -> Result<Vec<Cleared>> {
    let mut cleared = Vec::new();
    let Ok(names) = listing::names(parent) else { return Ok(cleared) };
    for os_name in names {
        let name = os_name.to_string_lossy();
        let is_unique = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
        // The name of an output may begin like the prefix; the hidden folders of such an output contain a dot.
        if !name.strip_prefix(prefix).is_some_and(is_unique) {
            continue;
        }
        let path = parent.join(&os_name);
        // The folder of another user is not even locked.
        let is_private = matches!(private::refusal(&path), Ok(None));
        // An old, empty folder belongs to a process that was killed before it locked the folder. Other folders cannot be removed this way.
        if is_private && is_older_than(&path, TO_LOCK) && std::fs::remove_dir(&path).is_ok() {
            cleared.push(Cleared::Removed { path, files: 0, bytes: 0 });
            continue;
        }
        let is_left = is_private && path.join(LOCK).is_file();
        if !is_left || Lock::holder(&path, false).is_some() {
            continue;
        }
        let Ok(Asked::Mine(lock)) = Lock::take(&path) else { continue };
        if !lock.known && lock.before.lives_here() {
            continue;
        }
        if let Some(foreign) = foreign(&path, &is_ours) {
            tracing::warn!("{} is not removed, because it contains {}", path.display(), foreign.display());
            cleared.push(Cleared::Left { path, foreign });
            continue;
        }
        let (files, bytes) = size_below(&path);
        listing::remove_all(&path).map_err(Error::io("remove the files that a killed run left at", &path))?;
        cleared.push(Cleared::Removed { path, files: files.saturating_sub(1), bytes });
    }
    Ok(cleared)
}

/// The time after which an empty folder belongs to a killed process. A process locks its folder as soon as it has created it.
const TO_LOCK: Duration = Duration::from_secs(600);

/// Returns whether a folder was last changed longer ago than this.
fn is_older_than(folder: &Path, age: Duration) -> bool {
    let changed = folder.symlink_metadata().and_then(|there| there.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|elapsed| elapsed > age))
}

/// Returns the first path in the folder that does not belong to dupsift.
fn foreign(folder: &Path, is_ours: impl Fn(&str) -> bool) -> Option<PathBuf> {
    let names = listing::names(folder).ok()?;
    names
        .into_iter()
        .filter(|name| {
            let name = name.to_string_lossy();
            name != LOCK && !is_ours(&name)
        })
        .map(PathBuf::from)
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;

    /// Leaves a folder like a killed process.
    fn killed(folder: &Path) {
        private::make(folder).expect("made");
        fs::write(folder.join(LOCK), "").expect("written");
    }

    #[test]
    fn what_killed_processes_leave_is_removed_by_the_next_command() {
        let place = tempfile::tempdir().expect("a folder");
        let at = |name: &str| place.path().join(name);
        let used = TemporaryFolder::create(Some(place.path())).expect("made");
        let frame = FrameFolder::create(Some(place.path())).expect("made");
        for folder in [used.path(), frame.path()] {
            assert_eq!(folder.metadata().expect("there").mode() & 0o777, 0o700);
        }
        let names = [".dupsift-work-aBc123", ".dupsift-frame-x1", ".dupsift-frame-x2"];
        names.iter().for_each(|name| killed(&at(name)));
        fs::write(at(".dupsift-frame-x1/frame.parquet"), "rows").expect("written");
        fs::create_dir_all(at(".dupsift-frame-x1/out/pairs")).expect("made");
        fs::write(at(".dupsift-frame-x2/notes"), "mine").expect("written");
        // Folders without a lock, with another name, or to which other users may write.
        fs::create_dir(at(".dupsift-work-nolock")).expect("made");
        for name in [".dupsift-work-x.dupsift-work", ".dupsift-work-open", "dupsift-work-other"] {
            killed(&at(name));
        }
        let open = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o777);
        fs::set_permissions(at(".dupsift-work-open"), open).expect("set");
        // Folders whose process was killed before it locked them; one of them is not empty.
        let hour_ago = std::time::SystemTime::now() - Duration::from_secs(3600);
        for name in [".dupsift-work-empty", ".dupsift-work-full"] {
            private::make(&at(name)).expect("made");
        }
        fs::write(at(".dupsift-work-full/notes"), "mine").expect("written");
        for name in [".dupsift-work-empty", ".dupsift-work-full"] {
            fs::File::open(at(name)).and_then(|folder| folder.set_modified(hour_ago)).expect("set");
        }
        let cleared = clear_killed(place.path()).expect("cleared");
        let removed = |path: PathBuf, files, bytes| Cleared::Removed { path, files, bytes };
        let left = Cleared::Left { path: at(names[2]), foreign: "notes".into() };
        assert_eq!(cleared.len(), 4, "{cleared:?}");
        assert!(at(".dupsift-work-full/notes").is_file());
        let empty = removed(at(".dupsift-work-empty"), 0, 0);
        for one in [removed(at(names[0]), 0, 0), removed(at(names[1]), 1, 4), empty, left] {
            assert!(cleared.contains(&one), "{one:?} {cleared:?}");
        }
        for name in [".dupsift-work-nolock", ".dupsift-work-x.dupsift-work", ".dupsift-work-open", "dupsift-work-other"]
        {
            assert!(at(name).is_dir(), "{name}");
        }
        let (first, second) = (used.path().to_path_buf(), frame.path().to_path_buf());
        assert!(first.is_dir() && second.is_dir());
        drop((used, frame));
        assert!(!first.exists() && second.is_dir(), "the caller removes the folder of a frame");
        drop(TemporaryFolder::create(Some(place.path())).expect("made"));
        assert!(!second.exists());
    }
}

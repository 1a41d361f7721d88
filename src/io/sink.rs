//! The output folder: built beside its place under a hidden name, then renamed, so that it appears whole or not at all.
//!
//! ```text
//! .NAME.dupsift-partial-<process>   the folder being built; its run holds a lock on it as long as it lives
//! .NAME.dupsift-old-<process>       the result being replaced; put back if its run died between the two renames
//! ```

use super::overwrite;
use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Component, Path, PathBuf};

/// The file that stands in a folder that is complete; it is written last.
pub const SUCCESS: &str = "_SUCCESS";

/// What follows the output's name in the hidden names beside it.
const PARTIAL: &str = "dupsift-partial-";
const OLD: &str = "dupsift-old-";

/// An output folder that is being built.
#[derive(Debug)]
pub struct Stage {
    out: PathBuf,
    staged: PathBuf,
    overwrite: bool,
    /// The folder itself, locked: nothing has to lie in a result for it, and it holds through the rename.
    _lock: File,
}

impl Stage {
    /// Makes the hidden folder beside `out`, and clears away what runs that died left there.
    ///
    /// # Errors
    /// [`Error::Usage`] where `out` is there and may not be replaced; [`Error::Io`].
    pub fn begin(out: &Path, overwrite: bool) -> Result<Stage> {
        let out = resolved(out)?;
        let (parent, name) = place(&out)?;
        fs::create_dir_all(&parent).map_err(Error::io("create the folder", &parent))?;
        clear_away(&parent, &name, &out)?;
        overwrite::check(&out, overwrite)?;
        let staged = parent.join(format!(".{name}.{PARTIAL}{}", std::process::id()));
        fs::create_dir(&staged).map_err(|error| {
            if error.kind() == ErrorKind::AlreadyExists {
                return Error::Usage(format!("{} is being written by another run; give another --out", out.display()));
            }
            Error::io("create the folder", &staged)(error)
        })?;
        let lock = File::open(&staged).map_err(Error::io("open the folder", &staged))?;
        // Where a file system has no locks, the folder is only not cleared away after a crash.
        let _ = lock.try_lock();
        Ok(Stage { out, staged, overwrite, _lock: lock })
    }

    /// The folder being built; files are written below it.
    pub fn path(&self) -> &Path {
        &self.staged
    }

    /// Where the folder will be.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// Writes a whole file at a path below the folder, and the folders above it.
    pub fn write_bytes(&self, relative: &str, bytes: &[u8]) -> Result<()> {
        let path = self.file(relative)?;
        let mut file = File::create(&path).map_err(Error::io("create", &path))?;
        file.write_all(bytes).map_err(Error::io("write", &path))
    }

    /// The place of a file below the folder; the folders above it are made.
    ///
    /// # Errors
    /// [`Error::Usage`] for a path that leads out of the folder; [`Error::Io`].
    pub fn file(&self, relative: &str) -> Result<PathBuf> {
        let inside = Path::new(relative).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside || relative.is_empty() {
            return Err(Error::Usage(format!("{relative:?} is no path below the output folder")));
        }
        let path = self.staged.join(relative);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(Error::io("create the folder", parent))?;
        }
        Ok(path)
    }

    /// Makes everything durable, writes `_SUCCESS`, and puts the folder in its place. What it replaces is moved aside
    /// first and removed last.
    ///
    /// # Errors
    /// [`Error::Io`], or [`Error::Usage`] if something appeared under the name meanwhile; then the place is as it was.
    pub fn commit(mut self) -> Result<()> {
        let (parent, name) = place(&self.out)?;
        sync_below(&self.staged)?;
        let success = self.staged.join(SUCCESS);
        let file = File::create(&success).map_err(Error::io("create", &success))?;
        file.sync_all().map_err(Error::io("write", &success))?;
        sync_folder(&self.staged)?;

        overwrite::check(&self.out, self.overwrite)?;
        let old = parent.join(format!(".{name}.{OLD}{}", std::process::id()));
        let replaced = self.out.exists();
        if replaced {
            fs::rename(&self.out, &old).map_err(Error::io("move aside", &self.out))?;
        }
        if let Err(error) = fs::rename(&self.staged, &self.out) {
            if replaced {
                fs::rename(&old, &self.out).map_err(Error::io("move back", &old))?;
            }
            return Err(Error::io("rename the finished folder to", &self.out)(error));
        }
        // From here on the result stands: the folder must not be removed when this value goes.
        self.staged = PathBuf::new();
        sync_folder(&parent)?;
        if replaced && let Err(error) = fs::remove_dir_all(&old) {
            tracing::warn!("the replaced result is still at {}: {error}; the next run removes it", old.display());
        }
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if !self.staged.as_os_str().is_empty() {
            // Nothing can be done about a failure here; the next run clears the folder away.
            let _ = fs::remove_dir_all(&self.staged);
        }
    }
}

/// The path without links, so that a link to a folder of results is not replaced by a folder.
fn resolved(out: &Path) -> Result<PathBuf> {
    if out.is_symlink() {
        return out.canonicalize().map_err(Error::io("follow the link", out));
    }
    std::path::absolute(out).map_err(Error::io("find", out))
}

/// The folder above and the name in it.
fn place(out: &Path) -> Result<(PathBuf, String)> {
    match (out.parent(), out.file_name()) {
        (Some(parent), Some(name)) => Ok((parent.to_path_buf(), name.to_string_lossy().into_owned())),
        _ => Err(Error::Usage(format!("--out {} has no name of its own; expected a folder to be made", out.display()))),
    }
}

/// Removes what dead runs left beside `out`, and finishes or undoes a replacement that one was in.
fn clear_away(parent: &Path, name: &str, out: &Path) -> Result<()> {
    let (partial, old) = (format!(".{name}.{PARTIAL}"), format!(".{name}.{OLD}"));
    for entry in fs::read_dir(parent).map_err(Error::io("list the folder", parent))? {
        let path = entry.map_err(Error::io("list the folder", parent))?.path();
        let Some(file_name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else { continue };
        let is_ours = |prefix: &str| {
            file_name.strip_prefix(prefix).is_some_and(|process| process.parse::<u32>().is_ok()) && path.is_dir()
        };
        if is_ours(&partial) && !is_locked(&path) {
            fs::remove_dir_all(&path).map_err(Error::io("remove what a dead run left at", &path))?;
        } else if is_ours(&old) && !out.exists() {
            fs::rename(&path, out).map_err(Error::io("put back the earlier result at", out))?;
        } else if is_ours(&old) && overwrite::holds_only_ours(&path)? {
            fs::remove_dir_all(&path).map_err(Error::io("remove the replaced result", &path))?;
        }
    }
    Ok(())
}

/// Whether a living process holds the folder. A file system that knows no locks counts as yes.
fn is_locked(folder: &Path) -> bool {
    File::open(folder).is_ok_and(|folder| folder.try_lock().is_err())
}

/// Makes the files and folders below durable, deepest first.
fn sync_below(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::io("list the folder", folder))? {
        let path = entry.map_err(Error::io("list the folder", folder))?.path();
        if path.is_dir() {
            sync_below(&path)?;
        } else {
            File::open(&path).and_then(|file| file.sync_all()).map_err(Error::io("write", &path))?;
        }
    }
    sync_folder(folder)
}

fn sync_folder(folder: &Path) -> Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some file systems make folders durable in their own way and refuse to be told.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        other => other.map_err(Error::io("write the folder", folder)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn run(out: &Path, overwrite: bool, content: &str) -> Result<()> {
        let stage = Stage::begin(out, overwrite)?;
        stage.write_bytes("run.json", content.as_bytes())?;
        stage.write_bytes("pairs/algorithm=exact/part-00000.parquet", b"...")?;
        assert!(!out.join("pairs").exists() || overwrite);
        stage.commit()
    }

    #[test]
    fn a_result_appears_whole_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("deep/out");
        run(&out, false, "1").expect("done");
        assert_eq!(names(&out), ["_SUCCESS", "pairs", "run.json"]);
        assert_eq!(names(&folder.path().join("deep")), ["out"]);
        let message = run(&out, false, "2").expect_err("it is there").to_string();
        assert!(message.contains("--overwrite"), "{message}");
        run(&out, true, "3").expect("replaced");
        assert_eq!(fs::read(out.join("run.json")).expect("there"), b"3");
        assert_eq!(names(&folder.path().join("deep")), ["out"]);
    }

    #[test]
    fn a_run_that_ends_early_leaves_the_earlier_result() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out");
        drop(Stage::begin(&out, false).expect("begun"));
        assert_eq!(names(folder.path()), [""; 0]);
        run(&out, false, "1").expect("done");
        let stage = Stage::begin(&out, true).expect("begun");
        stage.write_bytes("run.json", b"2").expect("written");
        drop(stage);
        assert_eq!(
            (names(folder.path()), fs::read(out.join("run.json")).expect("there")),
            (vec!["out".into()], b"1".to_vec())
        );
    }

    #[test]
    fn the_users_own_folder_is_never_touched() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out");
        let refused = |what: &str| {
            let message = run(&out, true, "1").expect_err("refused").to_string();
            assert!(message.contains(what) && message.contains("--out"), "{message}");
        };
        // Spark marks its outputs with _SUCCESS too.
        fs::create_dir(&out).expect("a folder");
        for name in ["_SUCCESS", "part-0.parquet"] {
            fs::write(out.join(name), b"user").expect("a file");
        }
        refused("\"part-0.parquet\"");
        fs::remove_file(out.join("part-0.parquet")).expect("removed");
        refused("run.json");
        fs::write(out.join("run.json"), b"{}").expect("a file");
        fs::write(out.join("my notes"), b"user").expect("a file");
        refused("\"my notes\"");
        assert_eq!(names(folder.path()), ["out"]);
        fs::remove_dir_all(&out).expect("removed");
        fs::write(&out, b"user").expect("a file");
        refused("is a file");
        fs::remove_file(&out).expect("removed");
        fs::create_dir(&out).expect("a folder");
        run(&out, true, "1").expect("an empty folder may be replaced");
        assert!(Stage::begin(Path::new("/"), true).is_err());
    }

    #[test]
    fn what_dead_runs_left_is_cleared_away_and_what_living_ones_have_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out");
        let at = |name: &str| folder.path().join(name);
        let [dead, living] = [".out.dupsift-partial-1", ".out.dupsift-partial-2"];
        for name in [dead, living, ".out.dupsift-partial-mine", ".other.dupsift-partial-1", ".out.old-5"] {
            fs::create_dir(at(name)).expect("a folder");
        }
        fs::write(at(dead).join("run.json"), b"half").expect("a file");
        let lock = File::open(at(living)).expect("a folder");
        lock.try_lock().expect("free");
        let before = names(folder.path());
        run(&out, false, "1").expect("done");
        let mut after: Vec<String> = before.into_iter().filter(|name| name != dead).collect();
        after.push("out".to_owned());
        assert_eq!(names(folder.path()), after);
        // Two runs of one process would share a name: the second is told.
        let first = Stage::begin(&at("two"), false).expect("begun");
        assert!(Stage::begin(&at("two"), false).is_err_and(|error| error.to_string().contains("another run")));
        drop(first);
        // A run that died between its two renames: the earlier result comes back.
        fs::rename(&out, at(".out.dupsift-old-5")).expect("renamed");
        assert!(Stage::begin(&out, false).is_err());
        assert_eq!(fs::read(out.join("run.json")).expect("there"), b"1");
        // A run that died while it removed the replaced result.
        fs::create_dir_all(at(".out.dupsift-old-6/pairs")).expect("a folder");
        drop(Stage::begin(&out, true).expect("begun"));
        assert!(!at(".out.dupsift-old-6").exists() && at(".out.old-5").exists());
    }

    #[test]
    fn files_stay_inside_and_a_name_taken_meanwhile_stops_the_commit() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out");
        let stage = Stage::begin(&out, false).expect("begun");
        for path in ["../x", "/x", "", "a/../../x"] {
            assert!(stage.write_bytes(path, b"").is_err(), "{path}");
        }
        fs::create_dir(&out).expect("a folder");
        assert!(stage.commit().is_err());
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_what_the_umask_says_and_a_link_stays_one() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let plain = folder.path().join("plain");
        fs::create_dir(&plain).expect("a folder");
        let out = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("real"), &out).expect("a link");
        fs::create_dir(folder.path().join("real")).expect("a folder");
        run(&out, true, "1").expect("done");
        assert!(out.is_symlink() && folder.path().join("real/run.json").is_file());
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode();
        assert_eq!(mode(&out), mode(&plain));
        fs::write(folder.path().join("file"), b"").expect("a file");
        assert_eq!(mode(&out.join("run.json")), mode(&folder.path().join("file")));
    }
}

//! Handles the path of an output folder: its name, the hidden names next to it, and the replacement of an existing folder.

pub(crate) mod made_folders;
mod mounts;
pub(crate) mod names;
pub(crate) mod ours;
pub(crate) mod overwrite;
pub(crate) mod work_files;

use crate::unfinished::Unfinished;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::listing::{self, is_folder, is_there, remove_all};
use dupsift_core::safe_fs::{self, Readers, sync_folder};
use names::{ASIDE, HELD_ENDING};
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// The text that follows the output's name in the names of hidden folders.
pub(crate) const PARTIAL: &str = "dupsift-partial-";
const OLD: &str = "dupsift-old-";
/// The maximum length of an output's name, in bytes, on file systems that allow file names of 255 bytes.
const MOST_LETTERS: usize = 255 - ".".len() - ".".len() - PARTIAL.len() - 11;

/// Returns the parent folder of an output, or the nearest existing ancestor.
pub fn folder_above(out: &Path) -> Option<PathBuf> {
    let Place { parent, .. } = Place::of(out).ok()?;
    parent.ancestors().find(|folder| folder.is_dir()).map(Path::to_path_buf)
}

/// The parent folder of an output, and its name.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub parent: PathBuf,
    pub name: String,
    /// The full path.
    pub path: PathBuf,
}

impl Place {
    /// Splits the path of an output into its parent folder and its name.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the path has no name, or is the working directory or one of its ancestors.
    pub(crate) fn of(out: &Path) -> Result<Place> {
        let wrong = |what: &str, error: io::Error| {
            Error::wrong_value("out", out.display(), format_args!("{what} ({error}); expected the path of a folder"))
        };
        let path = behind_link(out).map_err(|error| wrong("it is a link that cannot be followed", error))?;
        let path = std::path::absolute(path).map_err(|error| wrong("it is not a valid path", error))?;
        let refused = |what: &str| {
            let shown = out.display();
            let own = format!("`out={shown}/NAME`");
            Error::usage(format!("{shown} {what}; use a separate folder for the output, as in {own}"))
        };
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(refused("does not end in a folder name"));
        };
        let parent =
            resolved(parent).map_err(|error| wrong("a folder above it is a link that cannot be followed", error))?;
        let path = parent.join(name);
        let real = path.canonicalize();
        let here = std::env::current_dir().and_then(|here| here.canonicalize());
        if let (Ok(real), Ok(here)) = (real, here)
            && here.starts_with(real)
        {
            return Err(refused("is the working directory or a folder above it"));
        }
        Ok(Place { parent, name: name.to_string_lossy().into_owned(), path })
    }

    /// Checks that a folder can be created next to the output and renamed to the output's name. Briefly creates such a folder for this
    /// check.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if an ancestor is a file or not writable, if a name is too long, or if the path is a mount point.
    pub(crate) fn can_be(&self) -> Result<()> {
        self.can_be_made(|probe, missing| match Unfinished::create(probe) {
            Ok(made) if !missing.as_os_str().is_empty() => fs::create_dir_all(made.path().join(missing)),
            made => made.map(drop),
        })
    }

    /// Checks the conditions of [`Place::can_be`] that can be checked without creating a folder.
    ///
    /// # Errors
    /// Returns the same errors as [`Place::can_be`].
    pub(crate) fn could_be(&self) -> Result<()> {
        self.can_be_made(|probe, missing| {
            let there = probe.parent().unwrap_or(Path::new("/"));
            for name in [probe.as_path(), &there.join(missing)] {
                match name.symlink_metadata() {
                    Err(error) if error.kind() == ErrorKind::InvalidFilename => return Err(error),
                    _ => {}
                }
            }
            may_write(there)
        })
    }

    /// Checks that the output can be created. `probe` tests a name next to the output and the missing parent folders.
    fn can_be_made(&self, probe: impl FnOnce(PathBuf, &Path) -> io::Result<()>) -> Result<()> {
        let shown = self.path.display();
        let wrong = |what: String| Err(Error::wrong_value("out", &shown, what));
        let Some(there) = self.parent.ancestors().find(|above| above.exists()) else { return Ok(()) };
        if !there.is_dir() {
            return wrong(format!("{} is not a folder; expected the path of a folder", there.display()));
        }
        if mounts::is_mount_point(&self.path) {
            let way_out = format!("expected a folder in it, as in `out={shown}/NAME`");
            return wrong(format!("it is a mount point, which another folder cannot replace; {way_out}"));
        }
        // No hidden name is longer than the probe's name. A leftover probe is named like a folder that a killed run left behind, so both
        // are cleaned up in the same way.
        let name = format!(".{}.{PARTIAL}{:011}", self.name, std::process::id());
        let missing = self.parent.strip_prefix(there).unwrap_or(Path::new(""));
        match probe(there.join(name), missing) {
            Err(error) if error.kind() == ErrorKind::InvalidFilename => wrong(format!(
                "a name in it is too long, because the output is first written under a longer name; expected at most {MOST_LETTERS} bytes"
            )),
            Err(error) if error.kind() != ErrorKind::AlreadyExists => wrong(format!(
                "nothing can be created in {} ({error}); expected a folder that you can write to",
                there.display()
            )),
            _ => Ok(()),
        }
    }

    /// Returns the path for a result that is held back instead of being published.
    pub(crate) fn held(&self) -> Place {
        let name = format!("{}{}", self.name, HELD_ENDING);
        Place { parent: self.parent.clone(), path: self.parent.join(&name), name }
    }

    /// Returns a hidden path next to the output that only this process uses.
    pub(crate) fn hidden(&self, what: &str) -> PathBuf {
        self.parent.join(format!(".{}.{what}{}", self.name, std::process::id()))
    }

    /// Renames `folder`, which is next to the output, to the output's path. The folder that is replaced is moved aside first and removed
    /// last.
    ///
    /// # Errors
    /// Returns [`Error::Io`]. If an error occurs, the output is unchanged.
    pub(crate) fn give_to(&self, folder: &Path) -> Result<()> {
        let old = self.hidden(OLD);
        let replaced = is_there(&self.path)?;
        if replaced {
            fs::rename(&self.path, &old).map_err(Error::io("move aside", &self.path))?;
        }
        if let Err(error) = fs::rename(folder, &self.path) {
            if replaced {
                fs::rename(&old, &self.path).map_err(Error::io("move back", &old))?;
            }
            return Err(Error::io("rename the finished folder to", &self.path)(error));
        }
        // At this point, the result has been published.
        if let Err(error) = sync_folder(&self.parent) {
            tracing::warn!("the result is complete, but a power failure may undo the last rename: {error}");
        }
        if replaced && let Err(error) = remove_all(&old) {
            let way_out = match owner(&old) {
                Some(user) if user != rustix::process::geteuid().as_raw() => {
                    format!("it belongs to another user (user ID {user}), who can remove it")
                }
                _ => "the next run removes it".to_owned(),
            };
            tracing::warn!("the replaced result is still at {}: {error}; {way_out}", old.display());
        }
        Ok(())
    }

    /// Removes the leftovers of killed runs next to the output, completes or undoes an interrupted replacement, and reports each folder
    /// that it handled. The caller holds the output's lock, so no other run is active. Handles only folders, not links. Another user's
    /// folder is never removed. A previous result that was moved aside is renamed back to its original name, even if another user owns it,
    /// unless all users may write to the parent folder.
    pub(crate) fn clear_away(&self, user: u32) -> Result<Vec<Cleared>> {
        let (partial, old) = (format!(".{}.{PARTIAL}", self.name), format!(".{}.{OLD}", self.name));
        let mut cleared = Vec::new();
        for name in listing::names(&self.parent).map_err(Error::io("list the folder", &self.parent))? {
            let (path, name) = (self.parent.join(&name), name.to_string_lossy().into_owned());
            let is_ours = |prefix: &str| {
                name.strip_prefix(prefix).is_some_and(|process| process.parse::<u32>().is_ok())
                    && path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
            };
            let is_partial = is_ours(&partial);
            if !is_partial && !is_ours(&old) {
                continue;
            }
            // A replaced result whose removal was interrupted may have lost its record.
            let is_result = !is_partial && overwrite::has_record(&path);
            let put_back = is_result && !is_there(&self.path)?;
            if let Some(other) = owner(&path).filter(|&other| other != user) {
                cleared.push(match put_back && self.put_back_of_another(&path) {
                    true => Cleared::PutBack(self.path.clone()),
                    false => {
                        tracing::warn!(
                            "{} is not removed: it belongs to another user (user ID {other})",
                            path.display()
                        );
                        Cleared::OfAnother { path, user: other }
                    }
                });
                continue;
            }
            let foreign = match is_result {
                true => overwrite::foreign_path(&path)?,
                false => overwrite::foreign_path_unfinished(&path)?,
            };
            let (files, bytes) = size_below(&path);
            if foreign.is_none() && is_partial {
                self.complete_addition(&path)?;
            }
            cleared.push(if let Some(foreign) = foreign {
                let (left, what) = (path.display(), foreign.display());
                tracing::warn!(
                    "{left} is not removed: it is named like the temporary files of a killed run, but contains {what}"
                );
                Cleared::Left { path, foreign }
            } else if !put_back {
                remove_all(&path).map_err(Error::io("remove the files that a killed run left at", &path))?;
                Cleared::Removed { path, files, bytes }
            } else {
                fs::rename(&path, &self.path).map_err(Error::io("restore the earlier result at", &self.path))?;
                Cleared::PutBack(self.path.clone())
            });
        }
        Ok(cleared)
    }

    /// Completes an addition to the output that was interrupted while it replaced a folder: if the folder was moved aside and its successor
    /// has not been moved into the output, moves it there, or else moves the replaced folder back.
    fn complete_addition(&self, partial: &Path) -> Result<()> {
        for name in overwrite::moved_aside(partial)? {
            let (there, aside, new) =
                (self.path.join(&name), partial.join(format!("{ASIDE}{name}")), partial.join(&name));
            if there.symlink_metadata().is_err() && self.path.is_dir() {
                let from = if new.is_dir() { new } else { aside };
                fs::rename(&from, &there).map_err(Error::io("complete the addition of", &there))?;
                sync_folder(&self.path)?;
            }
        }
        Ok(())
    }

    /// Restores the name of a previous result that belongs to another user. Returns `false` if the folder is not a result or may not be
    /// moved.
    fn put_back_of_another(&self, path: &Path) -> bool {
        let is_shared = !matches!(safe_fs::open_to_all(&self.parent), Ok(None));
        !is_shared && matches!(overwrite::foreign_path(path), Ok(None)) && fs::rename(path, &self.path).is_ok()
    }
}

/// Returns the id of the user who owns a path.
fn owner(path: &Path) -> Option<u32> {
    path.symlink_metadata().ok().map(|there| there.uid())
}

/// Checks the permissions to determine whether files can be created in a folder. Creates nothing.
///
/// # Errors
/// Returns the I/O error.
pub fn may_write(folder: &Path) -> io::Result<()> {
    use rustix::fs::{Access, access};
    Ok(access(folder, Access::WRITE_OK | Access::EXEC_OK)?)
}

/// Reports how a folder that a killed run left next to an output was handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cleared {
    /// The folder was removed.
    Removed {
        /// The path of the folder.
        path: PathBuf,
        /// The number of files in the folder.
        files: u64,
        /// The size of these files in bytes.
        bytes: u64,
    },
    /// A previous result was renamed back to its original name. A run had moved the result aside and was killed before it published its own
    /// result.
    PutBack(PathBuf),
    /// The folder was kept, because it belongs to another user.
    OfAnother {
        /// The path of the folder.
        path: PathBuf,
        /// The id of the owner.
        user: u32,
    },
    /// The folder was kept, because it contains a file that dupsift did not write.
    Left {
        /// The path of the folder.
        path: PathBuf,
        /// The relative path of the unknown file.
        foreign: PathBuf,
    },
}

/// Returns the number of files below a folder, and their total size in bytes.
pub(crate) fn size_below(folder: &Path) -> (u64, u64) {
    let paths = listing::names(folder).unwrap_or_default().into_iter().map(|name| folder.join(name));
    paths.fold((0, 0), |(files, bytes), path| match path.symlink_metadata() {
        Ok(there) if there.is_dir() => {
            let below = size_below(&path);
            (files + below.0, bytes + below.1)
        }
        Ok(there) => (files + 1, bytes + there.len()),
        Err(_) => (files, bytes),
    })
}

/// Returns the path to which the result for `out` is written. Follows links, so that a link to a result folder is not replaced by a folder,
/// and ignores a trailing slash.
pub(crate) fn behind_link(out: &Path) -> io::Result<PathBuf> {
    let path: PathBuf = out.components().collect();
    if path.is_symlink() { path.canonicalize() } else { Ok(path) }
}

/// Returns the absolute path without links and `..`. The result is the same for any two paths to the same folder, even if the folder does
/// not exist yet.
///
/// # Errors
/// Returns an error for a dangling link.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    resolved(&std::path::absolute(path)?)
}

/// Returns the absolute path without links and `..`. The path stays valid if a folder that occurs only in the original path is renamed.
/// Missing components are kept as written.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    let mut real = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = real.pop(),
            _ => real.push(part),
        }
        if real.symlink_metadata().is_ok() {
            real = real.canonicalize()?;
        }
    }
    Ok(real)
}

/// Returns the path of a held-back result for a run with this `--out`.
pub fn held_path(out: &Path) -> PathBuf {
    let mut path = behind_link(out).unwrap_or_else(|_| out.to_path_buf());
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.set_file_name(name + HELD_ENDING);
    path
}

/// Removes everything in a folder.
///
/// # Errors
/// Returns [`Error::Io`].
pub fn empty_folder(folder: &Path) -> Result<()> {
    for name in listing::names(folder).map_err(Error::io("list the folder", folder))? {
        let path = folder.join(name);
        let is_folder = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        let removed = if is_folder { remove_all(&path) } else { fs::remove_file(&path) };
        removed.map_err(Error::io("remove", &path))?;
    }
    Ok(())
}

/// Limits all files below a folder to these readers, and syncs the files and folders to disk, deepest first. Returns a file whose
/// permissions could not be removed, because the file system does not support permissions.
pub(crate) fn seal_below(folder: &Path, readers: &Readers) -> Result<Option<PathBuf>> {
    let mut open = None;
    for name in listing::names(folder).map_err(Error::io("list the folder", folder))? {
        let path = folder.join(name);
        if is_folder(&path)? {
            open = seal_below(&path, readers)?.or(open);
        } else {
            let file = File::open(&path).map_err(Error::io("write", &path))?;
            let is_limited = readers.limit(&file).is_ok();
            file.sync_all().map_err(Error::io("write", &path))?;
            open = open.or((!is_limited).then_some(path));
        }
    }
    sync_folder(folder)?;
    Ok(open)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(out: &Path) -> String {
        let checked = Place::of(out).and_then(|place| place.can_be());
        match checked.expect_err("refused") {
            Error::Usage { said: why, .. } => why,
            other => panic!("no wrong usage: {other}"),
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_slash_behind_a_link_is_no_other_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("real")).expect("a folder");
        std::os::unix::fs::symlink(at("real"), at("link")).expect("a link");
        std::os::unix::fs::symlink(at("gone"), at("dangling")).expect("a link");
        let real = at("real").canonicalize().expect("there");
        for name in ["link", "link/", "link//", "link/.", "real/"] {
            let place = Place::of(&at(name)).expect("a place");
            assert_eq!((place.path.canonicalize().expect("there"), &*place.name), (real.clone(), "real"), "{name}");
            assert!(!place.path.to_string_lossy().ends_with(['/', '.']), "{name}");
            assert_eq!(held_path(&at(name)).file_name(), Some("real.held".as_ref()), "{name}");
        }
        assert_eq!(held_path(Path::new("a/out/")), Path::new("a/out.held"));
        assert!(refused(&at("dangling/")).contains("a link that cannot be followed"));
    }

    /// The path of the output may lead through the folder that is renamed.
    #[test]
    fn a_place_behind_itself_is_replaced_as_any_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("out/deep")).expect("folders");
        let real = folder.path().canonicalize().expect("there");
        for name in ["out", "out/../out", "out/deep/../../out", "gone/../out", "out/./../out/"] {
            let place = Place::of(&at(name)).expect("a place");
            assert_eq!((&place.path, &place.parent), (&real.join("out"), &real), "{name}");
            fs::create_dir(at("new")).expect("a folder");
            fs::write(at("new/mark"), name).expect("a file");
            place.give_to(&at("new")).expect(name);
            assert_eq!(fs::read_to_string(at("out/mark")).expect("the new one"), name);
            fs::create_dir(at("out/deep")).expect("a folder");
        }
        assert!(refused(&at("out/..")).contains("does not end in a folder name"));
    }

    #[test]
    fn names_that_leave_no_room_for_ours_are_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |letters: usize| folder.path().join("x".repeat(letters));
        for long in [at(MOST_LETTERS + 1), at(256), at(256).join("out"), folder.path().join("new").join(at(300))] {
            assert!(refused(&long).contains("a name in it is too long"), "{}", long.display());
        }
        for fits in [at(MOST_LETTERS), at(255).join("deep/out")] {
            Place::of(&fits).and_then(|place| place.can_be()).expect("room");
        }
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "nothing stays");
        // This is the longest name that is created in any step.
        let place = Place::of(&at(MOST_LETTERS)).expect("a place");
        for hidden in [place.hidden(PARTIAL), place.hidden(OLD), place.held().hidden(OLD)] {
            fs::create_dir(hidden).expect("made");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn where_a_disk_begins_and_where_nothing_can_be_made_is_reported() {
        assert!(
            refused(Path::new("/proc/")).contains("it is a mount point")
                && refused(Path::new("/proc")).contains("/proc/NAME")
        );
        assert!(refused(Path::new("/proc/out")).contains("nothing can be created in /proc"));
        assert!(refused(Path::new("/proc/a/b")).contains("nothing can be created in /proc"));
    }
}

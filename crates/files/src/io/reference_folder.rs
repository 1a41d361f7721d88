//! Manages the temporary folder in which the index of reference files is built.
//!
//! ```text
//! .NAME.dupsift-reference-XXXXXX/    next to the output NAME, or under --work DIR: the lock, the index, and the output of building it
//! ```
//!
//! A resumed run builds this index again, so a folder that a killed run left behind is never used. The folder is removed by the next run
//! that writes the same output, or by `clean`. A lock on the folder shows that a running process is using it.

use std::io;
use std::path::{Path, PathBuf};

use super::lock::{Asked, Lock, Owner};
use super::made_folders::MadeFolders;
use super::place::{Cleared, Place, size_below};
use super::unfinished::Unfinished;
use super::work_files::LOCK;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::listing;

/// The part of the folder's name that follows the output's name.
const REFERENCE: &str = "dupsift-reference-";
/// The index in the folder.
const INDEX: &str = "index";
/// The output of the run that builds the index.
const OUTPUT: &str = "reference";

/// The locked temporary folder for the index of reference files. Dropping this value removes the folder.
#[derive(Debug)]
pub struct ReferenceFolder {
    made: Unfinished,
    _lock: Lock,
    /// The parent folders that were created. This field is dropped last, which removes the folders if they are empty.
    _above: MadeFolders,
}

impl ReferenceFolder {
    /// Creates the temporary folder for a run that writes `out`. The folder is created in `work` or, if `work` is `None`, next to the
    /// output.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the output's path is invalid, or [`Error::Io`].
    pub fn create(out: &Path, work: Option<&Path>) -> Result<ReferenceFolder> {
        let place = Place::of(out)?;
        let parent = work.unwrap_or(&place.parent);
        let above = MadeFolders::create(parent).map_err(Error::io("create the folder", parent))?;
        let failed = Error::io("create the temporary folder in", parent);
        let made = Unfinished::create_in(parent, &prefix(&place)).map_err(failed)?;
        let failed = || Error::io("lock the temporary folder", made.path());
        let lock = match Lock::take(made.path()).map_err(failed())? {
            Asked::Mine(lock) => lock,
            Asked::Theirs(owner) => return Err(failed()(io::Error::other(owner.to_string()))),
            Asked::Refused(why) => return Err(failed()(io::Error::other(why))),
        };
        lock.sign(&Owner::here(None)).map_err(failed())?;
        Ok(ReferenceFolder { made, _lock: lock, _above: above })
    }

    /// Returns the folder for the index.
    pub fn index(&self) -> PathBuf {
        self.made.path().join(INDEX)
    }

    /// Returns the folder for the output of the run that builds the index.
    pub fn output(&self) -> PathBuf {
        self.made.path().join(OUTPUT)
    }
}

/// Removes the folders in `parent` that killed runs for this output left behind, and reports how each folder was handled. Skips folders
/// that a running process uses or that other users can access.
pub(super) fn clear_away(place: &Place, parent: &Path) -> Result<Vec<Cleared>> {
    let (prefix, mut cleared) = (prefix(place), Vec::new());
    let Ok(names) = listing::names(parent) else { return Ok(cleared) };
    for name in names {
        let path = parent.join(&name);
        let is_named = name.to_string_lossy().starts_with(&prefix);
        if !is_named || !path.join(LOCK).is_file() || Lock::holder(&path, false).is_some() {
            continue;
        }
        let Ok(Asked::Mine(lock)) = Lock::take(&path) else { continue };
        if !lock.known && lock.before.lives_here() {
            continue;
        }
        if let Some(foreign) = foreign(&path) {
            tracing::warn!("{} is not removed, because it contains {}", path.display(), foreign.display());
            cleared.push(Cleared::Left { path, foreign });
            continue;
        }
        let (files, bytes) = size_below(&path);
        listing::remove_all(&path).map_err(Error::io("remove the files that a killed run left at", &path))?;
        cleared.push(Cleared::Removed { path, files, bytes });
    }
    Ok(cleared)
}

/// Returns the first path in the folder that does not belong to dupsift.
fn foreign(folder: &Path) -> Option<PathBuf> {
    let is_ours = |name: &str| {
        let hidden = [INDEX, OUTPUT].iter().any(|known| name.starts_with(&format!(".{known}.dupsift-")));
        hidden || [LOCK, INDEX, OUTPUT].contains(&name)
    };
    listing::names(folder).ok()?.into_iter().filter(|name| !is_ours(&name.to_string_lossy())).map(PathBuf::from).min()
}

fn prefix(place: &Place) -> String {
    format!(".{}.{REFERENCE}", place.name)
}

#[cfg(test)]
mod tests {
    use super::super::work_folder::{WorkFolder, clean};
    use super::*;
    use std::fs;

    #[test]
    fn the_reference_of_a_killed_run_is_removed_and_one_in_use_is_not() {
        let place = tempfile::tempdir().expect("a folder");
        let (out, work) = (place.path().join("out"), place.path().join("work"));
        fs::create_dir(&work).expect("a folder");
        let killed = |parent: &Path, name: &str| {
            let folder = parent.join(format!(".out.{REFERENCE}{name}"));
            fs::create_dir_all(folder.join("index/batches")).expect("folders");
            fs::create_dir_all(folder.join(".reference.dupsift-work")).expect("folders");
            fs::write(folder.join(LOCK), "").expect("a file");
            std::os::unix::fs::symlink("/", folder.join("index/link")).expect("a link");
            folder
        };
        let private = |folder: &Path| {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).expect("set");
        };
        let used = ReferenceFolder::create(&out, None).expect("made");
        let (here, there, kept) = (killed(place.path(), "a"), killed(&work, "b"), killed(place.path(), "c"));
        [&here, &there, &kept].iter().for_each(|folder| private(folder));
        fs::write(kept.join("notes"), "mine").expect("a file");
        let cleared = clean(&out).expect("cleaned");
        assert!(cleared.iter().any(|one| matches!(one, Cleared::Removed { path, .. } if *path == here)), "{cleared:?}");
        assert!(cleared.iter().any(|one| matches!(one, Cleared::Left { path, .. } if *path == kept)), "{cleared:?}");
        assert!(!here.exists() && there.exists() && kept.exists() && used.made.path().exists());
        drop(WorkFolder::take(&out, Some(&work)).expect("no other run"));
        assert!(!there.exists() && used.made.path().exists());
        let path = used.made.path().to_path_buf();
        drop(used);
        assert!(!path.exists());
    }
}

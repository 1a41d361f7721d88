//! Manages the temporary folder of an output. The folder shows that a run is writing this output, and it contains the run's checkpoints.
//!
//! ```text
//! .NAME.dupsift-work/               next to the output NAME: the lock, and the temporary files
//! DIR/.NAME.dupsift-work-<hash>/    the temporary files under --work DIR, by a hash of the output's path; the lock has its path
//! ```
//!
//! A second run that would write the same output is refused at the start. The holder of the lock removes the leftovers of killed runs:
//! unfinished output folders, the temporary files of a run with a different `--work`, and the indexes of reference files
//! (`reference_folder.rs`). The contents of the holder's own folder are kept until they are inspected ([`WorkFolder::keep_only`]), because
//! a resumed run may use them. The folder is removed when the [`WorkFolder`] is dropped or the process is ended, unless its contents are to
//! be kept ([`WorkFolder::keep`]).
//!
//! Only files with names that dupsift uses are removed; if a folder contains any other file, that file and the folder are kept. A folder
//! that belongs to another user, or to which other users may write, is refused, because its contents may have been planted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use xxhash_rust::xxh3::xxh3_64;

use super::lock::{Asked, Lock, Owner};
use super::reference_folder;
use super::temporary_folder;
use crate::place::made_folders::MadeFolders;
use crate::place::work_files::{LEDGER, LOCK, OBJECT, STANDARD_INPUT, foreign, holds, remove_files};
use crate::place::{Cleared, Place};
use crate::unfinished;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::listing::{self, is_file};
use dupsift_core::safe_fs::private;

/// The suffix that follows the output's name in the folder's name.
const WORK: &str = "dupsift-work";

/// The locked temporary folder of an output.
#[derive(Debug)]
pub struct WorkFolder {
    place: Place,
    lock: Lock,
    /// The lock on the folder below `--work`.
    moved: Option<Lock>,
    kept: AtomicBool,
    /// The leftovers of killed runs, and how they were handled.
    cleared: Vec<Cleared>,
    /// The parent folders created for the output. This field is dropped last; dropping it removes the folders that are empty.
    _above: MadeFolders,
}

impl WorkFolder {
    /// Locks the temporary folder of an output, creating the folder and its parents if needed, and removes the leftovers of killed runs
    /// next to the output.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if another run is writing this output, or if the output's path is invalid; or [`Error::Io`].
    pub fn take(out: &Path, work: Option<&Path>) -> Result<WorkFolder> {
        let place = Place::of(out)?;
        let above = MadeFolders::create(&place.parent).map_err(Error::io("create the folder", &place.parent))?;
        let folder = beside(&place);
        let lock = locked(&folder, |owner| being_written(out, owner))?;
        // Existing contents are kept until they are inspected.
        let mut taken =
            WorkFolder { place, lock, moved: None, kept: AtomicBool::new(true), cleared: Vec::new(), _above: above };
        if taken.lock.known || !taken.lock.before.lives_here() {
            let user = taken.user()?;
            taken.cleared = taken.place.clear_away(user)?;
            // An output may be named like a result that is held back.
            let held = taken.place.held();
            if Lock::holder(&beside(&held), false).is_none() {
                taken.cleared.extend(held.clear_away(user)?);
            }
        }
        for parent in [Some(&*taken.place.parent), work].into_iter().flatten() {
            taken.cleared.extend(reference_folder::clear_away(&taken.place, parent)?);
        }
        let moved = work.map(|work| moved_to(&taken.place, work)).transpose()?;
        if let Some(moved) = &moved {
            let other = locked(moved, |owner| {
                Error::wrong(
                    "work",
                    format_args!(
                        "the folder {} is in use by another run, {owner}; use another `work`",
                        moved.display()
                    ),
                )
            });
            if other.is_err() {
                // The run has not started: existing contents are kept, and new folders are removed.
                taken.goes_if_empty();
            }
            taken.moved = Some(other?);
        }
        taken.clear_other(moved.as_deref())?;
        for lock in taken.locks() {
            let owner = Owner::here(moved.as_deref());
            lock.sign(&owner).map_err(Error::io("write the lock in", lock.folder()))?;
        }
        taken.goes_if_empty();
        Ok(taken)
    }

    /// Checks that no active run is writing the output. If `probes` is set, briefly creates a folder; otherwise, creates nothing.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if a run is writing the output.
    pub(crate) fn check(out: &Path, place: &Place, probes: bool) -> Result<()> {
        Lock::holder(&beside(place), probes).map_or(Ok(()), |owner| Err(being_written(out, &owner)))
    }

    /// Returns the folder for an output's temporary files, without creating or locking anything; `None` if the path is invalid.
    pub fn would_be(out: &Path, work: Option<&Path>) -> Option<PathBuf> {
        let place = Place::of(out).ok()?;
        work.map_or_else(|| Some(beside(&place)), |work| moved_to(&place, work).ok())
    }

    /// Returns the folder for temporary files.
    pub fn path(&self) -> &Path {
        self.moved.as_ref().unwrap_or(&self.lock).folder()
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Returns the id of the user who owns the files that this process creates next to the output.
    pub(crate) fn user(&self) -> Result<u32> {
        self.lock.user().map_err(Error::io("look at the lock in", self.lock.folder()))
    }

    /// Returns whether the file system guarantees that no other run is writing this output.
    pub fn is_alone(&self) -> bool {
        self.locks().all(|lock| lock.known)
    }

    /// Returns the leftovers of killed runs next to the output, and how they were handled.
    pub fn cleared(&self) -> &[Cleared] {
        &self.cleared
    }

    /// Removes the local copies of objects whose names `names` does not accept, and unfinished copies.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn keep_objects(&self, names: impl Fn(&str) -> bool) -> Result<()> {
        let is_copy = |name: &str| name.trim_end_matches(".half").ends_with(OBJECT);
        remove_files(self.path(), |name| is_copy(name) && !names(name))
            .map_err(Error::io("clear the folder", self.path()))
    }

    /// Removes all temporary files except copies of inputs and the files whose names `names` accepts. If neither a ledger nor a copy of an
    /// object remains, marks the folder for removal.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn keep_only(&self, names: impl Fn(&str) -> bool) -> Result<()> {
        remove_files(self.path(), |name| {
            !([LOCK, STANDARD_INPUT].contains(&name) || name.ends_with(OBJECT) || names(name))
        })
        .map_err(Error::io("clear the folder", self.path()))?;
        self.goes_if_empty();
        Ok(())
    }

    /// Keeps the contents of the folder from now on, no matter how the process ends, until [`WorkFolder::remove`] is called.
    pub fn keep(&self) {
        self.kept.store(true, Relaxed);
        self.locks().for_each(|lock| unfinished::stays(lock.folder()));
    }

    /// Removes the folder; called if the output is complete, or if no run is to resume from the folder.
    pub fn remove(self) {
        self.goes();
    }

    /// Marks the folder for removal if it has neither a ledger nor the copy of an object, because no run can resume without them.
    fn goes_if_empty(&self) {
        let has_objects = || {
            let names = listing::names(self.path());
            names.map_or(true, |names| names.iter().any(|name| name.as_encoded_bytes().ends_with(OBJECT.as_bytes())))
        };
        // If the disk does not answer, the saved work may still be there.
        if matches!(is_file(&self.path().join(LEDGER)), Ok(false)) && !has_objects() {
            self.goes();
        }
    }

    /// Marks the folder for removal when this value is dropped or the process is ended.
    pub(crate) fn goes(&self) {
        self.kept.store(false, Relaxed);
        self.locks().for_each(|lock| unfinished::goes(lock.folder(), remove_ours));
    }

    /// Returns the number of files in the folder, excluding the lock, and their total size in bytes.
    pub fn holds(&self) -> (u64, u64) {
        holds(self.path())
    }

    /// Returns the locks in the order in which their folders are removed: the lock next to the output has the path of the other folder.
    fn locks(&self) -> impl Iterator<Item = &Lock> {
        self.moved.iter().chain(std::iter::once(&self.lock))
    }

    /// Removes the temporary files of a killed run that stored these files elsewhere.
    fn clear_other(&mut self, moved: Option<&Path>) -> Result<()> {
        if moved.is_some() {
            // This run does not resume from the files that an earlier run left in this folder.
            given_up(self.lock.folder());
            remove_files(self.lock.folder(), |name| name != LOCK)
                .map_err(Error::io("clear the folder", self.lock.folder()))?;
        }
        let Some(other) = self.lock.before.work.clone().filter(|other| Some(&**other) != moved) else { return Ok(()) };
        let name = moved_name(&self.place)?;
        if other.file_name() != Some(name.as_ref()) || !other.symlink_metadata().is_ok_and(|there| there.is_dir()) {
            return Ok(());
        }
        if let Some(parent) = other.parent() {
            self.cleared.extend(reference_folder::clear_away(&self.place, parent)?);
        }
        let Ok(Asked::Mine(_lock)) = Lock::take(&other) else { return Ok(()) };
        given_up(&other);
        let (files, bytes) = holds(&other);
        remove_ours(&other).map_err(Error::io("remove the files that a killed run left at", &other))?;
        self.cleared.push(Cleared::Removed { path: other, files, bytes });
        Ok(())
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        for lock in self.locks() {
            unfinished::stays(lock.folder());
            if !self.kept.load(Relaxed) {
                // After a failure, the next run on this output removes the rest.
                let _ = remove_ours(lock.folder());
            }
        }
    }
}

/// Removes the temporary folders that killed processes left behind: those of an unfinished output, if `out` is given, and those in `work`,
/// or in the system's temporary folder. Returns how they were handled.
///
/// # Errors
/// Returns [`Error::Usage`] if an active run is writing the output, or if its path is invalid; or [`Error::Io`].
pub fn clean(out: Option<&Path>, work: Option<&Path>) -> Result<Vec<Cleared>> {
    let mut cleared = out.map_or_else(|| Ok(Vec::new()), |out| clean_output(out, work))?;
    let temporary = work.map_or_else(std::env::temp_dir, Path::to_path_buf);
    for one in temporary_folder::clear_killed(&temporary)? {
        // The output may be in the system's temporary folder.
        if !cleared.contains(&one) {
            cleared.push(one);
        }
    }
    Ok(cleared)
}

/// Removes the leftovers of an unfinished output, and returns how they were handled.
///
/// # Errors
/// Returns the errors of [`clean`].
pub fn clean_output(out: &Path, work: Option<&Path>) -> Result<Vec<Cleared>> {
    let place = Place::of(out)?;
    if !place.parent.is_dir() {
        let shown = place.parent.display();
        return Err(Error::usage(format!(
            "{shown} is not a folder, so nothing can be written next to {}",
            out.display()
        )));
    }
    let folder = WorkFolder::take(out, work)?;
    folder.goes();
    let mut cleared = folder.cleared.clone();
    cleared.extend(temporary_folder::clear_killed(&place.parent)?);
    for lock in folder.locks().filter(|lock| !lock.made) {
        let (files, bytes) = holds(lock.folder());
        let path = lock.folder().to_path_buf();
        remove_files(&path, |name| name != LOCK).map_err(Error::io("clear the folder", &path))?;
        cleared.push(match foreign(&path) {
            Some(foreign) => Cleared::Left { path, foreign },
            None => Cleared::Removed { path, files, bytes },
        });
    }
    Ok(cleared)
}

fn locked(folder: &Path, held: impl FnOnce(&Owner) -> Error) -> Result<Lock> {
    if folder.symlink_metadata().is_ok_and(|there| !there.is_dir()) {
        return Err(Error::usage(format!(
            "{} already exists, but a folder with this name is needed for temporary files; move or rename it",
            folder.display()
        )));
    }
    let refused = |why: String| {
        Error::usage(format!(
            "the folder for temporary files {} is not safe: {why}; remove it, or use another `work` or `out` that you own and nobody else can write to",
            folder.display()
        ))
    };
    match Lock::take(folder).map_err(Error::io("lock the temporary folder", folder))? {
        Asked::Mine(lock) => Ok(lock),
        Asked::Theirs(owner) => Err(held(&owner)),
        Asked::Refused(why) => Err(refused(why)),
    }
}

/// Warns that saved work is discarded because temporary files are no longer stored in the same location as in the previous run.
fn given_up(folder: &Path) {
    if folder.join(LEDGER).is_file() {
        tracing::warn!(
            "the saved work of an earlier run in {} is not used, because `work` has changed",
            folder.display()
        );
    }
}

fn being_written(out: &Path, owner: &Owner) -> Error {
    Error::usage(format!("another run is writing {}: {owner}; wait until it ends, or use another `out`", out.display()))
}

fn beside(place: &Place) -> PathBuf {
    place.parent.join(format!(".{}.{WORK}", place.name))
}

/// Returns the folder below `--work`, which is always the same for an output, regardless of the working directory.
fn moved_to(place: &Place, work: &Path) -> Result<PathBuf> {
    let work = work.canonicalize().map_err(Error::io("find the folder", work))?;
    if place.path.canonicalize().is_ok_and(|out| work.starts_with(out)) {
        return Err(Error::wrong(
            "work",
            format_args!(
                "{} is in the output folder, which will be replaced; use a folder outside of it",
                work.display()
            ),
        ));
    }
    Ok(work.join(moved_name(place)?))
}

fn moved_name(place: &Place) -> Result<String> {
    let parent = place.parent.canonicalize().map_err(Error::io("find the folder", &place.parent))?;
    let hash = xxh3_64(parent.join(&place.name).as_os_str().as_encoded_bytes()) >> 24;
    Ok(format!(".{}.{WORK}-{hash:010x}", place.name))
}

/// Removes a temporary folder: first its contents, then the lock, then the folder, so that no run loses a lock that it holds.
fn remove_ours(folder: &Path) -> io::Result<()> {
    remove_files(folder, |name| name != LOCK)?;
    if let Some(foreign) = foreign(folder) {
        tracing::warn!("{} is not removed, because it contains {}", folder.display(), foreign.display());
        return Ok(());
    }
    private::remove(&folder.join(LOCK))?;
    // Another run may have started to use the folder.
    let _ = fs::remove_dir(folder);
    Ok(())
}

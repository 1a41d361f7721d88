//! Builds the output folder under a hidden name next to its final path and then renames it, so that the output appears either completely or
//! not at all.
//!
//! ```text
//! .NAME.dupsift-work/               the temporary folder, which the run keeps locked until it ends
//! .NAME.dupsift-partial-<process>   the folder being built
//! .NAME.dupsift-old-<process>       the result being replaced; restored if the run was killed between the two renames
//! NAME.held                         a result that a guard held back
//! ```

use super::fitting::Fitting;
use super::held;
use crate::place::names::ASIDE;
use crate::place::names::{HELD, SUCCESS};
use crate::place::overwrite;
use crate::place::overwrite::{APPLIED, FILES};
use crate::place::{PARTIAL, Place, seal_below};
use crate::temporary::work_folder::WorkFolder;
use crate::unfinished::{Unfinished, publish, unless_ending};
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::listing::is_there;
use dupsift_core::safe_fs::{self, Readers, sync_folder, write_durably};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// An output folder being built.
#[derive(Debug)]
pub struct Stage {
    staged: Unfinished,
    overwrite: bool,
    /// The users who may read the files.
    readers: Mutex<Readers>,
    /// This field is dropped last, because it holds the lock.
    work: WorkFolder,
}

impl Stage {
    /// Checks that the output can be created and, if `may_be_held` is set, that a held-back result can be placed next to the output.
    /// Briefly creates a folder next to the output for this check.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if `out` exists and may not be replaced, if `out` cannot be created, or if a held-back result cannot be
    /// placed next to `out`.
    pub fn check(out: &Path, overwrite: bool, may_be_held: bool) -> Result<()> {
        Stage::check_by(out, overwrite, may_be_held, Place::can_be, true)
    }

    /// Works like [`Stage::check`], but creates nothing.
    ///
    /// # Errors
    /// Returns the same errors as [`Stage::check`].
    pub fn look(out: &Path, overwrite: bool, may_be_held: bool) -> Result<()> {
        Stage::check_by(out, overwrite, may_be_held, Place::could_be, false)
    }

    fn check_by(
        out: &Path,
        overwrite: bool,
        may_be_held: bool,
        can_be: impl FnOnce(&Place) -> Result<()>,
        probes: bool,
    ) -> Result<()> {
        let place = Place::of(out)?;
        WorkFolder::check(out, &place, probes)?;
        can_be(&place)?;
        overwrite::check(&place.path, overwrite)?;
        if may_be_held { can_hold(&place) } else { Ok(()) }
    }

    /// Creates the hidden folders next to `out`, after removing the leftovers of killed runs. If `work` is given, temporary files are
    /// written there instead of to the locked folder.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if another run is writing `out`, or if `out` exists and may not be replaced; or [`Error::Io`].
    pub fn begin(out: &Path, overwrite: bool, work: Option<&Path>) -> Result<Stage> {
        Stage::begin_in(WorkFolder::take(out, work)?, overwrite)
    }

    /// Begins an output whose temporary folder is already locked.
    ///
    /// # Errors
    /// Returns the same errors as [`Stage::begin`].
    pub fn begin_in(work: WorkFolder, overwrite: bool) -> Result<Stage> {
        let place = work.place();
        overwrite::check(&place.path, overwrite)?;
        let path = place.hidden(PARTIAL);
        let staged = Unfinished::create(path.clone()).map_err(Error::io("create the folder", &path))?;
        Ok(Stage { staged, overwrite, readers: Mutex::default(), work })
    }

    /// Checks that these folders can be added to, or replaced in, a finished output. Creates nothing.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if one of the folders already exists and may not be replaced; or [`Error::Io`].
    pub fn look_added(out: &Path, folders: &[&str], overwrite: bool) -> Result<()> {
        refuse_added(out, folders, overwrite)
    }

    /// Begins an addition to a finished output whose temporary folder is already locked, so that no other run can write the output until
    /// the addition is complete.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if one of these folders already exists in the output and may not be replaced; or [`Error::Io`].
    pub fn begin_added(work: WorkFolder, folders: &[&str], overwrite: bool) -> Result<Stage> {
        let place = work.place();
        refuse_added(&place.path, folders, overwrite)?;
        let path = place.hidden(PARTIAL);
        let staged = Unfinished::create(path.clone()).map_err(Error::io("create the folder", &path))?;
        Ok(Stage { staged, overwrite, readers: Mutex::default(), work })
    }

    /// Returns the temporary folder, which is removed when this value is dropped.
    pub fn work(&self) -> &WorkFolder {
        &self.work
    }

    fn place(&self) -> &Place {
        self.work.place()
    }

    /// Checks that none of the files is inside the folder that is to be replaced.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] for the first file inside that folder.
    pub fn spares<'f>(&self, files: impl IntoIterator<Item = &'f Path>) -> Result<()> {
        let Ok(out) = self.place().path.canonicalize() else { return Ok(()) };
        let inside = |file: &&Path| file.canonicalize().is_ok_and(|file| file.starts_with(&out));
        match files.into_iter().find(inside) {
            None => Ok(()),
            Some(file) => Err(Error::usage(format!(
                "`out={}` would be replaced, but contains the input {}; use another folder",
                self.place().path.display(),
                file.display()
            ))),
        }
    }

    /// Declares that the output contains data from these files. Users who may not read one of them may not read the output.
    pub fn reads<'f>(&self, files: impl IntoIterator<Item = &'f Path>) {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).restrict(Readers::of(files));
    }

    /// Returns the users who may read the files.
    pub fn readers(&self) -> Readers {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns whether the result would replace an existing output.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn replaces(&self) -> Result<bool> {
        overwrite::is_output(&self.place().path)
    }

    /// Checks that a result can be held back next to the output that it must not replace.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the path contains anything other than a held-back result.
    pub fn can_hold(&self) -> Result<()> {
        can_hold(self.place())
    }

    /// Returns the folder being built; files are written below it.
    pub fn path(&self) -> &Path {
        self.staged.path()
    }

    /// Returns the final path of the folder.
    pub fn out(&self) -> &Path {
        &self.place().path
    }

    /// Writes a complete file at a path below the folder, and creates its parent folders.
    pub fn write_bytes(&self, relative: &str, bytes: &[u8]) -> Result<()> {
        let path = self.file(relative)?;
        safe_fs::write(&path, bytes).map_err(Error::io("write", &path))
    }

    /// Returns the path of a file below the folder, and creates its parent folders.
    ///
    /// # Errors
    /// Returns an error for a path that leads outside the folder, or [`Error::Io`].
    pub fn file(&self, relative: &str) -> Result<PathBuf> {
        let inside = Path::new(relative).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside || relative.is_empty() {
            return Err(Error::Internal(format!("{relative:?} is not a path in the output folder")));
        }
        let path = self.path().join(relative);
        if let Some(parent) = path.parent() {
            unless_ending(|| fs::create_dir_all(parent)).map_err(Error::io("create the folder", parent))?;
        }
        Ok(path)
    }

    /// Returns a relative path, shortened if it is too long for the file system.
    pub fn fitting(&self, relative: &str) -> String {
        Fitting::below(self.path()).fit(relative)
    }

    /// Writes the record, a JSON object as text, and adds a list of all files written to the folder so far.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn write_record(&self, record: &str) -> Result<()> {
        self.write_listing("run.json", record, overwrite::files_below(self.path())?)
    }

    /// Writes the record of a corpus from a finished run: a JSON object as text, with a list of the files. For an addition to an output,
    /// the record also lists the files that were added earlier.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn write_applied(&self, record: &str) -> Result<()> {
        let mut files = overwrite::files_of(self.out(), APPLIED)?.unwrap_or_default();
        // The files of a replaced folder no longer exist.
        files.retain(|file| !file.split_once('/').is_some_and(|(folder, _)| self.path().join(folder).is_dir()));
        files.extend(overwrite::files_below(self.path())?);
        self.write_listing(APPLIED, record, files.into_iter().collect())
    }

    fn write_listing(&self, name: &str, record: &str, files: Vec<String>) -> Result<()> {
        let list = serde_json::to_string_pretty(&files).map_err(Error::table("write a record"))?;
        let open = record.trim_end().strip_suffix('}').unwrap_or_default().trim_end();
        let list = list.replace('\n', "\n  ");
        self.write_bytes(name, format!("{open},\n  \"{FILES}\": {list}\n}}").as_bytes())
    }

    /// Syncs everything to disk and moves these folders into the finished output, each in one step. The record of the corpus is moved
    /// first, so that a later run with `overwrite` recognizes the folders even if the process ends before all of them are moved. A folder
    /// that is replaced is moved aside until the new folder has taken over its name.
    ///
    /// # Errors
    /// Returns [`Error::Io`], or [`Error::Usage`] if one of these folders was created in the output in the meantime.
    pub fn commit_added(self, folders: &[&str]) -> Result<()> {
        self.seal_files()?;
        let out = &self.place().path;
        // A folder without files was never created.
        let made = |name: &&&str| self.path().join(name).is_dir();
        let folders: Vec<&str> = folders.iter().filter(made).copied().collect();
        let into = |name: &str| {
            let (there, aside) = (out.join(name), self.path().join(format!("{ASIDE}{name}")));
            let replaces = there.symlink_metadata().is_ok_and(|there| there.is_dir());
            if replaces {
                fs::rename(&there, &aside)?;
            }
            fs::rename(self.path().join(name), &there).inspect_err(|_| {
                if replaces {
                    let _ = fs::rename(&aside, &there);
                }
            })
        };
        publish(|| {
            refuse_added(out, &folders, self.overwrite)?;
            into(APPLIED).map_err(Error::io("write the record into", out))?;
            sync_folder(out)?;
            folders.iter().try_for_each(|name| into(name).map_err(Error::io("add a folder to", out)))?;
            sync_folder(out)
        })
    }

    /// Syncs everything to disk, writes `_SUCCESS`, and renames the folder to its final path. The folder that is replaced is moved aside
    /// first and removed last. If `replaces_held` is set, an older held-back result is removed as well.
    ///
    /// # Errors
    /// Returns [`Error::Io`], or [`Error::Usage`] if something with the final name was created in the meantime. If an error occurs, nothing
    /// is changed.
    pub fn commit(self, replaces_held: bool) -> Result<()> {
        self.commit_if(replaces_held, || Ok(()))
    }

    /// Works like [`Stage::commit`], but calls `check` immediately before the folder is renamed.
    ///
    /// # Errors
    /// Returns the same errors as [`Stage::commit`], and the errors of `check`.
    pub fn commit_if(mut self, replaces_held: bool, check: impl FnOnce() -> Result<()>) -> Result<()> {
        self.seal(SUCCESS, b"")?;
        publish(|| {
            check()?;
            overwrite::check(&self.place().path, self.overwrite)?;
            self.place().give_to(self.path())
        })?;
        self.staged.finish();
        // The result now has its final name, so its checkpoints are no longer needed.
        self.work.goes();
        if replaces_held
            && held::older(self.place()).unwrap_or(false)
            && let Err(error) = held::remove(self.place())
        {
            tracing::warn!("the older result that was held back remains: {error}");
        }
        Ok(())
    }

    /// Syncs everything to disk, writes `_HELD`, and renames the folder to the path for held-back results, where it replaces an older
    /// held-back result. The existing output is kept. Returns the path.
    ///
    /// # Errors
    /// Returns [`Error::Io`], or [`Error::Usage`] if the path contains anything other than a held-back result.
    pub fn hold(mut self) -> Result<PathBuf> {
        self.seal(HELD, held::standing(self.place()).as_bytes())?;
        let held = publish(|| {
            held::check(self.place())?;
            let folder = self.place().held();
            folder.clear_away(self.work.user()?)?;
            folder.give_to(self.path())?;
            Ok(folder.path)
        })?;
        self.staged.finish();
        self.work.goes();
        Ok(held)
    }

    fn seal(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.seal_files()?;
        self.staged.opens();
        write_durably(&self.path().join(name), bytes)?;
        sync_folder(self.path())
    }

    /// Limits the files to their readers, and syncs everything to disk.
    fn seal_files(&self) -> Result<()> {
        if let Some(open) = seal_below(self.path(), &self.readers())? {
            let name = open.strip_prefix(self.path()).unwrap_or(&open).display();
            tracing::warn!(
                "the output may be more readable than its inputs, because its file system does not support permissions (first for {name})"
            );
        }
        Ok(())
    }
}

/// Returns an error if one of the folders already exists in an output. With `overwrite`, returns an error only if such a folder contains
/// files that dupsift did not write.
fn refuse_added(out: &Path, folders: &[&str], overwrite: bool) -> Result<()> {
    for name in folders {
        let there = out.join(name);
        if !is_there(&there)? {
            continue;
        }
        let shown = there.display();
        if !overwrite {
            return Err(Error::usage(format!(
                "{shown} already exists; pass `overwrite` to replace it, or write to another folder with `out`"
            )));
        }
        if let Some(foreign) = overwrite::foreign_in(out, name)? {
            return Err(Error::usage(format!(
                "{shown} was not written by dupsift (it contains {:?}), so `overwrite` does not replace it; remove it first, or write to \
                 another folder with `out`",
                out.join(foreign).display().to_string()
            )));
        }
    }
    Ok(())
}

fn can_hold(place: &Place) -> Result<()> {
    if overwrite::is_output(&place.path)? { held::check(place) } else { Ok(()) }
}

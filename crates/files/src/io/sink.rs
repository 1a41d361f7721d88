//! The output folder: built beside its place under a hidden name, then renamed, so that it appears whole or not at all.
//!
//! ```text
//! .NAME.dupsift-work/               the work folder, which the run holds locked as long as it lives
//! .NAME.dupsift-partial-<process>   the folder being built
//! .NAME.dupsift-old-<process>       the result being replaced; put back if its run died between the two renames
//! NAME.held                         a result that a guard held back
//! ```

use super::held;
use super::names::{HELD, SUCCESS};
use super::overwrite::{self, APPLIED, FILES};
use super::place::{PARTIAL, Place, sync_below};
use super::unfinished::{Unfinished, publish, unless_ending};
use super::work_folder::WorkFolder;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::{self, sync_folder, write_durably};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// An output folder that is being built.
#[derive(Debug)]
pub struct Stage {
    staged: Unfinished,
    overwrite: bool,
    /// Dropped last, for it holds the lock.
    work: WorkFolder,
}

impl Stage {
    /// Checks that the output can be begun, and, where it may be, held back: for that a folder is made beside it and removed again.
    ///
    /// # Errors
    /// [`Error::Usage`] where `out` is there and may not be replaced, or has no place to be; where a result that must not replace
    /// it has none.
    pub fn check(out: &Path, overwrite: bool, may_be_held: bool) -> Result<()> {
        Stage::check_by(out, overwrite, may_be_held, Place::can_be, true)
    }

    /// The same for a look: nothing is made, not for a moment.
    ///
    /// # Errors
    /// As [`Stage::check`].
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

    /// Makes the hidden folders beside `out`, where runs that died leave nothing then; `work` is where work files go in place of
    /// the one that is locked.
    ///
    /// # Errors
    /// [`Error::Usage`] where another run is writing `out`, or it is there and may not be replaced; [`Error::Io`].
    pub fn begin(out: &Path, overwrite: bool, work: Option<&Path>) -> Result<Stage> {
        Stage::begin_in(WorkFolder::take(out, work)?, overwrite)
    }

    /// The same in a work folder that is locked already.
    ///
    /// # Errors
    /// As [`Stage::begin`].
    pub fn begin_in(work: WorkFolder, overwrite: bool) -> Result<Stage> {
        let place = work.place();
        overwrite::check(&place.path, overwrite)?;
        let path = place.hidden(PARTIAL);
        let staged = Unfinished::create(path.clone()).map_err(Error::io("create the folder", &path))?;
        Ok(Stage { staged, overwrite, work })
    }

    /// Begins what is added to a finished output. No run can write the output meanwhile.
    ///
    /// # Errors
    /// [`Error::Usage`] if a run is writing the output, or one of these folders is in it already; [`Error::Io`].
    pub fn begin_added(out: &Path, folders: &[&str]) -> Result<Stage> {
        let work = WorkFolder::take(out, None)?;
        let place = work.place();
        refuse_added(&place.path, folders)?;
        let path = place.hidden(PARTIAL);
        let staged = Unfinished::create(path.clone()).map_err(Error::io("create the folder", &path))?;
        Ok(Stage { staged, overwrite: false, work })
    }

    /// The work folder, which goes with this value.
    pub fn work(&self) -> &WorkFolder {
        &self.work
    }

    fn place(&self) -> &Place {
        self.work.place()
    }

    /// Checks that none of the files lies in the folder that will be replaced.
    ///
    /// # Errors
    /// [`Error::Usage`] naming the first that does.
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

    /// Whether an output stands that the result would replace.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn replaces(&self) -> Result<bool> {
        overwrite::is_output(&self.place().path)
    }

    /// Checks that a result that must not replace the output has a place beside it.
    ///
    /// # Errors
    /// [`Error::Usage`] where something of the user's stands there.
    pub fn can_hold(&self) -> Result<()> {
        can_hold(self.place())
    }

    /// The folder being built; files are written below it.
    pub fn path(&self) -> &Path {
        self.staged.path()
    }

    /// Where the folder will be.
    pub fn out(&self) -> &Path {
        &self.place().path
    }

    /// Writes a whole file at a path below the folder, and the folders above it.
    pub fn write_bytes(&self, relative: &str, bytes: &[u8]) -> Result<()> {
        let path = self.file(relative)?;
        safe_fs::write(&path, bytes).map_err(Error::io("write", &path))
    }

    /// The place of a file below the folder; the folders above it are made.
    ///
    /// # Errors
    /// [`Error::Usage`] for a path that leads out of the folder; [`Error::Io`].
    pub fn file(&self, relative: &str) -> Result<PathBuf> {
        let inside = Path::new(relative).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside || relative.is_empty() {
            return Err(Error::Internal(format!("{relative:?} is no path below the output folder")));
        }
        let path = self.path().join(relative);
        if let Some(parent) = path.parent() {
            unless_ending(|| fs::create_dir_all(parent)).map_err(Error::io("create the folder", parent))?;
        }
        Ok(path)
    }

    /// Writes the record, a JSON object as text, with a list of all files that stand in the folder by now.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write_record(&self, record: &str) -> Result<()> {
        self.write_listing("run.json", record, overwrite::files_below(self.path())?)
    }

    /// Writes the record of a corpus that is written from a finished run: a JSON object as text, with a list of the files. What is added to
    /// an output lists the files that were added before, too.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write_applied(&self, record: &str) -> Result<()> {
        let mut files = overwrite::files_of(self.out(), APPLIED).unwrap_or_default();
        files.extend(overwrite::files_below(self.path())?);
        self.write_listing(APPLIED, record, files.into_iter().collect())
    }

    fn write_listing(&self, name: &str, record: &str, files: Vec<String>) -> Result<()> {
        let list = serde_json::to_string_pretty(&files).map_err(Error::table("write a record"))?;
        let open = record.trim_end().strip_suffix('}').unwrap_or_default().trim_end();
        let list = list.replace('\n', "\n  ");
        self.write_bytes(name, format!("{open},\n  \"{FILES}\": {list}\n}}").as_bytes())
    }

    /// Makes everything durable, and moves these folders into the finished output, each complete. The record of the corpus comes before
    /// them, so that `overwrite` knows them as ours whenever the process ends.
    ///
    /// # Errors
    /// [`Error::Io`], or [`Error::Usage`] if something appeared under one of these names meanwhile.
    pub fn commit_added(self, folders: &[&str]) -> Result<()> {
        sync_below(self.path())?;
        let out = &self.place().path;
        // A folder into which no file was written was not made.
        let made = |name: &&&str| self.path().join(name).is_dir();
        let folders: Vec<&str> = folders.iter().filter(made).copied().collect();
        let into = |name: &str| fs::rename(self.path().join(name), out.join(name));
        publish(|| {
            refuse_added(out, &folders)?;
            into(APPLIED).map_err(Error::io("write the record into", out))?;
            sync_folder(out)?;
            folders.iter().try_for_each(|name| into(name).map_err(Error::io("add a folder to", out)))?;
            sync_folder(out)
        })
    }

    /// Makes everything durable, writes `_SUCCESS`, and puts the folder in its place. What it replaces is moved aside
    /// first and removed last; so is an older result that was held back, where this one takes its place too.
    ///
    /// # Errors
    /// [`Error::Io`], or [`Error::Usage`] if something appeared under the name meanwhile; then the place is as it was.
    pub fn commit(mut self, replaces_held: bool) -> Result<()> {
        self.seal(SUCCESS, b"")?;
        publish(|| {
            overwrite::check(&self.place().path, self.overwrite)?;
            self.place().give_to(self.path())
        })?;
        self.staged.finish();
        // The result has its name: nothing is to go on from what was put down.
        self.work.goes();
        let older = self.place().held();
        if replaces_held
            && held::older(self.place()).unwrap_or(false)
            && let Err(error) = fs::remove_dir_all(&older.path)
        {
            tracing::warn!("the older result held back at {} cannot be removed: {error}", older.path.display());
        }
        Ok(())
    }

    /// Makes everything durable, writes `_HELD`, and puts the folder beside its place, where an older one gives way to it; what
    /// stands in its place stays. Gives the path.
    ///
    /// # Errors
    /// [`Error::Io`], or [`Error::Usage`] if something of the user's stands there.
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
        self.staged.opens();
        sync_below(self.path())?;
        write_durably(&self.path().join(name), bytes)?;
        sync_folder(self.path())
    }
}

/// Refuses folders that an output has already.
fn refuse_added(out: &Path, folders: &[&str]) -> Result<()> {
    match folders.iter().map(|name| out.join(name)).find(|path| path.symlink_metadata().is_ok()) {
        None => Ok(()),
        Some(there) => Err(Error::usage(format!(
            "{} already exists; remove it first, or write to another folder with `out`",
            there.display()
        ))),
    }
}

fn can_hold(place: &Place) -> Result<()> {
    if overwrite::is_output(&place.path)? { held::check(place) } else { Ok(()) }
}

//! Handles a result that was held back, that is, a result that was not published because a guard fired. The finished result is in a folder
//! `NAME.held` next to the output NAME, with `_HELD` instead of `_SUCCESS`.
//!
//! ```text
//! run.json and report.html record who accepted it under which name -> _HELD is renamed to _SUCCESS -> the folder is renamed to NAME
//! ```
//!
//! The `_HELD` file identifies the output that existed when the result was held back. A newer output is not replaced.
//!
//! If the process ends before the last step, the result still counts as held back, and running the same command again completes the work.

use crate::place::names::{HELD, HELD_ENDING, SUCCESS};
use crate::place::ours::MOST_RECORD;
use crate::place::overwrite;
use crate::place::{PARTIAL, Place};
use crate::temporary::work_folder::WorkFolder;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash128;
use dupsift_core::safe_fs::listing::{is_file, is_folder, is_there, look_at_link, remove_all};
use dupsift_core::safe_fs::{self, MOST_JSON, Readers, sync_folder, write_durably};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder that contains a result that was held back.
#[derive(Debug)]
pub struct Held {
    folder: Place,
    /// The work folder of the output. The folder holds the lock on the output and is therefore dropped last.
    work: WorkFolder,
}

impl Held {
    /// Opens the folder, and locks its output so that no other run can write it.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the folder contains no result that was held back, or if a run is writing the output.
    pub fn open(folder: &Path) -> Result<Held> {
        let refused = |what: String| {
            Error::usage(format!(
                "{} is not a result that was held back: {what}; expected the folder NAME{HELD_ENDING} that a run with exit code 4 printed",
                folder.display()
            ))
        };
        let place = Place::of(folder)?;
        let Some(name) = place.name.strip_suffix(HELD_ENDING).filter(|name| !name.is_empty()) else {
            return Err(refused(format!("its name does not end in {HELD_ENDING}")));
        };
        if !is_folder(&place.parent)? {
            return Err(refused("there is no such folder".to_owned()));
        }
        // This call comes first because it removes the leftovers of an interrupted acceptance even if the rest of this function fails.
        let work = WorkFolder::take(&place.parent.join(name), None)?;
        if !is_folder(&place.path)? {
            return Err(refused("there is no such folder".to_owned()));
        }
        match foreign(&place, &work.place().name)? {
            Some(what) => Err(refused(what)),
            None => Ok(Held { folder: place, work }),
        }
    }

    /// Returns the output under whose name a result in this folder was published, if that output still exists and the folder does not.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the path is invalid; or [`Error::Io`].
    pub fn accepted_before(folder: &Path) -> Result<Option<PathBuf>> {
        let place = Place::of(folder)?;
        let Some(name) = place.name.strip_suffix(HELD_ENDING).filter(|name| !name.is_empty()) else { return Ok(None) };
        let output = Place { parent: place.parent.clone(), path: place.parent.join(name), name: name.to_owned() };
        let is_published = !is_there(&place.path)? && is_accepted(&output, name);
        Ok(is_published.then_some(output.path))
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.folder.path
    }

    /// Returns the name of the output.
    pub fn name(&self) -> &str {
        &self.work.place().name
    }

    /// Returns whether the result has been accepted under this name but not renamed yet.
    pub fn is_accepted(&self) -> bool {
        is_accepted(&self.folder, self.name())
    }

    /// Atomically replaces the record or the report.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn replace(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let (new, old) = (self.folder.path.join(format!(".{name}.dupsift-accept")), self.folder.path.join(name));
        write_durably(&new, bytes)?;
        // A file system without permissions refuses to change them.
        let _ = safe_fs::open(&new).and_then(|new| Readers::of([&*old]).limit(&new));
        fs::rename(&new, &old).map_err(Error::io("replace", &old))?;
        sync_folder(&self.folder.path)
    }

    /// Checks that the result may be published under its name. Nothing is changed.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if dupsift did not write the existing output, or if that output is newer than the output that existed when
    /// this result was held back. However, a newer output may be replaced if a guard fired for it.
    pub fn check(&self) -> Result<()> {
        let output = self.work.place();
        overwrite::check(&output.path, true)?;
        let known = fs::read_to_string(self.folder.path.join(HELD)).unwrap_or_default();
        let now = standing(output);
        if known.is_empty() || now == known || now == NOTHING || is_doubtful(output) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "{} was held back, but another run has written {} since then; move that result elsewhere, or run again with `accept`",
            self.folder.path.display(),
            output.path.display()
        )))
    }

    /// Removes the result. The output under its name, if any, is unchanged.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the result has been accepted and only its name is missing, or [`Error::Io`].
    pub fn reject(&self) -> Result<()> {
        if self.is_accepted() {
            return Err(Error::usage(format!(
                "{folder} has already been accepted; run `dupsift accept {folder}` again to complete it",
                folder = self.folder.path.display()
            )));
        }
        remove(self.work.place())
    }

    /// Renames the result to its output name. The previous output is removed last.
    ///
    /// # Errors
    /// See [`Held::check`]. Also returns [`Error::Io`] if writing to the disk fails.
    pub fn publish(&self) -> Result<PathBuf> {
        self.check()?;
        let output = self.work.place();
        let (held, success) = (self.folder.path.join(HELD), self.folder.path.join(SUCCESS));
        if is_file(&held)? {
            fs::rename(&held, &success).map_err(Error::io("rename", &held))?;
            // The marker's content is needed only while the result is held back.
            let emptied = fs::File::options().write(true).open(&success).and_then(|file| file.set_len(0));
            emptied.map_err(Error::io("write", &success))?;
            sync_folder(&self.folder.path)?;
        }
        output.give_to(&self.folder.path)?;
        Ok(output.path.clone())
    }
}

/// Removes the held-back result of this output. If the process is killed, the next command that uses the output removes what is left.
pub(crate) fn remove(output: &Place) -> Result<()> {
    let (held, hidden) = (output.held(), output.hidden(PARTIAL));
    fs::rename(&held.path, &hidden).map_err(Error::io("move aside", &held.path))?;
    sync_folder(&held.parent)?;
    remove_all(&hidden).map_err(Error::io("remove", &hidden))
}

/// The value that [`standing`] returns if there is no result.
const NOTHING: &str = "nothing";

/// Identifies the result at a path by the beginning of its record.
pub(crate) fn standing(place: &Place) -> String {
    let record = safe_fs::read_beginning(&place.path.join("run.json"), MOST_RECORD);
    record.map_or_else(|_| NOTHING.to_owned(), |json| format!("{:032x}", hash128(&json)))
}

/// Returns whether a guard fired for the result at a path. Even if a guard fires, a result is published if there is no earlier output.
fn is_doubtful(place: &Place) -> bool {
    let record = safe_fs::read(&place.path.join("run.json"), MOST_JSON).ok();
    let record = record.and_then(|json| serde_json::from_slice::<serde_json::Value>(&json).ok());
    record.is_some_and(|record| record["guards"].as_array().is_some_and(|guards| !guards.is_empty()))
}

/// Returns the reason why the folder is not a held-back result for this output, or `None` if it is one.
fn foreign(folder: &Place, output: &str) -> Result<Option<String>> {
    if let Some(path) = overwrite::foreign_path(&folder.path)? {
        return Ok(Some(format!("it contains {:?}", path.display().to_string())));
    }
    let has = |name: &str| is_file(&folder.path.join(name));
    Ok(if !has("run.json")? {
        Some("it has no run.json".to_owned())
    } else if has(HELD)? || is_accepted(folder, output) {
        None
    } else {
        Some(format!("it has no {HELD}"))
    })
}

fn is_accepted(folder: &Place, output: &str) -> bool {
    let record = || {
        let json = safe_fs::read(&folder.path.join("run.json"), MOST_JSON).ok()?;
        let record: serde_json::Value = serde_json::from_slice(&json).ok()?;
        Some(record["accepted"]["output"] == *output)
    };
    folder.path.join(SUCCESS).is_file() && record().unwrap_or(false)
}

/// Checks that a result for this output may be held back. Nothing may exist at the path of the held-back result except an empty folder or
/// an older held-back result.
///
/// # Errors
/// Returns [`Error::Usage`] if there is anything else at the path.
pub(crate) fn check(output: &Place) -> Result<()> {
    let folder = output.held();
    if !is_there(&folder.path)? || overwrite::is_empty(&folder.path)? || older(output)? {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{} is needed for a result that must not replace {}, but something else is already there; move or rename it, use another `out`, or pass `accept`",
        folder.path.display(),
        output.path.display()
    )))
}

/// Returns whether an older result for this output has been held back.
pub(crate) fn older(output: &Place) -> Result<bool> {
    let folder = output.held();
    let there = look_at_link(&folder.path).map_err(Error::reading("look at", &folder.path))?;
    if !there.is_some_and(|there| there.is_dir()) {
        return Ok(false);
    }
    Ok(foreign(&folder, &output.name)?.is_none())
}

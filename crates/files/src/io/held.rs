//! A result that a guard held back: a finished folder `NAME.held` beside the output NAME that it did not replace, with `_HELD`
//! in place of `_SUCCESS`.
//!
//! ```text
//! run.json and report.html say who accepted it and for which name -> _HELD is renamed to _SUCCESS -> the folder is renamed to NAME
//! ```
//!
//! `_HELD` says which result stood there at the time: a later one is not replaced.
//!
//! A process may end between any two of these steps: the folder is still known as a held one then, and the same call goes on.

use super::names::{HELD, HELD_ENDING, SUCCESS};
use super::ours::MOST_RECORD;
use super::overwrite;
use super::place::Place;
use super::work_folder::WorkFolder;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash128;
use dupsift_core::safe_fs::{self, MOST_JSON, sync_folder, write_durably};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder with a result that was held back.
#[derive(Debug)]
pub struct Held {
    folder: Place,
    /// Dropped last, for it holds the lock of the output.
    work: WorkFolder,
}

impl Held {
    /// Opens such a folder, and keeps every run from its output meanwhile.
    ///
    /// # Errors
    /// [`Error::Usage`] where it is none, or a run is writing the output.
    pub fn open(folder: &Path) -> Result<Held> {
        let refused = |what: String| {
            Error::usage(format!(
                "{} is not a result that was held back: {what}; expected the folder NAME{HELD_ENDING} that a run with exit code 4 named",
                folder.display()
            ))
        };
        let place = Place::of(folder)?;
        let Some(name) = place.name.strip_suffix(HELD_ENDING).filter(|name| !name.is_empty()) else {
            return Err(refused(format!("its name does not end in {HELD_ENDING}")));
        };
        if !place.parent.is_dir() {
            return Err(refused("there is no such folder".to_owned()));
        }
        // Before anything is looked at: what an acceptance left that was ended goes, also where this one fails.
        let work = WorkFolder::take(&place.parent.join(name), None)?;
        if !place.path.is_dir() {
            return Err(refused("there is no such folder".to_owned()));
        }
        match foreign(&place, &work.place().name)? {
            Some(what) => Err(refused(what)),
            None => Ok(Held { folder: place, work }),
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder.path
    }

    /// The name that it would have as the output.
    pub fn name(&self) -> &str {
        &self.work.place().name
    }

    /// Whether the result is accepted for this name already, but was not given it yet.
    pub fn is_accepted(&self) -> bool {
        is_accepted(&self.folder, self.name())
    }

    /// Replaces the record or the page in one step.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn replace(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let (new, old) = (self.folder.path.join(format!(".{name}.dupsift-accept")), self.folder.path.join(name));
        write_durably(&new, bytes)?;
        fs::rename(&new, &old).map_err(Error::io("replace", &old))?;
        sync_folder(&self.folder.path)
    }

    /// Checks that the result may get its name. Nothing is changed.
    ///
    /// # Errors
    /// [`Error::Usage`] if something else than an output of ours stands there, or another result than the one that stood there when
    /// this one was held back, and for which no guard fired.
    pub fn check(&self) -> Result<()> {
        let output = self.work.place();
        overwrite::check(&output.path, true)?;
        let known = fs::read_to_string(self.folder.path.join(HELD)).unwrap_or_default();
        let now = standing(output);
        if known.is_empty() || now == known || now == NOTHING || is_doubtful(output) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "{} was held back, but another run has written {} since then; move that one away, or run this one again with `accept`",
            self.folder.path.display(),
            output.path.display()
        )))
    }

    /// Gives the result its name; what stands there is removed last.
    ///
    /// # Errors
    /// As [`Held::check`]; [`Error::Io`].
    pub fn publish(&self) -> Result<PathBuf> {
        self.check()?;
        let output = self.work.place();
        let (held, success) = (self.folder.path.join(HELD), self.folder.path.join(SUCCESS));
        if held.is_file() {
            fs::rename(&held, &success).map_err(Error::io("rename", &held))?;
            // What the mark said is of no use any more.
            let emptied = fs::File::options().write(true).open(&success).and_then(|file| file.set_len(0));
            emptied.map_err(Error::io("write", &success))?;
            sync_folder(&self.folder.path)?;
        }
        output.give_to(&self.folder.path)?;
        Ok(output.path.clone())
    }
}

/// What [`standing`] says of a place without a result.
const NOTHING: &str = "nothing";

/// Identifies the result that stands at a place, by the beginning of its record.
pub(super) fn standing(place: &Place) -> String {
    let record = safe_fs::read_beginning(&place.path.join("run.json"), MOST_RECORD);
    record.map_or_else(|_| NOTHING.to_owned(), |json| format!("{:032x}", hash128(&json)))
}

/// Whether a guard fired for the result that stands at a place: it was published because nothing stood there.
fn is_doubtful(place: &Place) -> bool {
    let record = safe_fs::read(&place.path.join("run.json"), MOST_JSON).ok();
    let record = record.and_then(|json| serde_json::from_slice::<serde_json::Value>(&json).ok());
    record.is_some_and(|record| record["guards"].as_array().is_some_and(|guards| !guards.is_empty()))
}

/// What tells that the folder holds no held result of the output of that name.
fn foreign(folder: &Place, output: &str) -> Result<Option<String>> {
    if let Some(path) = overwrite::foreign_path(&folder.path)? {
        return Ok(Some(format!("it holds {:?}", path.display().to_string())));
    }
    let has = |name: &str| folder.path.join(name).is_file();
    Ok(if !has("run.json") {
        Some("it has no run.json".to_owned())
    } else if has(HELD) || is_accepted(folder, output) {
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

/// Checks that a result of that output may be held back: the place for it is free, an empty folder, or has an older one.
///
/// # Errors
/// [`Error::Usage`] where something else stands there.
pub(super) fn check(output: &Place) -> Result<()> {
    let folder = output.held();
    if folder.path.symlink_metadata().is_err() || overwrite::is_empty(&folder.path)? || older(output)? {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{} is needed for a result that must not replace {}, but holds something else; move it away, use another `out`, or pass `accept`",
        folder.path.display(),
        output.path.display()
    )))
}

/// Whether an older result of that output is held back.
pub(super) fn older(output: &Place) -> Result<bool> {
    let folder = output.held();
    if !folder.path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Ok(false);
    }
    Ok(foreign(&folder, &output.name)?.is_none())
}

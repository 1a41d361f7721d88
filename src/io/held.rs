//! A result that a guard held back: a finished folder `NAME.held` beside the output NAME that it did not replace, with `_HELD`
//! in place of `_SUCCESS`.
//!
//! ```text
//! run.json and report.html say who accepted it and for which name -> _HELD is renamed to _SUCCESS -> the folder is renamed to NAME
//! ```
//!
//! A process may end between any two of these steps: the folder is still known as a held one then, and the same call goes on.

use super::names::{HELD, HELD_ENDING, SUCCESS};
use super::overwrite;
use super::place::{Place, sync_folder, write_durably};
use crate::error::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder with a result that was held back.
#[derive(Debug)]
pub struct Held {
    folder: Place,
    output: Place,
}

impl Held {
    /// Opens such a folder.
    ///
    /// # Errors
    /// [`Error::Usage`] where it is none.
    pub fn open(folder: &Path) -> Result<Held> {
        let refused = |what: String| {
            Error::Usage(format!(
                "{} holds no result that was held back: {what}; expected the folder NAME{HELD_ENDING} that a run with exit code 4 named",
                folder.display()
            ))
        };
        let place = Place::of(folder)?;
        let Some(name) = place.name.strip_suffix(HELD_ENDING).filter(|name| !name.is_empty()) else {
            return Err(refused(format!("its name does not end in {HELD_ENDING}")));
        };
        let output = Place::of(&place.parent.join(name))?;
        if !place.path.is_dir() {
            return Err(refused("there is no such folder".to_owned()));
        }
        let held = Held { folder: place, output };
        match held.foreign()? {
            Some(what) => Err(refused(what)),
            None => Ok(held),
        }
    }

    /// What tells that the folder holds no held result of its output.
    fn foreign(&self) -> Result<Option<String>> {
        if let Some(path) = overwrite::foreign_path(&self.folder.path)? {
            return Ok(Some(format!("it holds {:?}", path.display().to_string())));
        }
        let has = |name: &str| self.folder.path.join(name).is_file();
        Ok(if !has("run.json") {
            Some("it has no run.json".to_owned())
        } else if has(HELD) || self.is_accepted() {
            None
        } else {
            Some(format!("it has no {HELD}"))
        })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder.path
    }

    /// The name that it would have as the output.
    pub fn name(&self) -> &str {
        &self.output.name
    }

    /// Whether the result is accepted for this name already, but was not given it yet.
    pub fn is_accepted(&self) -> bool {
        let record = || {
            let json = fs::read(self.folder.path.join("run.json")).ok()?;
            let record: serde_json::Value = serde_json::from_slice(&json).ok()?;
            Some(record["accepted"]["output"] == *self.output.name)
        };
        self.folder.path.join(SUCCESS).is_file() && record().unwrap_or(false)
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

    /// Gives the result its name; what stands there is removed last.
    ///
    /// # Errors
    /// [`Error::Usage`] where something else than an output of ours stands there; [`Error::Io`].
    pub fn publish(self) -> Result<PathBuf> {
        self.output.clear_away()?;
        overwrite::check(&self.output.path, true)?;
        let (held, success) = (self.folder.path.join(HELD), self.folder.path.join(SUCCESS));
        if held.is_file() {
            fs::rename(&held, &success).map_err(Error::io("rename", &held))?;
            sync_folder(&self.folder.path)?;
        }
        self.output.give_to(&self.folder.path)?;
        Ok(self.output.path)
    }
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
    Err(Error::Usage(format!(
        "{} is where a result would be held back that must not replace {}, and it is no such result; move it away, give another --out, or --accept",
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
    Ok(Held { folder, output: output.clone() }.foreign()?.is_none())
}

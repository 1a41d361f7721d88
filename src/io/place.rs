//! The place of an output folder: its name, what stands beside it under hidden names, and how one folder takes the place of
//! another.

use super::overwrite;
use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What follows the output's name in the hidden names beside it.
pub(super) const PARTIAL: &str = "dupsift-partial-";
const OLD: &str = "dupsift-old-";

/// The folder above an output and the name in it.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub parent: PathBuf,
    pub name: String,
    /// Both together.
    pub path: PathBuf,
}

impl Place {
    /// The place of an output.
    ///
    /// # Errors
    /// [`Error::Usage`] where the path has no name of its own, or names the working directory or a folder above it.
    pub fn of(out: &Path) -> Result<Place> {
        let path = resolved(out)?;
        let refused = |what: &str| {
            let shown = out.display();
            Error::Usage(format!("{shown} {what}; an output needs a folder of its own, as in --out {shown}/NAME"))
        };
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(refused("has no name of its own"));
        };
        let real = path.canonicalize();
        let here = std::env::current_dir().and_then(|here| here.canonicalize());
        if let (Ok(real), Ok(here)) = (real, here)
            && here.starts_with(real)
        {
            return Err(refused("is the working directory or a folder above it"));
        }
        Ok(Place { parent: parent.to_path_buf(), name: name.to_string_lossy().into_owned(), path: path.clone() })
    }

    /// Checks that the folders above it stand or can be made.
    ///
    /// # Errors
    /// [`Error::Usage`] where one of them is a file.
    pub fn can_be(&self) -> Result<()> {
        match self.parent.ancestors().find(|above| above.exists()).filter(|above| !above.is_dir()) {
            None => Ok(()),
            Some(there) => Err(Error::Usage(format!(
                "--out {}: {} is no folder; expected a path of folders",
                self.path.display(),
                there.display()
            ))),
        }
    }

    /// Where a result is held back that would have come here.
    pub fn held(&self) -> Place {
        let name = format!("{}.held", self.name);
        Place { parent: self.parent.clone(), path: self.parent.join(&name), name }
    }

    /// A hidden name beside it, of this process.
    pub fn hidden(&self, what: &str) -> PathBuf {
        self.parent.join(format!(".{}.{what}{}", self.name, std::process::id()))
    }

    /// Gives the place to a folder that stands beside it. What it replaces is moved aside first and removed last.
    ///
    /// # Errors
    /// [`Error::Io`]; then the place is as it was.
    pub fn give_to(&self, folder: &Path) -> Result<()> {
        let old = self.hidden(OLD);
        let replaced = self.path.symlink_metadata().is_ok();
        if replaced {
            fs::rename(&self.path, &old).map_err(Error::io("move aside", &self.path))?;
        }
        if let Err(error) = fs::rename(folder, &self.path) {
            if replaced {
                fs::rename(&old, &self.path).map_err(Error::io("move back", &old))?;
            }
            return Err(Error::io("rename the finished folder to", &self.path)(error));
        }
        // From here on the result stands.
        if let Err(error) = sync_folder(&self.parent) {
            tracing::warn!("the result stands, but a power failure now may undo its name: {error}");
        }
        if replaced && let Err(error) = fs::remove_dir_all(&old) {
            tracing::warn!("the replaced result is still at {}: {error}; the next run removes it", old.display());
        }
        Ok(())
    }

    /// Removes what dead runs left beside the place, and finishes or undoes a replacement that one was in. Only folders are
    /// ours: a link is left alone under any name.
    pub fn clear_away(&self) -> Result<()> {
        let (partial, old) = (format!(".{}.{PARTIAL}", self.name), format!(".{}.{OLD}", self.name));
        for entry in fs::read_dir(&self.parent).map_err(Error::io("list the folder", &self.parent))? {
            let path = entry.map_err(Error::io("list the folder", &self.parent))?.path();
            let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else { continue };
            let is_ours = |prefix: &str| {
                name.strip_prefix(prefix).is_some_and(|process| process.parse::<u32>().is_ok())
                    && path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
            };
            if is_ours(&partial) && !is_locked(&path) {
                fs::remove_dir_all(&path).map_err(Error::io("remove what a dead run left at", &path))?;
            } else if is_ours(&old) && overwrite::holds_only_ours(&path)? {
                if self.path.symlink_metadata().is_ok() {
                    fs::remove_dir_all(&path).map_err(Error::io("remove the replaced result", &path))?;
                } else {
                    fs::rename(&path, &self.path).map_err(Error::io("put back the earlier result at", &self.path))?;
                }
            }
        }
        Ok(())
    }
}

/// The path without links, so that a link to a folder of results is not replaced by a folder.
fn resolved(out: &Path) -> Result<PathBuf> {
    if out.is_symlink() {
        return out.canonicalize().map_err(Error::io("follow the link", out));
    }
    std::path::absolute(out).map_err(Error::io("find", out))
}

/// Whether a living process holds the folder. A file system that knows no locks counts as yes.
fn is_locked(folder: &Path) -> bool {
    File::open(folder).is_ok_and(|folder| folder.try_lock().is_err())
}

/// Writes a whole file and makes it durable.
pub(super) fn write_durably(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = File::create(path).map_err(Error::io("create", path))?;
    std::io::Write::write_all(&mut file, bytes).and_then(|()| file.sync_all()).map_err(Error::io("write", path))
}

/// Removes all that is in a folder.
///
/// # Errors
/// [`Error::Io`].
pub fn empty_folder(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::io("list the folder", folder))? {
        let path = entry.map_err(Error::io("list the folder", folder))?.path();
        let is_folder = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
        let removed = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.map_err(Error::io("remove", &path))?;
    }
    Ok(())
}

/// Makes the files and folders below durable, deepest first.
pub(super) fn sync_below(folder: &Path) -> Result<()> {
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

pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some file systems make folders durable in their own way and refuse to be told.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        other => other.map_err(Error::io("write the folder", folder)),
    }
}

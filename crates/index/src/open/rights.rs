//! Checks a folder before an index is written to it. The folder must contain nothing but an index and must not be writable by everyone.

use std::path::Path;

use super::lock::LOCK;
use crate::files::folder::{FOLDERS, names};
use crate::generations;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs;
use dupsift_core::safe_fs::listing::is_folder;

/// Checks that a folder contains nothing but an index.
pub(crate) fn check_ours(dir: &Path) -> Result<()> {
    let is_ours = |name: &String| name == LOCK || FOLDERS.contains(&name.as_str()) || generations::is_ours(name);
    match names(dir)?.into_iter().find(|name| !is_ours(name)) {
        None => Ok(()),
        Some(other) => Err(Error::wrong(
            "index",
            format_args!(
                "{} contains {other:?}, which is not part of an index; expected an index, or a new folder",
                dir.display()
            ),
        )),
    }
}

/// Checks that it is safe to write to an index: the index is not writable by everyone, and its folders are not symbolic links.
///
/// # Errors
/// Returns [`Error::Usage`] if writing to the index is not safe.
pub fn check_rights(dir: &Path) -> Result<()> {
    if !is_folder(dir)? {
        return Ok(());
    }
    let wrong = |why: String| Err(Error::wrong_value("index", dir.display(), why));
    let open = |folder: &Path| safe_fs::open_to_all(folder).map_err(Error::io("look at", folder));
    if let Some(why) = open(dir)? {
        let inside = format!("`index={}`", dir.join("index").display());
        return wrong(format!(
            "{why}; expected a folder that is not writable by everyone: chmod o-w {}, or pass a new folder inside it, such as {inside}",
            dir.display()
        ));
    }
    for name in FOLDERS {
        let folder = dir.join(name);
        match folder.symlink_metadata() {
            Ok(there) if there.is_symlink() => return wrong(format!("its folder {name} is a link; expected a folder")),
            Ok(there) if there.is_dir() => {
                if let Some(why) = open(&folder)? {
                    return wrong(format!(
                        "its folder {name}: {why}; expected one that is not writable by everyone: chmod o-w {}",
                        folder.display()
                    ));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

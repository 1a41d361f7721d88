//! Manages the temporary folder in which the index of reference files is built.
//!
//! ```text
//! .NAME.dupsift-reference-XXXXXX/    next to the output NAME, or under --work DIR: the lock, the index, and the output of building it
//! ```
//!
//! A resumed run builds this index again, so a folder that a killed run left behind is never used. The folder is removed by the next run
//! that writes the same output, or by `clean`. Commands that compare documents of the finished output build the index again in the system's
//! temporary folder, or in --work DIR. A lock on the folder shows that a running process is using it.

use std::path::{Path, PathBuf};

use super::temporary_folder;
use super::temporary_folder::TemporaryFolder;
use crate::place::made_folders::MadeFolders;
use crate::place::{Cleared, Place};
use dupsift_core::error::{Error, Result};

/// The part of the folder's name that follows the output's name.
const REFERENCE: &str = "dupsift-reference-";
/// The index in the folder.
const INDEX: &str = "index";
/// The output of the run that builds the index.
const OUTPUT: &str = "reference";

/// The locked temporary folder for the index of reference files. Dropping this value removes the folder.
#[derive(Debug)]
pub struct ReferenceFolder {
    made: TemporaryFolder,
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
        let made = TemporaryFolder::create_in(parent, &prefix(&place))?;
        Ok(ReferenceFolder { made, _above: above })
    }

    /// Creates the temporary folder for a command that reads the finished output `out`. The folder is created in `work` or, if `work` is
    /// `None`, in the system's temporary folder. Removes those that killed commands for this output left there.
    ///
    /// # Errors
    /// Returns the errors of [`ReferenceFolder::create`].
    pub fn of_finished(out: &Path, work: Option<&Path>) -> Result<ReferenceFolder> {
        let parent = work.map_or_else(std::env::temp_dir, Path::to_path_buf);
        let _ = clear_away(&Place::of(out)?, &parent);
        ReferenceFolder::create(out, Some(&parent))
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
pub(crate) fn clear_away(place: &Place, parent: &Path) -> Result<Vec<Cleared>> {
    let is_ours = |name: &str| {
        let hidden = [INDEX, OUTPUT].iter().any(|known| name.starts_with(&format!(".{known}.dupsift-")));
        hidden || [INDEX, OUTPUT].contains(&name)
    };
    temporary_folder::clear_away(parent, &prefix(place), is_ours)
}

fn prefix(place: &Place) -> String {
    format!(".{}.{REFERENCE}", place.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::work_files::LOCK;
    use crate::temporary::work_folder::{WorkFolder, clean_output};
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
        let cleared = clean_output(&out, None).expect("cleaned");
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

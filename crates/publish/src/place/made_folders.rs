//! Creates the missing parent folders of a path, and removes them later if they are still empty.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use dupsift_core::safe_fs;

/// Holds the folders that were created; when dropped, removes the folders that are still empty.
#[derive(Debug, Default)]
pub struct MadeFolders {
    /// The folders, deepest first.
    made: Vec<PathBuf>,
}

impl MadeFolders {
    /// Creates a folder and its missing parents, as `safe_fs::make_folder` does.
    ///
    /// # Errors
    /// Returns the I/O error. If an error occurs, folders that were already created are removed.
    pub fn create(folder: &Path) -> io::Result<MadeFolders> {
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && path.symlink_metadata().is_err();
        let made = MadeFolders { made: folder.ancestors().take_while(is_missing).map(Path::to_path_buf).collect() };
        safe_fs::make_folder(folder)?;
        Ok(made)
    }

    /// Returns whether no folder had to be created.
    pub fn is_empty(&self) -> bool {
        self.made.is_empty()
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        // Removing a folder that is not empty fails, as intended.
        self.made.iter().for_each(|folder| _ = fs::remove_dir(folder));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_empty_folders_that_were_made_are_removed() {
        let place = tempfile::tempdir().expect("a folder");
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("old")).expect("a folder");
        drop(MadeFolders::create(&at("old/a/b/c")).expect("made"));
        assert!(at("old").is_dir() && !at("old/a").exists());
        let made = MadeFolders::create(&at("old/a/b/c")).expect("made");
        fs::write(at("old/a/x"), "x").expect("a file");
        drop(made);
        assert!(at("old/a/x").is_file() && !at("old/a/b").exists());
        assert!(MadeFolders::create(&at("old")).expect("there").is_empty());
        assert!(MadeFolders::create(&at("old/a/x/y")).is_err());
        drop(MadeFolders::create(&at("gone/../new")).expect("made"));
        assert!(!at("gone").exists() && !at("new").exists());
    }
}

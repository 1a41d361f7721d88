//! Folders that were made on the way to a place: they are removed again if nothing comes to stand in them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use dupsift_core::safe_fs;

/// Removes the folders that it made when it is dropped, if they are still empty then.
#[derive(Debug, Default)]
pub struct MadeFolders {
    /// The deepest first.
    made: Vec<PathBuf>,
}

impl MadeFolders {
    /// Makes a folder and those above it, as `safe_fs::make_folder` does.
    ///
    /// # Errors
    /// What the system says; then nothing that was made is left.
    pub fn create(folder: &Path) -> io::Result<MadeFolders> {
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && path.symlink_metadata().is_err();
        let made = MadeFolders { made: folder.ancestors().take_while(is_missing).map(Path::to_path_buf).collect() };
        safe_fs::make_folder(folder)?;
        Ok(made)
    }

    /// Whether the last folder was there before.
    pub fn is_empty(&self) -> bool {
        self.made.is_empty()
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        // A folder that holds something cannot be removed so.
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

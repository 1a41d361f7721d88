//! Opens an index. A writer locks the index and cleans up after any writer that died. A reader changes nothing.

mod lock;
pub(crate) mod restore;
pub(crate) mod rights;
mod sweep;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::files::folder::{BATCHES, FOLDERS, Named, STATISTICS, check, names};
use crate::generations::{self, Generations, State, came_true};
use crate::manifest::{Batch, Manifest};
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::listing::{is_folder, is_there, remove_all};
use dupsift_core::safe_fs::{self, Readers, private, sync_folder};
use lock::{Lock, hold_files};
use rights::{check_ours, check_rights};

/// The prefix of the names of unfinished folders.
pub(crate) const PARTIAL: &str = ".partial-";

/// Holds an index that is open for reading or writing. An index that is open for writing is locked until the value is dropped.
#[derive(Debug)]
pub struct Index {
    dir: PathBuf,
    /// The newest generation; `None` if the index has no generation yet.
    pub manifest: Option<Manifest>,
    /// The writer's exclusive lock.
    lock: Option<Lock>,
    /// The reader's shared lock. No writer removes a file while a reader holds this lock.
    _reading: Option<File>,
}

impl Index {
    /// Opens an index for writing and creates it if the folder is missing or empty. Waits while another process holds the lock. If a
    /// process died during publication, its changes are completed if `published` reports that its output is complete; otherwise, they are
    /// removed. A folder that was created for a new index is removed on drop if nothing was published.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the folder contains other files, [`Error::DamagedIndex`], [`Error::Io`], or an error from `published`.
    /// After an error, the folder is unchanged.
    pub fn open(dir: &Path, published: impl Fn(&Batch) -> Result<State>) -> Result<Index> {
        let mut index = Index::locked(dir)?;
        index.manifest = index.recover(published)?;
        Ok(index)
    }

    /// Creates the folder if it is missing and locks it, without reading anything in it.
    pub(crate) fn locked(dir: &Path) -> Result<Index> {
        check_ours(dir)?;
        check_rights(dir)?;
        let lock = Lock::take(dir)?;
        Ok(Index { dir: dir.to_path_buf(), manifest: None, lock: Some(lock), _reading: None })
    }

    /// Opens an index for reading, without an exclusive lock and without cleaning up or writing anything. Another process may add a batch
    /// in the meantime, because files never change, and the files of this generation are not removed before the value is dropped. If a
    /// process died while publishing a batch, the batch counts as published if its output is complete. Returns `None` if the folder
    /// contains no index.
    ///
    /// # Errors
    /// Returns [`Error::DamagedIndex`] if the newest generation cannot be read, or an error from `published`.
    pub fn look(dir: &Path, published: impl Fn(&Batch) -> Result<State>) -> Result<Option<Index>> {
        if !is_folder(dir)? {
            return Ok(None);
        }
        let reading = hold_files(dir);
        let (newest, intended) = Generations::newest(dir)?;
        let number = newest.as_ref().map_or(0, |newest| newest.generation);
        let manifest = came_true(intended, number, published)?.or(newest);
        Ok(manifest.map(|manifest| Index {
            dir: dir.to_path_buf(),
            manifest: Some(manifest),
            lock: None,
            _reading: reading,
        }))
    }

    /// Opens an index for reading, like [`Index::look`], but checks every generation.
    ///
    /// # Errors
    /// Returns the same errors as [`Index::look`], for any generation, intent or held batch.
    pub fn look_at_all(dir: &Path, published: impl Fn(&Batch) -> Result<State>) -> Result<Option<Index>> {
        let index = Index::look(dir, published)?;
        Generations::read(dir).map(|_| index)
    }

    /// Returns the folder of the index.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the path of a folder of this kind in the index.
    pub fn folder(&self, kind: &str, name: &str) -> PathBuf {
        self.dir.join(kind).join(name)
    }

    /// Returns the paths of the files that contain the texts of documents.
    pub fn text_files(&self) -> Vec<PathBuf> {
        let batches = self.manifest.iter().flat_map(|manifest| &manifest.batches);
        let files = |batch: &Batch| {
            let folder = self.folder(BATCHES, &batch.folder);
            batch.parts.iter().map(move |part| folder.join(&part.file.name)).collect::<Vec<_>>()
        };
        batches.flat_map(files).collect()
    }

    /// Creates an empty folder, marked as unfinished, that will become a folder of the index.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn begin(&self, kind: &str, name: &str) -> Result<PathBuf> {
        let path = self.unfinished(kind, name);
        if is_there(&path)? {
            remove_all(&path).map_err(Error::io("remove", &path))?;
        }
        safe_fs::make_folder(&self.dir.join(kind))
            .and_then(|()| private::make(&path))
            .map_err(Error::io("create the folder", &path))?;
        Ok(path)
    }

    /// Returns the path of an unfinished folder.
    pub fn unfinished(&self, kind: &str, name: &str) -> PathBuf {
        self.dir.join(kind).join(format!("{PARTIAL}{name}"))
    }

    /// Renames an unfinished folder to its final name, and lets these users read its files. Before the call, all files in the folder must be
    /// durable, and the intent of a generation that refers to the folder must have been saved. This ensures that every folder with a final
    /// name belongs to a generation.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn place(&self, kind: &str, name: &str, readers: &Readers) -> Result<()> {
        let (from, to) = (self.unfinished(kind, name), self.folder(kind, name));
        safe_fs::share(&from, readers).map_err(Error::io("open to readers", &from))?;
        fs::rename(&from, &to).map_err(Error::io("rename the folder", &from))?;
        sync_folder(&self.dir.join(kind))
    }

    /// Saves the next generation as an intent and makes it durable. A manifest names the inputs of all batches, so it can be read by those
    /// of these users who may read the manifest of the current generation.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn intend(&self, next: &Manifest, readers: &Readers) -> Result<()> {
        generations::intend(&self.dir, next, readers)
    }

    /// Makes a generation with a saved intent the newest generation, and removes files to which no generation refers.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn publish(&mut self, next: Manifest) -> Result<()> {
        generations::come_true(&self.dir, &next)?;
        stop_at("manifest");
        self.manifest = Some(next);
        // At this point, the generation is current. If the cleanup fails, the next writer completes it.
        if let Err(error) = self.sweep() {
            tracing::warn!(
                "the index {} is complete, but files that it no longer needs could not be removed: {error}; the next run tries again",
                self.dir.display()
            );
        }
        stop_at("swept");
        Ok(())
    }

    /// Keeps a held batch, so that it can be accepted later. The intent of its generation must have been saved.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn hold(&self, next: &Manifest) -> Result<()> {
        generations::hold(&self.dir, next)?;
        self.sweep()
    }

    /// Returns the generation of the held batch if the index is still at the generation that the batch was matched against.
    ///
    /// # Errors
    /// Returns the errors of [`Generations::read`].
    pub fn held(&self) -> Result<Option<Manifest>> {
        let known = Generations::read(&self.dir)?;
        let number = known.number();
        Ok(known.held.filter(|held| held.generation == number + 1))
    }

    /// Discards the held batch, because another batch replaces it.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn hold_none(&self) -> Result<()> {
        if let Some(held) = Generations::read(&self.dir)?.held {
            // The folders to which only the held batch refers are removed first, because folders to which no generation refers are never
            // removed.
            self.sweep_but(Some(held.generation))?;
        }
        Ok(())
    }

    /// Checks the statistics and models against their recorded checksums.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] with the first file that differs.
    pub fn check_statistics(&self) -> Result<()> {
        let Some(manifest) = &self.manifest else { return Ok(()) };
        let folder = self.folder(STATISTICS, &manifest.statistics);
        manifest.statistics_files.iter().try_for_each(|file| check(&folder, file))
    }

    /// Checks that all files of a generation exist and have the recorded sizes.
    ///
    /// # Errors
    /// Returns [`Error::DamagedIndex`] with the first file that is missing or has a different size.
    pub fn check_there(&self, manifest: &Manifest) -> Result<()> {
        let is_missing = |(kind, folder, file): &(&str, &str, &Named)| {
            let path = self.folder(kind, folder).join(&file.name);
            path.metadata().map(|there| there.len()).ok() != Some(file.bytes)
        };
        let Some((kind, folder, file)) = manifest.files().find(is_missing) else { return Ok(()) };
        let path = self.folder(kind, folder).join(&file.name);
        Err(Error::DamagedIndex {
            dir: self.dir.clone(),
            why: format!("{} is missing or has a different size", path.display()),
            way_out: "restore the file from a backup".into(),
        })
    }

    /// Checks every file of the newest generation against its recorded checksum. Returns the number of files and their total size in bytes.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] with the first file that differs.
    pub fn verify(&self, go_on: &dyn Fn() -> Result<()>) -> Result<(u64, u64)> {
        let (mut files, mut bytes) = (0, 0);
        let Some(manifest) = &self.manifest else { return Ok((0, 0)) };
        for (kind, folder, file) in manifest.files() {
            go_on()?;
            check(&self.folder(kind, folder), file)?;
            files += 1;
            bytes += file.bytes;
        }
        Ok((files, bytes))
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        let Some(lock) = &self.lock else { return };
        // A failure in `drop` cannot be handled; the next writer cleans up.
        let _ = self.remove_unfinished_folders();
        if lock.made.is_none()
            || names(&self.dir).map_or(true, |names| names.iter().any(|name| generations::is_ours(name)))
        {
            return;
        }
        FOLDERS.iter().for_each(|kind| _ = fs::remove_dir(self.dir.join(kind)));
        if FOLDERS.iter().all(|kind| !self.dir.join(kind).exists()) {
            let _ = fs::remove_file(&lock.path);
        }
    }
}

/// Aborts the process at a step of publication if an environment variable requests it. Tests use this to simulate a kill.
pub fn stop_at(step: &str) {
    if std::env::var_os("DUPSIFT_STOP_AT").is_some_and(|asked| asked == step) {
        std::process::abort();
    }
}

/// Returns the statistics folder of an index; `None` if the folder contains no index.
///
/// # Errors
/// Returns [`Error::DamagedIndex`] if the newest generation cannot be read.
pub fn statistics_in(dir: &Path) -> Result<Option<PathBuf>> {
    if !is_folder(dir)? {
        return Ok(None);
    }
    let (newest, _) = Generations::newest(dir)?;
    Ok(newest.map(|manifest| dir.join(STATISTICS).join(manifest.statistics)))
}

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;

//! An open index: a writer holds it alone and first clears up after one that died, a reader looks at it and changes nothing.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::folder::{FOLDERS, Named, STATISTICS, check, names};
use super::generations::{self, Generations};
use super::lock::{Lock, hold_files};
use super::manifest::{Batch, Manifest};
use super::rights::{check_ours, check_rights};
use super::sweep::came_true;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::{self, private, sync_folder};

/// What the names of folders begin with that are not finished.
pub(super) const PARTIAL: &str = ".partial-";

/// An index that this process holds until the value is dropped, or looks at.
#[derive(Debug)]
pub struct Index {
    dir: PathBuf,
    /// What it consists of; none for one that is still to be made.
    pub manifest: Option<Manifest>,
    /// Held by a writer, who is alone.
    lock: Option<Lock>,
    /// Held by a reader: as long as there is one, no writer removes a file.
    _reading: Option<File>,
}

/// Whether the output of a batch stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its output stands.
    Published,
    /// Its output does not.
    Lost,
}

impl Index {
    /// Opens an index for changes, or an empty folder, or makes one; another process that holds it is waited for. What a process that
    /// died has begun to publish is finished if its output stands, by `published`, and removed otherwise. A folder that is made for a
    /// new index is removed again when the value is dropped and nothing was published.
    ///
    /// # Errors
    /// [`Error::Usage`] for a folder of other things; [`Error::DamagedIndex`]; [`Error::Io`]; what `published` returns. Then the
    /// folder is as it was.
    pub fn open(dir: &Path, published: impl Fn(&Batch) -> Result<State>) -> Result<Index> {
        let mut index = Index::locked(dir)?;
        index.manifest = index.recover(published)?;
        Ok(index)
    }

    /// Locks the folder, which is made if it is not there; nothing in it is read.
    pub(super) fn locked(dir: &Path) -> Result<Index> {
        check_ours(dir)?;
        check_rights(dir)?;
        let lock = Lock::take(dir)?;
        Ok(Index { dir: dir.to_path_buf(), manifest: None, lock: Some(lock), _reading: None })
    }

    /// Opens an index for a look: nothing is locked, cleared up or written. A batch may be added meanwhile: files never change, and those
    /// of this generation are not removed before the value is dropped. A batch that a process was publishing when it died counts if its
    /// output stands. Returns `None` if no index stands there.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] if the newest generation cannot be read; what `published` returns.
    pub fn look(dir: &Path, published: impl Fn(&Batch) -> Result<State>) -> Result<Option<Index>> {
        if !dir.is_dir() {
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

    /// As [`Index::look`], with a look at every generation.
    ///
    /// # Errors
    /// As [`Index::look`], for any generation, intent or held batch.
    pub fn look_at_all(dir: &Path, published: impl Fn(&Batch) -> Result<State>) -> Result<Option<Index>> {
        let index = Index::look(dir, published)?;
        Generations::read(dir).map(|_| index)
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The place of a folder in it.
    pub fn folder(&self, kind: &str, name: &str) -> PathBuf {
        self.dir.join(kind).join(name)
    }

    /// A folder that is to become one of the index, empty.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn begin(&self, kind: &str, name: &str) -> Result<PathBuf> {
        let path = self.unfinished(kind, name);
        if path.exists() {
            fs::remove_dir_all(&path).map_err(Error::io("remove", &path))?;
        }
        safe_fs::make_folder(&self.dir.join(kind))
            .and_then(|()| private::make(&path))
            .map_err(Error::io("create the folder", &path))?;
        Ok(path)
    }

    /// The place of a folder that was begun and has no name yet.
    pub fn unfinished(&self, kind: &str, name: &str) -> PathBuf {
        self.dir.join(kind).join(format!("{PARTIAL}{name}"))
    }

    /// Gives a folder its name, all files in it being durable. A generation that names it was intended before: so whatever has a name is
    /// named by some generation.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn place(&self, kind: &str, name: &str) -> Result<()> {
        let (from, to) = (self.unfinished(kind, name), self.folder(kind, name));
        safe_fs::share(&from).map_err(Error::io("open to readers", &from))?;
        fs::rename(&from, &to).map_err(Error::io("rename the folder", &from))?;
        sync_folder(&self.dir.join(kind))
    }

    /// Writes down what the next generation will be, and makes that durable.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn intend(&self, next: &Manifest) -> Result<()> {
        generations::intend(&self.dir, next)
    }

    /// Makes a generation the newest one, whose intent was written down, and removes what no generation names any more.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn publish(&mut self, next: Manifest) -> Result<()> {
        generations::come_true(&self.dir, &next)?;
        stop_at("manifest");
        self.manifest = Some(next);
        // From here on the generation counts: what remains to be done is done by the next writer, too.
        if let Err(error) = self.sweep() {
            tracing::warn!(
                "the index {} is complete, but files that it no longer needs could not be removed: {error}; the next run tries again",
                self.dir.display()
            );
        }
        stop_at("swept");
        Ok(())
    }

    /// Keeps what a night would add that a guard holds back, whose intent was written down, so that it can be accepted.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn hold(&self, next: &Manifest) -> Result<()> {
        generations::hold(&self.dir, next)?;
        self.sweep()
    }

    /// The night that is held back, if this index is still the one that it was matched against.
    ///
    /// # Errors
    /// As [`Generations::read`].
    pub fn held(&self) -> Result<Option<Manifest>> {
        let known = Generations::read(&self.dir)?;
        let number = known.number();
        Ok(known.held.filter(|held| held.generation == number + 1))
    }

    /// Forgets what is held back: another night takes its place.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn hold_none(&self) -> Result<()> {
        if let Some(held) = Generations::read(&self.dir)?.held {
            // First what only it names: a folder that no generation names is nobody's.
            self.sweep_but(Some(held.generation))?;
        }
        Ok(())
    }

    /// Compares the statistics and models with what was written.
    ///
    /// # Errors
    /// [`Error::Damaged`] with the first file that is another one.
    pub fn check_statistics(&self) -> Result<()> {
        let Some(manifest) = &self.manifest else { return Ok(()) };
        let folder = self.folder(STATISTICS, &manifest.statistics);
        manifest.statistics_files.iter().try_for_each(|file| check(&folder, file))
    }

    /// Checks that the files that a generation names are there, by their sizes.
    ///
    /// # Errors
    /// [`Error::DamagedIndex`] with the first that is not.
    pub fn check_there(&self, manifest: &Manifest) -> Result<()> {
        let is_missing = |(kind, folder, file): &(&str, &str, &Named)| {
            let path = self.folder(kind, folder).join(&file.name);
            path.metadata().map(|there| there.len()).ok() != Some(file.bytes)
        };
        let Some((kind, folder, file)) = manifest.files().find(is_missing) else { return Ok(()) };
        let path = self.folder(kind, folder).join(&file.name);
        Err(Error::DamagedIndex {
            dir: self.dir.clone(),
            why: format!("{} is missing or has another size", path.display()),
            way_out: "put the file back from a backup".into(),
        })
    }

    /// Compares every file that the newest generation names with what was written; gives how many there are and their bytes.
    ///
    /// # Errors
    /// [`Error::Damaged`] with the first that is another one.
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
        // Nothing can be done about a failure here; the next writer clears up.
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

/// Ends the process at a step of publication if the environment asks for that, as a kill would: for tests.
pub fn stop_at(step: &str) {
    if std::env::var_os("DUPSIFT_STOP_AT").is_some_and(|asked| asked == step) {
        std::process::abort();
    }
}

/// The statistics of the index in a folder; none where none stands there.
///
/// # Errors
/// [`Error::DamagedIndex`] if its newest generation cannot be read.
pub fn statistics_in(dir: &Path) -> Result<Option<PathBuf>> {
    if !dir.is_dir() {
        return Ok(None);
    }
    let (newest, _) = Generations::newest(dir)?;
    Ok(newest.map(|manifest| dir.join(STATISTICS).join(manifest.statistics)))
}

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;

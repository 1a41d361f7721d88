//! An index that is held: one process at a time, and what a process that died has left is put in order first.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::folder::{check, names, sync_folder};
use super::manifest::Manifest;
use crate::error::{Error, Result};
use crate::spelling::opt;

/// The folder of documents.
pub const BATCHES: &str = "batches";
/// The folder of rows.
pub const ROWS: &str = "rows";
/// The folder of statistics and models.
pub const STATISTICS: &str = "statistics";

const LOCK: &str = "lock";
const PARTIAL: &str = ".partial-";
const FOLDERS: [&str; 3] = [BATCHES, ROWS, STATISTICS];

/// An index that this process holds until the value is dropped, or looks at.
#[derive(Debug)]
pub struct Index {
    dir: PathBuf,
    /// What it consists of; none for one that is still to be made.
    pub manifest: Option<Manifest>,
    _lock: Option<File>,
}

/// What became of a night that was to be published when its process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its output stands.
    Published,
    /// Its output does not.
    Lost,
}

impl Index {
    /// Opens an index, or an empty folder, or makes one; another process that holds it is waited for. `published` says of an output
    /// and a generation whether that output is there.
    ///
    /// # Errors
    /// [`Error::Usage`] for a folder of other things; [`Error::Damaged`]; [`Error::Io`].
    pub fn open(dir: &Path, published: impl Fn(&Path, u64) -> State) -> Result<Index> {
        fs::create_dir_all(dir).map_err(Error::io("create the folder", dir))?;
        let there = names(dir)?;
        let is_ours = |name: &String| {
            name == LOCK
                || FOLDERS.contains(&name.as_str())
                || name.starts_with("manifest-")
                || name.starts_with("intent-")
                || name == "held.json"
        };
        if let Some(other) = there.iter().find(|name| !is_ours(name)) {
            return Err(Error::wrong(
                opt("index"),
                format_args!(
                    "{} holds {other:?}, which is no part of an index; expected an index, or a new folder",
                    dir.display()
                ),
            ));
        }
        let lock = lock(dir)?;
        let mut index = Index { dir: dir.to_path_buf(), manifest: None, _lock: Some(lock) };
        index.recover(published)?;
        index.manifest = Manifest::newest(dir)?;
        Ok(index)
    }

    /// For a look: nothing is locked, put in order or written, and a night may be added meanwhile, for files never change. None where
    /// no index stands there.
    ///
    /// # Errors
    /// As [`Manifest::newest`].
    pub fn look(dir: &Path) -> Result<Option<Index>> {
        let manifest = if dir.is_dir() { Manifest::newest(dir)? } else { None };
        Ok(manifest.map(|manifest| Index { dir: dir.to_path_buf(), manifest: Some(manifest), _lock: None }))
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
        let path = self.dir.join(kind).join(format!("{PARTIAL}{name}"));
        if path.exists() {
            fs::remove_dir_all(&path).map_err(Error::io("remove", &path))?;
        }
        fs::create_dir_all(&path).map_err(Error::io("create the folder", &path))?;
        Ok(path)
    }

    /// Gives a folder its name, all files in it being durable.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn place(&self, kind: &str, name: &str) -> Result<()> {
        let (from, to) = (self.dir.join(kind).join(format!("{PARTIAL}{name}")), self.folder(kind, name));
        fs::rename(&from, &to).map_err(Error::io("rename the folder", &from))?;
        sync_folder(&self.dir.join(kind))
    }

    /// Makes a generation the newest one, whose intent was written down, and removes what no generation names any more.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn publish(&mut self, next: Manifest) -> Result<()> {
        next.come_true(&self.dir)?;
        stop_at("manifest");
        self.manifest = Some(next);
        self.sweep()?;
        stop_at("swept");
        Ok(())
    }

    /// Finishes what a process that died had begun to publish, if its output stands, and removes all else that it left.
    fn recover(&self, published: impl Fn(&Path, u64) -> State) -> Result<()> {
        if let Some(intended) = Manifest::intended(&self.dir)?
            && let Some(last) = intended.batches.last()
            && published(&last.out, intended.generation) == State::Published
        {
            tracing::info!("{} was published, and is in the index now", last.out.display());
            intended.come_true(&self.dir)?;
        }
        self.sweep()
    }

    /// Keeps what a night would add that a guard holds back, under the names that it has, so that it can be accepted.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn hold(&self, next: &Manifest) -> Result<()> {
        next.hold(&self.dir)?;
        self.sweep()
    }

    /// The night that is held back, if this index is still the one that it was matched against.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn held(&self) -> Result<Option<Manifest>> {
        Manifest::held_after(&self.dir, self.manifest.as_ref().map_or(0, |manifest| manifest.generation))
    }

    /// Forgets what is held back: another night takes its place.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn hold_none(&self) -> Result<()> {
        Manifest::hold_none(&self.dir)?;
        self.sweep()
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

    /// Compares every file that the newest generation names with what was written; gives how many there are and their bytes.
    ///
    /// # Errors
    /// [`Error::Damaged`] with the first that is another one.
    pub fn verify(&self, go_on: &dyn Fn() -> Result<()>) -> Result<(u64, u64)> {
        let (mut files, mut bytes) = (0, 0);
        let Some(manifest) = &self.manifest else { return Ok((0, 0)) };
        let parts = manifest.batches.iter().map(|batch| {
            let parts = batch.parts.iter().flat_map(|part| [&part.file, &part.sums]).collect::<Vec<_>>();
            (self.folder(BATCHES, &batch.folder), parts)
        });
        let rows =
            manifest.rows.iter().map(|rows| (self.folder(ROWS, &rows.folder), rows.files.iter().collect::<Vec<_>>()));
        let statistics = self.folder(STATISTICS, &manifest.statistics);
        let statistics = (statistics, manifest.statistics_files.iter().collect());
        for (folder, named) in parts.chain(rows).chain([statistics]) {
            for file in named {
                go_on()?;
                check(&folder, file)?;
                files += 1;
                bytes += file.bytes;
            }
        }
        Ok((files, bytes))
    }

    /// Removes the folders that no generation names.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn sweep(&self) -> Result<()> {
        let kept = Manifest::forget_older(&self.dir)?;
        let held = Manifest::held_after(&self.dir, kept.last().map_or(0, |newest| newest.generation))?;
        let mut named: BTreeSet<(&str, String)> = BTreeSet::new();
        for manifest in kept.into_iter().chain(held) {
            named.insert((STATISTICS, manifest.statistics));
            named.extend(manifest.batches.into_iter().map(|batch| (BATCHES, batch.folder)));
            named.extend(manifest.rows.into_iter().map(|rows| (ROWS, rows.folder)));
        }
        for kind in FOLDERS {
            let folder = self.dir.join(kind);
            for name in names(&folder)?.into_iter().filter(|name| !named.contains(&(kind, name.clone()))) {
                let path = folder.join(name);
                fs::remove_dir_all(&path).map_err(Error::io("remove", &path))?;
            }
        }
        Ok(())
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
/// As [`Manifest::newest`].
pub fn statistics_in(dir: &Path) -> Result<Option<PathBuf>> {
    Ok(Manifest::newest(dir)?.map(|manifest| dir.join(STATISTICS).join(manifest.statistics)))
}

/// Locks the folder; who holds it is waited for.
fn lock(dir: &Path) -> Result<File> {
    let path = dir.join(LOCK);
    let file = File::options().read(true).write(true).create(true).truncate(false).open(&path);
    let file = file.map_err(Error::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            tracing::warn!("another run is at work in the index {}; this one waits for it", dir.display());
            file.lock().map_err(Error::io("lock", &path))?;
            Ok(file)
        }
        // A file system without locks: every run counts as the only one.
        Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(error)) => Err(Error::io("lock", &path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::manifest::{Batch, FORMAT};

    fn night(generation: u64) -> Manifest {
        let batch = |n: u64| Batch {
            name: format!("n{n}"),
            folder: format!("b-{n}"),
            out: format!("out-{n}").into(),
            ..Batch::default()
        };
        Manifest {
            format: FORMAT,
            generation,
            statistics: "s".into(),
            batches: (1..=generation).map(batch).collect(),
            ..Manifest::default()
        }
    }

    fn add(index: &Index, generation: u64) {
        for (kind, name) in [(BATCHES, format!("b-{generation}")), (STATISTICS, "s".to_owned())] {
            if !index.folder(kind, &name).exists() {
                index.begin(kind, &name).unwrap();
                index.place(kind, &name).unwrap();
            }
        }
    }

    #[test]
    fn an_intent_whose_output_stands_comes_true_and_another_one_goes() {
        for state in [State::Published, State::Lost] {
            let folder = tempfile::tempdir().unwrap();
            let mut index = Index::open(folder.path(), |_, _| State::Lost).unwrap();
            add(&index, 1);
            night(1).intend(folder.path()).unwrap();
            index.publish(night(1)).unwrap();
            add(&index, 2);
            index.begin(BATCHES, "b-3").unwrap();
            night(2).intend(folder.path()).unwrap();
            drop(index);
            let index = Index::open(folder.path(), |out, generation| {
                assert_eq!((out, generation), (Path::new("out-2"), 2));
                state
            });
            let expected = if state == State::Published { 2 } else { 1 };
            assert_eq!(index.unwrap().manifest.unwrap().generation, expected);
            let mut left = names(&folder.path().join(BATCHES)).unwrap();
            left.sort();
            assert_eq!(left, (1..=expected).map(|n| format!("b-{n}")).collect::<Vec<_>>());
            assert!(names(folder.path()).unwrap().iter().all(|name| !name.starts_with("intent")));
        }
    }

    #[test]
    fn a_folder_of_other_things_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine.txt"), "x").unwrap();
        let refused = Index::open(folder.path(), |_, _| State::Lost).unwrap_err().to_string();
        assert!(refused.contains("mine.txt") && refused.contains("a new folder"), "{refused}");
    }
}

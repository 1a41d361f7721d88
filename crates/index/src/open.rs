//! An open index: a writer holds it alone and first clears up after one that died, a reader looks at it and changes nothing.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::folder::{FOLDERS, Named, STATISTICS, check, is_folder, names};
use super::generations::{self, Generations, KEPT};
use super::manifest::{Batch, Manifest};
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::{self, private, sync_folder};
use dupsift_core::spelling::opt;
use dupsift_files::io::{Locking, MadeFolders, is_at, locking};

const LOCK: &str = "lock";
const PARTIAL: &str = ".partial-";

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

/// The lock of a writer.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    _file: File,
    /// Whether the lock file was made for it, and folders above it.
    made: Option<MadeFolders>,
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
                "the index {} is complete, but files that it needs no more could not be removed: {error}; the next run tries again",
                self.dir.display()
            );
        }
        stop_at("swept");
        Ok(())
    }

    /// Finishes what a process that died had begun to publish, if its output stands, and removes all else that it left; returns the newest
    /// generation.
    fn recover(&self, published: impl Fn(&Batch) -> Result<State>) -> Result<Option<Manifest>> {
        let mut known = Generations::read(&self.dir)?;
        let number = known.number();
        if let Some(intended) = came_true(known.intended.clone(), number, published)? {
            let out = intended.batches.last().map(|batch| batch.out.display().to_string()).unwrap_or_default();
            tracing::info!("{out} was published, and is in the index now");
            generations::come_true(&self.dir, &intended)?;
            known.manifests.push(intended);
            known.intended = None;
        } else if let Some(batch) = known.intended.as_ref().and_then(|intended| added(intended, number)) {
            warn_of_lost(batch);
        }
        self.sweep_known(&mut known, None)?;
        self.remove_unfinished()?;
        self.warn_of_strangers(&known)?;
        Ok(known.manifests.pop())
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

    /// Removes what a process that died left, generations beyond the last ones, and the folders that only these name. Nothing is removed
    /// if a generation cannot be read, and no folder as long as another process reads the index.
    ///
    /// # Errors
    /// As [`Generations::read`]; [`Error::Io`].
    pub fn sweep(&self) -> Result<()> {
        self.sweep_but(None)?;
        self.remove_unfinished()
    }

    /// Removes files and folders that have no name yet.
    fn remove_unfinished(&self) -> Result<()> {
        generations::remove_unfinished(&self.dir)?;
        self.remove_unfinished_folders()
    }

    /// Removes generations beyond the last ones, intents that came to nothing and what is held back, if it is of this generation or
    /// follows another one than the newest; and the folders that only these name. What has no name yet may be this process's own.
    fn sweep_but(&self, held_goes: Option<u64>) -> Result<()> {
        self.sweep_known(&mut Generations::read(&self.dir)?, held_goes)
    }

    /// Does the same with what is known of the generations, and leaves there what stays.
    fn sweep_known(&self, known: &mut Generations, held_goes: Option<u64>) -> Result<()> {
        let next = known.number() + 1;
        let (held, given_up) = match known.held.take() {
            Some(held) if held.generation == next && held_goes != Some(next) => (Some(held), None),
            other => (None, other),
        };
        let split = known.manifests.len().saturating_sub(KEPT);
        // What was never published is read by nobody; an earlier generation may be.
        let alone = if split > 0 { no_reader(&self.dir) } else { None };
        let (old, kept) = known.manifests.split_at(if alone.is_some() { split } else { 0 });
        let needed: BTreeSet<(&str, &str)> = kept.iter().chain(&held).flat_map(Manifest::folders).collect();
        let gone: BTreeSet<(&str, &str)> =
            old.iter().chain(&known.intended).chain(&given_up).flat_map(Manifest::folders).collect();
        for (kind, name) in gone.difference(&needed) {
            remove_folder(&self.folder(kind, name))?;
        }
        let number = |manifest: &Manifest| manifest.generation;
        let (old, intents): (Vec<u64>, Vec<u64>) =
            (old.iter().map(number).collect(), known.intended.iter().map(number).collect());
        generations::remove(&self.dir, &old, &intents, given_up.is_some())?;
        known.manifests.drain(..old.len());
        (known.intended, known.held) = (None, held);
        Ok(())
    }

    /// Warns of folders that no generation names: nothing of this program leaves any, so they are not removed.
    fn warn_of_strangers(&self, known: &Generations) -> Result<()> {
        let named: BTreeSet<(&str, &str)> =
            known.manifests.iter().chain(&known.held).flat_map(Manifest::folders).collect();
        for kind in FOLDERS {
            for name in names(&self.dir.join(kind))?.iter().filter(|name| !named.contains(&(kind, &***name))) {
                let path = self.folder(kind, name);
                tracing::warn!("{} belongs to no generation of the index and is left as it is", path.display());
            }
        }
        Ok(())
    }

    /// Removes folders that have no name yet.
    fn remove_unfinished_folders(&self) -> Result<()> {
        for kind in FOLDERS {
            let folder = self.dir.join(kind);
            for name in names(&folder)?
                .into_iter()
                .filter(|name| name.strip_prefix(PARTIAL).is_some_and(|name| is_folder(kind, name)))
            {
                remove_folder(&folder.join(name))?;
            }
        }
        Ok(())
    }

    /// Removes every folder that none of these generations names: for an index whose other generations are given up.
    pub(super) fn keep_only(&self, kept: &[Manifest]) -> Result<()> {
        let needed: BTreeSet<(&str, &str)> = kept.iter().flat_map(Manifest::folders).collect();
        for kind in FOLDERS {
            let folder = self.dir.join(kind);
            for name in
                names(&folder)?.into_iter().filter(|name| is_folder(kind, name) && !needed.contains(&(kind, &**name)))
            {
                remove_folder(&folder.join(name))?;
            }
        }
        Ok(())
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        let Some(lock) = &self.lock else { return };
        // Nothing can be done about a failure here; the next writer clears up.
        let _ = self.remove_unfinished_folders();
        if lock.made.is_none() || names(&self.dir).map_or(true, |names| names.iter().any(|name| is_file_of_index(name)))
        {
            return;
        }
        FOLDERS.iter().for_each(|kind| _ = fs::remove_dir(self.dir.join(kind)));
        if FOLDERS.iter().all(|kind| !self.dir.join(kind).exists()) {
            let _ = fs::remove_file(&lock.path);
        }
    }
}

/// Whether it is a file by which a folder is an index.
fn is_file_of_index(name: &str) -> bool {
    generations::is_ours(name)
}

/// Returns what was intended if it follows the newest generation, adds a batch, and that one's output stands.
fn came_true(
    intended: Option<Manifest>,
    newest: u64,
    published: impl Fn(&Batch) -> Result<State>,
) -> Result<Option<Manifest>> {
    let Some(intended) = intended else { return Ok(None) };
    let Some(batch) = added(&intended, newest) else { return Ok(None) };
    Ok((published(batch)? == State::Published).then_some(intended))
}

/// Returns the batch that was intended to be added to the newest generation. `None` for another change of the index, which has no output
/// by which it could be known to be done.
fn added(intended: &Manifest, newest: u64) -> Option<&Batch> {
    let follows = intended.generation == newest + 1;
    intended.batches.last().filter(|batch| follows && batch.generation == intended.generation)
}

/// Warns that a batch is given up that a process was about to publish.
pub(super) fn warn_of_lost(batch: &Batch) {
    tracing::warn!(
        "a run that added the batch {} ended before its result {} was published; what it had written to the index is removed: run it again",
        batch.name,
        batch.out.display()
    );
}

/// Checks that a folder holds nothing but an index.
fn check_ours(dir: &Path) -> Result<()> {
    let is_ours = |name: &String| name == LOCK || FOLDERS.contains(&name.as_str()) || generations::is_ours(name);
    match names(dir)?.into_iter().find(|name| !is_ours(name)) {
        None => Ok(()),
        Some(other) => Err(Error::wrong(
            opt("index"),
            format_args!(
                "{} holds {other:?}, which is no part of an index; expected an index, or a new folder",
                dir.display()
            ),
        )),
    }
}

fn remove_folder(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Checks that an index may be written: not everybody may write in it, and its folders are folders, not links to others.
///
/// # Errors
/// [`Error::Usage`] if it may not.
pub fn check_rights(dir: &Path) -> Result<()> {
    if !dir.is_dir() {
        return Ok(());
    }
    let wrong = |why: String| Err(Error::wrong_value(opt("index"), dir.display(), why));
    let open = |folder: &Path| safe_fs::open_to_all(folder).map_err(Error::io("look at", folder));
    if let Some(why) = open(dir)? {
        let inside = opt("index").with(dir.join("index").display());
        return wrong(format!(
            "{why}; expected a folder that is not open to all: chmod o-w {}, or pass a new folder inside it, such as {inside}",
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
                        "its folder {name}: {why}; expected one that is not open to all: chmod o-w {}",
                        folder.display()
                    ));
                }
            }
            _ => {}
        }
    }
    Ok(())
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

/// Lets no writer remove a file as long as the value lives; `None` if the file system has no such locks, where only the number of
/// generations that are kept protects a reader. For that the folder is opened, and nothing is written.
fn hold_files(dir: &Path) -> Option<File> {
    let folder = File::open(dir).ok()?;
    folder.lock_shared().is_ok().then_some(folder)
}

/// Lets no reader begin as long as the value lives; `None` if there is one.
pub(super) fn no_reader(dir: &Path) -> Option<Option<File>> {
    let Ok(folder) = File::open(dir) else { return Some(None) };
    match folder.try_lock() {
        Ok(()) => Some(Some(folder)),
        Err(TryLockError::WouldBlock) => None,
        // A file system without locks.
        Err(TryLockError::Error(_)) => Some(None),
    }
}

impl Lock {
    /// Locks the folder, which is made if it is not there; another process that holds it is waited for.
    fn take(dir: &Path) -> Result<Lock> {
        let path = dir.join(LOCK);
        loop {
            let above = MadeFolders::create(dir).map_err(Error::io("create the folder", dir))?;
            let is_new = path.symlink_metadata().is_err();
            let file = safe_fs::open_or_create(&path).map_err(Error::io("open", &path))?;
            let asked = locking(file.try_lock()).map_err(Error::io("lock", &path))?;
            // On a file system without locks every run counts as the only one.
            if asked == Locking::Held {
                tracing::warn!("another run is at work in the index {}; this one waits for it", dir.display());
                file.lock().map_err(Error::io("lock", &path))?;
            }
            // Who made an index in vain removes the file.
            if is_at(&file, &path) {
                return Ok(Lock { path, _file: file, made: is_new.then_some(above) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::BATCHES;
    use crate::manifest::FORMAT;

    fn night(generation: u64) -> Manifest {
        let batch = |n: u64| Batch {
            name: format!("n{n}"),
            folder: format!("b-{n}"),
            out: format!("out-{n}").into(),
            generation: n,
            ..Batch::default()
        };
        Manifest {
            format: FORMAT,
            generation,
            statistics: "s-1".into(),
            batches: (1..=generation).map(batch).collect(),
            ..Manifest::default()
        }
    }

    fn add(index: &Index, generation: u64) {
        for (kind, name) in [(BATCHES, format!("b-{generation}")), (STATISTICS, "s-1".to_owned())] {
            if !index.folder(kind, &name).exists() {
                index.begin(kind, &name).unwrap();
                index.place(kind, &name).unwrap();
            }
        }
    }

    fn nothing(_: &Batch) -> Result<State> {
        Ok(State::Lost)
    }

    /// Publishes generations from this one to that one.
    fn made(dir: &Path, generations: std::ops::RangeInclusive<u64>) -> Index {
        let mut index = Index::open(dir, nothing).unwrap();
        for generation in generations {
            index.intend(&night(generation)).unwrap();
            add(&index, generation);
            index.publish(night(generation)).unwrap();
        }
        index
    }

    fn batches(dir: &Path) -> Vec<String> {
        let mut left = names(&dir.join(BATCHES)).unwrap();
        left.sort();
        left
    }

    #[test]
    fn an_intent_whose_output_stands_comes_true_and_another_one_goes() {
        for state in [State::Published, State::Lost] {
            let folder = tempfile::tempdir().unwrap();
            let index = made(folder.path(), 1..=1);
            index.begin(BATCHES, "b-3").unwrap();
            index.intend(&night(2)).unwrap();
            add(&index, 2);
            drop(index);
            let expected = if state == State::Published { 2 } else { 1 };
            let seen = Index::look(folder.path(), |_| Ok(state)).unwrap().unwrap();
            assert_eq!(seen.manifest.as_ref().unwrap().generation, expected);
            drop(seen);
            let index = Index::open(folder.path(), |batch| {
                assert_eq!((&*batch.out, batch.generation), (Path::new("out-2"), 2));
                Ok(state)
            });
            assert_eq!(index.unwrap().manifest.as_ref().unwrap().generation, expected);
            assert_eq!(batches(folder.path()), (1..=expected).map(|n| format!("b-{n}")).collect::<Vec<_>>());
            assert!(names(folder.path()).unwrap().iter().all(|name| !name.starts_with("intent")));
        }
        // It cannot be told: nothing is removed.
        let folder = tempfile::tempdir().unwrap();
        let index = made(folder.path(), 1..=1);
        index.intend(&night(2)).unwrap();
        add(&index, 2);
        drop(index);
        assert!(Index::open(folder.path(), |_| Err(Error::usage("who knows"))).is_err());
        assert_eq!(batches(folder.path()), ["b-1", "b-2"]);
    }

    #[test]
    fn nothing_is_removed_while_a_generation_cannot_be_read() {
        for damaged in [5, 3, 0] {
            let folder = tempfile::tempdir().unwrap();
            drop(made(folder.path(), 1..=5));
            let file = if damaged > 0 { format!("manifest-{damaged:08}.json") } else { "held.json".to_owned() };
            fs::write(folder.path().join(&file), "{").unwrap();
            let refused = Index::open(folder.path(), nothing).unwrap_err().to_string();
            assert!(refused.contains(&file) && refused.contains("dupsift index restore"), "{refused}");
            assert_eq!(batches(folder.path()).len(), 5);
            let looked = Index::look(folder.path(), nothing);
            assert_eq!(looked.is_ok(), damaged != 5, "{file}");
            assert!(Index::look_at_all(folder.path(), nothing).is_err(), "{file}");
        }
    }

    #[test]
    fn files_stay_as_long_as_a_reader_has_them() {
        let folder = tempfile::tempdir().unwrap();
        // Batches of later generations do not have those of earlier ones.
        let lone = |generation: u64| Manifest {
            batches: night(generation).batches.split_off(generation as usize - 1),
            ..night(generation)
        };
        let publish = |index: &mut Index, generation: u64| {
            index.intend(&lone(generation)).unwrap();
            add(index, generation);
            index.publish(lone(generation)).unwrap();
        };
        let mut index = Index::open(folder.path(), nothing).unwrap();
        publish(&mut index, 1);
        let reader = Index::look(folder.path(), nothing).unwrap().unwrap();
        (2..=20).for_each(|generation| publish(&mut index, generation));
        assert!(reader.folder(BATCHES, "b-1").is_dir() && batches(folder.path()).len() == 20);
        drop(reader);
        publish(&mut index, 21);
        assert_eq!(batches(folder.path()).len(), KEPT);
    }

    #[test]
    fn a_generation_that_has_its_name_counts_whatever_fails_then() {
        let folder = tempfile::tempdir().unwrap();
        let mut index = made(folder.path(), 1..=1);
        index.intend(&night(2)).unwrap();
        add(&index, 2);
        // The number cannot be recorded, and an earlier generation cannot be read.
        fs::remove_file(folder.path().join("generation.json")).unwrap();
        fs::create_dir_all(folder.path().join("generation.json/x")).unwrap();
        fs::write(folder.path().join("manifest-00000001.json"), "{").unwrap();
        index.publish(night(2)).unwrap();
        assert_eq!(index.manifest.as_ref().unwrap().generation, 2);
        assert_eq!(Generations::newest(folder.path()).unwrap().0, Some(night(2)));
    }

    #[test]
    fn a_folder_of_an_index_that_everybody_may_write_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        drop(made(folder.path(), 1..=1));
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let batches = folder.path().join(BATCHES);
        set(&batches, 0o777);
        let refused = Index::open(folder.path(), nothing).unwrap_err().to_string();
        assert!(refused.contains("its folder batches") && refused.contains("chmod o-w"), "{refused}");
        set(&batches, 0o755);
        set(folder.path(), 0o777);
        let refused = Index::open(folder.path(), nothing).unwrap_err().to_string();
        assert!(refused.contains("a new folder inside it, such as") && refused.contains("/index"), "{refused}");
        set(folder.path(), 0o755);
        Index::open(folder.path(), nothing).unwrap();
    }

    #[test]
    fn a_new_index_to_which_nothing_was_added_leaves_nothing() {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path().join("a/b/index");
        let index = Index::open(&dir, nothing).unwrap();
        index.begin(BATCHES, "b-1").unwrap();
        index.begin(STATISTICS, "s-1").unwrap();
        drop(index);
        assert!(!place.path().join("a").exists());
        fs::create_dir_all(&dir).unwrap();
        drop(Index::open(&dir, nothing).unwrap());
        assert!(names(&dir).unwrap().is_empty());
        drop(made(&dir, 1..=1));
        assert!(dir.join(LOCK).exists() && batches(&dir) == ["b-1"]);
        // A look makes no folder, and locks nothing.
        assert!(Index::look(&place.path().join("none"), nothing).unwrap().is_none());
        assert!(!place.path().join("none").exists());
    }

    #[test]
    fn folders_of_no_generation_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        drop(made(folder.path(), 1..=2));
        for name in names(folder.path()).unwrap().iter().filter(|name| name.ends_with(".json")) {
            fs::remove_file(folder.path().join(name)).unwrap();
        }
        drop(Index::open(folder.path(), nothing).unwrap());
        assert_eq!(batches(folder.path()), ["b-1", "b-2"]);
    }

    #[test]
    fn a_folder_of_other_things_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine.txt"), "x").unwrap();
        let refused = Index::open(folder.path(), nothing).unwrap_err().to_string();
        assert!(refused.contains("mine.txt") && refused.contains("a new folder"), "{refused}");
    }
}

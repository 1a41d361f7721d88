//! Checkpoints: what a run saves on its way, so that the same command resumes after it was killed.
//!
//! ```text
//! ledger.json       which checkpoints there are, each by its key: plain values, and files with their checksums
//! KEY-N.product     bytes of a checkpoint        KEY-N.run   rows of a checkpoint
//! ```
//!
//! The key of a checkpoint is a hash of all that it depends on ([`Key`]); one with another key is ignored. Checkpoints are saved when enough
//! time has passed since the last one (`--checkpoint`), so a short run writes nothing. What is restored is compared with its checksums first;
//! what is damaged is named, and recomputed.

mod complete;
mod ledger;
mod partial;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytesize::ByteSize;

use crate::engine::threads::Engine;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash128;
use dupsift_files::io::{InputFile, LEDGER, Ledger, LedgerInput, LedgerInputs, SetAside, Source, WorkFolder};

pub use complete::{CheckpointReader, CheckpointWriter};
use ledger::Entry;
pub use partial::{Merge, PartialReader, PartialWriter, Recorder};

/// What can be saved and restored.
pub trait Checkpoint: Sized {
    /// Saves it. The value stays the same, also if that fails. Its rows may be read from the files from then on, so they come last.
    ///
    /// # Errors
    /// A full disk.
    fn save(&mut self, engine: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()>;

    /// Restores what was saved of a corpus of so many documents.
    ///
    /// # Errors
    /// [`Error::Damaged`] if the files are not what was saved.
    fn restore(engine: &Engine<'_>, documents: u64, from: &mut CheckpointReader<'_>) -> Result<Self>;
}

/// The key of one checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// What it is, for people: `rows cosine`.
    pub what: String,
    /// What it depends on.
    pub hash: String,
}

impl Key {
    /// Returns the key of `what`, with a hash over the lines that say what it depends on.
    pub fn new(what: String, lines: &[&str]) -> Key {
        let text = format!("{what}\n{}", lines.join("\n"));
        Key { hash: format!("{:032x}", hash128(text.as_bytes())), what }
    }
}

/// The checkpoints of one output.
pub struct Checkpoints<'w> {
    folder: &'w WorkFolder,
    /// `None`: nothing is ever saved.
    every: Option<Duration>,
    /// CPU seconds that the checkpoints of earlier processes took.
    before: f64,
    state: Mutex<State>,
}

struct State {
    ledger: Ledger,
    last: Instant,
    resumed: Vec<String>,
}

/// What the next run need not do again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kept {
    /// CPU seconds of all that is kept.
    pub cpu_seconds: f64,
    /// Its bytes in the work folder.
    pub bytes: u64,
}

impl fmt::Display for Kept {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, size) = (self.cpu_seconds, ByteSize(self.bytes));
        write!(to, "run the same command again to resume ({seconds:.1} CPU s of work saved, {size})")
    }
}

/// What an earlier process has saved, for a run that changes nothing.
#[derive(Default)]
pub struct Left(Ledger);

impl Left {
    /// In this work folder, by the same build of the program. Nothing is changed.
    pub fn of(folder: &Path) -> Left {
        let ledger = Ledger::read(folder).ok().flatten();
        Left(ledger.filter(|ledger| !ledger.products.is_empty() && ledger.build == ledger::build()).unwrap_or_default())
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.products.is_empty()
    }

    /// How many of these input files have another stamp than when it was made of them, so that their contents are to be compared.
    pub fn differing(&self, source: &Source) -> usize {
        let known = |file: &&InputFile| !self.0.inputs.files.iter().any(|input| is_same(input, file));
        source.files.iter().filter(known).count()
    }

    /// The input files that it was made without, and that are still what they were.
    pub fn known_bad(&self) -> BTreeMap<PathBuf, String> {
        ledger::known_bad(&self.0)
    }

    /// Those of these keys that are there, with the work that they save; none of them: none.
    pub fn of_keys<'k>(&self, keys: impl Iterator<Item = &'k Key>) -> Option<(Vec<&'k str>, Kept)> {
        let entry = |key: &'k Key| Some((key, Entry::read(self.0.products.get(&key.hash)?)?));
        let there: Vec<(&Key, Entry)> = keys.filter_map(entry).collect();
        let kept = Kept {
            cpu_seconds: there.iter().map(|(_, entry)| entry.data.cpu_seconds).fold(0.0, f64::max),
            bytes: there.iter().map(|(_, entry)| entry.bytes()).fold(0, u64::saturating_add),
        };
        let names: Vec<&str> = there.iter().map(|(key, _)| key.what.as_str()).collect();
        (!names.is_empty()).then_some((names, kept))
    }
}

/// What the process has saved, for the message when it is stopped.
static KEPT: Mutex<Option<Kept>> = Mutex::new(None);

/// Forgets what was saved: the result is complete.
pub fn nothing_is_kept() {
    note(None);
}

/// Returns what the next run need not do again; `None` if nothing was saved.
pub fn goes_on() -> Option<Kept> {
    *KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same as numbers: CPU seconds, and bytes in the work folder.
pub fn kept() -> Option<(f64, u64)> {
    goes_on().map(|kept| (kept.cpu_seconds, kept.bytes))
}

impl<'w> Checkpoints<'w> {
    /// Opens those in a work folder that the same build of the program saved; the others are forgotten.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn open(folder: &'w WorkFolder, every: Option<Duration>, resumes: bool) -> Result<Checkpoints<'w>> {
        let ledger = if resumes { ledger::read(folder.path())? } else { Ledger::default() };
        let (before, bytes) = ledger::sums(&ledger);
        if !ledger.products.is_empty() {
            note(Some((before, bytes)));
        }
        let state = State { ledger, last: Instant::now(), resumed: Vec::new() };
        Ok(Checkpoints { folder, every, before, state: Mutex::new(state) })
    }

    fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// Removes what belongs to no checkpoint: what a dead run had begun, and what is recomputed.
    ///
    /// # Errors
    /// A folder that cannot be cleared.
    fn clear_away(&self) -> Result<()> {
        let state = self.state();
        let has_any = !state.ledger.products.is_empty() || !state.ledger.set_aside.is_empty();
        self.folder.keep_only(|name| has_any && (name == LEDGER || state.ledger.lists(name)))
    }

    /// Begins the work again without some input files: what was restored is of no use, and neither is anything else of that attempt.
    ///
    /// # Errors
    /// A folder that cannot be cleared.
    pub fn begin(&self) -> Result<()> {
        self.state().resumed.clear();
        self.clear_away()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.state().ledger.products.is_empty()
    }

    /// Notes what the checkpoints that are saved from now on are made of.
    pub fn made_of(&self, inputs: LedgerInputs) {
        let mut state = self.state();
        let used = state.ledger.inputs.used.max(inputs.used);
        state.ledger.inputs = LedgerInputs { used, ..inputs };
    }

    /// Returns what the checkpoints were made of.
    pub fn inputs(&self) -> LedgerInputs {
        self.state().ledger.inputs.clone()
    }

    /// Forgets all checkpoints: an input file that they were made of has changed.
    ///
    /// # Errors
    /// A folder that cannot be cleared.
    pub fn discard(&self) -> Result<()> {
        let mut state = self.state();
        (state.ledger.products, state.ledger.inputs) = (BTreeMap::new(), LedgerInputs::default());
        if !state.ledger.set_aside.is_empty() {
            state.ledger.write(self.dir())?;
        }
        drop(state);
        note(None);
        self.clear_away()
    }

    /// Returns whether there is a checkpoint of that key.
    pub fn has(&self, key: &Key) -> bool {
        self.state().ledger.products.contains_key(&key.hash)
    }

    /// Restores the checkpoint of that key; `None` if there is none, or it is damaged.
    ///
    /// # Errors
    /// A disk that cannot be read.
    pub fn restore<T: Checkpoint>(&self, engine: &Engine<'_>, documents: u64, key: &Key) -> Result<Option<T>> {
        self.restore_with(key, |found| T::restore(engine, documents, found))
    }

    /// Restores by a function.
    ///
    /// # Errors
    /// As [`Checkpoints::restore`].
    pub fn restore_with<T>(
        &self,
        key: &Key,
        restore: impl FnOnce(&mut CheckpointReader<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(entry) = self.state().ledger.products.get(&key.hash).and_then(Entry::read) else { return Ok(None) };
        match restore(&mut CheckpointReader::new(self.dir(), &entry)) {
            Ok(value) => {
                let mut state = self.state();
                // The parts of one pass are one thing in messages.
                if state.resumed.last() != Some(&key.what) {
                    state.resumed.push(key.what.clone());
                }
                Ok(Some(value))
            }
            Err(Error::Damaged { path, why }) => {
                tracing::warn!("{}: {why}; {} is recomputed", path.display(), key.what);
                self.forget(key)?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns whether what comes of the step at hand is to be saved: enough time has passed.
    pub fn due(&self) -> bool {
        self.every.is_some_and(|every| self.state().last.elapsed() >= every)
    }

    /// Saves a checkpoint; if the disk has no room for it, the run continues without it.
    ///
    /// # Errors
    /// A disk that cannot be written.
    pub fn save<T: Checkpoint>(&self, engine: &Engine<'_>, key: &Key, value: &mut T) -> Result<()> {
        let running = engine.clock.stage(format!("save {}", key.what));
        let bytes = self.save_with(engine, key, |to| value.save(engine, to))?;
        running.end(0, 0, bytes.unwrap_or(0));
        Ok(())
    }

    /// Saves by a function, as a part of the stage at hand; returns how many bytes were saved, if there was room for them.
    ///
    /// # Errors
    /// As [`Checkpoints::save`].
    pub fn save_with(
        &self,
        engine: &Engine<'_>,
        key: &Key,
        save: impl FnOnce(&mut CheckpointWriter<'_>) -> Result<()>,
    ) -> Result<Option<u64>> {
        Ledger::set_aside(self.dir());
        let mut writer = CheckpointWriter::new(self.dir(), &key.hash);
        if let Err(error) = save(&mut writer) {
            writer.drop_files();
            if error.full().is_none() {
                return Err(error);
            }
            tracing::warn!("{error}; {} is not saved, and the run continues without it", key.what);
            // Not tried again for each checkpoint that follows.
            self.state().last = Instant::now();
            return Ok(None);
        }
        let (_, cpu_seconds, _) = engine.clock.totals();
        let entry = writer.entry(&key.what, self.before + cpu_seconds);
        let bytes = entry.bytes();
        let mut state = self.state();
        if state.ledger.build.is_empty() {
            state.ledger.build = ledger::build();
        }
        state.ledger.products.insert(key.hash.clone(), entry.write()?);
        state.ledger.write(self.dir())?;
        self.folder.keep();
        state.last = Instant::now();
        note(Some(ledger::sums(&state.ledger)));
        Ok(Some(bytes))
    }

    /// Removes a checkpoint that no later step needs.
    ///
    /// # Errors
    /// A ledger that cannot be written.
    pub fn forget(&self, key: &Key) -> Result<()> {
        let mut state = self.state();
        let Some(entry) = state.ledger.products.remove(&key.hash) else { return Ok(()) };
        state.ledger.write(self.dir())?;
        ledger::remove(self.dir(), &Entry::read(&entry).unwrap_or_default().files);
        Ok(())
    }

    /// Notes input files that are set aside, with the reasons, for the runs that go on from here: each as it was when it was opened,
    /// for what stands under its name by now may be another one, and whole.
    ///
    /// # Errors
    /// A ledger that cannot be written.
    pub fn set_aside<'f>(&self, files: impl IntoIterator<Item = (&'f InputFile, &'f str)>) -> Result<()> {
        let mut state = self.state();
        let one = |(file, why): (&InputFile, &str)| SetAside {
            path: file.path.clone(),
            why: why.to_owned(),
            seen: file.seen().to_string(),
        };
        state.ledger.set_aside.extend(files.into_iter().map(one));
        // Where nothing was put down, there is nothing to go on from.
        if state.ledger.products.is_empty() { Ok(()) } else { state.ledger.write(self.dir()) }
    }

    /// The input files that earlier runs have set aside, and that are still what they were.
    pub fn known_bad(&self) -> BTreeMap<PathBuf, String> {
        ledger::known_bad(&self.state().ledger)
    }

    /// Returns what was restored, in order.
    pub fn resumed(&self) -> Vec<String> {
        self.state().resumed.clone()
    }
}

/// Whether an input file is the one that products were made of, as far as the file system tells.
pub fn is_same(known: &LedgerInput, file: &InputFile) -> bool {
    known.label == file.label && known.stamp == file.seen().to_string()
}

fn note(kept: Option<(f64, u64)>) {
    let kept = kept.map(|(cpu_seconds, bytes)| Kept { cpu_seconds, bytes });
    *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = kept;
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::engine::progress::Progress;
    use crate::engine::resources::Resources;
    use dupsift_files::io::is_work_file;
    use dupsift_spill::shuffle::product::{PRODUCT, ProductWriter};
    use dupsift_spill::shuffle::run::RUN;

    /// A product of two files, of which the second finds no room on the disk while `full`.
    struct TwoFiles {
        full: bool,
    }

    impl Checkpoint for TwoFiles {
        fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
            to.bytes(b"first")?;
            if self.full {
                return Err(Error::io("write", Path::new("second"))(io::Error::from_raw_os_error(libc::ENOSPC)));
            }
            to.bytes(b"second")
        }

        fn restore(_: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<TwoFiles> {
            assert_eq!((&*from.bytes()?, &*from.bytes()?), (&b"first"[..], &b"second"[..]));
            Ok(TwoFiles { full: false })
        }
    }

    #[test]
    fn where_there_is_no_room_the_run_goes_on_without() {
        let place = tempfile::tempdir().unwrap();
        let folder = WorkFolder::take(&place.path().join("out"), None).unwrap();
        let products = Checkpoints::open(&folder, Some(Duration::ZERO), true).unwrap();
        let (resources, progress, cancel) =
            (Resources::new(64 << 20, 1).unwrap(), Progress::hidden(), AtomicBool::new(false));
        let engine = resources.engine(false, false, folder.path(), &progress, &cancel);
        let (one, other) = (Key::new("one".into(), &[]), Key::new("other".into(), &[]));
        products.save(&engine, &one, &mut TwoFiles { full: true }).unwrap();
        assert!(products.is_empty() && folder.holds().0 <= 1, "{:?}", folder.holds());
        products.save(&engine, &other, &mut TwoFiles { full: false }).unwrap();
        assert!(products.has(&other) && !products.has(&one));
        products.restore::<TwoFiles>(&engine, 0, &other).unwrap().unwrap();
        assert_eq!(products.resumed(), ["other"]);
        // Another attempt has taken nothing up so far, and finds what was put down.
        products.begin().unwrap();
        assert!(products.resumed().is_empty() && products.has(&other));
    }

    /// The work folder removes nothing but what it knows.
    #[test]
    fn what_is_put_down_has_a_name_that_the_work_folder_knows() {
        let folder = tempfile::tempdir().unwrap();
        let named = || std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        for ending in [PRODUCT, RUN] {
            let writer = ProductWriter::create(folder.path(), &format!("a b{ending}")).unwrap();
            assert!(named().all(|name| is_work_file(&name.to_string_lossy())) && named().count() > 0);
            writer.put_down().unwrap();
            assert!(named().all(|name| is_work_file(&name.to_string_lossy())));
        }
    }
}

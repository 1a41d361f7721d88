//! Saves checkpoints, that is, the intermediate state of a run. If the run is killed, the same command resumes from this state.
//!
//! ```text
//! ledger.json       the checkpoints by key: plain values, and files with their checksums
//! KEY-N.saved       bytes of a checkpoint        KEY-N.run   rows of a checkpoint
//! ```
//!
//! The key of a checkpoint is a hash of everything that affects the checkpoint ([`Key`]). Checkpoints with a different key are ignored. A
//! checkpoint is saved only if enough time has passed since the last checkpoint (`--checkpoint`), so a short run saves no checkpoints.
//! Before a checkpoint is restored, its checksums are verified. A damaged checkpoint is reported and recomputed.

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
use dupsift_input::{InputFile, Source};
use dupsift_publish::{LEDGER, Ledger, LedgerInput, LedgerInputs, LedgerMatch, SkippedFile, WorkFolder};

pub(crate) use complete::{CheckpointReader, CheckpointWriter};
use ledger::Entry;
pub use partial::Merge;
pub(crate) use partial::{PartialReader, PartialWriter, Recorder};

/// Describes a value that can be saved and restored.
pub trait Checkpoint: Sized {
    /// Saves the value, which remains unchanged even if saving fails. Rows must be saved last, because they may be read from the saved file
    /// afterwards.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    fn save(&mut self, engine: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()>;

    /// Restores the value that was saved for a corpus with this many documents.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if the files have changed since they were saved.
    fn restore(engine: &Engine<'_>, documents: u64, from: &mut CheckpointReader<'_>) -> Result<Self>;
}

/// Identifies one checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The human-readable name of the checkpoint, such as `rows cosine`.
    pub what: String,
    /// A hash of everything that affects the checkpoint.
    pub hash: String,
}

impl Key {
    /// Returns the key of the checkpoint `what`. The key contains a hash of `lines`, which describe everything that affects the checkpoint.
    pub fn new(what: String, lines: &[&str]) -> Key {
        let text = format!("{what}\n{}", lines.join("\n"));
        Key { hash: format!("{:032x}", hash128(text.as_bytes())), what }
    }
}

/// Holds the checkpoints of one output.
pub struct Checkpoints<'w> {
    folder: &'w WorkFolder,
    /// The minimum time between checkpoints; `None` if checkpoints are disabled.
    every: Option<Duration>,
    /// The CPU seconds that earlier processes spent on the saved work.
    before: f64,
    state: Mutex<State>,
}

struct State {
    ledger: Ledger,
    last: Instant,
    resumed: Vec<String>,
    /// The index against which this run is matched.
    matched: Option<LedgerMatch>,
}

/// Describes the saved work, which the next run need not repeat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kept {
    /// The CPU seconds spent on this work.
    pub cpu_seconds: f64,
    /// The size of the saved work in the temporary folder, in bytes.
    pub bytes: u64,
}

impl fmt::Display for Kept {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, size) = (self.cpu_seconds, ByteSize(self.bytes));
        write!(to, "run the same command again to resume ({seconds:.1} CPU s of work saved, {size})")
    }
}

/// Holds the checkpoints of an earlier process for read-only access.
#[derive(Default)]
pub struct Left(Ledger);

impl Left {
    /// Reads the checkpoints that the same build of the program saved in this temporary folder. Does not change any files.
    pub fn of(folder: &Path) -> Left {
        let ledger = Ledger::read(folder).ok().flatten();
        Left(
            ledger
                .filter(|ledger| !ledger.checkpoints.is_empty() && ledger.build == ledger::build())
                .unwrap_or_default(),
        )
    }

    /// Returns whether nothing was saved.
    pub fn is_empty(&self) -> bool {
        self.0.checkpoints.is_empty()
    }

    /// Returns the number of input files whose stamp differs from the recorded stamp. The contents of these files must be compared.
    pub fn differing(&self, source: &Source) -> usize {
        let known = |file: &&InputFile| !self.0.inputs.files.iter().any(|input| is_same(input, file));
        source.files.iter().filter(known).count()
    }

    /// Returns the input files that were skipped and that have not changed.
    pub(crate) fn known_bad(&self) -> BTreeMap<PathBuf, String> {
        ledger::known_bad(&self.0)
    }

    /// Returns the names of the existing checkpoints with these keys, and a description of the work saved in them; `None` if there are no
    /// such checkpoints.
    pub(crate) fn of_keys<'k>(&self, keys: impl Iterator<Item = &'k Key>) -> Option<(Vec<&'k str>, Kept)> {
        let entry = |key: &'k Key| Some((key, Entry::read(self.0.checkpoints.get(&key.hash)?)?));
        let there: Vec<(&Key, Entry)> = keys.filter_map(entry).collect();
        let kept = Kept {
            cpu_seconds: there.iter().map(|(_, entry)| entry.data.cpu_seconds).fold(0.0, f64::max),
            bytes: there.iter().map(|(_, entry)| entry.bytes()).fold(0, u64::saturating_add),
        };
        let names: Vec<&str> = there.iter().map(|(key, _)| key.what.as_str()).collect();
        (!names.is_empty()).then_some((names, kept))
    }
}

/// The saved work, for the message that is printed when the process is interrupted.
static KEPT: Mutex<Option<Kept>> = Mutex::new(None);

/// Forgets the saved work, because the result is complete.
pub(crate) fn nothing_is_kept() {
    note(None);
}

/// Returns the saved work, which the next run need not repeat, or `None` if nothing was saved.
pub fn goes_on() -> Option<Kept> {
    *KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Works like [`goes_on`], but returns numbers: CPU seconds, and bytes in the temporary folder.
pub fn kept() -> Option<(f64, u64)> {
    goes_on().map(|kept| (kept.cpu_seconds, kept.bytes))
}

impl<'w> Checkpoints<'w> {
    /// Opens the checkpoints that the same build of the program saved in a temporary folder. Checkpoints of different builds are ignored.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read.
    pub fn open(folder: &'w WorkFolder, every: Option<Duration>, resumes: bool) -> Result<Checkpoints<'w>> {
        let ledger = if resumes { ledger::read(folder.path())? } else { Ledger::default() };
        let (before, bytes) = ledger::sums(&ledger);
        if !ledger.checkpoints.is_empty() {
            note(Some((before, bytes)));
        }
        let state = State { ledger, last: Instant::now(), resumed: Vec::new(), matched: None };
        Ok(Checkpoints { folder, every, before, state: Mutex::new(state) })
    }

    fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// Removes files that belong to no checkpoint: files that a killed run left unfinished, and files of checkpoints that must be
    /// recomputed.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be cleared.
    fn clear_away(&self) -> Result<()> {
        let state = self.state();
        let has_any = !state.ledger.checkpoints.is_empty() || !state.ledger.skipped.is_empty();
        self.folder.keep_only(|name| has_any && (name == LEDGER || state.ledger.lists(name)))
    }

    /// Begins an attempt: resets the record of restored checkpoints, and removes files that belong to no checkpoint.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be cleared.
    pub fn begin(&self) -> Result<()> {
        self.restored_nothing();
        self.clear_away()
    }

    /// Records that the state restored so far is not used.
    pub(crate) fn restored_nothing(&self) {
        self.state().resumed.clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether there are no checkpoints.
    pub fn is_empty(&self) -> bool {
        self.state().ledger.checkpoints.is_empty()
    }

    /// Records the inputs of all checkpoints that are saved after this call.
    pub fn made_of(&self, inputs: LedgerInputs) {
        let mut state = self.state();
        let used = state.ledger.inputs.used.max(inputs.used);
        state.ledger.inputs = LedgerInputs { used, ..inputs };
    }

    /// Returns the inputs on which the checkpoints depend.
    pub fn inputs(&self) -> LedgerInputs {
        self.state().ledger.inputs.clone()
    }

    /// Begins a run that is matched against an index with this content. If checkpoints come from runs that were matched against different
    /// content, discards them and logs a message. Returns how many document numbers to reserve ahead of the corpus: `base`, unless a killed
    /// run reserved a different number.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be cleared.
    pub fn match_against(&self, content: &str, base: u64) -> Result<u64> {
        let known = self.state().ledger.matched.clone();
        let base = match known {
            Some(matched) if matched.content == content => matched.base,
            Some(_) if !self.is_empty() => {
                tracing::warn!(
                    "the index or reference has changed; the saved work of an earlier run is discarded, and the run starts from the beginning"
                );
                self.discard()?;
                base
            }
            _ => base,
        };
        self.reserve(content, base);
        Ok(base)
    }

    /// Starts over with a different number of reserved document numbers. No existing checkpoint matches the new number.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be cleared.
    pub fn match_with(&self, content: &str, base: u64) -> Result<()> {
        self.discard()?;
        self.restored_nothing();
        self.reserve(content, base);
        Ok(())
    }

    fn reserve(&self, content: &str, base: u64) {
        self.state().matched = Some(LedgerMatch { content: content.to_owned(), base });
    }

    /// Returns a line that identifies the index and the numbering on which checkpoints depend, or `None` if the run uses no index.
    pub fn matched(&self) -> Option<String> {
        self.state().matched.as_ref().map(|LedgerMatch { content, base }| format!("matched {content} {base}"))
    }

    /// Discards all checkpoints, which is necessary if one of their input files has changed.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be cleared.
    pub(crate) fn discard(&self) -> Result<()> {
        let mut state = self.state();
        (state.ledger.checkpoints, state.ledger.inputs) = (BTreeMap::new(), LedgerInputs::default());
        if !state.ledger.skipped.is_empty() {
            state.ledger.write(self.dir())?;
        }
        drop(state);
        note(None);
        self.clear_away()
    }

    /// Returns whether a checkpoint with this key exists.
    pub fn has(&self, key: &Key) -> bool {
        self.state().ledger.checkpoints.contains_key(&key.hash)
    }

    /// Restores the checkpoint with this key; returns `None` if the checkpoint is missing or damaged.
    ///
    /// # Errors
    /// Returns an error if the disk cannot be read.
    pub fn restore<T: Checkpoint>(&self, engine: &Engine<'_>, documents: u64, key: &Key) -> Result<Option<T>> {
        self.restore_with(key, |found| T::restore(engine, documents, found))
    }

    /// Works like [`Checkpoints::restore`], but calls `restore` to read the parts of the checkpoint.
    ///
    /// # Errors
    /// See [`Checkpoints::restore`].
    pub(crate) fn restore_with<T>(
        &self,
        key: &Key,
        restore: impl FnOnce(&mut CheckpointReader<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(entry) = self.state().ledger.checkpoints.get(&key.hash).and_then(Entry::read) else { return Ok(None) };
        match restore(&mut CheckpointReader::new(self.dir(), &entry)) {
            Ok(value) => {
                let mut state = self.state();
                // The partial checkpoints of a pass share a name. Messages show the name only once.
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

    /// Returns whether enough time has passed to save the result of the current step.
    pub fn due(&self) -> bool {
        self.every.is_some_and(|every| self.state().last.elapsed() >= every)
    }

    /// Saves a checkpoint. If the disk has no room for the checkpoint, the run continues without it.
    ///
    /// # Errors
    /// Returns an error if the disk cannot be written.
    pub fn save<T: Checkpoint>(&self, engine: &Engine<'_>, key: &Key, value: &mut T) -> Result<()> {
        let running = engine.clock.stage(format!("save {}", key.what));
        let bytes = self.save_with(engine, key, |to| value.save(engine, to))?;
        running.end(0, 0, bytes.unwrap_or(0));
        Ok(())
    }

    /// Saves the parts that `save` writes as a checkpoint, within the current stage. Returns the number of bytes saved, or `None` if the
    /// disk had no room.
    ///
    /// # Errors
    /// See [`Checkpoints::save`].
    pub(crate) fn save_with(
        &self,
        engine: &Engine<'_>,
        key: &Key,
        save: impl FnOnce(&mut CheckpointWriter<'_>) -> Result<()>,
    ) -> Result<Option<u64>> {
        Ledger::reserve(self.dir());
        let mut writer = CheckpointWriter::new(self.dir(), &key.hash);
        if let Err(error) = save(&mut writer) {
            writer.drop_files();
            if error.full().is_none() {
                return Err(error);
            }
            tracing::warn!("{error}; {} is not saved, and the run continues without it", key.what);
            // Without this line, every later step would also try to save a checkpoint.
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
        state.ledger.matched = state.matched.clone();
        state.ledger.checkpoints.insert(key.hash.clone(), entry.write()?);
        state.ledger.write(self.dir())?;
        self.folder.keep();
        state.last = Instant::now();
        note(Some(ledger::sums(&state.ledger)));
        Ok(Some(bytes))
    }

    /// Removes a checkpoint that no later step uses.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be written.
    pub fn forget(&self, key: &Key) -> Result<()> {
        let mut state = self.state();
        let Some(entry) = state.ledger.checkpoints.remove(&key.hash) else { return Ok(()) };
        state.ledger.write(self.dir())?;
        ledger::remove(self.dir(), &Entry::read(&entry).unwrap_or_default().files);
        Ok(())
    }

    /// Records the skipped input files and the reasons why they were skipped, for runs that resume this run. The recorded stamp is the
    /// stamp that the file had when it was opened, because an undamaged file may have replaced the skipped file in the meantime.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be written.
    pub(crate) fn record_skipped<'f>(&self, files: impl IntoIterator<Item = (&'f InputFile, &'f str)>) -> Result<()> {
        let mut state = self.state();
        let one = |(file, why): (&InputFile, &str)| SkippedFile {
            path: file.path.clone(),
            why: why.to_owned(),
            seen: file.seen().to_string(),
        };
        state.ledger.skipped.extend(files.into_iter().map(one));
        // If there is no saved work, there is nothing to resume, so no ledger is written.
        if state.ledger.checkpoints.is_empty() { Ok(()) } else { state.ledger.write(self.dir()) }
    }

    /// Returns the input files that earlier runs skipped and that have not changed.
    pub(crate) fn known_bad(&self) -> BTreeMap<PathBuf, String> {
        ledger::known_bad(&self.state().ledger)
    }

    /// Returns the names of the restored checkpoints, in order.
    pub fn resumed(&self) -> Vec<String> {
        self.state().resumed.clone()
    }
}

/// Returns whether an input file has the same label and stamp as a file on which checkpoints depend.
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
    use dupsift_publish::is_work_file;
    use dupsift_spill::shuffle::run::RUN;
    use dupsift_spill::shuffle::saved_file::{SAVED, SavedFileWriter};

    /// A checkpoint with two files. While `full` is set, the disk has no room for the second file.
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
        let checkpoints = Checkpoints::open(&folder, Some(Duration::ZERO), true).unwrap();
        let (resources, progress, cancel) =
            (Resources::new(64 << 20, 1).unwrap(), Progress::hidden(), AtomicBool::new(false));
        let engine = resources.engine(false, false, folder.path(), &progress, &cancel);
        let (one, other) = (Key::new("one".into(), &[]), Key::new("other".into(), &[]));
        checkpoints.save(&engine, &one, &mut TwoFiles { full: true }).unwrap();
        assert!(checkpoints.is_empty() && folder.holds().0 <= 1, "{:?}", folder.holds());
        checkpoints.save(&engine, &other, &mut TwoFiles { full: false }).unwrap();
        assert!(checkpoints.has(&other) && !checkpoints.has(&one));
        checkpoints.restore::<TwoFiles>(&engine, 0, &other).unwrap().unwrap();
        assert_eq!(checkpoints.resumed(), ["other"]);
        // A new attempt has not restored any checkpoints yet, and can use the saved state.
        checkpoints.begin().unwrap();
        assert!(checkpoints.resumed().is_empty() && checkpoints.has(&other));
    }

    /// Checks that the temporary folder recognizes the names of checkpoint files, because it removes only files that it recognizes.
    #[test]
    fn what_is_put_down_has_a_name_that_the_work_folder_knows() {
        let folder = tempfile::tempdir().unwrap();
        let named = || std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        for ending in [SAVED, RUN] {
            let writer = SavedFileWriter::create(folder.path(), &format!("a b{ending}")).unwrap();
            assert!(named().all(|name| is_work_file(&name.to_string_lossy())) && named().count() > 0);
            writer.finish().unwrap();
            assert!(named().all(|name| is_work_file(&name.to_string_lossy())));
        }
    }
}

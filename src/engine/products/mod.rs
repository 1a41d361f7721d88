//! What a run puts down on its way, so that the same command goes on from there when it was ended before its time.
//!
//! ```text
//! ledger.json       which products there are, each by its key: plain values, and files with their checksums
//! KEY-N.product     bytes of a product        KEY-N.run   rows of a product
//! ```
//!
//! The key of a product is a hash of all that it depends on ([`Key`]); one with another key is not looked at. Products are put
//! down where so much time has passed since the last ones (`--checkpoint`), so a short run writes nothing. What is taken up is
//! compared with its checksums first; what is damaged is named, and made again.

mod files;
mod ledger;

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytesize::ByteSize;

use crate::engine::threads::Engine;
use crate::error::{Error, Result};
use crate::hash::hash128;
use crate::io::{LEDGER, Ledger, SetAside, WorkFolder};

pub use files::{Found, Putting};
use ledger::Entry;

/// What can be put down and taken up.
pub trait Product: Sized {
    /// Puts it down. What comes back is the same; its rows may lie in the files from now on.
    ///
    /// # Errors
    /// A full disk.
    fn put_down(self, engine: &Engine<'_>, to: &mut Putting<'_>) -> Result<Self>;

    /// Takes up what was put down, of a corpus of so many documents.
    ///
    /// # Errors
    /// [`Error::Damaged`] for what is not what was put down.
    fn take_up(engine: &Engine<'_>, documents: u64, from: &mut Found<'_>) -> Result<Self>;
}

/// The key of one product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// What it is, for people: `rows cosine`.
    pub what: String,
    /// What it depends on.
    pub hash: String,
}

impl Key {
    pub fn new(what: String, lines: &[&str]) -> Key {
        let text = format!("{what}\n{}", lines.join("\n"));
        Key { hash: format!("{:032x}", hash128(text.as_bytes())), what }
    }
}

/// The products of one output.
pub struct Products<'w> {
    folder: &'w WorkFolder,
    /// None: nothing is ever put down.
    every: Option<Duration>,
    /// CPU seconds that the products of earlier processes took.
    before: f64,
    state: Mutex<State>,
}

struct State {
    ledger: Ledger,
    last: Instant,
    taken_up: Vec<String>,
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
        write!(to, "the same command goes on from there ({seconds:.1} CPU s of work are kept, {size})")
    }
}

/// What the process has put down, for who stops it.
static KEPT: Mutex<Option<Kept>> = Mutex::new(None);

/// What the next run need not do again; none where nothing is kept.
pub fn goes_on() -> Option<Kept> {
    *KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same as numbers: CPU seconds, and bytes in the work folder.
pub fn kept() -> Option<(f64, u64)> {
    goes_on().map(|kept| (kept.cpu_seconds, kept.bytes))
}

impl<'w> Products<'w> {
    /// Those that lie in a work folder, made by the same build of the program; the others are forgotten.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn open(folder: &'w WorkFolder, every: Option<Duration>, resumes: bool) -> Result<Products<'w>> {
        let ledger = if resumes { ledger::read(folder.path())? } else { Ledger::default() };
        let (before, bytes) = ledger::sums(&ledger);
        if !ledger.products.is_empty() {
            note(Some((before, bytes)));
        }
        let state = State { ledger, last: Instant::now(), taken_up: Vec::new() };
        Ok(Products { folder, every, before, state: Mutex::new(state) })
    }

    fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// Clears away what belongs to no product: the beginnings of what a dead run was at, and what is made once more.
    ///
    /// # Errors
    /// A folder that cannot be cleared.
    pub fn clear_away(&self) -> Result<()> {
        let state = self.state();
        let has_any = !state.ledger.products.is_empty() || !state.ledger.set_aside.is_empty();
        self.folder.keep_only(|name| has_any && (name == LEDGER || state.ledger.lists(name)))
    }

    /// Removes all of them: the result stands.
    ///
    /// # Errors
    /// A folder that cannot be cleared.
    pub fn end(&self) -> Result<()> {
        note(None);
        self.folder.keep_only(|_| false)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.state().ledger.products.is_empty()
    }

    /// Whether there is a product of that key.
    pub fn has(&self, key: &Key) -> bool {
        self.state().ledger.products.contains_key(&key.hash)
    }

    /// Takes up the product of that key, if it is there and whole; `what` it is stands in messages.
    ///
    /// # Errors
    /// A disk that cannot be read.
    pub fn take<T: Product>(&self, engine: &Engine<'_>, documents: u64, key: &Key) -> Result<Option<T>> {
        let Some(entry) = self.state().ledger.products.get(&key.hash).and_then(Entry::read) else { return Ok(None) };
        let mut found = Found::new(self.dir(), &entry);
        match T::take_up(engine, documents, &mut found) {
            Ok(value) => {
                self.state().taken_up.push(key.what.clone());
                Ok(Some(value))
            }
            Err(Error::Damaged { path, why }) => {
                tracing::warn!("{}: {why}; {} is made again", path.display(), key.what);
                self.forget(key)?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether what comes of the stage at hand is to be put down: so much time has passed.
    pub fn due(&self) -> bool {
        self.every.is_some_and(|every| self.state().last.elapsed() >= every)
    }

    /// Puts a product down.
    ///
    /// # Errors
    /// A full disk.
    pub fn put<T: Product>(&self, engine: &Engine<'_>, key: &Key, value: T) -> Result<T> {
        let running = engine.clock.stage(format!("put down {}", key.what));
        Ledger::set_aside(self.dir());
        let mut putting = Putting::new(self.dir(), &key.hash);
        let value = match value.put_down(engine, &mut putting) {
            Ok(value) => value,
            Err(error) => {
                putting.drop_files();
                return Err(error);
            }
        };
        let (_, cpu_seconds, _) = engine.clock.totals();
        let entry = putting.entry(&key.what, self.before + cpu_seconds);
        running.end(0, 0, entry.bytes());
        let mut state = self.state();
        if state.ledger.build.is_empty() {
            state.ledger.build = ledger::build();
        }
        state.ledger.products.insert(key.hash.clone(), entry.write()?);
        state.ledger.write(self.dir())?;
        self.folder.keep();
        state.last = Instant::now();
        note(Some(ledger::sums(&state.ledger)));
        Ok(value)
    }

    /// Removes a product that nothing will ask for any more.
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

    /// Notes input files that are set aside, with the reasons, for the runs that go on from here.
    ///
    /// # Errors
    /// A ledger that cannot be written.
    pub fn set_aside(&self, files: &BTreeMap<PathBuf, String>) -> Result<()> {
        let mut state = self.state();
        let one =
            |(path, why): (&PathBuf, &String)| SetAside { path: path.clone(), why: why.clone(), seen: seen(path) };
        state.ledger.set_aside.extend(files.iter().map(one));
        // Where nothing was put down, there is nothing to go on from.
        if state.ledger.products.is_empty() { Ok(()) } else { state.ledger.write(self.dir()) }
    }

    /// The input files that earlier runs have set aside, and that are still what they were.
    pub fn known_bad(&self) -> BTreeMap<PathBuf, String> {
        let state = self.state();
        let same = state.ledger.set_aside.iter().filter(|one| one.seen == seen(&one.path));
        same.map(|one| (one.path.clone(), one.why.clone())).collect()
    }

    /// What was taken up, in order.
    pub fn taken_up(&self) -> Vec<String> {
        self.state().taken_up.clone()
    }
}

fn note(kept: Option<(f64, u64)>) {
    let kept = kept.map(|(cpu_seconds, bytes)| Kept { cpu_seconds, bytes });
    *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = kept;
}

/// Size and time of a file, which tell it from what it is later.
fn seen(path: &Path) -> String {
    let there = std::fs::metadata(path);
    there.map_or_else(|_| "gone".into(), |there| format!("{} {}.{}", there.len(), there.mtime(), there.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use crate::io::is_work_file;
    use crate::shuffle::product::{PRODUCT, ProductWriter};
    use crate::shuffle::run::RUN;

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

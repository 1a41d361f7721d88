//! Copying a file without some of its rows: what stays is what it was, to the bit where the format allows it.
//!
//! A file that loses nothing is copied byte for byte. Else its format copies the rows that are chosen, in order.

use super::coding::Coding;
use super::damaged::damaged;
use super::edits::Edits;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Holds so many bytes of memory while a function runs, once there is room for them.
pub type Hold<'c> = dyn Fn(u64, &mut dyn FnMut()) -> Result<()> + 'c;

/// Whether a page of so many bytes can be read at all, with a value of that many bytes in it.
pub type Fits<'c> = dyn Fn(u64, u64) -> bool + 'c;

/// What a format gets to copy rows of a file.
pub struct Copying<'c> {
    /// Where the file is.
    pub path: &'c Path,
    /// How its bytes become those of texts.
    pub coding: Coding,
    /// How many rows it has.
    pub rows: u64,
    /// Which of them are copied.
    pub chosen: &'c (dyn Fn(u64) -> bool + 'c),
    /// What has at most so many bytes is not looked into before it is read.
    pub small: u64,
    /// See [`Hold`].
    pub hold: &'c Hold<'c>,
    /// Asked again and again whether to go on.
    pub go_on: &'c (dyn Fn() -> Result<()> + 'c),
    /// Where the copy goes.
    pub out: &'c Path,
    /// The rows that get another text, if there are any.
    pub edits: Option<Edits<'c>>,
}

impl Copying<'_> {
    /// Returns what another text is made by, if the row gets one.
    pub(super) fn edits_of(&self, row: u64) -> Option<Edits<'_>> {
        self.edits.filter(|edits| (edits.is_edited)(row))
    }

    /// The error that sets the file aside, or ends the run where no file can be opened any more.
    pub(super) fn bad(&self, why: impl Into<String>) -> Error {
        damaged(self.path, why.into())
    }
}

/// Why a copy ended early, for what stands between it and its caller knows errors of the file that is read alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Stop(Arc<Mutex<Option<Error>>>);

impl Stop {
    /// Notes an error that is not one of the file.
    pub fn note(&self, error: Error) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// The error, if one was noted.
    pub fn check(&self) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// The file that a copy is written to: what the system says of it is no fault of the file that is read.
pub(super) struct Output {
    file: File,
    stop: Stop,
    path: Arc<Path>,
}

impl Output {
    /// A new file.
    pub fn create(path: &Path, stop: &Stop) -> Result<Output> {
        let file = safe_fs::create(path).map_err(Error::io("create", path))?;
        Ok(Output { file, stop: stop.clone(), path: path.into() })
    }

    fn noted<T>(&self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| {
            let kind = error.kind();
            self.stop.note(Error::io("write", &self.path)(error));
            kind.into()
        })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.file.write(bytes);
        self.noted(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.file.flush();
        self.noted(done)
    }
}

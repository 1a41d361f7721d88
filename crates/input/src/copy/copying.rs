//! Copies a subset of a file's rows. The copied rows are unchanged (bit for bit, if the format allows it).
//!
//! If all rows are chosen, the file is copied byte for byte. Otherwise, the implementation of the file's format copies the chosen rows in
//! order.

use crate::compressed::coding::Coding;
use crate::copy::added::Added;
use crate::copy::edits::Edits;
use crate::damaged::damaged;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A function that waits until the given number of bytes of memory is available, and reserves them while another function runs.
pub type Hold<'c> = dyn Fn(u64, &mut dyn FnMut()) -> Result<()> + 'c;

/// A function that returns whether a page fits into memory. The arguments are the size of the page and the size of its longest value, in
/// bytes.
pub type Fits<'c> = dyn Fn(u64, u64) -> bool + 'c;

/// Holds the arguments for copying rows of a file.
pub struct Copying<'c> {
    /// The path of the file.
    pub path: &'c Path,
    /// The compression and encoding of the file.
    pub coding: Coding,
    /// The number of rows in the file.
    pub rows: u64,
    /// Returns whether a row is copied.
    pub chosen: &'c (dyn Fn(u64) -> bool + 'c),
    /// The maximum size of a chunk that is read without inspecting its pages, in bytes.
    pub small: u64,
    /// The function that reserves memory; see [`Hold`].
    pub hold: &'c Hold<'c>,
    /// A function that is called repeatedly; an error that it returns stops the copy.
    pub go_on: &'c (dyn Fn() -> Result<()> + 'c),
    /// The path of the copy.
    pub out: &'c Path,
    /// The rows whose text is edited, if any.
    pub edits: Option<Edits<'c>>,
    /// The columns that are added, if any.
    pub added: Option<Added<'c>>,
}

impl Copying<'_> {
    /// Returns the edits if this row is edited.
    pub(crate) fn edits_of(&self, row: u64) -> Option<Edits<'_>> {
        self.edits.filter(|edits| (edits.is_edited)(row))
    }

    /// Returns the error that causes the file to be skipped, or the error that ends the run if too many files are open.
    pub(crate) fn bad(&self, why: impl Into<String>) -> Error {
        damaged(self.path, why.into())
    }
}

/// Holds the error that ended a copy early. The error is stored here because the code between the writer and the caller can report only
/// errors in the file being read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<Mutex<Option<Error>>>);

impl Stop {
    /// Records an error that does not concern the input file.
    pub fn note(&self, error: Error) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Returns the recorded error, if there is one.
    pub fn check(&self) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// The file to which a copy is written. I/O errors in this file are not reported as errors in the file being read.
pub(crate) struct Output {
    file: File,
    stop: Stop,
    path: Arc<Path>,
}

impl Output {
    /// Creates a new file.
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

//! Copies a subset of a file's rows. The copied rows are unchanged (bit for bit, if the format allows it).
//!
//! If all rows are chosen, the file is copied byte for byte. Otherwise, the implementation of the file's format copies the chosen rows in
//! order.

use crate::compressed::coding::Coding;
use crate::copy::added::Added;
use crate::copy::edits::Edits;
use crate::damaged::damaged;
use dupsift_core::error::{Error, Result};
use std::path::Path;

/// A function that waits until the given number of bytes of memory is available, and reserves them while another function runs.
pub(crate) type Hold<'c> = dyn Fn(u64, &mut dyn FnMut()) -> Result<()> + 'c;

/// A function that returns whether a page fits into memory. The arguments are the size of the page and the size of its longest value, in
/// bytes.
pub(crate) type Fits<'c> = dyn Fn(u64, u64) -> bool + 'c;

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
    /// A function that waits until the given number of bytes of memory is available, and reserves them while another function runs.
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

//! Copies some of a file's rows.

use crate::compressed::coding::Coding;
use crate::copy::copying::{Copying, Fits};
use crate::copy::edits;
use crate::format::stretch::Stretch;
use dupsift_core::error::Result;
use std::fs::File;

/// A format whose rows can be copied one by one.
pub trait Copies: Sync {
    /// Checks that rows can be copied from a file with this compression and encoding.
    ///
    /// # Errors
    /// Returns the reason why rows cannot be copied, and what to do instead.
    fn check(&self, coding: Coding) -> std::result::Result<(), String>;

    /// Copies some of a file's rows, but not all of them, or changes some of them.
    ///
    /// # Errors
    /// Returns an error if the file is damaged or if the copy cannot be written.
    fn copy_rows(&self, file: File, copying: &Copying<'_>) -> Result<()>;

    /// Returns how a copied row may differ from the original.
    fn changes(&self) -> &'static [Change] {
        &[]
    }

    /// Checks that changed rows can be written in this encoding.
    ///
    /// # Errors
    /// Returns the reason why this is impossible, and what to do instead.
    fn check_changes(&self, coding: Coding) -> std::result::Result<(), String> {
        edits::check(coding)
    }

    /// Returns the first stretch, if any, that does not fit into memory while rows are copied.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be read.
    fn check_memory(&self, _file: File, _fits: &Fits<'_>) -> std::result::Result<Option<Stretch>, String> {
        Ok(None)
    }
}

/// A change to the rows of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Some rows have an edited text; see [`Edits`](crate::copy::edits::Edits).
    Text,
    /// Each row has further columns; see [`Added`](crate::copy::added::Added).
    Columns,
}

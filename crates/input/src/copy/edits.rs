//! Replaces the text of some rows in a copied file. All other values are preserved.

use crate::compressed::coding::Coding;

/// Specifies how the text of some rows is edited.
#[derive(Clone, Copy)]
pub struct Edits<'e> {
    /// The text column.
    pub column: &'e str,
    /// Returns whether a row is edited.
    pub is_edited: &'e (dyn Fn(u64) -> bool + 'e),
    /// Returns the new text of an edited row; `None` if the text has changed since it was read.
    pub edit: &'e (dyn Fn(u64, &str) -> Option<String> + 'e),
}

/// The message for text that cannot be edited because it has changed since it was read.
pub(crate) const CHANGED: &str = "the file changed while it was being read";

/// Checks that edited text can be written back in this encoding.
///
/// # Errors
/// Returns the reason why this is impossible, and what to do instead.
pub(crate) fn check(coding: Coding) -> Result<(), String> {
    match coding.of_all() {
        None => Ok(()),
        Some(encoding) => Err(format!(
            "its text is in {}, but text can be changed only in UTF-8 files; convert the file to UTF-8 first",
            encoding.name()
        )),
    }
}

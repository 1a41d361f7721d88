//! Defines the value of a row's text cell: the text, or the reason why there is none.

use crate::reason::{RejectReason, Rejection};

/// The maximum size of a document's text, in bytes. The limit of 128 MiB ensures that positions in the normalized text always fit in 32
/// bits. `text::MAX_TEXT_BYTES` has the same value, as a test in the driver checks.
pub const MAX_TEXT_BYTES: usize = 128 << 20;

/// The text of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// The text of the row.
    Text(&'a str),
    /// No text, because the field is null or missing.
    Null,
    /// An unusable row, with the reason.
    Bad(Rejection),
}

impl<'a> Cell<'a> {
    /// Returns the text, or the reason why the row is unusable.
    ///
    /// # Errors
    /// Returns the rejection of a row without text.
    pub fn text(self) -> std::result::Result<&'a str, Rejection> {
        match self {
            Cell::Text(text) => Ok(text),
            Cell::Null => Err(RejectReason::NullText.into()),
            Cell::Bad(why) => Err(why),
        }
    }
}

/// Returns the rejection for text of this size in bytes.
pub fn too_long(bytes: usize) -> Rejection {
    let detail = format!("the text has {bytes} bytes; expected at most {MAX_TEXT_BYTES}");
    Rejection::new(RejectReason::TooLong, detail)
}

//! The text of one row, or why it has none.

use super::reason::{RejectReason, Rejection};

/// The longest text in bytes that is worked on: 128 MiB, so that places in the normalised text always fit 32 bits
/// (`text::MAX_TEXT_BYTES` is the same; a test of the driver holds that).
pub const MAX_TEXT_BYTES: usize = 128 << 20;

/// The text of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// A text.
    Text(&'a str),
    /// No text: null, or the field is not there.
    Null,
    /// A row that cannot be used, and why.
    Bad(Rejection),
}

impl<'a> Cell<'a> {
    /// The text, or why the row cannot be used.
    ///
    /// # Errors
    /// The rejection of a row without a text.
    pub fn text(self) -> std::result::Result<&'a str, Rejection> {
        match self {
            Cell::Text(text) => Ok(text),
            Cell::Null => Err(RejectReason::NullText.into()),
            Cell::Bad(why) => Err(why),
        }
    }
}

/// Why a text of that many bytes is not worked on.
pub fn too_long(bytes: usize) -> Rejection {
    let detail = format!("a text of {bytes} bytes; at most {MAX_TEXT_BYTES} can be worked on");
    Rejection::new(RejectReason::TooLong, detail)
}

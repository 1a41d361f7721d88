//! note: the values that are recorded for every document, regardless of the algorithms.

use dupsift_text::{Analysis, Heading};

/// Returns the length, in characters, that determines which documents are preferred, or 0 for a row without text.
pub fn length(document: &Analysis<'_>) -> u32 {
    u32::try_from(document.characters()).unwrap_or(u32::MAX)
}

/// Returns the first line as a number that [`Heading::unpack`] reads, or 0 if there is no first line.
pub fn first_line(document: &Analysis<'_>) -> u64 {
    Heading::of(document).map_or(0, Heading::pack)
}

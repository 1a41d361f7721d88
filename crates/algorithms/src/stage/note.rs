//! note: what is kept of every document, by any algorithms.

use dupsift_text::{Analysis, Heading};

/// The length by which documents are preferred: characters; 0 is that of a row without a text.
pub fn length(document: &Analysis<'_>) -> u32 {
    u32::try_from(document.characters()).unwrap_or(u32::MAX)
}

/// The first line as a number ([`Heading::unpack`] reads it), 0 where there is none.
pub fn first_line(document: &Analysis<'_>) -> u64 {
    Heading::of(document).map_or(0, Heading::pack)
}

//! note: what is kept of every document, by any algorithms.

use crate::batch::IdRef;
use crate::hash::hash64;
use crate::text::{Analysis, Heading};

/// The length by which documents are preferred: characters; 0 is that of a row without a text.
pub fn length(document: &Analysis<'_>) -> u32 {
    u32::try_from(document.characters()).unwrap_or(u32::MAX)
}

/// The first line as a number ([`Heading::unpack`] reads it), 0 where there is none.
pub fn first_line(document: &Analysis<'_>) -> u64 {
    Heading::of(document).map_or(0, Heading::pack)
}

/// The hash of an id as it would be written: the number 7 and the text "7" are the same id.
pub fn id_hash(id: IdRef<'_>) -> u64 {
    match id {
        IdRef::Text(text) => hash64(text.as_bytes()),
        IdRef::Bytes(bytes) => hash64(bytes),
        other => hash64(other.to_string().as_bytes()),
    }
}

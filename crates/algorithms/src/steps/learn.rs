//! learn: determines the order in which a learning algorithm receives the notes of documents, and how many times it receives each note.
//!
//! Each note is passed as many times as its text is counted in the statistics ([`View::times`](super::view::View::times)). The notes of all
//! documents are ordered by a hash of their texts, so a model does not depend on the order of documents.

use dupsift_core::row::number;
use dupsift_text::Analysis;

/// The number of bytes in a row that orders notes. A row holds the hash of the text and the position of the note.
pub const ROW: usize = 24;
/// The number of bytes in the hash.
pub const GROUP: usize = 16;

/// Returns the row of a document's note. Write this row as many times as the note is counted. An empty note has no row.
pub fn row(document: &Analysis<'_>, place: u64) -> [u8; ROW] {
    let mut row = [0; ROW];
    // The first of the 128 bits is 0, which leaves 127 bits.
    row[..GROUP].copy_from_slice(&(document.copy_hash() >> 1).to_be_bytes());
    row[GROUP..].copy_from_slice(&place.to_be_bytes());
    row
}

/// Sets the position of a row's note.
pub fn put_place(row: &mut [u8; ROW], place: u64) {
    row[GROUP..].copy_from_slice(&place.to_be_bytes());
}

/// Returns the position of a row's note.
pub fn place(row: &[u8]) -> u64 {
    number(&row[GROUP..])
}

//! learn: in which order, and how often, the notes of documents come to an algorithm that learns from them.
//!
//! A note stands as often as the statistics count its text ([`View::times`](super::view::View::times)), and the notes of all
//! documents come in the order of a hash of their texts: a model does not depend on the order of documents.

use dupsift_core::row::number;
use dupsift_text::Analysis;

/// Bytes of a row that orders notes: the hash of the text, and where the note stands.
pub const ROW: usize = 24;
/// Bytes of the hash.
pub const GROUP: usize = 16;

/// The row of the note of a document, to be written as often as the note counts. A note in which there is nothing has none.
pub fn row(document: &Analysis<'_>, place: u64) -> [u8; ROW] {
    let mut row = [0; ROW];
    // Of 128 bits, 127 are left: the first is 0.
    row[..GROUP].copy_from_slice(&(document.copy_hash() >> 1).to_be_bytes());
    row[GROUP..].copy_from_slice(&place.to_be_bytes());
    row
}

/// Says where the note of a row stands.
pub fn put_place(row: &mut [u8; ROW], place: u64) {
    row[GROUP..].copy_from_slice(&place.to_be_bytes());
}

/// Where the note of a row stands.
pub fn place(row: &[u8]) -> u64 {
    number(&row[GROUP..])
}

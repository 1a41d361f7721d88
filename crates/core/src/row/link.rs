//! Encodes links as rows of two document numbers: the second document belongs to the class or cluster of the first document.

use super::{doc_width, number};

/// The layout of the two document numbers in a row: four bytes each if all document numbers in the corpus fit in four bytes, and eight
/// bytes each otherwise.
#[derive(Clone, Copy, Debug)]
pub struct LinkLayout {
    doc_width: usize,
}

impl LinkLayout {
    /// Returns the layout for a corpus with this many rows.
    pub fn new(documents: u64) -> LinkLayout {
        LinkLayout { doc_width: doc_width(documents) }
    }

    /// Returns the number of bytes in a row.
    pub fn width(&self) -> usize {
        2 * self.doc_width
    }

    /// Returns the number of bytes at the beginning of a row that identify the group: the bytes of the first document number.
    pub fn group_width(&self) -> usize {
        self.doc_width
    }

    /// Encodes a row into an array of the maximum width; only the first [`LinkLayout::width`] bytes are used.
    #[inline]
    pub fn encode(&self, first: u64, second: u64) -> [u8; 16] {
        let mut row = [0; 16];
        row[..self.doc_width].copy_from_slice(&first.to_be_bytes()[8 - self.doc_width..]);
        row[self.doc_width..2 * self.doc_width].copy_from_slice(&second.to_be_bytes()[8 - self.doc_width..]);
        row
    }

    /// Decodes a row.
    #[inline]
    pub fn decode(&self, row: &[u8]) -> (u64, u64) {
        let (first, second) = row.split_at(self.doc_width);
        (number(first), number(second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_survive_the_trip_and_compare_as_bytes() {
        for documents in [10, u64::MAX] {
            let layout = LinkLayout::new(documents);
            let links = [(0, 9), (1, 1), (1, 2), (2, 0)];
            let rows = links.map(|(first, second)| layout.encode(first, second));
            assert!(rows.is_sorted() && rows.map(|row| layout.decode(&row[..layout.width()])) == links);
            assert_eq!(layout.width(), 2 * layout.group_width());
        }
    }
}

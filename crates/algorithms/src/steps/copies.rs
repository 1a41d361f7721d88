//! copies: finds exact copies by a hash of their texts. The document with the smallest number in a class represents all copies.
//!
//! Two documents are copies if they are identical, byte for byte, in every column that any algorithm in the run reads. Only the
//! representative is processed further; the copies are added back when classes and pairs are written.
//!
//! ```text
//! (hash, document) of each text -> sorted -> the documents of one hash -> (smallest, document): the links of a class
//! ```

use dupsift_core::error::Result;
use dupsift_core::row::{Docs, LinkLayout, number};
use dupsift_text::Analysis;

/// The number of bytes in a row, which holds the hash of the text and the number of the document.
pub const ROW: usize = 24;
/// The number of leading bytes in a row that identify its group; they hold the hash.
pub const GROUP: usize = 16;

/// Returns the row of one document. Texts without visible characters are never copies of each other, nor are documents with parts that are
/// not known.
pub fn row(doc: u64, document: &Analysis<'_>) -> Option<[u8; ROW]> {
    if document.has_no_copies() {
        return None;
    }
    let mut row = [0; ROW];
    row[..GROUP].copy_from_slice(&document.copy_hash().to_be_bytes());
    row[GROUP..].copy_from_slice(&doc.to_be_bytes());
    Some(row)
}

/// Processes all rows that share a hash, in order. If there are several rows, calls `link` with the smallest document number and the number
/// of each document.
///
/// # Errors
/// Returns the errors of `link`.
pub fn group(rows: &[u8], mut link: impl FnMut(u64, u64) -> Result<()>) -> Result<()> {
    let docs = rows.chunks_exact(ROW).map(|row| number(&row[GROUP..]));
    match docs.clone().next() {
        Some(first) if rows.len() > ROW => docs.into_iter().try_for_each(|doc| link(first, doc)),
        _ => Ok(()),
    }
}

/// Returns the distinct documents of a class. `links` holds all links of the class in order; several links may contain the same document. A
/// single document is not a class.
pub fn class(layout: LinkLayout, links: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let mut last = None;
    let docs = links.chunks_exact(layout.width()).map(move |link| layout.decode(link).1);
    docs.filter(move |&doc| last.replace(doc) != Some(doc))
}

/// Gives access to the exact copies that the driver found.
pub trait Copies {
    /// Returns whether a document with a smaller number is equal to this document.
    fn is_extra_copy(&self, doc: u64) -> bool;

    /// Returns the documents equal to this document, including itself, in ascending order. Returns an empty list if the document is unique.
    fn members(&self, doc: u64) -> Docs<'_>;

    /// Returns how many documents have this text.
    fn count(&self, doc: u64) -> u64 {
        self.members(doc).len().max(1) as u64
    }
}

/// Represents a corpus without copies, or a corpus whose rows all belong to representatives.
#[derive(Clone, Copy, Debug)]
pub struct NoCopies;

impl Copies for NoCopies {
    fn is_extra_copy(&self, _: u64) -> bool {
        false
    }

    fn members(&self, _: u64) -> Docs<'_> {
        Docs::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    #[test]
    fn equal_texts_are_linked_to_the_first() {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let texts = ["a b", "", "a b", " \n", "a  b", "a b", " \n"];
        let mut rows: Vec<[u8; ROW]> =
            texts.iter().enumerate().filter_map(|(doc, text)| row(doc as u64, &pipeline.analyse(text))).collect();
        // White space alone does not count as text, and texts that differ only in white space are different.
        assert_eq!(rows.len(), 4);
        rows.sort_unstable();
        let mut links = Vec::new();
        for rows in rows.chunk_by(|a, b| a[..GROUP] == b[..GROUP]) {
            group(&rows.concat(), |first, doc| Ok(links.push((first, doc)))).unwrap();
        }
        assert_eq!(links, [(0, 0), (0, 2), (0, 5)]);
    }

    #[test]
    fn a_document_that_came_twice_is_in_its_class_once() {
        let layout = LinkLayout::new(100);
        let of = |docs: &[u64]| {
            let links: Vec<u8> =
                docs.iter().flat_map(|&doc| layout.encode(3, doc)[..layout.width()].to_vec()).collect();
            class(layout, &links).collect::<Vec<_>>()
        };
        assert_eq!((of(&[3, 3, 4, 4, 4, 9]), of(&[3, 3]), of(&[])), (vec![3, 4, 9], vec![3], vec![]));
    }
}

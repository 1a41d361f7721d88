//! Holds the edits of texts: for each document, the passages that are cut from it. The writers of tables and of the corpus know only these
//! edits, and not how passages are found.

use dupsift_core::error::Result;
use dupsift_core::row::number;
use dupsift_passages::{Passage, cut_out};
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, FrozenHeap};

/// The number of bytes in a saved passage.
pub(super) const SAVED: usize = 32;
/// The number of bytes before a document's passages. These bytes hold the number of passages and the number of remaining characters.
const HEAD: usize = 8;

/// Holds all passages that are cut.
pub struct TextEdits {
    /// The offset of each document's passages, plus one; 0 for a document without passages.
    pub(super) begins: AtomicCells<u64>,
    pub(super) heap: FrozenHeap,
    /// The documents that contain the first copy of a passage that is cut from another document.
    pub(super) firsts: AtomicBits,
}

/// Holds the passages that are cut from one document.
#[derive(Clone, Copy)]
pub struct DocumentEdits<'c> {
    /// The number of characters that remain, or 0 if only white space remains.
    pub left: u32,
    saved: &'c [u8],
}

impl<'c> DocumentEdits<'c> {
    /// Returns the passages that are cut, in order.
    pub fn passages(self) -> impl Iterator<Item = Passage> + 'c {
        self.saved.chunks_exact(SAVED).map(|saved| {
            let short = |at: usize| number(&saved[at..at + 4]) as u32;
            Passage {
                start: short(0),
                end: short(4),
                start_byte: short(8),
                end_byte: short(12),
                copies: short(16),
                first_start: short(20),
                first_doc: number(&saved[24..]),
            }
        })
    }

    /// Returns the share of characters that are cut from a document with this many characters.
    pub fn share(self, characters: u32) -> f32 {
        let cut: u64 = self.passages().map(|one| u64::from(one.end - one.start)).sum();
        (cut as f64 / f64::from(characters.max(1))) as f32
    }

    /// Returns the text without the passages, or `None` if the text differs from the text that was read.
    pub fn cut_out(self, text: &str) -> Option<String> {
        let places = || self.passages().map(|one| (one.start_byte as usize, one.end_byte as usize));
        let is_there = |(start, end): (usize, usize)| text.get(start..end).is_some();
        places().all(is_there).then(|| cut_out(text, places()))
    }
}

impl TextEdits {
    /// Returns the number of documents of the corpus.
    pub(super) fn len(&self) -> usize {
        self.begins.len()
    }

    /// Returns whether a document contains the first copy of a passage that is cut from another document.
    pub(super) fn has_first_copy(&self, doc: u64) -> bool {
        self.firsts.get(doc as usize)
    }

    /// Returns whether anything is cut from a document.
    pub fn has(&self, doc: u64) -> bool {
        (doc as usize) < self.begins.len() && self.begins.load(doc as usize) != 0
    }

    /// Returns the passages that are cut from a document, or `None` if nothing is cut.
    pub fn of(&self, doc: u64) -> Option<DocumentEdits<'_>> {
        let begin = self.begins.load(doc as usize).checked_sub(1)?;
        let head = self.heap.get(begin, HEAD);
        let (count, left) = (number(&head[..4]) as usize, number(&head[4..]) as u32);
        Some(DocumentEdits { left, saved: self.heap.get(begin + HEAD as u64, count * SAVED) })
    }

    /// Calls `each` with every document from which something is cut, in order.
    ///
    /// # Errors
    /// Returns any error from `each`.
    pub fn each(&self, mut each: impl FnMut(u64, DocumentEdits<'_>) -> Result<()>) -> Result<()> {
        (0..self.begins.len() as u64).try_for_each(|doc| self.of(doc).map_or(Ok(()), |cuts| each(doc, cuts)))
    }

    /// Returns whether nothing remains of a document.
    pub(super) fn is_blank(&self, doc: u64) -> bool {
        self.of(doc).is_some_and(|cuts| cuts.left == 0)
    }
}

/// Encodes the passages of a document, and the number of characters that remain, in the form that the heap of [`TextEdits`] holds.
pub(super) fn save(found: &[Passage], left: u32, bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.extend_from_slice(&(found.len() as u32).to_be_bytes());
    bytes.extend_from_slice(&left.to_be_bytes());
    for one in found {
        for number in [one.start, one.end, one.start_byte, one.end_byte, one.copies, one.first_start] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(&one.first_doc.to_be_bytes());
    }
}

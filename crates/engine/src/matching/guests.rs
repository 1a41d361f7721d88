//! Documents of an index that take part in a run because a document of the corpus met them. They are numbered before the corpus,
//! in the order of the index, so that all that follows from an order of documents is what one run over both would have.
//!
//! ```text
//! 0 .. no documents .. first .. guests .. base .. the corpus
//! ```

use crate::engine::threads::Engine;
use dupsift_core::doc::IndexDoc;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, Mapped};

/// The guests of a run.
pub struct Guests {
    /// The number of the first one here.
    first: u64,
    /// The number of the first document of the corpus here, and in the index.
    base: u64,
    next_doc: IndexDoc,
    /// By guest: its number in the index.
    numbers: Mapped<u64>,
    /// By guest: the document of the index that it was removed for, plus one; 0: it was kept.
    fates: AtomicCells<u64>,
    /// By guest: whether a document of the corpus has its text.
    copied: AtomicBits,
}

impl Guests {
    /// With their numbers and fates, before a corpus that begins at `base` here and at `next_doc` in the index.
    ///
    /// # Errors
    /// No space on disk.
    pub fn new(
        engine: &Engine<'_>,
        base: u64,
        next_doc: IndexDoc,
        numbers: Mapped<u64>,
        fates: AtomicCells<u64>,
    ) -> Result<Guests> {
        let copied = AtomicBits::new(engine.dir, "copied-guests", numbers.len())?;
        Ok(Guests { first: base - numbers.len() as u64, base, next_doc, numbers, fates, copied })
    }

    /// Returns the number of the first guest here.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.numbers.len() as u64
    }

    /// The number of a document in the index.
    #[inline]
    pub fn number(&self, doc: u64) -> IndexDoc {
        IndexDoc(match doc.checked_sub(self.base) {
            Some(own) => self.next_doc.0 + own,
            None => doc.checked_sub(self.first).map_or(doc, |guest| self.numbers[guest as usize]),
        })
    }

    /// The document of the index that a guest was removed for; none for a kept one, and for a document of the corpus.
    pub fn removed_for(&self, doc: u64) -> Option<IndexDoc> {
        let guest = doc.checked_sub(self.first).filter(|_| doc < self.base)?;
        self.fates.load(guest as usize).checked_sub(1).map(IndexDoc)
    }

    /// The guest with that number in the index.
    pub fn place(&self, number: IndexDoc) -> Option<u64> {
        self.numbers.binary_search(&number.0).ok().map(|guest| self.first + guest as u64)
    }

    /// The document with that number in the index: a guest, or one of the corpus; none where it takes no part.
    pub fn here(&self, number: IndexDoc) -> Option<u64> {
        number.0.checked_sub(self.next_doc.0).map_or_else(|| self.place(number), |own| Some(self.base + own))
    }

    /// The first guest with that number in the index or a larger one.
    pub fn first_from(&self, number: IndexDoc) -> u64 {
        self.first + self.numbers.partition_point(|&known| known < number.0) as u64
    }

    /// Notes that a document of the corpus has the text of a guest.
    pub fn copy(&self, doc: u64) {
        if let Some(guest) = doc.checked_sub(self.first).filter(|_| doc < self.base) {
            self.copied.set(guest as usize);
        }
    }

    /// Whether a document of the corpus has its text.
    #[inline]
    pub fn is_copied(&self, doc: u64) -> bool {
        doc.checked_sub(self.first).is_some_and(|guest| doc < self.base && self.copied.get(guest as usize))
    }
}

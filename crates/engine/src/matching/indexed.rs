//! Holds the indexed documents that take part in a run because they match a new document. These documents are numbered before the documents
//! of the corpus, in the order of the index. Results that depend on document order are therefore the same as in a single run over the
//! indexed documents and the corpus.
//!
//! ```text
//! 0 .. no documents .. first .. indexed documents .. base .. the corpus
//! ```

use std::sync::Arc;

use crate::engine::checkpoints::{Checkpoint, CheckpointReader, CheckpointWriter};
use crate::engine::threads::Engine;
use dupsift_core::doc::IndexDoc;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, Mapped};

/// Holds the indexed documents that take part in a run.
pub struct Indexed {
    /// The number of the first indexed document in this run.
    first: u64,
    /// The number of the corpus's first document in this run; `next_doc` is the number of the same document in the index.
    base: u64,
    next_doc: IndexDoc,
    /// The index number of each participating document.
    numbers: Arc<Mapped<u64>>,
    /// The number of the indexed document that was kept instead of each participating document, plus one; 0 for a document that was kept.
    fates: AtomicCells<u64>,
    /// The participating documents that have the same text as a document of the corpus.
    copied: AtomicBits,
    /// The name of each part of the index, with the number of its first document: a batch, or a file of the reference.
    parts: Vec<(IndexDoc, String)>,
}

impl Indexed {
    /// Creates the list of participating documents, given their index numbers and fates. The corpus begins at `base` in this run and at
    /// `next_doc` in the index.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub fn new(
        engine: &Engine<'_>,
        base: u64,
        next_doc: IndexDoc,
        numbers: Arc<Mapped<u64>>,
        fates: AtomicCells<u64>,
    ) -> Result<Indexed> {
        let copied = AtomicBits::new(engine.dir, "copied-indexed", numbers.len())?;
        Ok(Indexed { first: base - numbers.len() as u64, base, next_doc, numbers, fates, copied, parts: Vec::new() })
    }

    /// Returns the same documents with the names of the parts of the index, in document order.
    pub fn in_parts(self, parts: Vec<(IndexDoc, String)>) -> Indexed {
        Indexed { parts, ..self }
    }

    /// Returns the name of the part of the index that contains a document; `None` for a document of the corpus.
    pub(crate) fn part_of(&self, doc: u64) -> Option<&str> {
        if doc >= self.base {
            return None;
        }
        let number = self.number(doc).0;
        let at = self.parts.partition_point(|(first, _)| first.0 <= number).checked_sub(1)?;
        self.parts.get(at).map(|(_, name)| name.as_str())
    }

    /// Returns the number of the first participating document in this run.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Returns the number of participating indexed documents.
    pub fn count(&self) -> u64 {
        self.numbers.len() as u64
    }

    /// Returns a document's number in the index.
    #[inline]
    pub fn number(&self, doc: u64) -> IndexDoc {
        IndexDoc(match doc.checked_sub(self.base) {
            Some(own) => self.next_doc.0 + own,
            None => doc.checked_sub(self.first).map_or(doc, |at| self.numbers[at as usize]),
        })
    }

    /// Returns the indexed document that was kept instead of this document, or `None` for a kept document and for a document of the corpus.
    pub fn removed_for(&self, doc: u64) -> Option<IndexDoc> {
        let at = doc.checked_sub(self.first).filter(|_| doc < self.base)?;
        self.fates.load(at as usize).checked_sub(1).map(IndexDoc)
    }

    /// Returns the participating document whose number in the index is `number`.
    pub fn place(&self, number: IndexDoc) -> Option<u64> {
        self.numbers.binary_search(&number.0).ok().map(|at| self.first + at as u64)
    }

    /// Returns the document whose number in the index is `number`, from an earlier batch or from the corpus; `None` if it does not take
    /// part.
    pub fn here(&self, number: IndexDoc) -> Option<u64> {
        number.0.checked_sub(self.next_doc.0).map_or_else(|| self.place(number), |own| Some(self.base + own))
    }

    /// Returns the first participating document whose number in the index is at least `number`.
    pub fn first_from(&self, number: IndexDoc) -> u64 {
        self.first + self.numbers.partition_point(|&known| known < number.0) as u64
    }

    /// Records that a document of the corpus has the same text as this indexed document.
    pub fn copy(&self, doc: u64) {
        if let Some(at) = doc.checked_sub(self.first).filter(|_| doc < self.base) {
            self.copied.set(at as usize);
        }
    }

    /// Returns whether a document of the corpus has the same text as this indexed document.
    #[inline]
    pub fn is_copied(&self, doc: u64) -> bool {
        doc.checked_sub(self.first).is_some_and(|at| doc < self.base && self.copied.get(at as usize))
    }
}

/// Holds the numbers of the indexed documents that take part in the run, in ascending order; `None` if there are none.
pub(crate) struct IndexedNumbers(pub Option<Arc<Mapped<u64>>>);

impl Checkpoint for IndexedNumbers {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.optional(self.0.as_ref(), |numbers, to| to.array(numbers))
    }

    fn restore(_: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<IndexedNumbers> {
        from.optional(|from| Ok(Arc::new(from.array()?))).map(IndexedNumbers)
    }
}

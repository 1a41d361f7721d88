//! Training: an algorithm with a model learns it from the corpus before documents are signed.

use dupsift_core::error::Result;
use dupsift_text::Analysis;

/// Learns a model from the corpus. Each document that will be signed writes a note. Notes are kept in temporary files. Their order depends
/// only on the texts, and the note of a text with several copies appears once per copy.
pub trait Learner: Send + Sync {
    /// Appends what learning needs of one document, any numbers. A document that appends nothing takes no part.
    fn note(&self, document: &Analysis<'_>, out: &mut Vec<u64>);

    /// Returns the model, any numbers. It must not be larger than a fraction of the memory limit.
    ///
    /// # Errors
    /// Returned by [`Notes::go_on`], which long loops call.
    fn learn(&self, notes: &Notes<'_>) -> Result<Vec<u64>>;
}

/// The notes of all documents that are not empty, ordered by the hash of their texts.
pub struct Notes<'n> {
    /// The number of notes.
    pub count: usize,
    /// Bytes of memory that learning may take. A learner that needs more returns an error that says how to need less.
    pub memory_bytes: usize,
    get: Box<dyn Fn(usize) -> &'n [u64] + 'n>,
    go_on: Box<dyn Fn() -> Result<()> + 'n>,
}

impl<'n> Notes<'n> {
    /// Returns notes that `get` reads, and that may take so many bytes; `go_on` says whether the run goes on.
    pub fn new(
        count: usize,
        memory_bytes: usize,
        get: impl Fn(usize) -> &'n [u64] + 'n,
        go_on: impl Fn() -> Result<()> + 'n,
    ) -> Notes<'n> {
        Notes { count, memory_bytes, get: Box::new(get), go_on: Box::new(go_on) }
    }

    /// Returns notes in memory, of which learning may take 1 GiB.
    pub fn in_memory(notes: &'n [Vec<u64>]) -> Notes<'n> {
        Notes::new(notes.len(), 1 << 30, |at| &notes[at], || Ok(()))
    }

    /// Returns one note.
    pub fn get(&self, at: usize) -> &'n [u64] {
        (self.get)(at)
    }

    /// Returns all notes in order.
    pub fn iter(&self) -> impl Iterator<Item = &'n [u64]> {
        (0..self.count).map(|at| self.get(at))
    }

    /// Checks whether the run goes on.
    ///
    /// # Errors
    /// [`Error::Interrupted`](dupsift_core::error::Error::Interrupted) if you stopped the run.
    pub fn go_on(&self) -> Result<()> {
        (self.go_on)()
    }
}

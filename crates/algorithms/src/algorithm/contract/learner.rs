//! Defines training: an algorithm that uses a model learns the model from the corpus before the first document is signed.

use dupsift_core::error::Result;
use dupsift_text::Analysis;

/// Learns a model from the corpus. Each document to be signed contributes one note. Notes are kept in temporary files. The order of notes
/// depends only on the texts, and the note of a duplicated text appears once per copy.
pub trait Learner: Send + Sync {
    /// Appends the note of one document: the numbers that learning uses. Documents with an empty note are ignored.
    fn note(&self, document: &Analysis<'_>, out: &mut Vec<u64>);

    /// Returns the model as a list of numbers. The list may use only a fraction of the memory limit.
    ///
    /// # Errors
    /// Returns the error of [`Notes::go_on`], which implementations must call in long loops.
    fn learn(&self, notes: &Notes<'_>) -> Result<Vec<u64>>;
}

/// Holds the notes of all nonempty documents, ordered by the hash of their texts.
pub struct Notes<'n> {
    /// The number of notes.
    pub count: usize,
    /// The memory that learning may use, in bytes. A learner that needs more memory returns an error that explains how to reduce memory
    /// use.
    pub memory_bytes: usize,
    get: Box<dyn Fn(usize) -> &'n [u64] + 'n>,
    go_on: Box<dyn Fn() -> Result<()> + 'n>,
}

impl<'n> Notes<'n> {
    /// Returns a view of `count` notes; `get` returns the note at a position. `memory_bytes` is the memory limit for learning. `go_on`
    /// returns an error if the run must stop.
    pub fn new(
        count: usize,
        memory_bytes: usize,
        get: impl Fn(usize) -> &'n [u64] + 'n,
        go_on: impl Fn() -> Result<()> + 'n,
    ) -> Notes<'n> {
        Notes { count, memory_bytes, get: Box::new(get), go_on: Box::new(go_on) }
    }

    /// Returns a view of notes that are in memory; the memory limit for learning is 1 GiB.
    pub fn in_memory(notes: &'n [Vec<u64>]) -> Notes<'n> {
        Notes::new(notes.len(), 1 << 30, |at| &notes[at], || Ok(()))
    }

    /// Returns the note at this position.
    pub fn get(&self, at: usize) -> &'n [u64] {
        (self.get)(at)
    }

    /// Returns all notes in order.
    pub fn iter(&self) -> impl Iterator<Item = &'n [u64]> {
        (0..self.count).map(|at| self.get(at))
    }

    /// Checks whether the run may continue.
    ///
    /// # Errors
    /// Returns [`Error::Interrupted`](dupsift_core::error::Error::Interrupted) if the run was interrupted.
    pub fn go_on(&self) -> Result<()> {
        (self.go_on)()
    }
}

//! Distinguishes the two kinds of document numbers. A run numbers its documents from 0, starting with the indexed documents that take part
//! in the run; this number is a plain `u64` named `doc`. An index numbers the documents of all batches; this number is an [`IndexDoc`].

use std::fmt;

/// The number of a document in an index. The tables of an incremental run also contain this number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexDoc(pub u64);

impl IndexDoc {
    /// Returns the position of the document in an array with one element for each document in the index.
    #[inline]
    pub fn as_usize(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for IndexDoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

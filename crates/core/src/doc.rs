//! The two numbers of a document. In a run, documents are counted from 0, and indexed documents that take part come first: that number
//! is a plain `u64` named `doc`. An index counts the documents of all batches: that number is an [`IndexDoc`].

use std::fmt;

/// The number of a document in an index. The tables of an incremental run have it too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexDoc(pub u64);

impl IndexDoc {
    /// Returns the place of the document in an array with an element for each document of the index.
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

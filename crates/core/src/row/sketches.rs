//! Defines document sketches: a few eight-byte words that a method stores once per document, separately from its rows, to filter pairs
//! before they become candidates.

/// The sketches of all documents that have a sketch.
pub trait Sketches {
    /// Copies the first words of a document's sketch to `to`, or zeros if the document has no sketch.
    fn copy(&self, doc: u64, to: &mut [u64]);
}

/// The sketches of a few documents in memory, each with the document number.
impl Sketches for [(u64, &[u64])] {
    fn copy(&self, doc: u64, to: &mut [u64]) {
        to.fill(0);
        if let Some((_, sketch)) = self.iter().find(|(number, _)| *number == doc) {
            to.iter_mut().zip(*sketch).for_each(|(to, from)| *to = *from);
        }
    }
}

//! Sketches of documents: a few words of eight bytes that a method keeps of each document once, beside its rows, and by which
//! it judges documents that meet before they are a candidate pair.

/// The sketches of all documents that have one.
pub trait Sketches {
    /// Copies the first words of the sketch of a document; zeros for a document without one.
    fn copy(&self, doc: u64, to: &mut [u64]);
}

/// Sketches in memory, for a few documents: each with its number.
impl Sketches for [(u64, &[u64])] {
    fn copy(&self, doc: u64, to: &mut [u64]) {
        to.fill(0);
        if let Some((_, sketch)) = self.iter().find(|(number, _)| *number == doc) {
            to.iter_mut().zip(*sketch).for_each(|(to, from)| *to = *from);
        }
    }
}

//! Selects the documents whose pairs this run has to report. Pairs between indexed documents were reported by earlier runs.

use crate::classes::Classes;
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_core::row::RowLayout;
use dupsift_spill::shuffle::AtomicBits;

/// Determines which indexed documents represent a new document with the same text or key.
pub(crate) struct NewDocuments<'f> {
    session: &'f Session<'f>,
    /// The first document of each class that contains a new document; `None` if no indexed documents take part.
    classes: Option<AtomicBits>,
}

impl<'f> NewDocuments<'f> {
    /// Selects the documents. `classes` holds the algorithm's own classes if equal keys are duplicates.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub(crate) fn new(session: &'f Session<'f>, classes: Option<&Classes>) -> Result<NewDocuments<'f>> {
        let Some(classes) = classes.filter(|_| session.indexed.is_some()) else {
            return Ok(NewDocuments { session, classes: None });
        };
        let bits = AtomicBits::new(session.engine.dir, "new-classes", session.documents() as usize)?;
        for class in classes.of(0..session.base).filter(|class| class.iter().any(|doc| session.is_new(doc))) {
            bits.set(class.get(0) as usize);
        }
        Ok(NewDocuments { session, classes: Some(bits) })
    }

    /// Returns whether this run has to report the pairs of a document.
    #[inline]
    pub(crate) fn is(&self, doc: u64) -> bool {
        self.session.is_new(doc) || self.classes.as_ref().is_some_and(|classes| classes.get(doc as usize))
    }

    /// Returns whether one of these rows, which have the same key, belongs to a document whose pairs this run has to report.
    pub(crate) fn is_in(&self, layout: RowLayout, rows: &[u8]) -> bool {
        self.session.indexed.is_none() || rows.chunks_exact(layout.width()).any(|row| self.is(layout.decode(row).doc))
    }
}

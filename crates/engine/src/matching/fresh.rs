//! Pairs of two documents of an index were told before: whose pairs are to be told.

use crate::job::pair::classes::Classes;
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_core::row::RowLayout;
use dupsift_spill::shuffle::AtomicBits;

/// Which documents of an index a document of the corpus stands for, by its text or its key.
pub struct Fresh<'f> {
    session: &'f Session<'f>,
    /// The first documents of classes with one of the corpus; none where there are no guests.
    classes: Option<AtomicBits>,
}

impl<'f> Fresh<'f> {
    /// By the method's own classes, where equal keys are duplicates.
    ///
    /// # Errors
    /// A full disk.
    pub fn new(session: &'f Session<'f>, classes: Option<&Classes>) -> Result<Fresh<'f>> {
        let Some(classes) = classes.filter(|_| session.guests.is_some()) else {
            return Ok(Fresh { session, classes: None });
        };
        let bits = AtomicBits::new(session.engine.dir, "fresh-classes", session.documents() as usize)?;
        for class in classes.of(0..session.base).filter(|class| class.iter().any(|doc| session.is_fresh(doc))) {
            bits.set(class.get(0) as usize);
        }
        Ok(Fresh { session, classes: Some(bits) })
    }

    /// Whether pairs with the document are to be told.
    #[inline]
    pub fn is(&self, doc: u64) -> bool {
        self.session.is_fresh(doc) || self.classes.as_ref().is_some_and(|classes| classes.get(doc as usize))
    }

    /// Whether rows of one key are not all of documents whose pairs were told before.
    pub fn is_in(&self, layout: RowLayout, rows: &[u8]) -> bool {
        self.session.guests.is_none() || rows.chunks_exact(layout.width()).any(|row| self.is(layout.decode(row).doc))
    }
}

//! Removes the documents in which too little text remains, and chooses the documents that are kept instead of them.

use std::path::Path;

use crate::job::decide::decided::{Decided, DecidedRow, ROW, each as each_removal, push_chained, push_emptied};
use crate::job::text_edits::TextEdits;
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::{AtomicBits, AtomicCells};

/// Returns the documents that are removed because too little text remains: those with nothing left, and those with fewer characters than
/// `min-chars-left`, except documents that keep the first copy of a passage. `compares` returns whether two documents are compared. A
/// document in favor of which others were removed is kept if no document that is compared with them can take its place.
///
/// # Errors
/// Returns an error if the disk is full.
pub(crate) fn emptied(
    edits: &TextEdits,
    session: &Session<'_>,
    decided: &Decided,
    compares: &dyn Fn(u64, u64) -> bool,
) -> Result<Emptied> {
    let documents = AtomicBits::new(session.engine.dir, "emptied", edits.len())?;
    let cut = &session.options.cut;
    let keeps_first = |doc: u64| !cut.first && edits.has_first_copy(doc);
    edits.each(|doc, cuts| {
        if cuts.left == 0 || cuts.left < cut.min_left && !keeps_first(doc) {
            documents.set(doc as usize);
        }
        Ok(())
    })?;
    let mut emptied = Emptied::new(session.engine.dir, documents)?;
    emptied.choose(edits, compares);
    let needed = AtomicBits::new(session.engine.dir, "needed", edits.len())?;
    each_removal(decided, session.engine.budget.a_thread, |doc, kept| {
        if emptied.has(kept) && !edits.is_blank(kept) && emptied.instead_for(doc, kept, compares).is_none() {
            needed.set(kept as usize);
        }
        Ok(())
    })?;
    // The documents that stay may be kept instead of others.
    emptied.needed = needed;
    emptied.choose(edits, compares);
    Ok(emptied)
}

/// Holds the documents that are removed because too little text remains.
pub(crate) struct Emptied {
    documents: AtomicBits,
    /// The documents that are kept, because no other document can take their place.
    needed: AtomicBits,
    /// The document that is kept instead of each document, plus one, and the one for documents that are not compared with it; 0 if there is
    /// none. Many documents may be removed in favor of one, so these are chosen once.
    instead: [AtomicCells<u64>; 2],
}

impl Emptied {
    fn new(dir: &Path, documents: AtomicBits) -> Result<Emptied> {
        let len = if documents.count() == 0 { 0 } else { documents.len() };
        let cells = |name| AtomicCells::new(dir, name, len);
        let instead = [cells("kept-instead")?, cells("kept-instead-elsewhere")?];
        Ok(Emptied { needed: AtomicBits::new(dir, "needed-none", documents.len())?, documents, instead })
    }

    /// Chooses the documents that are kept instead.
    fn choose(&self, cuts: &TextEdits, compares: &dyn Fn(u64, u64) -> bool) {
        for doc in self.documents() {
            let first = self.largest(cuts, doc, |_| true);
            let second = first.and_then(|first| self.largest(cuts, doc, |other| compares(first, other)));
            for (cells, chosen) in self.instead.iter().zip([first, second]) {
                cells.store(doc as usize, chosen.map_or(0, |chosen| chosen + 1));
            }
        }
    }

    /// Returns the number of documents.
    pub(crate) fn count(&self) -> u64 {
        self.documents.count() - self.needed.count()
    }

    /// Returns whether a document is removed.
    pub(crate) fn has(&self, doc: u64) -> bool {
        let doc = doc as usize;
        doc < self.documents.len() && self.documents.get(doc) && !self.needed.get(doc)
    }

    /// Returns the document that is kept instead of an emptied one: the one that contains the first copy of the largest passage. Returns
    /// `None` if there is none, for example because the first copies are cut, too.
    pub(crate) fn instead(&self, doc: u64) -> Option<u64> {
        self.instead[0].load(doc as usize).checked_sub(1)
    }

    /// Works like [`Emptied::instead`], but chooses among the documents that are compared with `removed`, which was removed in favor of the
    /// emptied one. `compares` returns whether two documents have different scopes, or is always true.
    pub(crate) fn instead_for(&self, removed: u64, doc: u64, compares: &dyn Fn(u64, u64) -> bool) -> Option<u64> {
        let first = self.instead(doc)?;
        // If the scope of the removed document is that of the first choice, the second choice has another one.
        if compares(removed, first) { Some(first) } else { self.instead[1].load(doc as usize).checked_sub(1) }
    }

    /// Returns the document that contains the first copy of the largest passage, among the documents that `may_be` allows.
    fn largest(&self, cuts: &TextEdits, doc: u64, may_be: impl Fn(u64) -> bool) -> Option<u64> {
        let kept = cuts.of(doc)?.passages().filter(|one| !self.has(one.first_doc) && may_be(one.first_doc));
        let largest = kept.reduce(|a, b| if b.end - b.start > a.end - a.start { b } else { a });
        largest.map(|one| one.first_doc)
    }

    /// Returns the documents in order.
    pub(crate) fn documents(&self) -> impl Iterator<Item = u64> + '_ {
        self.documents.iter().map(|doc| doc as u64).filter(|doc| self.has(*doc))
    }
}

/// Adds the removals of documents in which too little text remains. Each of these documents is removed in favor of the kept document that
/// contains the first copy of the removed document's largest passage. If others were removed in favor of the removed document, such a
/// document takes its place, if possible one for which `compares` returns true. If there is no such document, for example because the first
/// copies are cut too, the row of a removed document names the document itself.
///
/// # Errors
/// Returns an error if the disk is full.
pub(crate) fn add_emptied(
    session: &Session<'_>,
    decided: &mut Decided,
    emptied: &Emptied,
    compares: &dyn Fn(u64, u64) -> bool,
) -> Result<()> {
    if emptied.count() == 0 {
        return Ok(());
    }
    let rows = decided.rows.rows() + emptied.count();
    let all = session.engine.ordered(session.documents(), "removed-and-emptied", ROW, 8, 8, rows)?;
    let mut writer = all.writer();
    for partition in 0..decided.rows.partitions() {
        let records = decided.rows.load(partition, session.engine.budget.a_thread)?;
        for at in 0..records.len() {
            let row: &DecidedRow = records.row(at);
            let (doc, kept) = (row.doc.get(), row.kept.get());
            if doc != kept && emptied.has(kept) {
                let instead = emptied.instead_for(doc, kept, compares).or_else(|| emptied.instead(kept));
                push_chained(&mut writer, doc, instead.unwrap_or(doc))?;
            } else {
                writer.push(records.record(at))?;
            }
        }
    }
    for doc in emptied.documents() {
        push_emptied(&mut writer, doc, emptied.instead(doc).unwrap_or(doc))?;
    }
    writer.flush()?;
    drop(writer);
    Ok(decided.rows = all.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::text_edits::save;
    use dupsift_passages::Passage;
    use dupsift_spill::shuffle::Heap;
    use proptest::prelude::*;

    const DOCUMENTS: usize = 8;

    fn passage(length: u32, first_doc: u64) -> Passage {
        Passage { start: 0, end: length, start_byte: 0, end_byte: length, copies: 2, first_start: 0, first_doc }
    }

    proptest! {
        /// The choice that is made once per document is that of a search for each removed document.
        #[test]
        fn the_document_kept_instead_has_the_largest_passage_among_those_compared(
            passages in proptest::collection::vec(
                proptest::collection::vec((1u32..5, 0..DOCUMENTS as u64), 0..6), DOCUMENTS),
            emptied in proptest::collection::vec(any::<bool>(), DOCUMENTS),
            scopes in proptest::option::of(proptest::collection::vec(0u8..3, DOCUMENTS)),
        ) {
            let folder = tempfile::tempdir().expect("a folder");
            let dir = folder.path();
            let begins = AtomicCells::new(dir, "begins", DOCUMENTS).expect("cells");
            let (heap, mut bytes) = (Heap::new(dir, "heap").expect("a heap"), Vec::new());
            for (doc, found) in passages.iter().enumerate().filter(|(_, found)| !found.is_empty()) {
                save(&found.iter().map(|(length, first)| passage(*length, *first)).collect::<Vec<_>>(), 0, &mut bytes);
                begins.store(doc, heap.append(&bytes).expect("saved") + 1);
            }
            let firsts = AtomicBits::new(dir, "firsts", DOCUMENTS).expect("bits");
            let cuts = TextEdits { begins, heap: heap.freeze().expect("a heap"), firsts };
            let documents = AtomicBits::new(dir, "emptied", DOCUMENTS).expect("bits");
            (0..DOCUMENTS).filter(|doc| emptied[*doc]).for_each(|doc| _ = documents.set(doc));
            let compares = |a: u64, b: u64| {
                scopes.as_ref().is_none_or(|scopes| scopes[a as usize] != scopes[b as usize])
            };
            let all = Emptied::new(dir, documents).expect("cells");
            all.choose(&cuts, &compares);
            for doc in all.documents() {
                prop_assert_eq!(all.instead(doc), all.largest(&cuts, doc, |_| true));
                for removed in 0..DOCUMENTS as u64 {
                    let searched = all.largest(&cuts, doc, |first| compares(removed, first));
                    prop_assert_eq!(all.instead_for(removed, doc, &compares), searched);
                }
            }
        }
    }
}

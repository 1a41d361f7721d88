//! Chooses the document under which the index stores each distinct text in a batch. Among documents with the same text, the kept document
//! is chosen. Therefore, later documents that are removed because of this text refer to a kept document. If all documents with the same
//! text are removed, the first of them is chosen.

use dupsift_core::doc::IndexDoc;
use dupsift_core::error::Result;
use dupsift_core::row::number;
use dupsift_engine::classes::Classes;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::matching::meeting::Numbered;
use dupsift_engine::session::Session;
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, Sorted};

/// Holds rows that an earlier stage recorded for the index, and the positions of document numbers in these rows.
pub(crate) struct Noted {
    /// The name of the file with the rows.
    pub name: String,
    /// The rows.
    pub rows: Sorted,
    /// The byte ranges of a row that contain document numbers (big-endian).
    pub docs: Vec<std::ops::Range<usize>>,
}

/// Maps each distinct text to its document in the index. Signatures, pairs and first lines refer to the first document that contains a
/// text, and these references are mapped when they are written.
pub(crate) struct KnownBy<'k> {
    copies: &'k Classes,
    base: u64,
    /// `others[i]` is one more than the number of the document that the index uses instead of document `i` of the batch; 0 if there is no
    /// such document. `None` if the index uses the first document for every text.
    others: Option<AtomicCells<u64>>,
}

impl<'k> KnownBy<'k> {
    /// Chooses a document for each distinct text in the batch; `removed` marks the removed documents.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub(crate) fn new(session: &Session<'_>, copies: &'k Classes, removed: &AtomicBits) -> Result<KnownBy<'k>> {
        let mut known = KnownBy { copies, base: session.base, others: None };
        for class in copies.of(session.base..session.documents()) {
            session.engine.go_on()?;
            let first = class.get(0);
            match class.iter().find(|&doc| !removed.get(doc as usize)) {
                Some(kept) if kept != first => {
                    if known.others.is_none() {
                        known.others = Some(AtomicCells::new(session.engine.dir, "known-by", session.rows() as usize)?);
                    }
                    known.others.iter().for_each(|others| others.store((first - session.base) as usize, kept + 1));
                }
                _ => {}
            }
        }
        Ok(known)
    }

    /// Returns the document under which the index stores the text of `doc`; `None` if `doc` is not the first document with that text.
    pub(crate) fn of(&self, doc: u64) -> Option<u64> {
        if self.copies.is_alone(doc) {
            return Some(doc);
        }
        if self.copies.is_extra_copy(doc) {
            return None;
        }
        let other = doc.checked_sub(self.base).zip(self.others.as_ref());
        other.and_then(|(own, others)| others.load(own as usize).checked_sub(1)).or(Some(doc))
    }

    /// Returns whether the index stores text from the batch under this document.
    pub(crate) fn has(&self, doc: u64) -> bool {
        doc >= self.base && self.of(self.copies.representative(doc)) == Some(doc)
    }

    /// Replaces each document in recorded rows with the document under which the index stores its text.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub(crate) fn rename(&self, engine: &Engine<'_>, noted: Noted, numbered: Numbered) -> Result<Sorted> {
        let Noted { name, rows, docs } = noted;
        if self.others.is_none() {
            return Ok(rows);
        }
        let (width, group_width) = rows.widths();
        let renamed = engine.shuffle(&format!("{name}-renamed"), width, group_width, rows.rows())?;
        engine.work(
            rows.partitions(),
            || Ok((renamed.writer(), Vec::new())),
            |(writer, row), partition| {
                engine.go_on()?;
                let records = rows.load(partition, engine.budget.a_thread)?;
                for record in (0..records.len()).map(|at| records.record(at)) {
                    row.clear();
                    row.extend_from_slice(record);
                    for place in &docs {
                        self.rename_in(&mut row[place.clone()], numbered);
                    }
                    writer.push(row)?;
                }
                rows.remove(partition)
            },
            |(mut writer, _)| writer.flush(),
        )?;
        renamed.finish()
    }

    /// Replaces the big-endian number of a batch document with the number of the document under which the index stores its text.
    pub(crate) fn rename_in(&self, bytes: &mut [u8], numbered: Numbered) {
        let before = IndexDoc(number(bytes));
        if before < numbered.next_doc {
            return;
        }
        if let Some(known) = self.of(numbered.doc(before)) {
            let after = numbered.number(known).0.to_be_bytes();
            bytes.copy_from_slice(&after[after.len() - bytes.len()..]);
        }
    }
}

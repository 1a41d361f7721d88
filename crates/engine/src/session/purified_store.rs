//! Stores the text extracted from each page in a temporary file, by document number.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::purify_report::PurifyReport;
use crate::engine::checkpoints::{Checkpoint, CheckpointReader, CheckpointWriter, Recorder};
use crate::engine::threads::Engine;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::{AtomicCells, FrozenHeap, Heap};
use dupsift_tables::RejectReason;
use dupsift_text::Field;

/// Holds the stored result for one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept<'k> {
    /// A row without a page.
    Null,
    /// A row that cannot be used, with the reason and the detail.
    Bad(RejectReason, &'k str),
    /// A page, with its body and its fields; the fields are in the order of [`Field`].
    Text { text: &'k str, fields: [Option<&'k str>; Field::ALL.len()] },
}

const NULL: u8 = 0;
const BAD: u8 = 1;
const TEXT: u8 = 2;
/// The length field of a missing value.
const NONE: u32 = u32::MAX;

impl<'k> Kept<'k> {
    /// Appends the kind of the row, the reason code (if there is one), and the strings. Each string is preceded by its four-byte length.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let put = |out: &mut Vec<u8>, text: Option<&str>| {
            out.extend(text.map_or(NONE, |text| text.len() as u32).to_le_bytes());
            out.extend(text.unwrap_or_default().as_bytes());
        };
        match self {
            Kept::Null => out.push(NULL),
            Kept::Bad(reason, detail) => {
                out.extend([BAD, reason.code()]);
                put(out, Some(detail));
            }
            Kept::Text { text, fields } => {
                out.push(TEXT);
                put(out, Some(text));
                fields.iter().for_each(|field| put(out, *field));
            }
        }
    }

    /// Reads the row at an offset in the heap.
    fn read(heap: &'k FrozenHeap, mut at: u64) -> Kept<'k> {
        let kind = heap.get(at, 1)[0];
        let code = if kind == BAD { heap.get(at + 1, 1)[0] } else { 0 };
        at += if kind == BAD { 2 } else { 1 };
        let mut next = || {
            let mut length = [0; 4];
            length.copy_from_slice(heap.get(at, 4));
            at += 4;
            let length = u32::from_le_bytes(length);
            if length == NONE {
                return None;
            }
            let text = heap.get(at, length as usize);
            at += u64::from(length);
            Some(std::str::from_utf8(text).unwrap_or_default())
        };
        match kind {
            NULL => Kept::Null,
            BAD => {
                let reason = RejectReason::of_code(code).unwrap_or(RejectReason::ParserFailed);
                Kept::Bad(reason, next().unwrap_or_default())
            }
            _ => Kept::Text { text: next().unwrap_or_default(), fields: std::array::from_fn(|_| next()) },
        }
    }
}

/// Holds the store while threads fill it.
pub(crate) struct Filling {
    heap: Heap,
    /// The offset of each document's row, plus one; 0 for a document that was not read.
    begins: AtomicCells<u64>,
}

impl Recorder for Filling {
    fn parts(&self) -> Vec<&dyn Recorder> {
        vec![&self.heap, &self.begins]
    }
}

impl Filling {
    /// Creates an empty store for `documents` documents, in files in the folder `dir`.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub(crate) fn new(dir: &Path, documents: u64) -> Result<Filling> {
        let heap = Heap::new(dir, "purified")?;
        Ok(Filling { heap, begins: AtomicCells::new(dir, "purified-begins", documents as usize)? })
    }

    /// Appends rows. `places` holds the documents and the offsets of their rows in `bytes`.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub(crate) fn append(&self, bytes: &[u8], places: &[(u64, u64)]) -> Result<()> {
        let begin = self.heap.append(bytes)?;
        places.iter().for_each(|&(doc, place)| self.begins.store(doc as usize, begin + place + 1));
        Ok(())
    }

    /// Completes the store.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub(crate) fn freeze(self) -> Result<Stored> {
        Ok(Stored { heap: self.heap.freeze_in_order()?, begins: self.begins })
    }
}

/// Holds the texts extracted so far from the pages of a corpus.
#[derive(Default)]
pub struct Pages {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    stored: Option<Arc<Stored>>,
    report: PurifyReport,
}

/// Holds the results and the report of a pass over all pages.
pub(crate) struct KeptPages {
    stored: Arc<Stored>,
    report: PurifyReport,
}

impl Checkpoint for KeptPages {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&self.report)?;
        self.stored.save(to)
    }

    fn restore(_: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<KeptPages> {
        Ok(KeptPages { report: from.plain()?, stored: Arc::new(Stored::restore(from)?) })
    }
}

impl Pages {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the results for all pages, if a pass has kept them.
    pub(crate) fn stored(&self) -> Option<Arc<Stored>> {
        self.state().stored.clone()
    }

    /// Returns the report of the pass that kept the results.
    pub(crate) fn report(&self) -> PurifyReport {
        self.state().report.clone()
    }

    /// Keeps the results of a pass over all documents.
    pub(crate) fn keep(&self, filling: Arc<Filling>, report: PurifyReport) -> Result<()> {
        // The threads that shared the store have finished, so this is the last reference.
        if let Some(filling) = Arc::into_inner(filling) {
            let stored = Arc::new(filling.freeze()?);
            let mut state = self.state();
            state.stored = Some(stored);
            state.report = report;
        }
        Ok(())
    }

    /// Returns the kept results with their report.
    pub(crate) fn kept(&self) -> Option<KeptPages> {
        let state = self.state();
        Some(KeptPages { stored: state.stored.clone()?, report: state.report.clone() })
    }

    /// Uses results from an earlier process so that no pass has to purify the pages.
    pub(crate) fn know(&self, pages: KeptPages) {
        let mut state = self.state();
        (state.stored, state.report) = (Some(pages.stored), pages.report);
    }
}

/// Holds the completed store.
pub(crate) struct Stored {
    heap: FrozenHeap,
    begins: AtomicCells<u64>,
}

impl Stored {
    /// Saves the store to a checkpoint.
    pub(crate) fn save(&self, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.heap(&self.heap)?;
        to.cells(&self.begins)
    }

    /// Restores the store from a checkpoint.
    pub(crate) fn restore(from: &mut CheckpointReader<'_>) -> Result<Stored> {
        Ok(Stored { heap: from.heap()?, begins: from.cells()? })
    }

    /// Returns the stored result for a document.
    pub(crate) fn of(&self, doc: u64) -> Kept<'_> {
        match self.begins.load(doc as usize) {
            0 => Kept::Null,
            begin => Kept::read(&self.heap, begin - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_read_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let heap = Heap::new(dir.path(), "kept").expect("a heap");
        let rows = [
            Kept::Null,
            Kept::Bad(RejectReason::NoBody, "hub"),
            Kept::Text { text: "тело", fields: [Some("題"), None, Some("")] },
            Kept::Text { text: "", fields: [None, None, None] },
        ];
        let mut bytes = Vec::new();
        let mut places = Vec::new();
        for row in &rows {
            places.push(bytes.len() as u64);
            row.write(&mut bytes);
        }
        heap.append(&bytes).expect("written");
        let heap = heap.freeze().expect("frozen");
        for (row, place) in rows.iter().zip(places) {
            assert_eq!(Kept::read(&heap, place), *row);
        }
    }
}

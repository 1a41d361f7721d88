//! While a pass reads texts for another purpose, keeps the texts of documents that belong to pairs, for use on the report page. The report
//! page is rendered after all tables are written. Looking up a text at that point requires decompressing a whole page of its file.
//!
//! The choice of kept texts depends on which documents this process reads, and in what order. The content of the report page does not
//! depend on which texts are kept, because all other texts are looked up.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dupsift_core::error::Result;
use dupsift_spill::shuffle::Heap;
use dupsift_tables::{Cell, Documents};

/// The maximum number of document texts that are kept. If more documents than this belong to pairs, looking up the remaining texts is a
/// small part of the work.
const MOST: usize = 20_000;
/// The maximum total size of the kept texts, in bytes.
const MOST_BYTES: usize = 32 << 20;
/// The maximum length of a kept document text, in bytes.
const LONGEST: usize = 64 << 10;
/// The maximum length of the id of a document whose text is kept, in bytes. Ids are held in memory.
const LONGEST_ID: usize = 256;

/// Holds the texts kept so far.
#[derive(Default)]
pub struct KeptTexts {
    /// Whether the store no longer accepts texts.
    is_closed: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    heap: Option<Heap>,
    bytes: usize,
    texts: BTreeMap<u64, Place>,
    /// Whether all ids have been recorded.
    has_ids: bool,
}

/// Holds the location of a document's text.
struct Place {
    at: u64,
    bytes: usize,
    id: Option<String>,
}

/// Holds the kept text of a document.
pub struct KeptText {
    /// The number of the document.
    pub doc: u64,
    /// The id of the document; `None` for a document without an id.
    pub id: Option<String>,
    /// The complete text.
    pub text: String,
}

impl KeptTexts {
    /// Returns an empty store. The store accepts texts only if the run writes a report page.
    pub fn new(is_asked: bool) -> KeptTexts {
        KeptTexts { is_closed: AtomicBool::new(!is_asked), state: Mutex::default() }
    }

    /// Keeps the text of a document in a temporary file in `dir`, if there is room.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub fn offer(&self, dir: &Path, doc: u64, text: &str) -> Result<()> {
        if text.len() > LONGEST || self.is_closed.load(Relaxed) {
            return Ok(());
        }
        let mut state = self.state();
        if state.texts.contains_key(&doc) {
            return Ok(());
        }
        state.bytes += text.len();
        if state.bytes > MOST_BYTES || state.texts.len() == MOST {
            self.is_closed.store(true, Relaxed);
            return Ok(());
        }
        if state.heap.is_none() {
            state.heap = Some(Heap::new(dir, "kept-texts")?);
        }
        let at = state.heap.as_ref().map_or(Ok(0), |heap| heap.append(text.as_bytes()))?;
        state.texts.insert(doc, Place { at, bytes: text.len(), id: None });
        Ok(())
    }

    /// Keeps the texts of those documents in a batch that belong to pairs.
    ///
    /// # Errors
    /// See [`KeptTexts::offer`].
    pub(crate) fn offer_batch(&self, dir: &Path, batch: &Documents, is_in_pairs: impl Fn(u64) -> bool) -> Result<()> {
        for row in 0..batch.len() {
            if let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row))
                && is_in_pairs(doc)
            {
                self.offer(dir, doc, text)?;
            }
        }
        Ok(())
    }

    /// Records the ids of those documents in a batch whose texts are kept.
    pub(crate) fn name_batch(&self, batch: &Documents) {
        let Some(last) = batch.len().checked_sub(1) else { return };
        let mut state = self.state();
        // The documents in a batch are in ascending order.
        if state.texts.range(batch.doc(0)..).next().is_none_or(|(&kept, _)| kept > batch.doc(last)) {
            return;
        }
        for row in 0..batch.len() {
            let (doc, Some(id)) = (batch.doc(row), batch.id(row)) else { continue };
            let Some(place) = state.texts.get_mut(&doc) else { continue };
            let id = id.to_string();
            if id.len() > LONGEST_ID {
                state.texts.remove(&doc);
            } else {
                place.id = Some(id);
            }
        }
    }

    /// Records that all ids have been read.
    pub fn has_ids(&self) {
        self.state().has_ids = true;
    }

    /// Returns the kept texts of these documents, and empties the store.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub fn take(&self, docs: &BTreeSet<u64>) -> Result<Vec<KeptText>> {
        self.is_closed.store(true, Relaxed);
        let State { heap, mut texts, has_ids, .. } = std::mem::take(&mut *self.state());
        let Some(heap) = heap.filter(|_| has_ids) else { return Ok(Vec::new()) };
        let heap = heap.freeze()?;
        let kept = docs.iter().filter_map(|&doc| Some((doc, texts.remove(&doc)?)));
        Ok(kept
            .map(|(doc, Place { at, bytes, id })| {
                let text = String::from_utf8_lossy(heap.get(at, bytes)).into_owned();
                KeptText { doc, id, text }
            })
            .collect())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, StringArray};

    use super::*;

    #[test]
    fn what_was_kept_comes_back_with_its_id() {
        let dir = tempfile::tempdir().unwrap();
        let kept = KeptTexts::new(true);
        for (doc, text) in [(3, "три"), (7, "七"), (3, "again"), (9, &"x".repeat(LONGEST + 1)), (12, "")] {
            kept.offer(dir.path(), doc, text).unwrap();
        }
        kept.offer(dir.path(), 13, "with a long id").unwrap();
        let long = "i".repeat(LONGEST_ID + 1);
        for (docs, ids) in
            [(vec![7, 8], ["id 7", "id 8"]), (vec![12, 13], ["id 12", &long]), (vec![20, 21], ["id 20", "id 21"])]
        {
            let ids: ArrayRef = Arc::new(StringArray::from(ids.to_vec()));
            kept.name_batch(&Documents::of_columns(docs, vec![("id", ids)], None, Some("id")).unwrap());
        }
        kept.has_ids();
        let taken = kept.take(&BTreeSet::from([3, 7, 8, 9, 12, 13])).unwrap();
        let taken: Vec<_> = taken.iter().map(|one| (one.doc, one.id.as_deref(), one.text.as_str())).collect();
        assert_eq!(taken, [(3, None, "три"), (7, Some("id 7"), "七"), (12, Some("id 12"), "")]);
        kept.offer(dir.path(), 8, "late").unwrap();
        assert!(kept.take(&BTreeSet::from([8])).unwrap().is_empty());
    }

    #[test]
    fn it_is_bounded_and_of_no_use_without_ids_or_without_a_page() {
        let dir = tempfile::tempdir().unwrap();
        let kept = KeptTexts::new(true);
        let text = "x".repeat(LONGEST);
        (0..1000).for_each(|doc| kept.offer(dir.path(), doc, &text).unwrap());
        assert_eq!(kept.state().texts.len(), MOST_BYTES / LONGEST);
        let all = (0..1000).collect();
        assert!(kept.take(&all).unwrap().is_empty(), "their ids are not known");
        let none = KeptTexts::new(false);
        none.offer(dir.path(), 1, "a").unwrap();
        none.has_ids();
        assert!(none.take(&all).unwrap().is_empty());
        let few = KeptTexts::new(true);
        (0..MOST as u64 + 9).for_each(|doc| few.offer(dir.path(), doc, "a").unwrap());
        assert_eq!(few.state().texts.len(), MOST);
    }
}

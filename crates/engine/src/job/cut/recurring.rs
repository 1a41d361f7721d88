//! Finds the anchors that occur more than once in the kept documents.

use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_core::hash::mix64;
use dupsift_core::row::number;
use dupsift_core::unread;
use dupsift_passages::{Anchor, Cut, Folded, Winnow};
use dupsift_spill::shuffle::{AtomicCells, FrozenHeap, Heap};
use dupsift_tables::Cell;

use super::order::Order;

/// The number of hashes per window. A smaller window yields more anchors to store, but fewer unique runs pass the filters.
const WINDOW: usize = 64;
/// The number of bytes before a document's anchors. These bytes hold the number of anchors and the length of the folded text.
const HEAD: usize = 8;
/// The maximum size in bytes of a text buffer that a thread keeps.
pub(crate) const KEPT_BYTES: usize = 4 << 20;
/// The number of filter bits per anchor.
const BITS: u64 = 16;

/// Returns the approximate size, in bytes, of the anchors and the filters for this many bytes of text.
pub(crate) fn expected_bytes(length: u32, text_bytes: u64) -> u64 {
    Winnow::new(length, WINDOW.max(length as usize / 4)).anchors_of(text_bytes) * (Anchor::SAVED as u64 + 2 * BITS / 8)
}

/// Holds two Bloom filters in which all bits of a key are in one 64-bit word. The first filter is for all anchors; the second filter is for
/// anchors that recur. The second filter contains every anchor that occurs at least twice. The second filter may also contain, by chance,
/// an anchor that occurs only once. Such an anchor creates unnecessary rows but does not change results.
pub(crate) struct Recurring {
    /// The rule that chooses the anchors.
    pub winnow: Winnow,
    /// The offset of each document's anchors, plus one; 0 for a document that is too short to have anchors.
    begins: AtomicCells<u64>,
    came: AtomicCells<u64>,
    again: AtomicCells<u64>,
}

impl Recurring {
    fn new(session: &Session<'_>, length: u32, text_bytes: u64) -> Result<Recurring> {
        // The filters are in temporary files. Filters that exceed a quarter of the memory limit would be slow, so larger windows are used
        // to make the filters smaller.
        let most = session.engine.budget.memory / 4;
        let bytes_of = |winnow: Winnow| winnow.anchors_of(text_bytes).saturating_mul(2 * BITS / 8);
        // Long runs contain enough anchors even if the anchors are farther apart.
        let first = WINDOW.max(length as usize / 4);
        let windows = std::iter::successors(Some(first), |window| window.checked_mul(2)).take(32);
        let mut winnows = windows.map(|window| Winnow::new(length, window));
        let winnow = winnows.find(|winnow| bytes_of(*winnow) <= most).unwrap_or(Winnow::new(length, length as usize));
        let words = (bytes_of(winnow).min(most) / 16).max(1) as usize;
        let cells = |name| AtomicCells::new(session.engine.dir, name, words);
        let begins = AtomicCells::new(session.engine.dir, "anchors-begin", session.documents() as usize)?;
        Ok(Recurring { winnow, begins, came: cells("anchors")?, again: cells("anchors-again")? })
    }

    fn add(&self, hash: u64) {
        let (word, bits) = self.place(hash);
        let sets = |cells: &AtomicCells<u64>| {
            let mut known = cells.load(word);
            while known & bits != bits {
                match cells.compare_exchange(word, known, known | bits) {
                    Ok(_) => return true,
                    Err(other) => known = other,
                }
            }
            false
        };
        if !sets(&self.came) {
            sets(&self.again);
        }
    }

    /// Returns whether an anchor occurs more than once. False positives are possible.
    pub(crate) fn has(&self, hash: u64) -> bool {
        let (word, bits) = self.place(hash);
        self.again.load(word) & bits == bits
    }

    /// Returns the filter word and the bits for an anchor. An anchor is the minimum of many hashes, so its bits are mixed again.
    fn place(&self, hash: u64) -> (usize, u64) {
        let mixed = mix64(hash ^ 0x5851_F42D_4C95_7F2D);
        let word = (u128::from(mixed) * self.came.len() as u128) >> 64;
        let bits = mix64(mixed);
        (word as usize, (0..4).fold(0, |all, at| all | 1 << (bits >> (6 * at) & 63)))
    }
}

/// Holds the anchors of all kept documents, and records which anchors recur.
pub(crate) struct Anchors {
    /// The anchors that recur.
    pub recurring: Recurring,
    heap: FrozenHeap,
}

impl Anchors {
    /// Returns the length of a document's folded text and the document's anchors, or `None` if the document is too short to have anchors.
    fn saved(&self, doc: u64) -> Option<(usize, impl Iterator<Item = Anchor> + '_)> {
        let begin = self.recurring.begins.load(doc as usize).checked_sub(1)?;
        let head = self.heap.get(begin, HEAD);
        let (count, bytes) = (number(&head[..4]) as usize, number(&head[4..]) as usize);
        let saved = self.heap.get(begin + HEAD as u64, count * Anchor::SAVED);
        Some((bytes, saved.as_chunks().0.iter().map(Anchor::read)))
    }

    /// Returns whether a document may have recurring runs.
    pub(crate) fn may_recur(&self, order: &Order, doc: u64) -> bool {
        let salt = order.salt(doc) as u64;
        let recurs = |hash| self.recurring.has(hash ^ salt);
        self.saved(doc).is_some_and(|(bytes, anchors)| self.recurring.winnow.may_recur(bytes, anchors, recurs))
    }

    /// Writes a document's anchors to `out`.
    pub(crate) fn of(&self, doc: u64, out: &mut Vec<Anchor>) {
        out.clear();
        out.extend(self.saved(doc).into_iter().flat_map(|(_, anchors)| anchors));
    }
}

/// Finds the anchors of the kept documents. Returns `None` if the run does not cut runs of characters.
///
/// # Errors
/// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
pub(crate) fn find(session: &Session<'_>, order: &Order, cut: Cut, text_bytes: u64) -> Result<Option<Anchors>> {
    let Cut::Runs(length) = cut else { return Ok(None) };
    let name = "read anchors";
    let running = session.engine.clock.stage(name);
    let recurring = Recurring::new(session, length, text_bytes)?;
    let heap = Heap::new(session.engine.dir, "anchors-of-documents")?;
    let anchors = session.read(
        name,
        &order.want(session),
        || Ok((Folded::default(), (Vec::new(), Vec::new()), Vec::new(), Vec::<Anchor>::new(), 0)),
        |(folded, (bytes, places), ring, anchors, count), batch| {
            bytes.clear();
            places.clear();
            for row in 0..batch.len() {
                let Cell::Text(text) = batch.text(row) else { continue };
                let (text, _) = unread::split(text);
                let _long = session.engine.long_document(text.len())?;
                folded.fold(text);
                recurring.winnow.anchors(&folded.text, ring, anchors);
                let salt = order.salt(batch.doc(row)) as u64;
                anchors.iter().for_each(|anchor| recurring.add(anchor.hash ^ salt));
                *count += anchors.len() as u64;
                if !anchors.is_empty() {
                    places.push((batch.doc(row), bytes.len() as u64));
                    bytes.extend_from_slice(&(anchors.len() as u32).to_be_bytes());
                    bytes.extend_from_slice(&(folded.text.len() as u32).to_be_bytes());
                    anchors.iter().for_each(|anchor| bytes.extend_from_slice(&anchor.saved()));
                }
                if text.len() > KEPT_BYTES {
                    (*folded, *anchors) = Default::default();
                }
            }
            let begin = heap.append(bytes)?;
            places.iter().for_each(|(doc, place)| recurring.begins.store(*doc as usize, begin + place + 1));
            if bytes.capacity() > KEPT_BYTES {
                *bytes = Vec::new();
            }
            Ok(())
        },
        |(.., count)| Ok(count),
    )?;
    let heap = heap.freeze()?;
    running.end(order.count(), anchors.iter().sum(), heap.bytes().len() as u64);
    Ok(Some(Anchors { recurring, heap }))
}

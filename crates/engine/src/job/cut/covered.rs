//! Records which positions of each document are cut, to find the first copies that are cut as part of other passages.

use std::sync::Arc;

use super::repeats::Repeats;
use crate::session::Session;
use dupsift_core::error::{Error, Result};
use dupsift_core::row::number;
use dupsift_core::unread;
use dupsift_input::{RowFilter, Want};
use dupsift_passages::{Cut, Repeat, cut_positions};
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, FrozenHeap, Heap};
use dupsift_tables::Cell;

/// Holds the positions that are cut from each document: the numbers of units, or of characters in the folded text.
pub(crate) struct Covered {
    /// The offset of each document's ranges, plus one; 0 for a document from which nothing is cut.
    begins: AtomicCells<u64>,
    heap: FrozenHeap,
}

/// The number of bytes in a saved range of positions.
const RANGE: usize = 8;

impl Covered {
    /// Returns whether no part of a unit or run is cut from a document, and the next position for which the answer may be different.
    pub(crate) fn is_whole(&self, doc: u64, position: u32, length: u32) -> (bool, u32) {
        let Some(begin) = self.begins.load(doc as usize).checked_sub(1) else { return (true, u32::MAX) };
        let count = number(self.heap.get(begin, 4)) as usize;
        let ranges = self.heap.get(begin + 4, count * RANGE).as_chunks::<RANGE>().0;
        // The first range that ends after the position.
        let next = ranges.partition_point(|range| number(&range[4..]) <= u64::from(position));
        let Some(range) = ranges.get(next) else { return (true, u32::MAX) };
        let [start, end] = [&range[..4], &range[4..]].map(|bytes| number(bytes) as u32);
        match start.checked_sub(length) {
            Some(last) if position <= last => (true, last + 1),
            _ => (false, end),
        }
    }

    /// Returns the positions that are cut if these repeats are. Only the ends of runs depend on the text.
    ///
    /// # Errors
    /// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
    pub(crate) fn new(session: &Session<'_>, cut: Cut, repeats: &Repeats) -> Result<Covered> {
        let (name, engine, documents) = ("read first copies", session.engine, session.documents() as usize);
        let running = engine.clock.stage(name);
        let begins = AtomicCells::new(engine.dir, "covered-begin", documents)?;
        let heap = Heap::new(engine.dir, "covered")?;
        let add = |doc: u64, text: &str, of_document: &mut Vec<Repeat>, bytes: &mut Vec<u8>| {
            repeats.of(doc, of_document);
            let ranges = cut_positions(text, cut, session.options.cut.at, of_document);
            if ranges.is_empty() {
                return Ok(());
            }
            bytes.clear();
            bytes.extend_from_slice(&(ranges.len() as u32).to_be_bytes());
            for range in ranges {
                for at in [range.start, range.end] {
                    bytes.extend_from_slice(&(at as u32).to_be_bytes());
                }
            }
            begins.store(doc as usize, heap.append(bytes)? + 1);
            Ok::<_, Error>(())
        };
        let (wanted, count) = with_repeats(session, repeats)?;
        if cut.has_units() {
            let (mut of_document, mut bytes) = (Vec::new(), Vec::new());
            for doc in wanted.iter() {
                engine.go_on()?;
                add(doc as u64, "", &mut of_document, &mut bytes)?;
            }
        } else {
            session.read(
                name,
                &want(session, wanted),
                || Ok((Vec::new(), Vec::new())),
                |(of_document, bytes), batch| {
                    for row in 0..batch.len() {
                        let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
                        let (text, _) = unread::split(text);
                        let _long = engine.long_document(text.len())?;
                        add(doc, text, of_document, bytes)?;
                    }
                    Ok(())
                },
                |_| Ok(()),
            )?;
        }
        let heap = heap.freeze()?;
        running.end(count, heap.bytes().len() as u64 / RANGE as u64, heap.bytes().len() as u64);
        Ok(Covered { begins, heap })
    }
}

/// Returns the documents that have repeats, and their number.
pub(crate) fn with_repeats(session: &Session<'_>, repeats: &Repeats) -> Result<(Arc<AtomicBits>, u64)> {
    let documents = session.documents() as usize;
    let wanted = AtomicBits::new(session.engine.dir, "with-repeats", documents)?;
    (0..documents).filter(|&doc| repeats.has(doc as u64)).for_each(|doc| _ = wanted.set(doc));
    let count = wanted.count();
    Ok((Arc::new(wanted), count))
}

/// Returns the request for a pass over the text of these documents.
pub(crate) fn want(session: &Session<'_>, documents: Arc<AtomicBits>) -> Want {
    let rows = Some(RowFilter::Where(Arc::new(move |doc| documents.get(doc as usize))));
    Want { rows, batch_bytes: session.engine.budget.batch, ..Want::default() }
}

//! Finds the repeats in each document, that is, rows that equal an earlier row.

use super::order::Order;
use super::rows::HASH;
use crate::engine::checkpoints::{Checkpoint, CheckpointReader, CheckpointWriter};
use crate::engine::threads::Engine;
use crate::job::pair::classes::number;
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_passages::{Repeat, Rule};
use dupsift_spill::shuffle::{AtomicCells, FrozenHeap, Heap, Sorted};

/// The number of bytes in a row: the document, the position in the document, the document with the first copy, the character position of
/// that copy, and the number of occurrences.
const ROW: usize = 28;
/// The number of bytes in a saved repeat.
const SAVED: usize = 24;

/// Holds the repeats of each document.
pub struct Repeats {
    /// The offset of each document's repeats, plus one; 0 for a document without repeats.
    begins: AtomicCells<u64>,
    heap: FrozenHeap,
}

impl Checkpoint for Repeats {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.heap(&self.heap).and_then(|()| to.cells(&self.begins))
    }

    fn restore(_: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Repeats> {
        let heap = from.heap()?;
        Ok(Repeats { begins: from.cells()?, heap })
    }
}

impl Repeats {
    /// Returns whether a document has repeats.
    pub fn has(&self, doc: u64) -> bool {
        self.begins.load(doc as usize) != 0
    }

    /// Writes a document's repeats to `out`, in order.
    pub fn of(&self, doc: u64, out: &mut Vec<Repeat>) {
        out.clear();
        let Some(begin) = self.begins.load(doc as usize).checked_sub(1) else { return };
        let count = number(self.heap.get(begin, 4)) as usize;
        let saved = self.heap.get(begin + 4, count * SAVED).chunks_exact(SAVED);
        out.extend(saved.map(|saved| Repeat {
            position: number(&saved[..4]) as u32,
            count: number(&saved[4..8]) as u32,
            first_doc: number(&saved[8..16]),
            first_start: number(&saved[16..20]) as u32,
            copies: number(&saved[20..]) as u32,
        }));
    }
}

/// Returns the repeats found in the rows.
///
/// # Errors
/// Returns an error if the disk is full or the run is interrupted.
pub fn find(session: &Session<'_>, order: &Order, rule: Rule, rows: Sorted) -> Result<Repeats> {
    let engine = session.engine;
    let running = engine.clock.stage("find repeats");
    let by_document = engine.ordered(session.documents(), "repeats", ROW, 8, 8, rows.rows() / 2)?;
    engine.work(
        rows.partitions(),
        || Ok(by_document.writer()),
        |writer, partition| {
            engine.go_on()?;
            let records = rows.load(partition, engine.budget.a_thread)?;
            for group in records.groups().filter(|group| group.len() > 1) {
                let record = |at: usize| &records.record(group.start + at)[HASH..];
                let at = |at: usize| (number(&record(at)[..6]), number(&record(at)[6..10]) as u32);
                let first = order.document(at(0).0);
                let copies = u32::try_from(group.len()).unwrap_or(u32::MAX);
                rule.repeats(group.len(), at, |one| {
                    let mut row = [0; ROW];
                    row[..8].copy_from_slice(&order.document(at(one).0).to_be_bytes());
                    row[8..12].copy_from_slice(&record(one)[6..10]);
                    row[12..20].copy_from_slice(&first.to_be_bytes());
                    row[20..24].copy_from_slice(&record(0)[10..]);
                    row[24..].copy_from_slice(&copies.to_be_bytes());
                    writer.push(&row)
                })?;
            }
            rows.remove(partition)
        },
        |mut writer| writer.flush(),
    )?;
    let (count, spilled) = (rows.rows(), rows.spilled_bytes());
    drop(rows);
    let by_document = by_document.finish()?;
    running.end(count, by_document.rows(), spilled + by_document.spilled_bytes());
    of_documents(session, &by_document)
}

/// Collects the repeats of each document and merges consecutive runs.
fn of_documents(session: &Session<'_>, rows: &Sorted) -> Result<Repeats> {
    let engine = session.engine;
    let begins = AtomicCells::new(engine.dir, "repeats-begin", session.documents() as usize)?;
    let heap = Heap::new(engine.dir, "repeats")?;
    engine.work(
        rows.partitions(),
        || Ok((Vec::<Repeat>::new(), Vec::new())),
        |(repeats, bytes), partition| {
            engine.go_on()?;
            let records = rows.load(partition, engine.budget.a_thread)?;
            for group in records.groups() {
                repeats.clear();
                let doc = number(&records.record(group.start)[..8]);
                for record in group.map(|at| records.record(at)) {
                    let repeat = Repeat {
                        position: number(&record[8..12]) as u32,
                        count: 1,
                        first_doc: number(&record[12..20]),
                        first_start: number(&record[20..24]) as u32,
                        copies: number(&record[24..]) as u32,
                    };
                    if repeats.last_mut().is_none_or(|last| !last.joins(&repeat)) {
                        repeats.push(repeat);
                    }
                }
                bytes.clear();
                bytes.extend_from_slice(&(repeats.len() as u32).to_be_bytes());
                for one in repeats.iter() {
                    bytes.extend_from_slice(&one.position.to_be_bytes());
                    bytes.extend_from_slice(&one.count.to_be_bytes());
                    bytes.extend_from_slice(&one.first_doc.to_be_bytes());
                    bytes.extend_from_slice(&one.first_start.to_be_bytes());
                    bytes.extend_from_slice(&one.copies.to_be_bytes());
                }
                begins.store(doc as usize, heap.append(bytes)? + 1);
            }
            rows.remove(partition)
        },
        Ok,
    )?;
    Ok(Repeats { begins, heap: heap.freeze()? })
}

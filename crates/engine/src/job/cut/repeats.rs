//! Finds the repeats in each document, that is, the rows that repeat an earlier row.

use super::order::Order;
use super::places::Covered;
use super::rows::HASH;
use crate::engine::checkpoints::{Checkpoint, CheckpointReader, CheckpointWriter};
use crate::engine::threads::Engine;
use crate::job::pair::classes::number;
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_passages::{Occurrences, Repeat, Rule};
use dupsift_spill::shuffle::{AtomicCells, FrozenHeap, Heap, Sorted};
use serde::{Deserialize, Serialize};
use zerocopy::big_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Holds a unit that repeats an earlier unit; rows are grouped by document and sorted by position.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Row {
    doc: U64,
    position: U32,
    first_doc: U64,
    /// The character position of the first copy in its document.
    first_start: U32,
    /// The number of occurrences.
    copies: U32,
}

/// Holds a saved [`Repeat`].
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Saved {
    position: U32,
    count: U32,
    first_doc: U64,
    first_start: U32,
    copies: U32,
}

impl From<&Repeat> for Saved {
    fn from(repeat: &Repeat) -> Saved {
        Saved {
            position: repeat.position.into(),
            count: repeat.count.into(),
            first_doc: repeat.first_doc.into(),
            first_start: repeat.first_start.into(),
            copies: repeat.copies.into(),
        }
    }
}

impl From<&Saved> for Repeat {
    fn from(saved: &Saved) -> Repeat {
        Repeat {
            position: saved.position.get(),
            count: saved.count.get(),
            first_doc: saved.first_doc.get(),
            first_start: saved.first_start.get(),
            copies: saved.copies.get(),
        }
    }
}

/// Counts what is reported about the search for repeats.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct RepeatCounts {
    /// See [`CutReport::undecided`](crate::job::run_report::CutReport).
    pub undecided: u64,
    /// See [`CutReport::without_blank_lines`](crate::job::run_report::CutReport).
    pub without_blank_lines: u64,
}

/// Holds the repeats of each document.
pub struct Repeats {
    /// The counts for the record.
    pub counts: RepeatCounts,
    /// The offset of each document's repeats, plus one; 0 for a document without repeats.
    begins: AtomicCells<u64>,
    heap: FrozenHeap,
}

impl Checkpoint for Repeats {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&self.counts)?;
        to.heap(&self.heap).and_then(|()| to.cells(&self.begins))
    }

    fn restore(_: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Repeats> {
        let (counts, heap) = (from.plain()?, from.heap()?);
        Ok(Repeats { counts, begins: from.cells()?, heap })
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
        let saved = <[Saved]>::ref_from_bytes(self.heap.get(begin + 4, count * size_of::<Saved>())).unwrap_or_default();
        out.extend(saved.iter().map(Repeat::from));
    }
}

/// Returns the repeats found in the rows, and their number. Copies of which `covered` includes a part are not first copies.
///
/// # Errors
/// Returns an error if the disk is full or the run is interrupted.
pub fn find(
    session: &Session<'_>,
    order: &Order,
    rule: Rule,
    rows: &Sorted,
    covered: Option<&Covered>,
) -> Result<(Repeats, u64)> {
    let engine = session.engine;
    let running = engine.clock.stage("find repeats");
    let by_document = engine.ordered(session.documents(), "repeats", size_of::<Row>(), 8, 8, rows.rows() / 2)?;
    engine.work(
        rows.partitions(),
        || Ok(by_document.writer()),
        |writer, partition| {
            engine.go_on()?;
            let records = rows.load(partition, engine.budget.a_thread)?;
            for group in records.groups().filter(|group| group.len() > 1) {
                let record = |at: usize| &records.record(group.start + at)[HASH..];
                let at = |at: usize| (number(&record(at)[..6]), number(&record(at)[6..10]) as u32);
                let is_whole = |one: usize| {
                    let (place, position) = at(one);
                    covered.is_none_or(|covered| covered.is_whole(order.document(place), position, rule.cut.length()))
                };
                let compares = |a, b| order.compares(a, b);
                let occurrences = Occurrences {
                    count: group.len(),
                    at: &at,
                    is_whole: &is_whole,
                    compares: order.is_across().then_some(&compares),
                };
                let copies = u32::try_from(group.len()).unwrap_or(u32::MAX);
                rule.repeats(&occurrences, |one, first| {
                    let (place, position) = at(one);
                    let row = Row {
                        doc: order.document(place).into(),
                        position: position.into(),
                        first_doc: order.document(at(first).0).into(),
                        first_start: (number(&record(first)[10..]) as u32).into(),
                        copies: copies.into(),
                    };
                    writer.push(row.as_bytes())
                })?;
            }
            Ok(())
        },
        |mut writer| writer.flush(),
    )?;
    let by_document = by_document.finish()?;
    let found = by_document.rows();
    running.end(rows.rows(), found, rows.spilled_bytes() + by_document.spilled_bytes());
    Ok((of_documents(session, &by_document)?, found))
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
                let doc = records.row::<Row>(group.start).doc.get();
                for row in group.map(|at| records.row::<Row>(at)) {
                    let repeat = Repeat {
                        position: row.position.get(),
                        count: 1,
                        first_doc: row.first_doc.get(),
                        first_start: row.first_start.get(),
                        copies: row.copies.get(),
                    };
                    if repeats.last_mut().is_none_or(|last| !last.joins(&repeat)) {
                        repeats.push(repeat);
                    }
                }
                bytes.clear();
                bytes.extend_from_slice(&(repeats.len() as u32).to_be_bytes());
                repeats.iter().for_each(|one| bytes.extend_from_slice(Saved::from(one).as_bytes()));
                begins.store(doc as usize, heap.append(bytes)? + 1);
            }
            rows.remove(partition)
        },
        Ok,
    )?;
    Ok(Repeats { counts: RepeatCounts::default(), begins, heap: heap.freeze()? })
}

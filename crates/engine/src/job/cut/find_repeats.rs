//! Finds the repeats in each document, that is, the rows that repeat an earlier row.

use super::covered::Covered;
use super::order::Order;
use super::repeats::{Repeats, encode};
use super::rows::HASH;
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_core::row::number;
use dupsift_passages::{Occurrences, Repeat, Rule};
use dupsift_spill::shuffle::{AtomicCells, Heap, Sorted};
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

/// Returns the repeats found in the rows, and their number. Copies of which `covered` includes a part are not first copies.
///
/// # Errors
/// Returns an error if the disk is full or the run is interrupted.
pub(crate) fn find_repeats(
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
                encode(repeats, bytes);
                begins.store(doc as usize, heap.append(bytes)? + 1);
            }
            rows.remove(partition)
        },
        Ok,
    )?;
    Ok(Repeats::new(begins, heap.freeze()?))
}

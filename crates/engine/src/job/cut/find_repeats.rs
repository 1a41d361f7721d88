//! Finds the repeats in each document, that is, the rows that repeat an earlier row.

use super::covered::Covered;
use super::order::Order;
use super::repeats::{Repeats, encode};
use super::rows::Row;
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_passages::{Occurrences, Repeat, Rule};
use dupsift_spill::shuffle::{AtomicCells, Heap, Sorted};
use zerocopy::big_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Holds a unit or consecutive runs that repeat an earlier copy; rows are grouped by document and sorted by position.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RepeatRow {
    doc: U64,
    position: U32,
    first_doc: U64,
    /// The character position of the first copy in its document.
    first_start: U32,
    /// The number of occurrences.
    copies: U32,
    /// The number of runs; 1 for a unit.
    runs: U32,
}

/// Returns the repeats found in the rows, and the number of units or runs that are repeats. Copies of which `covered` includes a part are not first copies.
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
    let by_document = engine.ordered(session.documents(), "repeats", size_of::<RepeatRow>(), 8, 8, rows.rows() / 2)?;
    let counts = engine.work(
        rows.partitions(),
        || Ok((by_document.writer(), 0)),
        |(writer, count), partition| {
            engine.go_on()?;
            let records = rows.load(partition, engine.budget.a_thread)?;
            for group in records.groups().filter(|group| group.len() > 1) {
                let row = |one: usize| records.row::<Row>(group.start + one);
                let is_whole = |one: usize, run: u32| {
                    let (row, length) = (row(one), rule.cut.length());
                    let Some(covered) = covered else { return (true, u32::MAX) };
                    let position = row.position.get();
                    let (is_whole, until) = covered.is_whole(order.document(row.place.get()), position + run, length);
                    (is_whole, until - position)
                };
                let compares = |a, b| order.compares(a, b);
                let occurrences = Occurrences {
                    count: group.len(),
                    runs: row(0).runs.get(),
                    at: &|one| (row(one).place.get(), row(one).position.get()),
                    is_whole: &is_whole,
                    compares: order.is_across().then_some(&compares),
                };
                let copies = u32::try_from(group.len()).unwrap_or(u32::MAX);
                rule.repeats(&occurrences, |one, first, runs| {
                    let (one, first) = (row(one), row(first));
                    *count += runs.len() as u64;
                    let row = RepeatRow {
                        doc: order.document(one.place.get()).into(),
                        position: (one.position.get() + runs.start).into(),
                        first_doc: order.document(first.place.get()).into(),
                        first_start: (first.start.get() + runs.start).into(),
                        copies: copies.into(),
                        runs: (runs.end - runs.start).into(),
                    };
                    writer.push(row.as_bytes())
                })?;
            }
            Ok(())
        },
        |(mut writer, count)| writer.flush().map(|()| count),
    )?;
    let (by_document, found) = (by_document.finish()?, counts.iter().sum());
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
                let doc = records.row::<RepeatRow>(group.start).doc.get();
                for row in group.map(|at| records.row::<RepeatRow>(at)) {
                    let repeat = Repeat {
                        position: row.position.get(),
                        count: row.runs.get(),
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

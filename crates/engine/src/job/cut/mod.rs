//! Cuts repeated passages from the documents that are kept (`--cut`).
//!
//! ```text
//! order     Puts the kept documents into the order of --keep.
//! recurring Finds which anchors occur more than once, for runs (one pass over the kept documents).
//! rows      Writes a row for each unit: hash, place in the order, position (one pass over the kept documents).
//! blocks    Writes such a row for each sequence of runs that always occur together (for runs; one pass over the kept documents with
//!           recurring anchors).
//! repeats   Sorts the rows by hash; rows equal to an earlier one become repeats, sorted by document.
//! covered   Finds first copies that are cut as part of other passages, and repeats the previous step without them, until all first copies
//!           are kept (for runs, one pass over the documents with repeats each time).
//! places    Turns repeats into places that are cut (one pass over the documents with repeats).
//! emptied   Removes the documents in which too little text remains.
//! ```
//!
//! `dupsift_passages` defines what a passage is and where it is cut. A passage with a million occurrences yields a million rows, but no
//! pairs. The result is the edits of texts (`job/text_edits.rs`), which the guard, the tables and the corpus
//! writer use, and the removals of the documents in which too little text remains.

mod blocks;
mod costliest;
mod covered;
mod emptied;
mod find_repeats;
mod order;
mod places;
mod recurring;
mod repeats;
mod rows;

pub use places::read_back;

use super::decide::decided::Decided;
use super::run_report::CutReport;
use super::text_edits::TextEdits;
use crate::job::read::intake::Taken;
use crate::job::saved::SavedState;
use crate::options::RunOptions;
use crate::reading::ids::Ids;
use crate::session::Session;
use blocks::Blocks;
use covered::Covered;
use dupsift_algorithms::steps::passes::{Pass, Size};
use dupsift_core::error::Result;
use dupsift_passages::{Cut, Rule};
use find_repeats::find_repeats;
use order::Order;

/// Returns the passes that a run over a corpus of this size makes to find the passages to cut. A dry run prints these passes as part of its
/// plan.
pub fn passes(options: &RunOptions, size: Size) -> Vec<Pass> {
    let Some(Rule { cut, .. }) = options.cut.rule() else { return Vec::new() };
    let (reads, rows) = (size.text_bytes, rows::expected_bytes(size.text_bytes));
    let then =
        if options.output.corpus.keep { "cut from deduped/" } else { "only reported, because no corpus is written" };
    let passages = Pass {
        name: "passages",
        does: format!("find passages that recur in kept documents: {cut}"),
        reads,
        writes: rows,
        stages: vec!["order kept documents", "read units", "find repeats", "read first copies"],
        count: 3,
        ..Pass::default()
    };
    let passages = match cut {
        Cut::Runs(length) => Pass {
            writes: rows + recurring::expected_bytes(length, size.text_bytes),
            stages: vec![
                "order kept documents",
                "read anchors",
                "read runs",
                "compare runs",
                "find repeats",
                "read first copies",
            ],
            count: 5,
            ..passages
        },
        _ => passages,
    };
    let places = Pass {
        name: "cut",
        does: format!("reread the documents that contain recurring passages; passages are {then}"),
        stages: vec!["read repeats", "read cut documents", "write passages/"],
        count: 2,
        ..Pass::default()
    };
    vec![passages, places]
}

/// Finds the passages to cut, and removes documents in which too little text remains. Returns `None` if this run does not cut passages.
///
/// # Errors
/// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
pub fn cut(
    session: &Session<'_>,
    saved: &SavedState<'_>,
    taken: &Taken,
    decided: &mut Decided,
    ids: &Ids<'_>,
) -> Result<Option<(TextEdits, CutReport)>> {
    let Some(rule) = session.options.cut.rule() else { return Ok(None) };
    let order = Order::new(session, taken, decided)?;
    let repeats = saved.step(|keys| &keys.cut, || repeats(session, &order, rule, taken.text_bytes))?;
    let (cuts, costliest) = places::find(session, rule.cut, &repeats)?;
    let compares = |a: u64, b: u64| order.are_compared(a, b);
    let emptied = emptied::emptied(&cuts, session, decided, &compares)?;
    let mut report = CutReport {
        cut: rule.cut.to_string(),
        characters_kept: order.characters(),
        emptied: emptied.count(),
        undecided: repeats.counts.undecided,
        without_blank_lines: repeats.counts.without_blank_lines,
        ..CutReport::default()
    };
    cuts.each(|_, cuts| {
        report.documents += 1;
        for one in cuts.passages() {
            report.passages += 1;
            report.characters += u64::from(one.end - one.start);
            report.bytes += u64::from(one.end_byte - one.start_byte);
        }
        Ok(())
    })?;
    report.costliest = costliest.into_iter().map(|one| one.report(session, ids)).collect();
    emptied::add_emptied(session, decided, &emptied, &compares)?;
    Ok(Some((cuts, report)))
}

/// The maximum number of times that repeats are determined again. It is odd; see [`repeats()`].
const ROUNDS: usize = 9;

/// Returns the repeats of passages of which an earlier copy is kept.
///
/// Units that overlap, such as runs, depend on each other: a copy is kept only if no part of it is cut, and a part is cut only if an
/// earlier copy of it is kept. If every copy may be a first copy, too many repeats are found. If only copies of which no part is cut by
/// these repeats may be first copies, too few are found, but each of them has a copy that is kept. Each further round is alternately an
/// upper and a lower bound, and at least as close as the bound before the last. If both bounds are equal, the repeats are exactly those
/// that would be found by processing one document after the other. Otherwise, the lower bound of the last round is used.
fn repeats(session: &Session<'_>, order: &Order, rule: Rule, text_bytes: u64) -> Result<repeats::Repeats> {
    let (rows, without_blank_lines) = match recurring::find(session, order, rule.cut, text_bytes)? {
        Some(anchors) => (Blocks::read(session, order, anchors, text_bytes)?.compare(session)?, 0),
        None => rows::of_units(session, order, rule.cut, text_bytes)?,
    };
    let (mut found, mut count) = find_repeats(session, order, rule, &rows, None)?;
    for _ in 0..if rule.overlaps() && !rule.cuts_first { ROUNDS } else { 0 } {
        let covered = Covered::new(session, rule.cut, &found)?;
        let (next, of_next) = find_repeats(session, order, rule, &rows, Some(&covered))?;
        let undecided = count.abs_diff(of_next);
        (found, count) = (next, of_next);
        found.counts.undecided = undecided;
        if undecided == 0 {
            break;
        }
    }
    found.counts.without_blank_lines = without_blank_lines;
    Ok(found)
}

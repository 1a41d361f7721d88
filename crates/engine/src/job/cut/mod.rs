//! Repeated passages are cut out of the documents that are kept (`--cut`).
//!
//! ```text
//! order     The kept documents in the order of --keep.
//! recurring Of runs: which anchors come more than once (a pass over the kept documents).
//! rows      A row for each unit or run that may recur: hash, place in the order, position (a pass over the kept documents; of runs, over
//!           those alone that have anchors that recur).
//! repeats   Sorted by hash, rows that are equal to an earlier one become repeats, sorted by document.
//! places    Repeats become places that are cut (a pass over the documents that have some).
//! ```
//!
//! What a passage is, and where it is cut, is defined in `dupsift_passages`. A passage with a million occurrences is a million rows, and no
//! pairs. `places` is also where the guard, the tables and the writer of the corpus read what is cut.

mod costliest;
mod order;
mod places;
mod recurring;
mod repeats;
mod rows;
mod table;

pub use places::{Cuts, DocCuts, Emptied, read_back};
pub use table::write;

use super::run_report::CutReport;
use super::write::removals::{self, Decided};
use crate::job::read::intake::Taken;
use crate::job::saved::SavedState;
use crate::reading::ids::Ids;
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_passages::Rule;
use order::Order;

/// Finds what is cut, and removes the documents of which too little is left; `None` if nothing is to be cut.
///
/// # Errors
/// A damaged file, a full disk, an interruption.
pub fn cut(
    session: &Session<'_>,
    saved: &SavedState<'_>,
    taken: &Taken,
    decided: &mut Decided,
    ids: &Ids<'_>,
) -> Result<Option<(Cuts, CutReport)>> {
    let Some(rule) = session.options.cut.rule() else { return Ok(None) };
    let order = Order::new(session, taken, decided)?;
    let repeats = saved.step(|keys| &keys.cut, || repeats(session, &order, rule, taken.text_bytes))?;
    let (cuts, costliest) = places::find(session, rule.cut, &repeats)?;
    let emptied = cuts.emptied(session)?;
    let mut report = CutReport {
        cut: rule.cut.to_string(),
        characters_kept: order.characters(),
        emptied: emptied.count(),
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
    removals::add_emptied(session, decided, &emptied, &cuts)?;
    Ok(Some((cuts, report)))
}

/// From the texts of the kept documents to repeats.
fn repeats(session: &Session<'_>, order: &Order, rule: Rule, text_bytes: u64) -> Result<repeats::Repeats> {
    let rows = match recurring::find(session, order, rule.cut, text_bytes)? {
        Some(anchors) => rows::of_runs(session, order, &anchors, text_bytes)?,
        None => rows::of_units(session, order, rule.cut, text_bytes)?,
    };
    repeats::find(session, order, rule, rows)
}

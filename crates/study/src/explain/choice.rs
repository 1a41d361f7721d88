//! Chooses the removal that is explained if no document is named.

use std::sync::atomic::{AtomicBool, Ordering};

use super::explain;
use super::explanation::Explanation;
use crate::finished::Finished;
use crate::list::{ListOptions, Listed, ListedRow, list};
use crate::review::lowest::Lowest;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::mix64;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::options::RunOptions;

/// The number of rows between two checks for an interruption.
const ASKED: usize = 4096;

/// Selects a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A random one, drawn with this seed. Exact copies are drawn only if there is nothing else.
    Drawn(u64),
    /// The most doubtful one.
    Worst,
}

/// Explains a removal of the run. A note names the removed document.
///
/// # Errors
/// Returns [`Error::Usage`] if no document was removed in favor of another, and the errors of [`explain`].
pub fn explain_any(
    finished: &Finished,
    options: &RunOptions,
    choice: Choice,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<Explanation> {
    let (chosen, how) = match choice {
        Choice::Drawn(seed) => (drawn(finished, seed, cancel)?, format!("drawn with `seed={seed}`")),
        Choice::Worst => (worst(finished, options, progress, cancel)?, "the most doubtful removal".to_owned()),
    };
    let Some(docs) = chosen else {
        return Err(Error::usage(
            "the run removed no document in favor of another; pass the ids of one or two documents",
        ));
    };
    let mut explained = explain(finished, options, &docs.map(|doc| doc.to_string()), true, progress, cancel)?;
    explained.notes.push(format!("{how}: {}", explained.documents[0].id));
    Ok(explained)
}

/// Draws a removed document, and returns it with the document that is kept instead.
fn drawn(finished: &Finished, seed: u64, cancel: &AtomicBool) -> Result<Option<[u64; 2]>> {
    if finished.report.removal.is_none() {
        return Ok(None);
    }
    let mut lowest = Lowest::new(1);
    for (at, removal) in finished.removals()?.enumerate() {
        let removal = removal?;
        if at % ASKED == 0 && cancel.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if removal.doc != removal.kept {
            let is_sure = !matches!(removal.reason, "pair" | "chain");
            lowest.offer((is_sure, mix64(removal.doc ^ mix64(seed)), removal.doc), || [removal.doc, removal.kept]);
        }
    }
    Ok(lowest.into_values().next())
}

fn worst(
    finished: &Finished,
    options: &RunOptions,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<Option<[u64; 2]>> {
    let asked = ListOptions { what: Listed::Removed, limit: 1, worst: true, grep: None, source: None };
    let found = list(finished, options, &asked, progress, cancel)?;
    Ok(match found.rows.first() {
        Some(ListedRow::Removal(row)) if row.doc != row.kept_doc => Some([row.doc, row.kept_doc]),
        _ => None,
    })
}

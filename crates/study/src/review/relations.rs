//! Reads the relation of each pair (version, contained text or same template) from the tables, and whether the two titles name different
//! things.

use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

use crate::doubt::others_as_near;
use crate::finished::Finished;
use dupsift_core::error::{Error, Result};
use dupsift_input::TableReader;
use dupsift_tables::{FoundPair, PAIR_LOOK_UP_COLUMNS, PairSearch, pair_of};

/// Holds the relation of a pair.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairRelation {
    /// `version`, `contained` or `template`.
    pub relation: String,
    /// The reason for the relation.
    pub why: String,
    /// Whether the titles, code or labels name different things.
    pub other_title: bool,
    /// Whether another document is about as similar.
    pub others_as_near: bool,
}

/// Finds the relations of pairs (a, b) with a < b in the table of an algorithm that classifies pairs. The pairs and the table are in the
/// same order, so the table is read only once.
///
/// # Errors
/// Returns an error if a table cannot be read or the run is interrupted.
pub(crate) fn relations(
    finished: &Finished,
    label: &str,
    pairs: &BTreeSet<(u64, u64)>,
    go_on: &dyn Fn() -> Result<()>,
) -> Result<BTreeMap<(u64, u64), PairRelation>> {
    let mut found = BTreeMap::new();
    let path = finished.pair_table(label);
    let mut left = pairs.iter().copied().peekable();
    for batch in TableReader::open(&path, &PAIR_LOOK_UP_COLUMNS)? {
        go_on()?;
        let batch = batch?;
        while let Some(&(a, b)) = left.peek() {
            match pair_of(&batch, a, b) {
                Some(PairSearch::Further) => break,
                Some(PairSearch::Nowhere) => {}
                Some(PairSearch::Found(pair)) => {
                    found.extend(of(pair).map(|told| ((a, b), told)));
                }
                None => {
                    let why = "a column has an unexpected type; expected a table written by dupsift".into();
                    return Err(Error::BadFile { path, why });
                }
            }
            left.next();
        }
    }
    Ok(found)
}

fn of(pair: FoundPair) -> Option<PairRelation> {
    Some(PairRelation {
        others_as_near: others_as_near(pair.similarity, pair.next_best),
        relation: pair.relation?,
        why: pair.why.unwrap_or_default(),
        other_title: pair.other_title,
    })
}

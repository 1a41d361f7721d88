//! Looks up single documents in the tables of a finished run and in its corpus: their removals, passages and ids.

use std::collections::BTreeMap;
use std::path::Path;

use super::Finished;
use dupsift_core::error::{Error, Result};
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::session::Session;
use dupsift_incremental::Again;
use dupsift_input::{RowFilter, TableReader, Want};
use dupsift_tables::{
    FoundRemoval, PASSAGE_COLUMNS, PassageFound, REMOVAL_LOOK_UP_COLUMNS, passages_found, removals_of,
};

/// Returns the repeated passages in these documents, in order. The list is empty if the run did not search for passages.
///
/// # Errors
/// Returns an error if a table is missing or damaged, or if the run is interrupted.
pub(crate) fn passages(engine: &Engine<'_>, finished: &Finished, docs: &[u64]) -> Result<Vec<PassageFound>> {
    let path = finished.dir().join("passages/part-00000.parquet");
    let mut found = Vec::new();
    if finished.report.cut.is_none() {
        return Ok(found);
    }
    for batch in TableReader::open(&path, &PASSAGE_COLUMNS)? {
        engine.go_on()?;
        let rows = passages_found(&batch?).ok_or_else(|| wrong_type(&path))?;
        found.extend(rows.into_iter().filter(|row| docs.contains(&row.doc)));
    }
    Ok(found)
}

/// Returns the error for a table with a column of an unexpected type.
pub(crate) fn wrong_type(path: &Path) -> Error {
    Error::BadFile {
        path: path.to_path_buf(),
        why: "a column has an unexpected type; expected a table written by dupsift".into(),
    }
}

/// Returns the removals of these documents.
///
/// # Errors
/// Returns an error if a table is missing or damaged.
pub(crate) fn removals(finished: &Finished, docs: &[u64]) -> Result<Vec<FoundRemoval>> {
    let path = finished.dir().join("removed/part-00000.parquet");
    let mut found = Vec::new();
    if finished.report.removal.is_none() {
        return Ok(found);
    }
    for batch in TableReader::open(&path, &REMOVAL_LOOK_UP_COLUMNS)? {
        found.append(&mut removals_of(&batch?, docs).ok_or_else(|| wrong_type(&path))?);
    }
    Ok(found)
}

/// Returns the ids of these documents, if they have ids.
///
/// # Errors
/// Returns an error if a file is damaged.
pub(crate) fn ids_of(
    session: &Session<'_>,
    mut numbers: Vec<u64>,
    again: Option<&Again<'_>>,
) -> Result<BTreeMap<u64, String>> {
    numbers.sort_unstable();
    numbers.dedup();
    let (here, elsewhere): (Vec<u64>, Vec<u64>) =
        numbers.into_iter().partition(|&number| session.document(number).is_some());
    let mut known = again.map(|again| again.ids(&elsewhere)).transpose()?.unwrap_or_default();
    let docs: Vec<u64> = here.into_iter().filter_map(|number| session.document(number)).collect();
    if docs.is_empty() {
        return Ok(known);
    }
    let want = Want { text: false, id: true, rows: Some(RowFilter::Docs(docs.into())), ..Want::default() };
    let ids = session.read(
        "read ids",
        &want,
        || Ok(Vec::new()),
        |ids, batch| {
            let of = |row: usize| Some((session.number(batch.doc(row)), batch.id(row)?.to_string()));
            ids.extend((0..batch.len()).filter_map(of));
            Ok(())
        },
        Ok,
    )?;
    known.extend(ids.into_iter().flatten());
    Ok(known)
}

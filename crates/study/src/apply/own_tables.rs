//! Reads the decisions of a finished run from its own tables: `removed/`, `rejected/` and `passages/`.

use std::collections::HashMap;
use std::path::Path;

use crate::finished::Finished;
use dupsift_core::error::{Error, Result};
use dupsift_core::number::counted;
use dupsift_engine::job::cut::read_back;
use dupsift_engine::job::text_edits::TextEdits;
use dupsift_engine::job::write::rejected::rejected_table;
use dupsift_engine::reading::losses::CORPUS;
use dupsift_engine::reading::rejected::{Rejected, Rejecter};
use dupsift_engine::session::Session;
use dupsift_input::TableReader;
use dupsift_tables::{PASSAGE_COLUMNS, PassageFound, REJECTED_COLUMNS, RejectReason, passages_found, rejected_rows};

/// The table of removed documents in an output folder.
pub(super) const REMOVED: &str = "removed/part-00000.parquet";

/// Returns the rows of `removed/`, with the number of each document in the corpus.
pub(super) fn removed(
    session: &Session<'_>,
    finished: &Finished,
) -> Result<impl Iterator<Item = Result<(u64, u64, &'static str)>> + use<>> {
    let (first, end, path) = (finished.first_doc(), session.documents(), finished.dir().join(REMOVED));
    let row = move |doc: u64| doc.checked_sub(first).filter(|doc| *doc < end).ok_or_else(|| wrong_table(&path));
    let rows = finished.removals()?;
    Ok(rows.map(move |found| {
        found.and_then(|found| Ok((row(found.doc)?, found.kept.saturating_sub(first), found.reason)))
    }))
}

/// Returns the rows of the corpus that are listed in `rejected/`.
pub(super) fn rejected(session: &Session<'_>, finished: &Finished) -> Result<Rejected> {
    let path = rejected_table(finished.dir());
    let files: HashMap<&str, u64> = finished
        .report
        .inputs
        .iter()
        .zip(&session.source.files)
        .map(|(known, file)| (&*known.file, file.first_doc))
        .collect();
    let rejecter = Rejecter::new(session)?;
    let mut writer = rejecter.writer();
    let mut count = 0;
    for batch in TableReader::open(&path, &REJECTED_COLUMNS)? {
        let rows = rejected_rows(&batch?, CORPUS).ok_or_else(|| wrong_table(&path))?;
        for (file, row) in rows {
            // A row without a number represents a skipped file.
            let (Some(first), Some(row)) = (files.get(&*file), row) else { continue };
            let doc = first.saturating_add(row);
            if doc >= session.documents() {
                return Err(wrong_table(&path));
            }
            rejecter.put(&mut writer, doc, RejectReason::BrokenRecord, b"")?;
            count += 1;
        }
    }
    writer.flush()?;
    drop(writer);
    let known = finished.report.documents.rejections.rows;
    if count != known {
        let why = format!("it has {}, but run.json has {known}", counted(count, "row"));
        return Err(Error::BadFile { path, why });
    }
    rejecter.finish()
}

/// Returns the passages that the run cut; `None` if there are none.
pub(super) fn cuts(session: &Session<'_>, finished: &Finished, measures: bool) -> Result<Option<TextEdits>> {
    if session.options.cut.what.is_none() {
        return Ok(None);
    }
    let path = finished.dir().join("passages/part-00000.parquet");
    let (first, end) = (finished.first_doc(), session.documents());
    let batches = TableReader::open(&path, &PASSAGE_COLUMNS)?;
    let rows = batches.flat_map(|batch| {
        let rows = batch.and_then(|batch| passages_found(&batch).ok_or_else(|| wrong_table(&path)));
        match rows {
            Ok(rows) => {
                rows.into_iter().map(|row| of_corpus(row, first, end).ok_or_else(|| wrong_table(&path))).collect()
            }
            Err(error) => vec![Err(error)],
        }
    });
    read_back(session, rows, measures).map(Some)
}

/// Converts the document numbers in a row to positions in the corpus, which has `end` documents and starts at document number `first`.
/// Returns `None` if the document is not in the corpus.
fn of_corpus(mut row: PassageFound, first: u64, end: u64) -> Option<PassageFound> {
    row.doc = row.doc.checked_sub(first).filter(|doc| *doc < end)?;
    row.first_doc = row.first_doc.map(|doc| doc.saturating_sub(first));
    Some(row)
}

/// Returns the error for a table that does not match the record.
pub(super) fn wrong_table(path: &Path) -> Error {
    let why = "it has changed since the run wrote it; run again with `overwrite`".into();
    Error::BadFile { path: path.to_path_buf(), why }
}

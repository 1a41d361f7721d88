//! Reads the documents that `explain` compares, and chooses the second one if only one is named.

use crate::finished::Finished;
use crate::finished::tables::{passages, removals, wrong_type};
use dupsift_core::error::{Error, Result};
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::reading::document::View;
use dupsift_engine::session::Session;
use dupsift_input::{RowFilter, TableReader, Want};
use dupsift_tables::{Documents, PARTNER_COLUMNS, partners_of};

/// A batch and the index of a row in it.
pub(crate) type At<'b> = (&'b Documents, usize);

/// Reads the two documents and passes both to a function, smaller number first.
pub(crate) fn both(
    session: &Session<'_>,
    view: &View<'_>,
    docs: [u64; 2],
    then: impl FnOnce(At<'_>, At<'_>) -> Result<()>,
) -> Result<()> {
    let mut sorted = docs;
    sorted.sort_unstable();
    let filter = RowFilter::Docs(sorted.as_slice().into());
    let want =
        Want { id: true, rows: Some(filter), ..view.want() }.with_values(session.options.removal.keep_per.as_ref());
    let batches = session.read(
        "read documents",
        &want,
        || Ok(Vec::new()),
        |batches: &mut Vec<Documents>, batch| {
            batches.push(batch.clone());
            Ok(())
        },
        Ok,
    )?;
    let batches: Vec<Documents> = batches.into_iter().flatten().collect();
    let place = |doc: u64| {
        let rows = batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| (batch, row)));
        rows.into_iter().find(|(batch, row)| batch.doc(*row) == doc)
    };
    match (place(sorted[0]), place(sorted[1])) {
        (Some(first), Some(second)) => then(first, second),
        _ => Ok(()),
    }
}

pub(crate) fn text_of<'b>(session: &Session<'_>, batch: &'b Documents, row: usize) -> Result<&'b str> {
    let why = match batch.text(row).text() {
        Ok(text) => return Ok(text),
        Err(why) => why,
    };
    let (doc, number) = (batch.doc(row), session.number(batch.doc(row)));
    let name = if doc < session.base { "from an earlier run".into() } else { session.source.name_of(doc) };
    Err(Error::usage(format!("document {number} ({name}) was not part of the run: {why}; see rejected/")))
}

/// Returns the second document if only one was requested: the document that was kept instead, or else the most similar document, with a
/// note on the choice.
///
/// # Errors
/// Returns [`Error::Usage`] if no algorithm has a pair with the document.
pub(crate) fn partner(engine: &Engine<'_>, finished: &Finished, doc: u64) -> Result<([u64; 2], Option<String>)> {
    let removals = removals(finished, &[doc])?;
    // If no duplicate of a document is kept, its row in the table lists the document itself as the kept document.
    if let Some(removal) = removals.first().filter(|removal| removal.kept_doc != doc) {
        return Ok(([doc, removal.kept_doc], None));
    }
    // Duplicates are preferred to pages from the same template; within each kind, the most similar document is preferred.
    let mut best: Option<(bool, f32, u64)> = None;
    for one in &finished.report.algorithms {
        let path = finished.pair_table(&one.label);
        for batch in TableReader::open(&path, &PARTNER_COLUMNS)? {
            for (other, similarity, is_template) in partners_of(&batch?, doc).ok_or_else(|| wrong_type(&path))? {
                let key = (!is_template, similarity);
                if best.is_none_or(|(duplicate, known, _)| key > (duplicate, known)) {
                    best = Some((!is_template, similarity, other));
                }
            }
            engine.go_on()?;
        }
    }
    match best {
        Some((is_duplicate, _, other)) => {
            let of = if is_duplicate {
                "the documents paired with it"
            } else {
                "the documents with the same template; the first document is not in any other pair"
            };
            let first = match finished.report.removal {
                Some(_) if doc < finished.first_doc() => "the first document was indexed before this run",
                Some(_) if !removals.is_empty() => "the first document is removed with its duplicates",
                Some(_) => "the first document is kept",
                None => "a comparison removes nothing",
            };
            Ok(([doc, other], Some(format!("{first}; the second document is the most similar one among {of}"))))
        }
        None => from_passages(engine, finished, doc)?.ok_or_else(|| {
            Error::usage("no algorithm in this run paired the document with another one; pass a second id")
        }),
    }
}

/// Returns `doc` and the document with the first copy of a passage that is cut from `doc`, with a note on the choice.
fn from_passages(engine: &Engine<'_>, finished: &Finished, doc: u64) -> Result<Option<([u64; 2], Option<String>)>> {
    let found = passages(engine, finished, &[doc])?;
    let from = found.into_iter().filter(|one| one.first_doc.is_some_and(|first| first != doc));
    let largest = from.max_by_key(|one| (one.bytes[1] - one.bytes[0], std::cmp::Reverse(one.bytes[0])));
    let note =
        "the first document is not in any pair; its largest repeated passage first occurs in the second document";
    Ok(largest.and_then(|one| Some(([doc, one.first_doc?], Some(note.to_owned())))))
}

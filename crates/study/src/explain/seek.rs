//! Finds documents from command-line arguments: by id, by FILE#ROW, or by number.

use dupsift_core::error::{Error, Result, nearest};
use dupsift_core::number::{counted, thousands};
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::session::Session;
use dupsift_incremental::Again;
use dupsift_input::Want;

/// The maximum number of documents listed in a message.
const NAMED: usize = 10;

/// Similar ids are suggested only if the corpus has at most this many documents.
const SMALL: u64 = 200_000;

/// Holds the documents that have a given id.
#[derive(Clone, Default)]
struct Found {
    /// The smallest numbers of these documents, at most [`NAMED`], in ascending order.
    docs: Vec<u64>,
    count: u64,
}

impl Found {
    fn merge(&mut self, other: &Found) {
        self.docs.extend(&other.docs);
        self.docs.sort_unstable();
        self.docs.truncate(NAMED);
        self.count += other.count;
    }
}

/// Specifies where to search for documents.
#[derive(Clone, Copy)]
pub(crate) struct Seeking<'s> {
    /// The corpus of the run, without indexed documents.
    pub session: &'s Session<'s>,
    /// The number that the tables use for the first document in this corpus.
    pub first_doc: u64,
    /// The index of an incremental run.
    pub again: Option<&'s Again<'s>>,
    /// Whether only the stored texts are read, not the corpus.
    pub is_stored: bool,
}

/// Returns the numbers that the tables use for one or two documents.
///
/// # Errors
/// Returns [`Error::Usage`] if an argument matches no document or several documents, or if both arguments match the same document.
pub(crate) fn seek(at: Seeking<'_>, typed: &[String], by_number: bool) -> Result<Vec<u64>> {
    let docs: Vec<u64> = if by_number {
        typed.iter().map(|typed| number(at, typed)).collect::<Result<_>>()?
    } else {
        let found = with_ids(at.session, typed)?;
        typed.iter().zip(&found).map(|(typed, found)| choose(at, typed, found)).collect::<Result<_>>()?
    };
    let docs = if docs.len() == 2 && docs[0] == docs[1] {
        vec![docs[0], namesake(at, typed, docs[0], by_number)?]
    } else {
        docs
    };
    Ok(docs)
}

/// Checks that at least one of these documents is in the batch, and that none of them was forgotten.
///
/// # Errors
/// Returns [`Error::Usage`] if all of the documents were indexed before the batch (its tables do not cover such documents), or if
/// one of the documents was forgotten.
pub(crate) fn may_be_shown(at: &Seeking<'_>, docs: &[u64]) -> Result<()> {
    if docs.iter().all(|&doc| doc < at.first_doc) {
        let place = at.again.map(|again| again.place(docs[0]).0).filter(|folder| !folder.is_empty());
        let output = place.unwrap_or_else(|| "of the run that indexed them".into());
        return Err(Error::usage(format!(
            "both documents were indexed before this run, so it made no decision about them; pass a document from this run, or use the output {output}"
        )));
    }
    match docs.iter().find(|&&doc| at.again.is_some_and(|again| again.is_forgotten(doc))) {
        Some(doc) => Err(Error::usage(format!("document {doc} was forgotten, so its text is not shown"))),
        None => Ok(()),
    }
}

/// Returns the document in an earlier batch that has the same id as `doc`. Both arguments may be the same id, because two batches may
/// contain the same page.
fn namesake(at: Seeking<'_>, typed: &[String], doc: u64, by_number: bool) -> Result<u64> {
    let earlier = match at.again.filter(|_| !by_number && typed[0] == typed[1] && doc >= at.first_doc) {
        Some(again) => again.with_id(at.session.engine, &typed[1])?,
        None => Vec::new(),
    };
    match earlier[..] {
        [] => Err(Error::usage(format!(
            "{:?} and {:?} are the same document, number {doc}; expected two documents",
            typed[0], typed[1]
        ))),
        [one] => Ok(one),
        _ => Err(several(&typed[1], earlier.len() as u64, &earlier)),
    }
}

fn number(at: Seeking<'_>, typed: &str) -> Result<u64> {
    let documents = at.first_doc + at.session.documents();
    typed.parse().ok().filter(|&doc| doc < documents).ok_or_else(|| {
        Error::wrong(
            "docs",
            format_args!("expected a document number from 0 to {}, got {typed:?}", documents.saturating_sub(1)),
        )
    })
}

/// Returns the documents with these ids. Ids are compared as printed.
fn with_ids(session: &Session<'_>, typed: &[String]) -> Result<Vec<Found>> {
    let found = session.read(
        "find ids",
        &want(session.engine),
        || Ok(vec![Found::default(); typed.len()]),
        |found, batch| {
            for row in 0..batch.len() {
                let Some(id) = batch.id(row) else { continue };
                let id = id.to_string();
                for (found, typed) in found.iter_mut().zip(typed) {
                    if *typed == id {
                        found.merge(&Found { docs: vec![batch.doc(row)], count: 1 });
                    }
                }
            }
            Ok(())
        },
        Ok,
    )?;
    let mut all = vec![Found::default(); typed.len()];
    found.iter().for_each(|found| all.iter_mut().zip(found).for_each(|(all, found)| all.merge(found)));
    Ok(all)
}

fn want(engine: &Engine<'_>) -> Want {
    Want { text: false, id: true, batch_bytes: engine.budget.batch, ..Want::default() }
}

fn choose(at: Seeking<'_>, typed: &str, found: &Found) -> Result<u64> {
    match (found.count, found.docs.first()) {
        (1, Some(&doc)) => Ok(at.first_doc + doc),
        (0, _) | (_, None) => match file_and_row(at.session, typed) {
            Some(doc) => Ok(at.first_doc + doc),
            None => earlier(at, typed),
        },
        (count, _) => {
            let docs: Vec<u64> = found.docs.iter().map(|doc| at.first_doc + doc).collect();
            Err(several(typed, count, &docs))
        }
    }
}

/// Returns the document with this id in an earlier batch.
fn earlier(at: Seeking<'_>, typed: &str) -> Result<u64> {
    let found = at.again.map(|again| again.with_id(at.session.engine, typed)).transpose()?.unwrap_or_default();
    match found[..] {
        [] => Err(unknown(at, typed)?),
        [one] => Ok(one),
        _ => Err(several(typed, found.len() as u64, &found)),
    }
}

fn several(typed: &str, count: u64, docs: &[u64]) -> Error {
    let named: Vec<String> = docs.iter().take(NAMED).map(u64::to_string).collect();
    let more = if count > NAMED as u64 { ", ..." } else { "" };
    Error::usage(format!(
        "{} documents have the id {typed:?}; pass one of their numbers, with `docs`: {}{more}",
        thousands(count),
        named.join(", ")
    ))
}

/// Returns the document with this FILE#ROW name. Such a name identifies a document without an id.
fn file_and_row(session: &Session<'_>, typed: &str) -> Option<u64> {
    let (label, row) = typed.rsplit_once('#')?;
    let row: u64 = row.parse().ok()?;
    let file = session.source.files.iter().find(|file| file.label == label || file.path.as_os_str() == label)?;
    Some(file.first_doc + row).filter(|&doc| row < file.rows && doc < session.documents())
}

/// Returns the error for an unknown document. In a small corpus, the error suggests the nearest id.
fn unknown(at: Seeking<'_>, typed: &str) -> Result<Error> {
    let session = at.session;
    if let Some(sample) = session.sample.filter(|_| !at.is_stored) {
        return Ok(Error::usage(format!(
            "no document in the sample has the id {typed:?}; the run read only {} of {} (`sample`), so pass a document from the sample, \
             or run again without `sample`",
            thousands(sample.documents()),
            counted(session.documents(), "document")
        )));
    }
    let mut hint = String::new();
    if session.documents() <= SMALL {
        let likely = session.read(
            "find a likely id",
            &want(session.engine),
            || Ok(None::<String>),
            |best, batch| {
                for id in (0..batch.len()).filter_map(|row| batch.id(row)) {
                    let id = id.to_string();
                    let known = best.as_deref().into_iter().chain([id.as_str()]);
                    if let Some(likely) = nearest(typed, known) {
                        *best = Some(likely.to_string());
                    }
                }
                Ok(())
            },
            Ok,
        )?;
        hint = dupsift_core::error::did_you_mean(typed, likely.iter().flatten().map(String::as_str));
    }
    if at.is_stored {
        return Ok(Error::usage(format!(
            "no document in texts/ has the id {typed:?}; only the removed documents and those kept instead were searched, because the \
             corpus no longer exists or has changed{hint}; pass `input=DIR` with the current location of the corpus"
        )));
    }
    Ok(Error::usage(format!(
        "no document has the id {typed:?}{hint}; expected an id from the column {:?}, FILE#ROW, or, with `docs`, a document number",
        session.options.columns.id_column
    )))
}

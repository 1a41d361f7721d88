//! From what a person types to documents: by id, by FILE#ROW, or by number.

use crate::engine::threads::Engine;
use crate::error::{Error, Result, nearest};
use crate::io::Want;
use crate::number::thousands;
use crate::reading::reader::Reader;
use crate::spelling::opt;

/// Document numbers that a message names.
const NAMED: usize = 10;

/// The largest corpus in which a likely id is looked for.
const SMALL: u64 = 200_000;

/// The documents that have one id.
#[derive(Clone, Default)]
struct Found {
    /// The smallest numbers, ascending.
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

/// The numbers of two documents.
///
/// # Errors
/// [`Error::Usage`] for what names no document, or several, or twice the same.
pub fn seek(engine: &Engine<'_>, reader: &Reader<'_>, typed: &[String; 2], by_number: bool) -> Result<[u64; 2]> {
    let docs = if by_number {
        [number(reader, &typed[0])?, number(reader, &typed[1])?]
    } else {
        let [a, b] = with_ids(engine, reader, typed)?;
        [choose(engine, reader, &typed[0], &a)?, choose(engine, reader, &typed[1], &b)?]
    };
    if docs[0] == docs[1] {
        return Err(Error::usage(format!(
            "{:?} and {:?} are one document, number {}; expected two",
            typed[0], typed[1], docs[0]
        )));
    }
    Ok(docs)
}

fn number(reader: &Reader<'_>, typed: &str) -> Result<u64> {
    let documents = reader.documents();
    typed.parse().ok().filter(|&doc| doc < documents).ok_or_else(|| {
        Error::wrong(
            opt("docs"),
            format_args!("expected a document number from 0 to {}, got {typed:?}", documents.saturating_sub(1)),
        )
    })
}

/// Who has these ids, as they are printed.
fn with_ids(engine: &Engine<'_>, reader: &Reader<'_>, typed: &[String; 2]) -> Result<[Found; 2]> {
    let found = reader.read(
        engine,
        "find ids",
        &want(engine),
        || Ok(<[Found; 2]>::default()),
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
    let mut all = <[Found; 2]>::default();
    found.iter().for_each(|found| all.iter_mut().zip(found).for_each(|(all, found)| all.merge(found)));
    Ok(all)
}

fn want(engine: &Engine<'_>) -> Want {
    Want { text: false, id: true, batch_bytes: engine.budget.batch, ..Want::default() }
}

fn choose(engine: &Engine<'_>, reader: &Reader<'_>, typed: &str, found: &Found) -> Result<u64> {
    match (found.count, found.docs.first()) {
        (1, Some(&doc)) => Ok(doc),
        (0, _) | (_, None) => file_and_row(reader, typed).map_or_else(|| Err(unknown(engine, reader, typed)?), Ok),
        (count, _) => {
            let docs: Vec<String> = found.docs.iter().map(u64::to_string).collect();
            let more = if count > NAMED as u64 { ", ..." } else { "" };
            Err(Error::usage(format!(
                "{} documents have the id {typed:?}; name the one that is meant by its number, with {docs}: {}{more}",
                thousands(count),
                docs.join(", "),
                docs = opt("docs")
            )))
        }
    }
}

/// The document that is called so where it has no id.
fn file_and_row(reader: &Reader<'_>, typed: &str) -> Option<u64> {
    let (label, row) = typed.rsplit_once('#')?;
    let row: u64 = row.parse().ok()?;
    let file = reader.source.files.iter().find(|file| file.label == label || file.path.as_os_str() == label)?;
    Some(file.first_doc + row).filter(|&doc| row < file.rows && doc < reader.documents())
}

/// Says so, with the nearest id of a small corpus.
fn unknown(engine: &Engine<'_>, reader: &Reader<'_>, typed: &str) -> Result<Error> {
    let mut hint = String::new();
    if reader.documents() <= SMALL {
        let likely = reader.read(
            engine,
            "find a likely id",
            &want(engine),
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
        hint = crate::error::did_you_mean(typed, likely.iter().flatten().map(String::as_str));
    }
    Ok(Error::usage(format!(
        "no document has the id {typed:?}{hint}; expected an id of the column {:?}, FILE#ROW, or document numbers with {docs}",
        reader.options.id_column,
        docs = opt("docs")
    )))
}

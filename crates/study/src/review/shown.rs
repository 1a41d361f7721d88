//! Reads the documents whose texts are shown on the page.

use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use super::places::Places;
use dupsift_algorithms::measure::write_contents;
use dupsift_core::error::Result;
use dupsift_engine::engine::evidence::{Evidence, Taking};
use dupsift_engine::job::run_report::{InputReport, RunReport};
use dupsift_engine::reading::document::{Columns, View};
use dupsift_engine::session::Session;
use dupsift_engine::session::kept_texts::KeptText;
use dupsift_input::{RowFilter, Want};
use dupsift_spill::shuffle::AtomicBits;
use dupsift_tables::{Cell, TextColumn};
use dupsift_text::Analysis;
use dupsift_text::numbers::numbers;
use dupsift_text::side_by_side::first_characters;

/// The maximum number of characters stored per document. The number is large because a difference may be far from
/// the beginning.
const SHOWN_CHARACTERS: usize = 20_000;

/// Holds the beginning of a document's text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShownText {
    /// The id of the document, or `FILE#ROW`.
    pub id: String,
    /// The first characters of the text.
    pub text: String,
    /// Whether the text is longer than the part in `text`.
    pub longer: bool,
    /// The number of characters of the whole text.
    pub characters: u64,
    /// The values of the columns that the page shows, in their order; `None` for a missing value.
    pub values: Vec<Option<String>>,
}

/// Holds the documents that are shown. A document can have millions of 3-grams and numbers, so these are stored in temporary files.
pub(crate) struct Shown<'r> {
    /// The parts that are shown, by document number.
    pub texts: BTreeMap<u64, ShownText>,
    contents: Evidence,
    numbers: Evidence,
    places: Places<'r>,
}

impl Shown<'_> {
    /// Returns the data that is needed to compare a document, or `None` if the document was not read.
    ///
    /// # Errors
    /// Returns an error if the document is not in the corpus.
    pub(crate) fn compared(&self, number: u64) -> Result<Option<ComparedText<'_>>> {
        if !self.texts.contains_key(&number) {
            return Ok(None);
        }
        let doc = self.places.of(number)?;
        Ok(Some(ComparedText { contents: self.contents.of(doc), numbers: self.numbers.of(doc) }))
    }
}

/// Holds the data that is needed to compare a document with other documents.
pub(crate) struct ComparedText<'s> {
    /// The contents in the format of [`write_contents`].
    pub contents: Cow<'s, [u64]>,
    /// The distinct numbers in the format of [`write_numbers`].
    pub numbers: Cow<'s, [u64]>,
}

/// The byte that follows each number. Numbers contain no line breaks.
const NUMBER_END: u8 = b'\n';

/// Appends the distinct numbers in the text as written, in order of their first occurrence, as a sequence of eight-byte words.
pub(crate) fn write_numbers(text: &str, out: &mut Vec<u64>) {
    let (mut seen, mut bytes) = (HashSet::new(), Vec::new());
    for number in numbers(text).filter(|number| seen.insert(*number)) {
        bytes.extend_from_slice(number.as_bytes());
        bytes.push(NUMBER_END);
    }
    bytes.resize(bytes.len().next_multiple_of(size_of::<u64>()), NUMBER_END);
    out.extend(bytes.chunks_exact(size_of::<u64>()).map(bytemuck::pod_read_unaligned::<u64>));
}

/// Returns the numbers that [`write_numbers`] wrote.
pub(crate) fn read_numbers(written: &[u64]) -> impl Iterator<Item = &str> {
    let numbers = bytemuck::cast_slice(written).split(|byte| *byte == NUMBER_END);
    numbers.filter_map(|number| std::str::from_utf8(number).ok()).filter(|number| !number.is_empty())
}

/// Records documents from several threads at once.
struct Recording {
    contents: Taking,
    numbers: Taking,
}

impl Recording {
    fn new(session: &Session<'_>, docs: &BTreeSet<u64>) -> Result<Recording> {
        let dir = session.engine.dir;
        let shown = AtomicBits::new(dir, "shown", session.documents() as usize)?;
        docs.iter().for_each(|&doc| _ = shown.set(doc as usize));
        Ok(Recording {
            contents: Taking::new(dir, "shown-contents", &shown)?,
            numbers: Taking::new(dir, "shown-numbers", &shown)?,
        })
    }

    /// Stores the data that is needed to compare a document, and returns the part of the document that is shown.
    fn record(&self, doc: u64, id: String, text: &str, document: &Analysis<'_>) -> Result<ShownText> {
        let mut words = Vec::new();
        self.contents.take(doc, &mut words, |words| write_contents(document, words))?;
        self.numbers.take(doc, &mut words, |words| write_numbers(document.text(), words))?;
        let (shown, longer) = beginning(text);
        let characters = text.chars().count() as u64;
        Ok(ShownText { id, text: shown.to_string(), longer, characters, values: Vec::new() })
    }
}

/// Reads the documents with these numbers, with their values of these columns.
pub(crate) fn read<'r>(
    session: &Session<'_>,
    report: &RunReport,
    places: Places<'r>,
    numbers: BTreeSet<u64>,
    columns: &[String],
) -> Result<Shown<'r>> {
    let docs: BTreeSet<u64> = numbers.into_iter().map(|number| places.of(number)).collect::<Result<_>>()?;
    let name_of = |doc: u64| match doc.checked_sub(session.base) {
        Some(row) => name_of(report, row),
        None => format!("#{}", session.number(doc)),
    };
    let recording = Recording::new(session, &docs)?;
    let mut read = read_places(session, docs.clone(), &recording, &name_of)?;
    if !columns.is_empty() {
        read_values(session, docs, columns, &mut read)?;
    }
    Ok(Shown {
        texts: read.into_iter().map(|(doc, text)| (places.number(doc), text)).collect(),
        contents: recording.contents.end()?,
        numbers: recording.numbers.end()?,
        places,
    })
}

/// Reads the documents at these positions; `name_of` returns the name of a document that has no id.
fn read_places(
    session: &Session<'_>,
    mut docs: BTreeSet<u64>,
    recording: &Recording,
    name_of: &(dyn Fn(u64) -> String + Sync),
) -> Result<BTreeMap<u64, ShownText>> {
    let (view, none) = (View::first(session), Columns::default());
    let mut known = BTreeMap::new();
    for KeptText { doc, id, text } in session.kept_texts.take(&docs)? {
        session.engine.go_on()?;
        let id = id.unwrap_or_else(|| name_of(doc));
        known.insert(doc, recording.record(doc, id, &text, &view.document(doc, &text, &none, 0))?);
        docs.remove(&doc);
    }
    tracing::debug!(kept = known.len(), looked_up = docs.len(), "texts of the page");
    if docs.is_empty() {
        return Ok(known);
    }
    let want = Want { id: true, rows: Some(only(docs)), batch_bytes: session.engine.budget.batch, ..Want::default() };
    let texts = session.read(
        "read texts",
        &want,
        || Ok(Vec::new()),
        |shown, batch| {
            for row in 0..batch.len() {
                let doc = batch.doc(row);
                let id = batch.id(row).map_or_else(|| name_of(doc), |id| id.to_string());
                if let Cell::Text(text) = batch.text(row) {
                    session.engine.go_on()?;
                    let _long = session.engine.long_document(text.len())?;
                    shown.push((doc, recording.record(doc, id, text, &view.document(doc, text, &none, row))?));
                }
            }
            Ok(())
        },
        Ok,
    )?;
    known.extend(texts.into_iter().flatten());
    Ok(known)
}

/// The maximum number of characters that are stored of a value.
const VALUE_CHARACTERS: usize = 200;

/// Reads the values of these columns for the documents at these positions. Documents from an index have no such columns.
fn read_values(
    session: &Session<'_>,
    docs: BTreeSet<u64>,
    columns: &[String],
    texts: &mut BTreeMap<u64, ShownText>,
) -> Result<()> {
    let want = Want {
        text: false,
        others: columns.to_vec(),
        rows: Some(only(docs)),
        batch_bytes: session.engine.budget.batch,
        ..Want::default()
    };
    let found = session.read(
        "read columns",
        &want,
        || Ok(Vec::new()),
        |found, batch| {
            session.engine.go_on()?;
            let columns = columns.iter().map(|column| batch.spelled_column(column)).collect::<Result<Vec<_>>>()?;
            for row in 0..batch.len() {
                let value = |column: &Option<TextColumn>| match column.as_ref()?.get(row) {
                    Cell::Text(value) => Some(first_characters(value, VALUE_CHARACTERS).unwrap_or(value).to_owned()),
                    _ => None,
                };
                found.push((batch.doc(row), columns.iter().map(value).collect::<Vec<_>>()));
            }
            Ok(())
        },
        Ok,
    )?;
    for (doc, values) in found.into_iter().flatten() {
        if let Some(text) = texts.get_mut(&doc) {
            text.values = values;
        }
    }
    Ok(())
}

/// Returns the first characters, and whether there are more.
fn beginning(text: &str) -> (&str, bool) {
    first_characters(text, SHOWN_CHARACTERS).map_or((text, false), |first| (first, true))
}

/// Returns the name `FILE#ROW`, with the file name from the record of the run.
fn name_of(report: &RunReport, doc: u64) -> String {
    file_of(report, doc).map_or_else(|| format!("#{doc}"), |(file, row)| format!("{}#{row}", file.file))
}

/// Returns the file that contains a row of the corpus, and the position of the row in it.
pub(crate) fn file_of(report: &RunReport, mut row: u64) -> Option<(&InputReport, u64)> {
    for file in &report.inputs {
        if row < file.rows {
            return Some((file, row));
        }
        row -= file.rows;
    }
    None
}

/// Returns a filter that selects only these documents.
fn only(docs: BTreeSet<u64>) -> RowFilter {
    RowFilter::Docs(Arc::from_iter(docs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(beginning("два"), ("два", false));
        let long = "字".repeat(SHOWN_CHARACTERS);
        assert_eq!(beginning(&long), (long.as_str(), false));
        let longer = format!("{long}末");
        assert_eq!(beginning(&longer), (long.as_str(), true));
    }

    #[test]
    fn distinct_numbers_are_read_as_they_were_written() {
        let texts = ["", "no number", "9, 7 and 1 200; 7", "1.2.3 12345 678901234 5"];
        let found = texts.map(|text| {
            let mut written = vec![];
            write_numbers(text, &mut written);
            read_numbers(&written).map(str::to_string).collect::<Vec<_>>()
        });
        assert_eq!(found, [vec![], vec![], vec!["9", "7", "1 200"], vec!["1.2.3", "12345", "678901234", "5"]]);
    }

    #[test]
    fn a_document_without_an_id_is_named_by_its_place() {
        let file = |name: &str, rows| InputReport { file: name.into(), rows, ..InputReport::default() };
        let report = RunReport { inputs: vec![file("a", 2), file("b", 0), file("c", 3)], ..RunReport::default() };
        assert_eq!([0, 1, 2, 4].map(|doc| name_of(&report, doc)), ["a#0", "a#1", "c#0", "c#2"]);
        assert_eq!(name_of(&report, 9), "#9");
    }
}

//! Reads the documents whose texts are shown on the page.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::places::Places;
use dupsift_algorithms::measure::write_contents;
use dupsift_core::error::Result;
use dupsift_engine::job::run_report::RunReport;
use dupsift_engine::reading::document::{Columns, View};
use dupsift_engine::reading::kept_texts::KeptText;
use dupsift_engine::session::Session;
use dupsift_files::io::{RowFilter, Want};
use dupsift_files::tables::Cell;
use dupsift_text::Analysis;
use dupsift_text::numbers::numbers;

/// The maximum number of characters that are kept from a text. The number is large because a difference may be far from
/// the beginning.
const SHOWN_CHARACTERS: usize = 20_000;

/// Holds the beginning of a document's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownText {
    /// The id of the document, or `FILE#ROW`.
    pub id: String,
    /// The first characters of the text.
    pub text: String,
    /// Whether the text is longer than the part in `text`.
    pub longer: bool,
}

/// Holds a document and its contents for comparison with other documents.
pub struct Read {
    /// The part of the document that is shown.
    pub shown: ShownText,
    /// The contents in the format of [`write_contents`].
    pub contents: Vec<u64>,
    /// The distinct numbers in the document, spelled as in the text, in order.
    pub numbers: Vec<String>,
}

/// Reads the documents with these numbers.
pub fn read(
    session: &Session<'_>,
    report: &RunReport,
    places: Places<'_>,
    numbers: BTreeSet<u64>,
) -> Result<BTreeMap<u64, Read>> {
    let docs = numbers.into_iter().map(|number| places.of(number)).collect::<Result<_>>()?;
    let name_of = |doc: u64| match doc.checked_sub(session.base) {
        Some(row) => name_of(report, row),
        None => format!("#{}", session.number(doc)),
    };
    let read = read_places(session, docs, &name_of)?;
    Ok(read.into_iter().map(|(doc, read)| (places.number(doc), read)).collect())
}

/// Reads the documents at these positions; `name_of` returns the name of a document that has no id.
fn read_places(
    session: &Session<'_>,
    mut docs: BTreeSet<u64>,
    name_of: &(dyn Fn(u64) -> String + Sync),
) -> Result<BTreeMap<u64, Read>> {
    let (view, none) = (View::first(session), Columns::default());
    let mut known = BTreeMap::new();
    for KeptText { doc, id, text } in session.kept_texts.take(&docs)? {
        session.engine.go_on()?;
        let id = id.unwrap_or_else(|| name_of(doc));
        known.insert(doc, read_one(id, &text, &view.document(doc, &text, &none, 0)));
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
                    shown.push((doc, read_one(id, text, &view.document(doc, text, &none, row))));
                }
            }
            Ok(())
        },
        Ok,
    )?;
    known.extend(texts.into_iter().flatten());
    Ok(known)
}

fn read_one(id: String, text: &str, document: &Analysis<'_>) -> Read {
    let mut contents = Vec::new();
    write_contents(document, &mut contents);
    let mut seen = BTreeSet::new();
    let numbers = numbers(document.text()).filter(|number| seen.insert(number.to_string())).map(str::to_string);
    let numbers = numbers.collect();
    let (text, longer) = beginning(text);
    Read { shown: ShownText { id, text: text.to_string(), longer }, contents, numbers }
}

/// Returns the first characters of a text, and whether the text is longer.
fn beginning(text: &str) -> (&str, bool) {
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => (&text[..end], true),
        None => (text, false),
    }
}

/// Returns the name `FILE#ROW`, with the file name from the record of the run.
fn name_of(report: &RunReport, doc: u64) -> String {
    let mut row = doc;
    for file in &report.inputs {
        if row < file.rows {
            return format!("{}#{row}", file.file);
        }
        row -= file.rows;
    }
    format!("#{doc}")
}

/// Returns a filter that selects only these documents.
fn only(docs: BTreeSet<u64>) -> RowFilter {
    RowFilter::Docs(Arc::from_iter(docs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_engine::job::InputReport;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(beginning("два"), ("два", false));
        let long = "字".repeat(SHOWN_CHARACTERS);
        assert_eq!(beginning(&long), (long.as_str(), false));
        let longer = format!("{long}末");
        assert_eq!(beginning(&longer), (long.as_str(), true));
    }

    #[test]
    fn a_document_without_an_id_is_named_by_its_place() {
        let file = |name: &str, rows| InputReport { file: name.into(), rows, ..InputReport::default() };
        let report = RunReport { inputs: vec![file("a", 2), file("b", 0), file("c", 3)], ..RunReport::default() };
        assert_eq!([0, 1, 2, 4].map(|doc| name_of(&report, doc)), ["a#0", "a#1", "c#0", "c#2"]);
        assert_eq!(name_of(&report, 9), "#9");
    }
}

//! Selects documents by their text, id or source. The corpus is read once.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::ListOptions;
use dupsift_core::error::{Error, Result};
use dupsift_engine::reading::inputs::SOURCE_COLUMNS;
use dupsift_engine::session::Session;
use dupsift_input::Want;
use dupsift_spill::shuffle::AtomicBits;

/// The maximum number of file names in an error.
const NAMED: usize = 5;

/// Returns the documents whose id or text contains `grep` and that come from `source`.
///
/// # Errors
/// Returns [`Error::Usage`] if neither a file nor a value is the source, or an error if the corpus cannot be read.
pub(super) fn matching(session: &Session<'_>, asked: &ListOptions) -> Result<AtomicBits> {
    let matching = AtomicBits::new(session.engine.dir, "matching", session.documents() as usize)?;
    let (grep, source) = (asked.grep.as_deref(), asked.source.as_deref());
    let column = source.and_then(|_| column(session));
    let files: BTreeSet<usize> = match source {
        Some(source) => {
            let is_it = |(_, file): &(usize, &dupsift_input::InputFile)| {
                file.label == source || file.path.ends_with(Path::new(source))
            };
            session.source.files.iter().enumerate().filter(is_it).map(|(at, _)| at).collect()
        }
        None => BTreeSet::new(),
    };
    let ends: Vec<u64> = session.source.files.iter().map(|file| file.first_doc + file.rows).collect();
    let of_file = |doc: u64| files.contains(&ends.partition_point(|&end| end <= doc));
    let was_found = AtomicBool::new(!files.is_empty());
    let want = Want {
        text: grep.is_some(),
        id: grep.is_some(),
        others: column.iter().cloned().collect(),
        batch_bytes: session.engine.budget.batch,
        ..Want::default()
    };
    session.read(
        "select documents",
        &want,
        || Ok(()),
        |(), batch| {
            session.engine.go_on()?;
            let values = match &column {
                Some(column) => batch.spelled_column(column)?,
                None => None,
            };
            for row in 0..batch.len() {
                let doc = batch.doc(row);
                if let Some(source) = source {
                    let value = values.as_ref().and_then(|values| values.get(row).text().ok());
                    let has_value = value == Some(source);
                    if has_value {
                        was_found.store(true, Ordering::Relaxed);
                    }
                    if !has_value && !of_file(doc) {
                        continue;
                    }
                }
                let has = |grep: &str| {
                    batch.text(row).text().is_ok_and(|text| text.contains(grep))
                        || batch.id(row).is_some_and(|id| id.to_string().contains(grep))
                };
                if grep.is_none_or(has) {
                    matching.set(doc as usize);
                }
            }
            Ok(())
        },
        Ok,
    )?;
    match source {
        Some(source) if !was_found.load(Ordering::Relaxed) => Err(unknown(session, source, column.as_deref())),
        _ => Ok(matching),
    }
}

/// Returns the column of sources: the one that the run read, or the first that a file has.
fn column(session: &Session<'_>) -> Option<String> {
    let has = |name: &&str| session.source.files.iter().any(|file| file.others.iter().any(|other| other == name));
    let known = session.options.guards.source_column.clone();
    known.or_else(|| SOURCE_COLUMNS.into_iter().find(has).map(str::to_owned))
}

fn unknown(session: &Session<'_>, source: &str, column: Option<&str>) -> Error {
    let mut names: Vec<&str> = session.source.files.iter().take(NAMED).map(|file| file.label.as_str()).collect();
    if session.source.files.len() > NAMED {
        names.push("...");
    }
    let column =
        column.map_or_else(|| "there is no column of sources".to_owned(), |name| format!("a value of {name:?}"));
    Error::wrong_value(
        "source",
        format_args!("{source:?}"),
        format_args!("no document comes from it; expected an input file ({}) or {column}", names.join(", ")),
    )
}

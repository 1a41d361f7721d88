//! Reads the source of each document from a column of the corpus.

use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::crossing::Crossing;
use dupsift_core::error::Result;
use dupsift_core::number::counted_as;
use dupsift_engine::matching::indexed::Indexed;
use dupsift_engine::reading::inputs::SOURCE_COLUMNS;
use dupsift_engine::session::Session;
use dupsift_input::Want;
use dupsift_spill::shuffle::AtomicCells;
use dupsift_tables::Cell;

/// The maximum number of distinct values in a column of sources.
const MOST_VALUES: usize = 1000;

/// Holds the counts of pairs by source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SourceReview {
    /// The column that was read.
    pub column: Option<String>,
    /// The counts; `None` if no column could be used.
    pub crossing: Option<Crossing>,
    /// Notes about existing columns that were not used, and about documents that are not counted.
    pub notes: Vec<String>,
}

/// Holds the source of each document.
pub(crate) struct Sources {
    column: Option<String>,
    notes: Vec<String>,
    /// The code of each document's value, which is the number of the value plus one; 0 for a document without a value.
    codes: Option<AtomicCells<u32>>,
    /// The index of each code in the crossing.
    became: Vec<u32>,
    crossing: Option<Crossing>,
}

impl Sources {
    /// Creates an instance without sources, for a corpus that cannot be read.
    pub(crate) fn unknown() -> Sources {
        Sources { column: None, notes: Vec::new(), codes: None, became: Vec::new(), crossing: None }
    }

    /// Returns the column that was read.
    pub(crate) fn column(&self) -> Option<&str> {
        self.column.as_deref()
    }

    /// Returns empty counts; `None` if no column could be used.
    pub(crate) fn crossing(&self) -> Option<Crossing> {
        self.crossing.clone()
    }

    /// Returns the index of a document's value in the crossing.
    pub(crate) fn of(&self, doc: u64) -> u64 {
        let code = self.codes.as_ref().map_or(0, |codes| codes.load(doc as usize));
        self.became.get(code as usize).copied().unwrap_or(0).into()
    }

    /// Returns the review with these counts.
    pub(crate) fn review(self, crossing: Option<Crossing>) -> SourceReview {
        SourceReview { column: self.column, crossing, notes: self.notes }
    }
}

/// Assigns codes to the values, in the order in which threads find them.
#[derive(Default)]
struct Values {
    codes: BTreeMap<String, u32>,
    too_many: bool,
}

/// Reads the first usable column. Only Parquet files are read, because reading a single column of JSON lines takes as long as reading the
/// complete file.
pub(crate) fn read(session: &Session<'_>, dir: &Path) -> Result<Sources> {
    let mut notes = Vec::new();
    for column in SOURCE_COLUMNS {
        let parquet = session.source.files.iter().filter(|file| file.format.facts().is_columnar);
        if !parquet.clone().any(|file| file.others.iter().any(|other| other == column)) {
            continue;
        }
        let Some((codes, values)) = read_column(session, dir, column)? else {
            notes.push(format!("the column {column} has more than {MOST_VALUES} different values and is not shown"));
            continue;
        };
        if values.is_empty() {
            notes.push(format!("the column {column} has no printable values"));
            continue;
        }
        let others = session.source.files.len() - parquet.count();
        if others > 0 {
            notes
                .push(format!("{} not Parquet and therefore not read", counted_as(others as u64, "file is|files are")));
        }
        // Codes depend on the order in which threads run. The names are in alphabetical order, so their order is always the same.
        let places: Vec<(String, u64)> = std::iter::once("(none)".to_string())
            .chain(values.keys().map(|value| if value.is_empty() { "(empty)".to_string() } else { value.clone() }))
            .zip(std::iter::once(0).chain(values.values().map(|&(_, documents)| documents)))
            .collect();
        let mut place_of = vec![0; places.len()];
        for (at, &(code, _)) in values.values().enumerate() {
            place_of[code as usize] = at + 1;
        }
        let known: u64 = places.iter().map(|(_, documents)| documents).sum();
        let mut places = places;
        // Indexed documents do not have this column.
        let indexed = session.indexed.as_ref().map_or(0, Indexed::count);
        if indexed > 0 {
            places[0].0 = "(none, or indexed earlier)".to_string();
        }
        places[0].1 = (session.rows() + indexed).saturating_sub(known);
        // The group for documents without a value exists only if there are such documents.
        let skip = usize::from(places[0].1 == 0);
        let (crossing, became) = Crossing::new(&places[skip..], "values");
        let became = place_of.iter().map(|&place| became[place.saturating_sub(skip)]).collect();
        return Ok(Sources {
            column: Some(column.to_string()),
            notes,
            codes: Some(codes),
            became,
            crossing: Some(crossing),
        });
    }
    Ok(Sources { notes, ..Sources::unknown() })
}

type Counted = BTreeMap<String, (u32, u64)>;

/// Returns a filter for documents in Parquet files; `None` if all files are Parquet.
fn in_parquet(session: &Session<'_>) -> Option<dupsift_input::RowFilter> {
    let is_parquet: Vec<(u64, bool)> =
        session.source.files.iter().map(|file| (file.first_doc + file.rows, file.format.facts().is_columnar)).collect();
    let in_parquet = move |doc: u64| {
        is_parquet.get(is_parquet.partition_point(|&(end, _)| end <= doc)).is_some_and(|&(_, parquet)| parquet)
    };
    let all_parquet = session.source.files.iter().all(|file| file.format.facts().is_columnar);
    (!all_parquet).then(|| dupsift_input::RowFilter::Where(std::sync::Arc::new(in_parquet)))
}

/// Returns the code of each document, and a map from each value to its code and its number of documents; `None` if there are too many
/// values.
fn read_column(session: &Session<'_>, dir: &Path, column: &str) -> Result<Option<(AtomicCells<u32>, Counted)>> {
    let codes = AtomicCells::<u32>::new(dir, &format!("{column}-codes"), session.documents() as usize)?;
    let shared: Mutex<Values> = Mutex::default();
    let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
    let want = Want {
        text: false,
        others: vec![column.to_string()],
        rows: in_parquet(session),
        batch_bytes: session.engine.budget.batch,
        ..Want::default()
    };
    let counted = session.read(
        "read sources",
        &want,
        || Ok(BTreeMap::<String, (u32, u64)>::new()),
        |known, batch| {
            let Some(values) = batch.spelled_column(column)? else { return Ok(()) };
            for row in 0..batch.len() {
                let Cell::Text(value) = values.get(row) else { continue };
                if let Some((code, documents)) = known.get_mut(value) {
                    *documents += 1;
                    codes.store(batch.doc(row) as usize, *code);
                    continue;
                }
                let mut shared = lock();
                if shared.too_many {
                    return Ok(());
                }
                let next = shared.codes.len() as u32 + 1;
                let code = *shared.codes.entry(value.to_string()).or_insert(next);
                shared.too_many = shared.codes.len() > MOST_VALUES;
                drop(shared);
                known.insert(value.to_string(), (code, 1));
                codes.store(batch.doc(row) as usize, code);
            }
            Ok(())
        },
        Ok,
    )?;
    if lock().too_many {
        return Ok(None);
    }
    let mut all = Counted::new();
    for (value, (code, documents)) in counted.into_iter().flatten() {
        all.entry(value).or_insert((code, 0)).1 += documents;
    }
    Ok(Some((codes, all)))
}

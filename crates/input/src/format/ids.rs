//! Reads the labels of files of ids, and finds their broken ids.

use dupsift_tables::{Documents, Rejection, TextColumn};
use std::collections::BTreeMap;

/// Returns the rows of a batch in which an id is not UTF-8, each with the reason.
pub(crate) fn broken_ids(columns: &[Documents; 2], names: [&str; 2]) -> BTreeMap<usize, Rejection> {
    let broken = columns.iter().zip(names).rev().flat_map(|(column, name)| column.lost_of(name).collect::<Vec<_>>());
    broken.collect()
}

/// Returns the column with the labels of a file of ids, with its name. `rows` has all columns that were read.
pub(crate) fn labels_of<'n>(
    rows: &Documents,
    name: Option<&'n str>,
) -> std::result::Result<Option<(&'n str, TextColumn)>, String> {
    let Some(name) = name else { return Ok(None) };
    match rows.spelled_column(name).map_err(|error| error.to_string())? {
        Some(column) => Ok(Some((name, column))),
        None => Err(format!("column {name:?} contains neither strings, numbers nor booleans; expected labels")),
    }
}

/// Returns the label of a row.
pub(crate) fn label_of<'n>(labels: Option<&'n (&'n str, TextColumn)>, row: usize) -> Option<(&'n str, &'n str)> {
    let (name, column) = labels?;
    column.get(row).text().ok().map(|text| (*name, text))
}

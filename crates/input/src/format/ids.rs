//! Reads ids and labels from files that are not part of the corpus.

use crate::compressed::coding::Coding;
use arrow::array::RecordBatch;
use dupsift_core::error::{Error, Result};
use dupsift_tables::{Documents, Rejection, TextColumn};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;

/// A format with named columns of ids.
pub trait Ids: Sync {
    /// Calls `each` with the values of every row in a file of ids; see [`read_ids`](crate::corpus::id_rows::read_ids).
    ///
    /// # Errors
    /// Returns [`Failed`].
    fn read_ids(&self, file: File, coding: Coding, names: IdColumns<'_>, each: &mut EachIds<'_>) -> IdsRead;
}

/// The outcome of reading ids.
pub(crate) type IdsRead = std::result::Result<(), Failed>;

/// Names the columns of a file of ids.
#[derive(Clone, Copy, Debug)]
pub struct IdColumns<'n> {
    /// The columns with the ids.
    pub ids: [&'n str; 2],
    /// The columns of which one may hold the label of a row. In a file with fixed columns, only the first of them that exists is read; in
    /// JSON lines, the first that a row has.
    pub labels: &'n [&'n str],
}

/// Holds the values of a row in a file of ids. A value is `None` if it is null or missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdRow<'v> {
    /// The two ids.
    pub ids: [Option<&'v str>; 2],
    /// The label, with the name of its column. Numbers and booleans are written as text, as are other values in JSON lines.
    pub label: Option<(&'v str, &'v str)>,
    /// The offset in the unpacked file at which the row begins, if the file consists of lines.
    pub offset: Option<u64>,
}

/// A function that receives the values of a row, or the reason why the row is unusable. The function returns whether to continue.
pub(crate) type EachIds<'e> = dyn FnMut(std::result::Result<IdRow<'_>, Rejection>) -> Result<bool> + 'e;

/// The reason why reading ids ended early.
#[derive(Debug)]
pub enum Failed {
    /// The problem with the file.
    Bad(String),
    /// The damage to the file. The rows before the damage have been passed on.
    Damaged(String),
    /// The error from the callback.
    Passed(Error),
}

impl From<String> for Failed {
    fn from(why: String) -> Failed {
        Failed::Bad(why)
    }
}

/// Passes on the ids and labels in batches of rows.
pub(crate) struct IdBatches<'n> {
    names: [&'n str; 2],
    label: Option<&'n str>,
    strings: &'n [String],
    /// The ids of a row as text.
    texts: [String; 2],
}

impl<'n> IdBatches<'n> {
    /// Prepares for batches that have two columns with ids and possibly one with labels. `strings` names the string columns.
    pub(crate) fn new(names: [&'n str; 2], label: Option<&'n str>, strings: &'n [String]) -> IdBatches<'n> {
        IdBatches { names, label, strings, texts: [String::new(), String::new()] }
    }

    /// Calls `each` for every row of a batch. Returns whether to continue.
    pub(crate) fn pass_on(&mut self, batch: &RecordBatch, each: &mut EachIds<'_>) -> std::result::Result<bool, Failed> {
        let of = |name: &str| {
            Documents::of_bytes(0, batch.clone(), (None, Some(name)), self.strings, false)
                .map_err(|error: Error| error.to_string())
        };
        let columns = [of(self.names[0])?, of(self.names[1])?];
        let labels = labels_of(&columns[0], self.label)?;
        let broken = broken_ids(&columns, self.names);
        for row in 0..batch.num_rows() {
            let mut ids = [None, None];
            for ((value, text), column) in ids.iter_mut().zip(&mut self.texts).zip(&columns) {
                if let Some(id) = column.id(row) {
                    text.clear();
                    // Writing into a String cannot fail.
                    let _ = write!(text, "{id}");
                    *value = Some(text.as_str());
                }
            }
            let values = match broken.get(&row) {
                Some(why) => Err(why.clone()),
                None => Ok(IdRow { ids, label: label_of(labels.as_ref(), row), offset: None }),
            };
            if !each(values).map_err(Failed::Passed)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns the rows of a batch in which an id is not UTF-8, each with the reason.
fn broken_ids(columns: &[Documents; 2], names: [&str; 2]) -> BTreeMap<usize, Rejection> {
    let broken = columns.iter().zip(names).rev().flat_map(|(column, name)| column.lost_of(name).collect::<Vec<_>>());
    broken.collect()
}

/// Returns the column with the labels of a file of ids, with its name. `rows` has all columns that were read.
fn labels_of<'n>(
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
fn label_of<'n>(labels: Option<&'n (&'n str, TextColumn)>, row: usize) -> Option<(&'n str, &'n str)> {
    let (name, column) = labels?;
    column.get(row).text().ok().map(|text| (*name, text))
}

//! Lists the rows of a finished run: the removed documents, the similar documents that are kept, and the clusters.
//!
//! Tables are read once, in order, and only the rows that are returned are held in memory. `--worst` needs facts from the tables of pairs
//! for each removed document; these are recorded in temporary files. The corpus is read only to select documents by their text or source.

mod clusters;
mod kept_pairs;
mod removed;
mod select;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::finished::Finished;
use crate::finished::tables::wrong_type;
use crate::review::decides;
use crate::review::lowest::Lowest;
use crate::review::places::Places;
use arrow::array::RecordBatch;
use dupsift_core::error::{Error, Result};
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::job::check::check_resources;
use dupsift_engine::options::RunOptions;
use dupsift_publish::TemporaryFolder;
use dupsift_tables::listed_id;

/// The kind of rows in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Listed {
    /// The removed documents.
    Removed,
    /// The pairs of similar documents that are both kept.
    KeptSimilar,
    /// The clusters.
    Clusters,
}

/// Selects the rows of a listing.
#[derive(Clone, Debug)]
pub struct ListOptions {
    /// The kind of rows in the list.
    pub what: Listed,
    /// The maximum number of rows.
    pub limit: usize,
    /// Whether the most doubtful rows come first; otherwise, rows are in the order of the table.
    pub worst: bool,
    /// Only rows with a document whose id or text contains this text.
    pub grep: Option<String>,
    /// Only rows with a document from this input file, or with this value in the column of sources.
    pub source: Option<String>,
}

/// Holds the rows of a listing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listing {
    /// The kind of rows in the list.
    pub what: Listed,
    /// Whether the most doubtful rows come first.
    pub worst_first: bool,
    /// The number of rows.
    pub total: u64,
    /// The number of rows that match the selection.
    pub matching: u64,
    /// The first of the matching rows.
    pub rows: Vec<ListedRow>,
}

/// A row of a listing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ListedRow {
    /// A removed document.
    Removal(ListedRemovalRow),
    /// A pair of similar documents that are both kept.
    Pair(ListedPairRow),
    /// A cluster.
    Cluster(ListedClusterRow),
}

/// A removed document.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedRemovalRow {
    /// The id of the removed document.
    pub id: String,
    /// The id of the document that is kept instead.
    pub kept_id: String,
    /// The number of the removed document.
    pub doc: u64,
    /// The number of the document that is kept instead.
    pub kept_doc: u64,
    /// The reason: `copy`, `pair`, `chain`, `seen`, `emptied` or `representative`.
    pub reason: &'static str,
    /// The similarity of the two documents, if they form a pair.
    pub similarity: Option<f32>,
    /// The share of the removed document's 3-grams that the kept document contains, if computed.
    pub contained: Option<f32>,
    /// The share of the removed document's numbers that the kept document contains, if computed.
    pub numbers: Option<f32>,
    /// The batch or the file of the reference that contains the kept document; `None` if it is in the corpus.
    pub kept_in: Option<String>,
    /// Whether the titles refer to different things; `None` unless the most doubtful rows come first.
    pub other_title: Option<bool>,
    /// Whether another document is about as similar; `None` unless the most doubtful rows come first.
    pub others_as_near: Option<bool>,
    /// The doubt, from 0 to 1; `None` unless the most doubtful rows come first.
    pub doubt: Option<f32>,
}

/// A pair of similar documents that are both kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedPairRow {
    /// The ids of the two documents.
    pub ids: [String; 2],
    /// The numbers of the two documents, smaller first.
    pub docs: [u64; 2],
    /// The algorithms that found the pair and whose pairs determine which documents are removed.
    pub algorithms: Vec<String>,
    /// Why neither document is removed in favor of the other.
    pub why: &'static str,
    /// The similarity of the two documents, according to the first of the algorithms.
    pub similarity: f32,
    /// The share of each document's 3-grams that the other contains, if computed.
    pub contained: Option<[f32; 2]>,
    /// The share of each document's numbers that the other contains, if computed.
    pub numbers: Option<[f32; 2]>,
    /// The doubt, from 0 to 1: how much of one document the other contains.
    pub doubt: f32,
}

/// A cluster.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedClusterRow {
    /// The algorithm.
    pub algorithm: String,
    /// The id of the representative.
    pub cluster_id: String,
    /// The number of the representative.
    pub doc: u64,
    /// The number of documents.
    pub size: u64,
    /// The number of documents that are removed.
    pub removed: u64,
    /// The lowest similarity between the representative and a document that forms a pair with it; `None` if there is none.
    pub least_similar: Option<f32>,
    /// The number of documents that form no pair with the representative.
    pub unlinked: u64,
    /// The doubt, from 0 to 1: how far the least similar document is from the representative.
    pub doubt: f32,
}

/// Lists rows of a finished run. `options` contains the recorded options.
///
/// # Errors
/// Returns [`Error::Usage`] if the run removes nothing, if no input or value matches the source, or if the corpus must be read and is missing
/// or has changed. Also returns an error if a table cannot be read, or if the call is interrupted.
pub fn list(
    finished: &Finished,
    options: &RunOptions,
    asked: &ListOptions,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<Listing> {
    finished.of_one_result(|| {
        check_resources(options)?;
        if asked.what != Listed::Clusters && finished.report.removal.is_none() {
            return Err(Error::usage(
                "a comparison removes no documents; expected the output folder of dupsift run, or `clusters`",
            ));
        }
        let go_on = || if cancel.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) };
        if asked.grep.is_none() && asked.source.is_none() {
            let folder = TemporaryFolder::create(options.resources.work.as_deref())?;
            return Lister::new(finished, folder.path(), asked, None, &go_on).list();
        }
        let mut options = options.clone();
        // Columns of sources are known only if a page is written.
        options.output.report = true;
        finished.read(&options, progress, cancel, |session, _| {
            let matching = select::matching(session, asked)?;
            let first_doc = finished.first_doc();
            let is_selected = |doc: u64| doc.checked_sub(first_doc).is_some_and(|doc| matching.get(doc as usize));
            Lister::new(finished, session.engine.dir, asked, Some(&is_selected), &go_on).list()
        })
    })
}

/// Reads the tables for a listing.
struct Lister<'l> {
    finished: &'l Finished,
    /// A folder for temporary files.
    dir: &'l Path,
    asked: &'l ListOptions,
    /// Returns whether a document is selected; `None` if all are.
    is_selected: Option<&'l dyn Fn(u64) -> bool>,
    go_on: &'l dyn Fn() -> Result<()>,
    places: Places<'l>,
}

impl<'l> Lister<'l> {
    fn new(
        finished: &'l Finished,
        dir: &'l Path,
        asked: &'l ListOptions,
        is_selected: Option<&'l dyn Fn(u64) -> bool>,
        go_on: &'l dyn Fn() -> Result<()>,
    ) -> Lister<'l> {
        Lister { finished, dir, asked, is_selected, go_on, places: Places::new(&finished.report, None) }
    }

    fn list(&self) -> Result<Listing> {
        let mut rows = Rows { total: 0, matching: 0, worst: self.asked.worst, rows: Lowest::new(self.asked.limit) };
        match self.asked.what {
            Listed::Removed => self.removed(&mut rows)?,
            Listed::KeptSimilar => self.kept_pairs(&mut rows)?,
            Listed::Clusters => self.clusters(&mut rows)?,
        }
        Ok(Listing {
            what: self.asked.what,
            worst_first: self.asked.worst,
            total: rows.total,
            matching: rows.matching,
            rows: rows.rows.into_values().collect(),
        })
    }

    /// Returns whether a row with these documents is selected.
    fn selects(&self, docs: &[u64]) -> bool {
        self.is_selected.is_none_or(|is_selected| docs.iter().any(|&doc| is_selected(doc)))
    }

    /// Returns the labels of the algorithms whose pairs determine which documents are removed; all labels if nothing is removed.
    fn deciding(&self) -> Vec<&'l str> {
        let report = &self.finished.report;
        report.algorithms.iter().map(|one| one.label.as_str()).filter(|label| decides(report, label)).collect()
    }

    /// Returns an id in a row of a table.
    fn id(&self, (path, batch): (&Path, &RecordBatch), column: &str, row: usize) -> Result<String> {
        listed_id(batch, column, row).ok_or_else(|| wrong_type(path))
    }
}

/// Collects the first rows of a listing.
struct Rows {
    total: u64,
    matching: u64,
    worst: bool,
    rows: Lowest<(f32, u64), ListedRow>,
}

impl Rows {
    /// Counts a row, and keeps it if it is one of the first. `make` returns the row; it is called only if the row may be kept.
    fn offer(&mut self, is_selected: bool, doubt: f32, make: impl FnOnce() -> Result<ListedRow>) -> Result<()> {
        self.total += 1;
        if !is_selected {
            return Ok(());
        }
        self.matching += 1;
        let key = (if self.worst { -doubt } else { 0.0 }, self.matching);
        if self.rows.takes(key) {
            let row = make()?;
            self.rows.offer(key, || row);
        }
        Ok(())
    }
}

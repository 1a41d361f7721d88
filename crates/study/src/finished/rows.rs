//! Reads the tables of a finished run from the first row to the last, one batch at a time.

use std::collections::HashMap;
use std::path::PathBuf;

use super::Finished;
use dupsift_core::error::{Error, Result};
use dupsift_engine::reading::losses::CORPUS;
use dupsift_input::TableReader;
use dupsift_tables::{
    CLUSTER_COLUMNS, Clustered, ListedPair, PAIR_COLUMNS, PAIR_FACT_COLUMNS, PairFound, REJECTED_FOR_COLUMNS,
    REMOVAL_COLUMNS, RejectReason, RemovalFound, clustered, listed_pairs, pairs_found, rejected_for, removals_found,
};
use serde_json::Value as Json;

impl Finished {
    /// Returns the path of an algorithm's table of pairs.
    pub(crate) fn pair_table(&self, label: &str) -> PathBuf {
        self.dir.join(format!("pairs/algorithm={label}/part-00000.parquet"))
    }

    /// Returns the pairs of an algorithm in (a, b) order, excluding pairs whose documents share only a template.
    ///
    /// # Errors
    /// Returns an error if the table is missing or damaged; damage that is found later is returned as an item.
    pub fn pairs(&self, label: &str) -> Result<impl Iterator<Item = Result<PairFound>> + use<>> {
        rows(self.pair_table(label), &PAIR_COLUMNS, pairs_found)
    }

    /// Like [`Finished::pairs`], but returns all the data that the survivor rule uses.
    ///
    /// # Errors
    /// Returns the errors of [`Finished::pairs`].
    pub(crate) fn listed_pairs(&self, label: &str) -> Result<impl Iterator<Item = Result<ListedPair>> + use<>> {
        let pairs = rows(self.pair_table(label), PAIR_FACT_COLUMNS, listed_pairs)?;
        Ok(pairs.filter(|pair| pair.as_ref().map_or(true, |pair| !pair.template)))
    }

    /// Returns the path of an algorithm's table of clusters.
    pub(crate) fn cluster_table(&self, label: &str) -> PathBuf {
        self.dir.join(format!("clusters/algorithm={label}/part-00000.parquet"))
    }

    /// Returns the documents in the clusters of an algorithm, cluster by cluster.
    ///
    /// # Errors
    /// Returns the errors of [`Finished::pairs`].
    pub fn clusters(&self, label: &str) -> Result<impl Iterator<Item = Result<Clustered>> + use<>> {
        rows(self.cluster_table(label), &CLUSTER_COLUMNS, clustered)
    }

    /// Returns the removed documents, in order.
    ///
    /// # Errors
    /// Returns the errors of [`Finished::pairs`].
    pub fn removals(&self) -> Result<impl Iterator<Item = Result<RemovalFound>> + use<>> {
        rows(self.dir.join("removed/part-00000.parquet"), &REMOVAL_COLUMNS, removals_found)
    }

    /// Returns the number of rows in the corpus within `limit`, including rejected rows and rows outside a sample.
    pub fn rows(&self) -> u64 {
        let rows = self.report.inputs.iter().map(|file| file.rows).sum();
        let limit = self.report.options.get("limit").and_then(Json::as_u64);
        limit.map_or(rows, |limit| limit.min(rows))
    }

    /// Calls `each` with the rows of the corpus whose text is blank. Rows are counted from the first row of the corpus.
    ///
    /// # Errors
    /// Returns an error if `rejected/` is damaged.
    pub fn blank_rows(&self, mut each: impl FnMut(u64)) -> Result<()> {
        let reason = RejectReason::EmptyText;
        if !self.report.documents.rejections.reasons.contains_key(reason.text()) {
            return Ok(());
        }
        let mut first = 0;
        let mut firsts: HashMap<&str, u64> = HashMap::new();
        for file in &self.report.inputs {
            firsts.insert(&file.file, first);
            first += file.rows;
        }
        let path = self.dir.join("rejected/part-00000.parquet");
        let found = rows(path, &REJECTED_FOR_COLUMNS, move |batch| rejected_for(batch, CORPUS, reason))?;
        for row in found {
            let (file, row) = row?;
            let row = firsts.get(&*file).and_then(|first| first.checked_add(row));
            row.filter(|row| *row < self.rows()).into_iter().for_each(&mut each);
        }
        Ok(())
    }
}

fn rows<T, F: Fn(&arrow::array::RecordBatch) -> Option<Vec<T>>>(
    path: PathBuf,
    columns: &[&str],
    read: F,
) -> Result<impl Iterator<Item = Result<T>> + use<T, F>> {
    let table = TableReader::open(&path, columns)?;
    let batches = table.map(move |batch| {
        read(&batch?).ok_or_else(|| Error::BadFile {
            path: path.clone(),
            why: "a column has an unexpected type; expected a table written by dupsift".into(),
        })
    });
    Ok(Rows { batches, now: Vec::new().into_iter() })
}

/// Iterates over the rows in a sequence of batches.
struct Rows<B, T> {
    batches: B,
    now: std::vec::IntoIter<T>,
}

impl<B: Iterator<Item = Result<Vec<T>>>, T> Iterator for Rows<B, T> {
    type Item = Result<T>;

    #[inline]
    fn next(&mut self) -> Option<Result<T>> {
        loop {
            if let Some(row) = self.now.next() {
                return Some(Ok(row));
            }
            // A failed batch is returned as one failed row.
            match self.batches.next()? {
                Ok(rows) => self.now = rows.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

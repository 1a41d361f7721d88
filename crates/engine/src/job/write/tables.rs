//! Writes all tables of the output. Each table is written by one thread, and several tables are written at the same time.

use std::sync::{Mutex, PoisonError};

use super::clusters::{self, ClusterCounts};
use super::pairs::{self, Shown};
use super::rejected::write_rejected;
use super::removals::{self, Removals};
use super::statistics::{write_model, write_stats};
use crate::classes::Classes;
use crate::job::algorithm_state::AlgorithmState;
use crate::job::decide::decided::Decided;
use crate::job::decide::decisions::Expanded;
use crate::job::pair::contents::Compared;
use crate::job::read::keep::KeepOrder;
use crate::reading::ids::Ids;
use crate::reading::losses::Losses;
use crate::reading::rejected::Rejected;
use crate::session::Session;
use dupsift_algorithms::algorithm::Stats;
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_core::error::Result;
use dupsift_publish::Stage;
use dupsift_spill::shuffle::AtomicCells;

/// Holds the data for the tables.
pub(crate) struct Tables<'t> {
    /// The algorithms with their pairs.
    pub algorithms: &'t [AlgorithmState<'t, Expanded>],
    /// The order of preference.
    pub keep: &'t KeepOrder,
    /// The shape (script and length) of each document.
    pub shapes: &'t AtomicCells<u64>,
    /// The exact copies.
    pub copies: &'t Classes,
    /// The removal decisions, if documents may be removed.
    pub decided: Option<&'t Decided>,
    /// The additional data about pairs, if documents were compared with each other.
    pub compared: Option<&'t Compared>,
    /// The rejected rows.
    pub rejected: &'t Rejected,
    /// The rows and files that could not be read.
    pub losses: &'t Losses<'t>,
    /// The ids of all documents that appear in a table.
    pub ids: &'t Ids<'t>,
    /// The counts of the first pass.
    pub stats: &'t CorpusStats,
    /// The statistics tables that were built.
    pub needs: Stats,
    /// The learned models, by algorithm label.
    pub models: &'t [(&'t str, &'t [u64])],
}

/// Holds the counts of the written tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableCounts {
    /// The number of rows in the pair table of each algorithm, and the number of these pairs whose documents share a template.
    pub pairs: Vec<[u64; 2]>,
    /// The cluster counts of each algorithm.
    pub clusters: Vec<ClusterCounts>,
    /// The counts of the removals; empty if no documents may be removed.
    pub removals: Removals,
    rows: u64,
    bytes: u64,
}

/// The number of bytes of `--memory` to reserve for each table that is written concurrently. Encoded pages remain in memory until their row
/// group is full.
const A_TABLE: u64 = 64 << 20;
/// The number of bytes to reserve for each table if ids are long. The encoder holds several copies of a block of ids.
const A_TABLE_OF_LONG_IDS: u64 = 160 << 20;

impl Tables<'_> {
    /// Writes all tables.
    pub(crate) fn write(&self, session: &Session<'_>, stage: &Stage) -> Result<TableCounts> {
        let running = session.engine.clock.stage("write tables");
        let count = self.algorithms.len();
        let written = Mutex::new(TableCounts {
            pairs: vec![[0; 2]; count],
            clusters: vec![ClusterCounts::default(); count],
            ..TableCounts::default()
        });
        let note = |rows: u64, bytes: u64, then: &dyn Fn(&mut TableCounts)| {
            let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
            written.rows += rows;
            written.bytes += bytes;
            then(&mut written);
        };
        let a_table = if self.ids.are_long() { A_TABLE_OF_LONG_IDS } else { A_TABLE };
        let at_once = (session.options.resources.memory / a_table).clamp(1, session.options.resources.threads as u64);
        // The pair tables come first because writing them takes the longest.
        session.engine.work_on(
            at_once as usize,
            2 * count + 3,
            || Ok(()),
            |(), table| {
                let algorithm = table % count.max(1);
                if table < count {
                    let AlgorithmState { bound, now, .. } = &self.algorithms[algorithm];
                    let shown = Shown { ids: self.ids, compared: self.compared, session };
                    let (rows, bytes) = pairs::write(session.engine, stage, bound, &now.relation, &now.pairs, shown)?;
                    note(rows[0], bytes, &|written| written.pairs[algorithm] = rows);
                } else if table < 2 * count {
                    let AlgorithmState { bound, now, .. } = &self.algorithms[algorithm];
                    let (counts, bytes) = clusters::write(session, stage, bound, &now.relation, self.keep, self.ids)?;
                    note(counts.clustered, bytes, &|written| written.clusters[algorithm] = counts);
                } else if table == 2 * count {
                    if let Some(decided) = self.decided {
                        let part = |doc: u64| (self.shapes.load(doc as usize), self.keep.length(doc));
                        let (removals, bytes) = removals::write(session, stage, decided, self.copies, self.ids, part)?;
                        note(removals.removed, bytes, &|written| written.removals = removals.clone());
                    }
                } else if table == 2 * count + 1 {
                    let (rows, bytes) = write_rejected(session, stage, self.rejected, self.losses, self.ids)?;
                    note(rows, bytes, &|_| ());
                } else {
                    write_stats(stage, self.stats, self.needs)?;
                    self.models.iter().try_for_each(|(label, model)| write_model(stage, label, model))?;
                }
                Ok(())
            },
            Ok,
        )?;
        let written = written.into_inner().unwrap_or_else(PoisonError::into_inner);
        running.end(written.rows, written.rows, written.bytes);
        let labels: Vec<&str> = self.algorithms.iter().map(|algorithm| algorithm.bound.label.as_str()).collect();
        stage.write_bytes("README.md", card(&labels, self.decided.is_some()).as_bytes())?;
        Ok(written)
    }
}

/// Returns the dataset card of the output, which declares each table as a configuration and each algorithm as a split for Hugging Face
/// `datasets`. The card is necessary because `datasets` ignores folder names. The files do not contain the algorithm as a column, because
/// pyarrow and pandas reject a folder named `algorithm=NAME` if its files also have an `algorithm` column.
fn card(labels: &[&str], removes: bool) -> String {
    let mut card = "---\nconfigs:\n".to_owned();
    for kind in ["pairs", "clusters"] {
        card += &format!("- config_name: {kind}\n  data_files:\n");
        for label in labels {
            card += &format!("  - split: {label}\n    path: {kind}/algorithm={label}/*.parquet\n");
        }
    }
    for kind in removes.then_some("removed").into_iter().chain(["rejected"]) {
        card += &format!("- config_name: {kind}\n  data_files: {kind}/*.parquet\n");
    }
    card + "---\n\nThe output of dupsift. `dupsift show` prints its summary, `report.html` shows it in a browser, and `run.json` is its record.\n"
}

//! Compares the clusters of one algorithm with the true clusters, cell by cell, and counts the pairs within the clusters.

use std::path::Path;

use super::texts::{Correct, Texts};
use super::truth::Truth;
use crate::finished::Finished;
use dupsift_algorithms::measure::Partitions;
use dupsift_core::error::{Error, Result};
use dupsift_core::row::{doc_width, number};
use dupsift_engine::classes::Link;
use dupsift_engine::engine::numbers::Numbers;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::job::run_report::AlgorithmReport;
use dupsift_engine::session::Session;
use dupsift_spill::shuffle::{AtomicBits, Sorted};
use dupsift_tables::Clustered;

/// Holds the counts for the clusters of one algorithm.
pub(crate) struct EvaluatedClusters {
    /// The cells of the true and the predicted clusters.
    pub partitions: Partitions,
    /// The total number of pairs of distinct texts within the clusters.
    pub pairs: u64,
    /// The number of documents in the clusters.
    pub pages: u64,
    /// The number of pairs within one cell, and the number of documents in these pairs.
    in_cells: (u64, u64),
    /// The cluster number of each document, counted from 1; 0 if the document is in no cluster. Empty if [`EvaluatedClusters::true_pairs`]
    /// does not use this field.
    cluster_of: Numbers,
    label: String,
}

impl EvaluatedClusters {
    /// Reads the clusters of an algorithm. `of_pairs` must be set if [`EvaluatedClusters::true_pairs`] will be called.
    ///
    /// # Errors
    /// Returns [`Error::BadFile`] if the table of clusters is damaged.
    pub(crate) fn new(
        session: &Session<'_>,
        finished: &Finished,
        known: (&Truth, &Texts),
        one: &AlgorithmReport,
        of_pairs: bool,
    ) -> Result<EvaluatedClusters> {
        let rows = finished.clusters(&one.label)?;
        let table = finished.cluster_table(&one.label);
        EvaluatedClusters::of(session, finished, known, (&one.label, &table), rows, of_pairs)
    }

    /// Reads documents cluster by cluster, each with the size of its cluster. `label` is the label of the clusters, and `table` is the file
    /// that contains the rows.
    ///
    /// # Errors
    /// Returns an error from `rows`, or [`Error::BadFile`] if the rows are not in cluster order.
    pub(crate) fn of(
        session: &Session<'_>,
        finished: &Finished,
        (truth, texts): (&Truth, &Texts),
        (label, table): (&str, &Path),
        rows: impl Iterator<Item = Result<Clustered>>,
        of_pairs: bool,
    ) -> Result<EvaluatedClusters> {
        let documents = session.documents();
        let link = Link::new(session);
        let clustered = AtomicBits::new(session.engine.dir, &format!("{label}-clustered"), documents as usize)?;
        let noted = if of_pairs { documents as usize } else { 0 };
        let mut cluster_of = Numbers::new(session.engine.dir, &format!("{label}-cluster-of"), noted, documents)?;
        let mut slots = cluster_of.slots();
        let shuffle = link.shuffle(session, &format!("{label}-cells"), 0)?;
        let mut writer = shuffle.writer();
        let (mut cluster, mut left, mut pairs) = (0, 0, 0);
        let mut of_texts = (of_pairs && texts.any()).then(|| TextCells::new(session, label)).transpose()?;
        // The number of distinct texts in the current cluster.
        let mut distinct = 0;
        for row in rows {
            session.engine.go_on()?;
            let row = row?;
            // The documents of a cluster are consecutive.
            if left == 0 {
                left = row.size.min(documents);
                cluster += 1;
                distinct = 0;
            }
            if row.doc >= documents || left == 0 || !clustered.set(row.doc as usize) {
                return Err(Error::BadFile {
                    path: table.to_path_buf(),
                    why: format!(
                        "the document {} is out of order or repeated; expected each document once, cluster by cluster",
                        row.doc
                    ),
                });
            }
            left -= 1;
            if of_pairs {
                slots.set(row.doc, cluster);
            }
            let first = truth.first(row.doc);
            link.push(&mut writer, cluster - 1, first)?;
            let of_text = texts.of(row.doc);
            if of_text == row.doc {
                // The new text forms a pair with each earlier text in the cluster.
                pairs += distinct;
                distinct += 1;
            } else {
                pairs += 1;
            }
            if let Some(cells) = &mut of_texts {
                cells.add(cluster, row.doc, (truth, texts));
            }
        }
        writer.flush()?;
        drop(writer);
        let (mut partitions, mut in_cells) = cells(session.engine, &shuffle.finish()?, doc_width(documents), truth)?;
        if let Some(cells) = of_texts {
            in_cells = (cells.pairs, cells.correct.count(texts, &truth.pages));
        }
        // The next cells contain documents that are in a true cluster but in no predicted cluster. The last cells contain documents that
        // are in no cluster of either kind.
        let pages = clustered.count();
        let mut both = pages;
        for doc in truth.pages.iter().filter(|&doc| !clustered.get(doc)) {
            partitions.add(1, truth.size(truth.first(doc as u64)), 1);
            both += 1;
        }
        partitions.add_alone(finished.report.documents.used.saturating_sub(both));
        Ok(EvaluatedClusters { partitions, pairs, pages, in_cells, cluster_of, label: label.to_owned() })
    }

    /// Returns the number of undecided pairs within the clusters, which must have been read with `of_pairs`.
    ///
    /// # Errors
    /// Returns an error if the run is interrupted.
    pub(crate) fn undecided_pairs(&self, session: &Session<'_>, truth: &Truth) -> Result<u64> {
        let mut pairs = 0;
        for (a, b) in truth.undecided_texts() {
            session.engine.go_on()?;
            let cluster = self.cluster_of.get(a);
            pairs += u64::from(cluster > 0 && cluster == self.cluster_of.get(b));
        }
        Ok(pairs)
    }

    /// Returns the number of true pairs within the clusters, and the number of documents in these pairs.
    ///
    /// # Panics
    /// Panics if the clusters were not read with `of_pairs` and the truth consists of pairs.
    pub(crate) fn true_pairs(&self, session: &Session<'_>, (truth, texts): (&Truth, &Texts)) -> Result<(u64, u64)> {
        // If the truth consists of clusters, two documents in the same cell are a true pair.
        let Some(listed) = truth.listed() else { return Ok(self.in_cells) };
        let correct = Correct::new(session, &self.label)?;
        let mut pairs = 0;
        for (a, b) in listed {
            session.engine.go_on()?;
            let cluster = self.cluster_of.get(a);
            if cluster > 0 && cluster == self.cluster_of.get(b) {
                pairs += 1;
                correct.add(texts, a, b);
            }
        }
        Ok((pairs, correct.count(texts, &truth.pages)))
    }
}

/// Counts the cells of both clusterings; copies of the same text count once. All documents of a cluster must be added before the
/// next cluster begins.
struct TextCells {
    /// `clusters` contains, at the first document of each true cluster, the last predicted cluster that shares a text with the true
    /// cluster. `counts` contains the number of texts that are in both clusters, and `lasts` contains the last of these texts.
    clusters: Numbers,
    counts: Numbers,
    lasts: Numbers,
    /// The number of pairs within one cell.
    pairs: u64,
    correct: Correct,
}

impl TextCells {
    fn new(session: &Session<'_>, label: &str) -> Result<TextCells> {
        let documents = session.documents();
        let array = |what: &str| {
            let name = format!("{label}-cell-{what}");
            Numbers::new(session.engine.dir, &name, documents as usize, documents)
        };
        let correct = Correct::new(session, label)?;
        Ok(TextCells {
            clusters: array("clusters")?,
            counts: array("counts")?,
            lasts: array("lasts")?,
            pairs: 0,
            correct,
        })
    }

    /// Adds a document and the number of its predicted cluster, counted from 1.
    fn add(&mut self, cluster: u64, doc: u64, (truth, texts): (&Truth, &Texts)) {
        let (first, of_text) = (truth.first(doc), texts.of(doc));
        if of_text != doc {
            if truth.first(of_text) == first {
                self.pairs += 1;
                self.correct.add(texts, of_text, doc);
            }
            return;
        }
        let count = if self.clusters.get(first) == cluster { self.counts.get(first) } else { 0 };
        if count > 0 {
            self.pairs += count;
            self.correct.add(texts, self.lasts.get(first), doc);
        }
        self.clusters.slots().set(first, cluster);
        self.counts.slots().set(first, count + 1);
        self.lasts.slots().set(first, doc);
    }
}

/// Returns the cells of both clusterings, the number of pairs within one cell, and the number of documents in these pairs. The rows
/// are pairs (predicted cluster, true cluster); the second number begins at byte `width`.
fn cells(engine: &Engine<'_>, sorted: &Sorted, width: usize, truth: &Truth) -> Result<(Partitions, (u64, u64))> {
    let mut partitions = Partitions::default();
    let mut in_cells = (0, 0);
    for partition in 0..sorted.partitions() {
        let records = sorted.load(partition, engine.budget.a_thread)?;
        for predicted in records.groups() {
            engine.go_on()?;
            let size = predicted.len() as u64;
            let true_cluster = |at: usize| number(&records.record(at)[width..]);
            let mut start = predicted.start;
            for at in predicted.clone() {
                let first = true_cluster(at);
                if at + 1 == predicted.end || true_cluster(at + 1) != first {
                    let cell = (at + 1 - start) as u64;
                    partitions.add(cell, truth.size(first), size);
                    in_cells.0 += pairs_of(cell);
                    in_cells.1 += if cell > 1 { cell } else { 0 };
                    start = at + 1;
                }
            }
        }
        sorted.remove(partition)?;
    }
    Ok((partitions, in_cells))
}

/// Returns the number of pairs among this many documents.
fn pairs_of(documents: u64) -> u64 {
    documents * documents.saturating_sub(1) / 2
}

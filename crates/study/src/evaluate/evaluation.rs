//! Defines `evaluation/evaluation.json`: the quality of the algorithms in a run, measured against labeled pairs or clusters.
//!
//! Field names are part of the interface. An undefined figure, such as the precision of an algorithm without pairs, is null rather
//! than 0 or 1.

use serde::{Deserialize, Serialize};

use dupsift_algorithms::measure::Retrieval;
use dupsift_engine::reading::RejectionsReport;
use dupsift_engine::reading::losses::BadInputReport;

/// Holds the record of an evaluation.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct EvaluationReport {
    /// The version of this record and its table.
    pub schema_version: u32,
    /// The version of the program.
    pub dupsift: String,
    /// The hash of the recipe that produced the pairs, as in `run.json`.
    pub recipe: String,
    /// The number of documents that the run used, not counting rejected rows.
    pub documents: u64,
    /// The labeled pairs or clusters that serve as ground truth.
    pub truth: TruthReport,
    /// One entry per algorithm, in the order of the recipe.
    pub algorithms: Vec<EvaluatedReport>,
    /// The quality of the pairs that determine, according to `--decide`, which documents are removed, and of the clusters of these pairs;
    /// `None` if the run is a comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<EvaluatedReport>,
    /// The quality of the removal. A kept document and the documents removed in favor of it form a cluster, and all pairs within the
    /// cluster count. `None` if the run is a comparison, or if the truth has no true pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<EvaluatedReport>,
    /// The removals that are labeled one by one; `None` if the truth has no labels or is a list of true pairs, or if the run
    /// is a comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labeled_removals: Option<LabeledRemovals>,
    /// Warnings.
    pub warnings: Vec<String>,
}

/// Counts the removals that are labeled. Exact copies are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct LabeledRemovals {
    /// The number of removals: documents that were removed in favor of another, except exact copies.
    pub removals: u64,
    /// The number of removals whose two documents are labeled as duplicates.
    pub right: u64,
    /// The number of removals whose two documents are labeled as different.
    pub wrong: u64,
    /// The number of removals that are labeled as unsure, in both ways, or with an empty label. They count neither way.
    pub undecided: u64,
    /// The share of right removals among the right and the wrong ones.
    pub precision: Option<f64>,
    /// The limits of the 95% confidence interval (Wilson) of the precision of all removals, if the labeled ones are a random sample.
    pub interval: Option<[f64; 2]>,
}

/// Describes the labeled pairs or clusters.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct TruthReport {
    /// `pairs` (id_a, id_b) or `clusters` (id, cluster).
    pub form: String,
    /// The files, in the order in which they were read.
    pub files: Vec<String>,
    /// The damaged files; rows before the damage are used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bad_inputs: Vec<BadInputReport>,
    /// Whether a file has a column with labels.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_labels: bool,
    /// The number of rows in the files.
    pub rows: u64,
    /// The number of rows with a null in at least one of the two columns. These rows also count as rejected.
    pub null_rows: u64,
    /// The columns that are not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread_columns: Vec<String>,
    /// The number of rows that are labeled as different documents. Their pairs are not true.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub different_rows: u64,
    /// The number of rows that are labeled as unsure. Their pairs count neither way.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unsure_rows: u64,
    /// The number of rows whose label is empty. Their pairs count neither way.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlabeled_rows: u64,
    /// The number of distinct pairs that are labeled both as duplicates and as different documents. They count neither way.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub contradictory_pairs: u64,
    /// The ids of the first such pair.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradictory: Vec<String>,
    /// The rejected rows, which are listed in `evaluation/rejected/`.
    #[serde(flatten)]
    pub rejections: RejectionsReport,
    /// The number of distinct ids.
    pub ids: u64,
    /// The number of ids that belong to no document in the run. Rows with such an id are ignored.
    pub unknown_ids: u64,
    /// The first five unknown ids, in row order.
    pub unknown: Vec<String>,
    /// The number of ids that several documents share. Such an id refers to the first of these documents, in file order.
    pub ambiguous_ids: u64,
    /// The number of rows that are ignored because one of their ids is unknown.
    pub unknown_rows: u64,
    /// The number of rows that repeat another row (the same two documents in either order, or the same document in the same cluster).
    pub repeated_rows: u64,
    /// The number of rows that pair a document with itself. These rows are ignored.
    pub self_pairs: u64,
    /// The number of distinct true pairs of documents: the given pairs, or all pairs within the given clusters.
    pub pairs: u64,
    /// The number of true clusters of two or more documents: the given clusters, or the connected components of the given pairs.
    pub clusters: u64,
    /// The number of documents in true clusters. These documents are the true duplicate pages.
    pub pages: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl TruthReport {
    /// Returns the number of rows that are neither rejected nor labeled as duplicates.
    pub(crate) fn other_rows(&self) -> u64 {
        self.different_rows + self.unsure_rows + self.unlabeled_rows
    }

    /// Returns whether any label could not be read. Labels of documents that are not in the run do not matter, because the truth may be
    /// for a larger corpus.
    pub fn is_lossy(&self) -> bool {
        self.rejections.rows > 0 || !self.bad_inputs.is_empty()
    }
}

/// Holds the quality of one algorithm.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct EvaluatedReport {
    /// The name of the algorithm's output folder.
    pub label: String,
    /// The number of pairs that the algorithm reports. Unwritten pairs are included only if the algorithm's pairs are exactly the pairs
    /// within its clusters.
    pub pairs: u64,
    /// The number of reported pairs that are true.
    pub pairs_true: u64,
    /// The number of reported pairs that are labeled as unsure, or whose label is empty. They are not in `pairs`, and count neither way.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pairs_undecided: u64,
    /// The number of unwritten pairs in groups larger than `--max-group`. Unless the algorithm's pairs are exactly the pairs within its
    /// clusters, the figures that depend on unwritten pairs are null: all pagewise figures, and all pairwise figures except precision,
    /// which is measured on the written pairs.
    pub pairs_not_written: u64,
    /// The number of pages that are in a reported pair.
    pub pages: u64,
    /// The number of pages that are in a reported true pair.
    pub pages_true: u64,
    /// The figures computed over pairs; every pair has the same weight.
    pub pairwise: FiguresReport,
    /// The figures computed over pages.
    pub pagewise: FiguresReport,
    /// The B-cubed figures of the clusters, including documents that are in no cluster.
    pub b_cubed: FiguresReport,
    /// The adjusted Rand index of the clusters, including documents that are in no cluster.
    pub ari: Option<f64>,
}

impl EvaluationReport {
    /// Returns the rows of the tables: the algorithms, the run and the removed documents.
    pub fn rows(&self) -> impl Iterator<Item = &EvaluatedReport> {
        self.algorithms.iter().chain(&self.run).chain(&self.removed)
    }
}

impl EvaluatedReport {
    /// Returns all figures in the order of the tables: pairs P, R, F1; pages P, R, F1, gamma; B-cubed P, R, F1; ARI.
    pub fn figures(&self) -> [Option<f64>; 11] {
        let (pairs, pages, b_cubed) = (&self.pairwise, &self.pagewise, &self.b_cubed);
        [
            pairs.precision,
            pairs.recall,
            pairs.f1,
            pages.precision,
            pages.recall,
            pages.f1,
            pages.gamma,
            b_cubed.precision,
            b_cubed.recall,
            b_cubed.f1,
            self.ari,
        ]
    }
}

/// Holds retrieval figures, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct FiguresReport {
    /// Precision P.
    pub precision: Option<f64>,
    /// Recall R.
    pub recall: Option<f64>,
    /// F1 = 2 P R / (P + R).
    pub f1: Option<f64>,
    /// P R / (P + R), at most 0.5.
    pub gamma: Option<f64>,
}

impl From<Retrieval> for FiguresReport {
    fn from(it: Retrieval) -> FiguresReport {
        FiguresReport { precision: it.precision, recall: it.recall, f1: it.f, gamma: it.gamma }
    }
}

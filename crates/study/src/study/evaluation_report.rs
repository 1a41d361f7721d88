//! `evaluation/evaluation.json`: what the algorithms of a run are worth, measured against labelled pairs or clusters.
//!
//! Field names are the interface. A figure without a denominator (the precision of an algorithm without pairs) is null,
//! neither 0 nor 1.

use serde::{Deserialize, Serialize};

use dupsift_algorithms::measure::Retrieval;
use dupsift_engine::reading::RejectionsReport;
use dupsift_engine::reading::losses::BadInputReport;

/// The whole record.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct EvaluationReport {
    /// Version of this record and of the table beside it.
    pub schema_version: u32,
    /// Version of the program.
    pub dupsift: String,
    /// The hash of the recipe that made the pairs, as in run.json.
    pub recipe: String,
    /// Documents that take part: those that the run used. Rejected rows are none.
    pub documents: u64,
    /// What the algorithms are held against.
    pub truth: TruthReport,
    /// One entry an algorithm, in the order of the recipe.
    pub algorithms: Vec<EvaluatedReport>,
    /// The pairs that decide on removal, by `--decide`, and their clusters; `None` for a comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<EvaluatedReport>,
    /// The removed documents: those that are removed in favor of one kept document, and this one, are a cluster, and all pairs within it count;
    /// `None` for a comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<EvaluatedReport>,
    /// What a reader should know besides.
    pub warnings: Vec<String>,
}

/// The labelled pairs or clusters.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct TruthReport {
    /// `pairs` (id_a, id_b) or `clusters` (id, cluster).
    pub form: String,
    /// The files, in the order in which they were read.
    pub files: Vec<String>,
    /// Damaged files, of which the rows before the damage count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bad_inputs: Vec<BadInputReport>,
    /// Rows of them.
    pub rows: u64,
    /// Rows with a null in one of the two columns; they are among those rejected.
    pub null_rows: u64,
    /// Rows that cannot be used, see `evaluation/rejected/`.
    #[serde(flatten)]
    pub rejections: RejectionsReport,
    /// Different ids.
    pub ids: u64,
    /// Ids that no document of the run has: their rows are left out.
    pub unknown_ids: u64,
    /// The first five of these, in the order of the rows.
    pub unknown: Vec<String>,
    /// Ids that several documents have: the first of these documents, in the order of the files, is the one that is meant.
    pub ambiguous_ids: u64,
    /// Rows that are left out, for an id of theirs is unknown.
    pub unknown_rows: u64,
    /// Rows that say what another row says (the same two documents in either order, the same document in the same cluster).
    pub repeated_rows: u64,
    /// Rows that pair a document with itself; they are left out.
    pub self_pairs: u64,
    /// Different true pairs of documents: those given, or all pairs within the clusters given.
    pub pairs: u64,
    /// True clusters of two or more: those given, or the connected components of the pairs given.
    pub clusters: u64,
    /// Documents in them: the true duplicate pages.
    pub pages: u64,
}

impl TruthReport {
    /// Returns whether some of the labels could not be read. Labels of documents that the run does not have are counted only: a truth may be
    /// that of a larger corpus.
    pub fn is_lossy(&self) -> bool {
        self.rejections.rows > 0 || !self.bad_inputs.is_empty()
    }
}

/// What one algorithm is worth.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct EvaluatedReport {
    /// The name of its output folder.
    pub label: String,
    /// Pairs that it reports. Where some are not written: all the same if they are all pairs within its clusters, and else
    /// those that are written.
    pub pairs: u64,
    /// Those of them that are true.
    pub pairs_true: u64,
    /// Pairs of groups above `--max-group` that are not written. Unless they are all pairs within the clusters, the figures
    /// that depend on them are null: pairwise all but the precision, which is of the pairs written, and pagewise all.
    pub pairs_not_written: u64,
    /// Pages that stand in a reported pair.
    pub pages: u64,
    /// Those of them that stand in a reported pair that is true.
    pub pages_true: u64,
    /// Of pairs, each as much as any other.
    pub pairwise: FiguresReport,
    /// Of pages.
    pub pagewise: FiguresReport,
    /// B-cubed, of the clusters; documents that are alone count.
    pub b_cubed: FiguresReport,
    /// The adjusted Rand index of the clusters; documents that are alone count.
    pub ari: Option<f64>,
}

impl EvaluationReport {
    /// Returns the rows of the tables: the algorithms, the run and what is removed.
    pub fn rows(&self) -> impl Iterator<Item = &EvaluatedReport> {
        self.algorithms.iter().chain(&self.run).chain(&self.removed)
    }
}

impl EvaluatedReport {
    /// All figures in the order of the tables: pairs P, R, F1; pages P, R, F1, gamma; B-cubed P, R, F1; ARI.
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

/// Figures of retrieval, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct FiguresReport {
    /// P.
    pub precision: Option<f64>,
    /// R.
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

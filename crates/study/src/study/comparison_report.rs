//! Defines `compare/comparison.json`. The record states the precision of each algorithm (the share of its pairs that are duplicates
//! according to the judge) and its recall (the share of all duplicates that it finds).
//!
//! Field names are part of the interface. Unknown values, such as the precision of an algorithm without pairs, are null.

use serde::{Deserialize, Serialize};

/// Holds a share or a number that may be estimated from a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Figure {
    /// The value; null if it is undefined.
    pub value: Option<f64>,
    /// The lower end of the 95% interval; equal to the value if nothing was sampled.
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
}

impl Figure {
    /// Returns the ends of the interval, or `None` if they are less than `least` apart.
    pub fn interval(&self, least: f64) -> Option<(f64, f64)> {
        self.low.zip(self.high).filter(|(low, high)| high - low >= least)
    }
}

/// Holds the record of a comparison.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ComparisonReport {
    /// The judge and its counts.
    pub judge: JudgeReport,
    /// The number of pairs in the pool: the distinct pairs that at least one contestant found.
    pub pooled: u64,
    /// The number of duplicates in the pool.
    pub duplicates: Figure,
    /// One entry per contestant, which is an algorithm or a preset. Entries are in the requested order, with presets last.
    pub algorithms: Vec<ComparedReport>,
    /// The recommended contestant and the reason; null if the pool has no duplicates.
    #[serde(default)]
    pub advice: Option<AdviceReport>,
    /// The number of pairs that both contestants A and B found, in row A and column B. The diagonal contains the number of pairs
    /// of each contestant.
    pub agreement: Vec<Vec<u64>>,
    /// The unions and intersections of two or three contestants whose F is larger than the F of each of their parts. At most 20
    /// combinations of two and 20 of three are listed, best first.
    pub combinations: Vec<CombinationReport>,
    /// The exact join on a sample of documents, if requested.
    pub oracle: Option<OracleReport>,
}

impl ComparisonReport {
    /// Returns the contestants in display order: first the recommended contestant, then the others in the order of
    /// [`ComparisonReport::ranked`].
    pub fn shown(&self) -> Vec<&ComparedReport> {
        let mut shown = self.ranked();
        shown.sort_by_key(|one| !self.takes(one));
        shown
    }

    /// Returns whether `one` is the recommended contestant.
    pub fn takes(&self, one: &ComparedReport) -> bool {
        self.advice.as_ref().is_some_and(|advice| advice.label == one.label)
    }

    /// Returns the contestants by descending F, then descending precision, then in the requested order.
    pub fn ranked(&self) -> Vec<&ComparedReport> {
        let mut ranked: Vec<&ComparedReport> = self.algorithms.iter().collect();
        let key = |one: &ComparedReport| (one.f.unwrap_or(-1.0), one.precision.value.unwrap_or(-1.0));
        let compare = |a: (f64, f64), b: (f64, f64)| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1));
        ranked.sort_by(|a, b| compare(key(a), key(b)));
        ranked
    }
}

/// Holds the recommendation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct AdviceReport {
    /// The label of the contestant.
    pub label: String,
    /// The option that selects the contestant, for example `algorithms=minhash`.
    pub typed: String,
    /// The recommendation as a sentence.
    pub sentence: String,
}

/// Describes the judge.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct JudgeReport {
    /// The judge as specified by the user, for example `lcs:0.85`.
    pub name: String,
    /// The number of distinct documents read for judging.
    pub documents: u64,
    /// The number of judged pairs.
    pub judged: u64,
    /// The sample size. If an algorithm has more pairs, a sample of about this size is judged, together with the pairs that are judged for
    /// other algorithms.
    pub sample: u64,
    /// Whether some pairs were not judged because of sampling.
    pub sampled: bool,
    /// The seed of the sample.
    pub seed: u64,
    /// The number of pairs judged by words, because their texts were too long to be judged by characters.
    pub by_words: u64,
    /// The number of pairs whose texts were too long and too different to be judged. These pairs do not count as duplicates.
    #[serde(default)]
    pub undecided: u64,
    /// The CPU time for reading the documents and judging the pairs, in seconds.
    pub cpu_seconds: f64,
}

/// Describes one contestant.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ComparedReport {
    /// The label of an algorithm, or the name of a preset.
    pub label: String,
    /// Whether the contestant is a preset. The pairs of a preset are the pairs that any of its algorithms found.
    #[serde(default)]
    pub preset: bool,
    /// The names of the output folders of the contestant's algorithms.
    #[serde(default)]
    pub members: Vec<String>,
    /// The option that selects the contestant, for example `algorithms=minhash`.
    #[serde(default)]
    pub typed: String,
    /// The number of the contestant's pairs in the pool.
    pub pairs: u64,
    /// The number of the contestant's pairs that were judged.
    pub judged: u64,
    /// The number of duplicates that the contestant found, divided by the number of duplicates in the pool.
    pub recall: Figure,
    /// The number of duplicates among the contestant's pairs, divided by the number of its pairs.
    pub precision: Figure,
    /// 2 P R / (P + R); null if P or R is null, or if both are 0.
    pub f: Option<f64>,
    /// F computed from the lower ends of P and R. F increases with P and R, so F is between `f_low` and `f_high`
    /// whenever P and R are in their intervals.
    pub f_low: Option<f64>,
    /// F computed from the upper ends of P and R.
    pub f_high: Option<f64>,
    /// The number of pairs that only this contestant and related contestants found. Two contestants are related if they have an
    /// algorithm in common.
    pub alone: u64,
    /// The number of duplicates among the pairs counted in `alone`.
    pub alone_duplicates: Figure,
    /// The CPU time of the contestant's algorithms for signing, grouping and verifying, in seconds.
    pub cpu_seconds: f64,
    /// The share of the exact join's duplicates that the contestant found.
    pub oracle_recall: Option<Figure>,
}

impl ComparedReport {
    /// Returns F with its interval.
    pub fn f_figure(&self) -> Figure {
        Figure { value: self.f, low: self.f_low, high: self.f_high }
    }
}

/// Describes a combination of several contestants. If pairs were sampled, combinations are selected and ordered by estimates.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct CombinationReport {
    /// The labels of the contestants.
    pub labels: Vec<String>,
    /// How the pairs of the contestants are combined: `union` or `intersection`.
    pub how: String,
    /// The number of pairs in the combination.
    pub pairs: u64,
    /// Recall, computed as for a single contestant.
    pub recall: Option<f64>,
    /// Precision, computed as for a single contestant.
    pub precision: Option<f64>,
    /// F, computed as for a single contestant.
    pub f: Option<f64>,
    /// The CPU time of all these contestants, in seconds.
    pub cpu_seconds: f64,
}

/// Describes the exact join.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct OracleReport {
    /// The number of sampled documents that contain words.
    pub documents: u64,
    /// The number of pairs in the sample whose similarity was computed because no bound ruled them out.
    pub judged: u64,
    /// The number of pairs in the sample that are duplicates according to the judge.
    pub duplicates: u64,
    /// The number of duplicates that no algorithm found. Pooling misses these duplicates.
    pub unseen: u64,
    /// The number of pairs whose texts were too long to be judged. These pairs do not count as duplicates.
    #[serde(default)]
    pub undecided: u64,
}

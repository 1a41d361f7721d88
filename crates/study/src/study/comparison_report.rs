//! `compare/comparison.json`: how many of each algorithm's pairs a judge of the texts calls duplicates, and how many of
//! all such pairs it finds.
//!
//! Field names are the interface. What cannot be known (the precision of an algorithm without pairs) is null.

use serde::{Deserialize, Serialize};

/// A share or a number that may rest on a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Figure {
    /// The value; null where it is undefined.
    pub value: Option<f64>,
    /// The lower end of the 95% interval; equal to the value where nothing was sampled.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

impl Figure {
    /// The ends, where they are at least this far apart.
    pub fn interval(&self, least: f64) -> Option<(f64, f64)> {
        self.low.zip(self.high).filter(|(low, high)| high - low >= least)
    }
}

/// The whole record.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ComparisonReport {
    /// Who judged, and how much.
    pub judge: JudgeReport,
    /// Different pairs that at least one contestant found: the pool.
    pub pooled: u64,
    /// Those of them that are duplicates.
    pub duplicates: Figure,
    /// One entry a contestant, an algorithm or a preset, in the order in which they were asked for, presets last.
    pub algorithms: Vec<ComparedReport>,
    /// Which to take, and why; null where nothing in the pool is a duplicate.
    #[serde(default)]
    pub advice: Option<AdviceReport>,
    /// Row A, column B: pairs that both found; on the diagonal the pairs of A.
    pub agreement: Vec<Vec<u64>>,
    /// Unions and intersections of two and three contestants that have a larger F than any part of them, the best first: at
    /// most 20 of two and 20 of three.
    pub combinations: Vec<CombinationReport>,
    /// The exact join on a sample of documents, where one was asked for.
    pub oracle: Option<OracleReport>,
}

impl ComparisonReport {
    /// The contestants as they are shown: the one to take first, then as [`ComparisonReport::ranked`].
    pub fn shown(&self) -> Vec<&ComparedReport> {
        let mut shown = self.ranked();
        shown.sort_by_key(|one| !self.takes(one));
        shown
    }

    /// Whether that is the one to take.
    pub fn takes(&self, one: &ComparedReport) -> bool {
        self.advice.as_ref().is_some_and(|advice| advice.label == one.label)
    }

    /// The contestants by the largest F, then the higher precision, then as they were asked for.
    pub fn ranked(&self) -> Vec<&ComparedReport> {
        let mut ranked: Vec<&ComparedReport> = self.algorithms.iter().collect();
        let key = |one: &ComparedReport| (one.f.unwrap_or(-1.0), one.precision.value.unwrap_or(-1.0));
        let compare = |a: (f64, f64), b: (f64, f64)| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1));
        ranked.sort_by(|a, b| compare(key(a), key(b)));
        ranked
    }
}

/// What to take.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct AdviceReport {
    /// The label of the contestant.
    pub label: String,
    /// What to type for a run of it.
    pub typed: String,
    /// The sentence.
    pub sentence: String,
}

/// The judge.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct JudgeReport {
    /// As typed: `lcs:0.85`.
    pub name: String,
    /// Documents read for it, each once.
    pub documents: u64,
    /// Pairs judged.
    pub judged: u64,
    /// The most pairs of one algorithm that are all judged; of more a sample of about that size, and those that are judged
    /// for the sake of another algorithm.
    pub sample: u64,
    /// Whether the sample left pairs out.
    pub sampled: bool,
    /// The seed of the sample.
    pub seed: u64,
    /// Pairs whose texts were too long for characters and were judged by words.
    pub by_words: u64,
    /// Pairs whose texts were so long, and so far apart, that they were not judged at all; they count as no duplicates.
    #[serde(default)]
    pub undecided: u64,
    /// CPU seconds of reading the documents and judging.
    pub cpu_seconds: f64,
}

/// One contestant.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ComparedReport {
    /// The label of an algorithm, or the name of a preset.
    pub label: String,
    /// Whether it is a preset: then its pairs are those that any of its algorithms found.
    #[serde(default)]
    pub preset: bool,
    /// The names of the output folders of its algorithms.
    #[serde(default)]
    pub members: Vec<String>,
    /// What to type for a run of it.
    #[serde(default)]
    pub typed: String,
    /// Its pairs that take part.
    pub pairs: u64,
    /// Those of them that were judged.
    pub judged: u64,
    /// Duplicates that it found over all duplicates of the pool.
    pub recall: Figure,
    /// Duplicates over its pairs.
    pub precision: Figure,
    /// 2 P R / (P + R); null where P or R is, and where both are 0.
    pub f: Option<f64>,
    /// F of the lower ends of P and R. F grows with both, so it lies between `f_low` and `f_high` whenever P and R lie in
    /// their intervals.
    pub f_low: Option<f64>,
    /// F of the upper ends.
    pub f_high: Option<f64>,
    /// Pairs that no contestant found but those that hold one of its algorithms, and those whose algorithms it holds.
    pub alone: u64,
    /// Duplicates among these.
    pub alone_duplicates: Figure,
    /// CPU seconds that its algorithms cost by themselves: signing, grouping, checking.
    pub cpu_seconds: f64,
    /// Duplicates that it found over all duplicates of the exact join.
    pub oracle_recall: Option<Figure>,
}

impl ComparedReport {
    /// F with its ends.
    pub fn f_figure(&self) -> Figure {
        Figure { value: self.f, low: self.f_low, high: self.f_high }
    }
}

/// Several algorithms together. They are chosen and ordered by estimates where pairs were sampled.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct CombinationReport {
    /// Their labels.
    pub labels: Vec<String>,
    /// `union` or `intersection` of their pairs.
    pub how: String,
    /// Pairs of the combination.
    pub pairs: u64,
    /// As of one algorithm.
    pub recall: Option<f64>,
    /// As of one algorithm.
    pub precision: Option<f64>,
    /// As of one algorithm.
    pub f: Option<f64>,
    /// CPU seconds of all of them.
    pub cpu_seconds: f64,
}

/// The exact join.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct OracleReport {
    /// Documents in the sample, of those with words.
    pub documents: u64,
    /// Pairs of these whose similarity was computed, for no bound rejected them.
    pub judged: u64,
    /// Pairs of these that the judge calls duplicates.
    pub duplicates: u64,
    /// Those of them that stand in no algorithm's pairs: what pooling cannot see.
    pub unseen: u64,
    /// Pairs whose texts were too long to be judged; they count as no duplicates.
    #[serde(default)]
    pub undecided: u64,
}

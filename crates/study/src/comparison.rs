//! Defines `compare/comparison.json`. The record states the precision of each algorithm (the share of its pairs whose documents are
//! duplicates according to the judge) and its recall (the share of all duplicate pairs that it finds).
//!
//! Field names are part of the interface. Unknown values, such as the precision of an algorithm without pairs, are null.

use dupsift_core::number::{counted, thousands};
use serde::{Deserialize, Serialize};

/// Holds a share or a number, which may be estimated from a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct Figure {
    /// The value; null if it is undefined.
    pub value: Option<f64>,
    /// The lower end of the 95% interval; equal to the value if nothing was sampled.
    pub low: Option<f64>,
    /// The upper end of the interval.
    pub high: Option<f64>,
}

/// The minimum width of an interval that is shown. For counts, the width is relative to the count.
const NARROW: f64 = 0.005;

/// Holds a figure as it is shown: its value, and the ends of its interval if the interval is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownFigure {
    /// The value.
    pub value: String,
    /// The ends of the interval; `None` if the interval is narrow, or if both of its ends look like the value.
    pub interval: Option<[String; 2]>,
}

impl Figure {
    /// Returns the figure as a share, or `None` if it is undefined. `told` formats a share.
    pub fn share(&self, told: impl Fn(f64) -> String) -> Option<ShownFigure> {
        self.shown(NARROW, told)
    }

    /// Returns the figure as a whole number, or `None` if it is undefined.
    pub fn count(&self) -> Option<ShownFigure> {
        self.shown(NARROW * self.value.unwrap_or(0.0), |value| thousands(value.round() as u64))
    }

    fn shown(&self, least: f64, told: impl Fn(f64) -> String) -> Option<ShownFigure> {
        let value = told(self.value?);
        let ends = self.low.zip(self.high).filter(|(low, high)| high - low >= least);
        let interval = ends.map(|(low, high)| [told(low), told(high)]);
        Some(ShownFigure { interval: interval.filter(|ends| ends.iter().any(|end| *end != value)), value })
    }
}

/// Holds the record of a comparison.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ComparisonReport {
    /// The judge and its counts.
    pub judge: JudgeReport,
    /// The number of pairs in the pool, that is, the distinct pairs found by at least one algorithm or preset.
    pub pooled: u64,
    /// The number of duplicate pairs in the pool.
    pub duplicates: Figure,
    /// One entry per algorithm or preset, in the requested order, with presets last.
    pub algorithms: Vec<ComparedReport>,
    /// The recommended algorithm or preset and the reason; null if the pool contains no duplicate pairs.
    #[serde(default)]
    pub advice: Option<AdviceReport>,
    /// The cell in row A and column B contains the number of pairs that both A and B found. The diagonal
    /// contains the number of pairs that each of them found.
    pub agreement: Vec<Vec<u64>>,
    /// The unions and intersections of two or three algorithms or presets that have a larger F than each of their parts. At most 20
    /// combinations of two and 20 combinations of three are listed, best first.
    pub combinations: Vec<CombinationReport>,
    /// The exact join on a sample of documents, if requested.
    pub oracle: Option<OracleReport>,
}

impl ComparisonReport {
    /// Returns the recommendation as a sentence, or the reason why there is none.
    pub fn recommendation(&self) -> &str {
        let none = "no recommendation for this corpus: the judge accepts none of the pairs found";
        self.advice.as_ref().map_or(none, |advice| &advice.sentence)
    }

    /// Returns what is compared, as in `31 algorithms and 4 presets`.
    pub fn settings(&self) -> String {
        let presets = self.algorithms.iter().filter(|one| one.preset).count() as u64;
        let algorithms = self.algorithms.len() as u64 - presets;
        match (algorithms, presets) {
            (_, 0) => counted(algorithms, "algorithm"),
            (0, _) => counted(presets, "preset"),
            _ => format!("{} and {}", counted(algorithms, "algorithm"), counted(presets, "preset")),
        }
    }

    /// Returns the number of pairs, in the pool and in the exact join, that were too long to judge and do not count as duplicates.
    pub fn undecided(&self) -> u64 {
        self.judge.undecided + self.oracle.as_ref().map_or(0, |oracle| oracle.undecided)
    }

    /// Returns the algorithms and presets in display order: the recommended one first, then the rest in the order of
    /// [`ComparisonReport::ranked`].
    pub fn shown(&self) -> Vec<&ComparedReport> {
        let mut shown = self.ranked();
        shown.sort_by_key(|one| !self.takes(one));
        shown
    }

    /// Returns whether `one` is the recommended algorithm or preset.
    pub fn takes(&self, one: &ComparedReport) -> bool {
        self.advice.as_ref().is_some_and(|advice| advice.label == one.label)
    }

    /// Returns the algorithms and presets, ordered by descending F, then by descending precision, then as requested.
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
    /// The label of the recommended algorithm or preset.
    pub label: String,
    /// The option that selects this algorithm or preset, for example `algorithms=minhash`.
    pub typed: String,
    /// The recommendation as a sentence.
    pub sentence: String,
}

/// Describes the judge.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct JudgeReport {
    /// The judge as given on the command line, for example `lcs:0.85`.
    pub name: String,
    /// The number of distinct documents read for judging.
    pub documents: u64,
    /// The number of judged pairs.
    pub judged: u64,
    /// The sample size. If an algorithm found more pairs than this, a sample of about this size is judged, in addition to those of its
    /// pairs that are judged for other algorithms.
    pub sample: u64,
    /// Whether some pairs were not judged because of sampling.
    pub sampled: bool,
    /// The seed of the sample.
    pub seed: u64,
    /// The number of pairs that were judged by words because their texts were too long to be judged by characters.
    pub by_words: u64,
    /// The number of pairs whose texts were too long and too different to be judged. The documents of these pairs do not count as
    /// duplicates.
    #[serde(default)]
    pub undecided: u64,
    /// The CPU time for reading the documents and judging the pairs, in seconds.
    pub cpu_seconds: f64,
}

impl JudgeReport {
    /// Returns whether the rules of the judge are similar to the rules of the default preset, which it therefore favors.
    pub fn favors_the_default(&self) -> bool {
        self.name == "versions" || self.name.starts_with("versions:")
    }
}

/// Describes one of the algorithms or presets that are compared.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct ComparedReport {
    /// The label of an algorithm, or the name of a preset.
    pub label: String,
    /// Whether this is a preset. The pairs of a preset are all pairs found by any of its algorithms.
    #[serde(default)]
    pub preset: bool,
    /// The name of the algorithm's output folder, or the names of the output folders of the preset's algorithms.
    #[serde(default)]
    pub members: Vec<String>,
    /// The option that selects this algorithm or preset, for example `algorithms=minhash`.
    #[serde(default)]
    pub typed: String,
    /// The number of pairs in the pool that this algorithm or preset found.
    pub pairs: u64,
    /// The number of these pairs that were judged.
    pub judged: u64,
    /// Recall: the number of duplicate pairs that this algorithm or preset found, divided by the number of duplicate pairs in the pool.
    pub recall: Figure,
    /// Precision: the share of duplicate pairs among all pairs that this algorithm or preset found.
    pub precision: Figure,
    /// F = 2 P R / (P + R); null if P or R is null, or if both are 0.
    pub f: Option<f64>,
    /// F computed from the lower ends of the intervals of P and R. F increases with P and R, so F is between `f_low` and `f_high` whenever
    /// P and R are within their intervals.
    pub f_low: Option<f64>,
    /// F computed from the upper ends of the intervals of P and R.
    pub f_high: Option<f64>,
    /// The number of pairs that were found only by this algorithm or preset and related ones. An algorithm or preset is related to another
    /// one if they have an algorithm in common.
    pub alone: u64,
    /// The number of duplicate pairs among the pairs counted in `alone`.
    pub alone_duplicates: Figure,
    /// The CPU time that the algorithms took to compute signatures, group documents and verify pairs, in seconds.
    pub cpu_seconds: f64,
    /// The share of the duplicate pairs in the exact join that this algorithm or preset found.
    pub oracle_recall: Option<Figure>,
}

impl ComparedReport {
    /// Returns the name of the algorithm, or the name of the preset, marked as such.
    pub fn name(&self) -> String {
        if self.preset { format!("preset {}", self.label) } else { self.label.clone() }
    }

    /// Returns F with its interval.
    pub fn f_figure(&self) -> Figure {
        Figure { value: self.f, low: self.f_low, high: self.f_high }
    }
}

/// Describes a combination of several algorithms or presets. If pairs were sampled, combinations are selected and ordered by estimates.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct CombinationReport {
    /// The labels of the algorithms and presets in the combination.
    pub labels: Vec<String>,
    /// The way in which the pairs are combined: `union` or `intersection`.
    pub how: String,
    /// The number of pairs in the combination.
    pub pairs: u64,
    /// Recall, computed in the same way as for a single algorithm or preset.
    pub recall: Option<f64>,
    /// Precision, computed in the same way as for a single algorithm or preset.
    pub precision: Option<f64>,
    /// F, computed in the same way as for a single algorithm or preset.
    pub f: Option<f64>,
    /// The total CPU time of the algorithms in the combination, in seconds.
    pub cpu_seconds: f64,
}

/// Describes the exact join.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct OracleReport {
    /// The number of sampled documents that contain words.
    pub documents: u64,
    /// The number of pairs in the sample whose similarity was computed because no bound ruled them out.
    pub judged: u64,
    /// The number of pairs in the sample whose documents are duplicates according to the judge.
    pub duplicates: u64,
    /// The number of duplicate pairs that no algorithm found and that are therefore missing from the pool.
    pub unseen: u64,
    /// The number of pairs whose texts were too long to be judged. The documents of these pairs do not count as duplicates.
    #[serde(default)]
    pub undecided: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::number::share;

    #[test]
    fn an_interval_is_shown_unless_it_looks_like_the_value() {
        let figure = |value, low, high| Figure { value: Some(value), low: Some(low), high: Some(high) };
        let shown = |figure: Option<ShownFigure>| figure.map(|one| (one.value, one.interval));
        let text = |value: &str| value.to_owned();
        assert_eq!(
            shown(figure(0.9, 0.85, 0.94).share(share)),
            Some((text("0.900"), Some(["0.850", "0.940"].map(text))))
        );
        assert_eq!(shown(figure(0.9, 0.899, 0.902).share(share)), Some((text("0.900"), None)));
        assert_eq!(shown(figure(0.9996, 0.9996, 0.9996).share(share)), Some((text("0.999"), None)));
        // The ends round to the value.
        assert_eq!(shown(figure(20.0, 19.8, 20.3).count()), Some((text("20"), None)));
        assert_eq!(
            shown(figure(2_000.0, 1_800.2, 2_300.0).count()),
            Some((text("2,000"), Some(["1,800", "2,300"].map(text))))
        );
        assert_eq!(Figure::default().share(share), None);
    }

    #[test]
    fn pairs_that_are_too_long_are_counted_in_the_pool_and_in_the_exact_join() {
        let oracle = OracleReport { undecided: 3, ..OracleReport::default() };
        let judge = JudgeReport { undecided: 4, ..JudgeReport::default() };
        assert_eq!(ComparisonReport { judge, oracle: Some(oracle), ..ComparisonReport::default() }.undecided(), 7);
    }
}

//! Converts the counts of a comparison into its record: recall, precision, F, agreement, and combinations of settings that perform better
//! than their parts.

use std::collections::BTreeSet;

use super::sampling::Tally;
use crate::comparison::{CombinationReport, ComparedReport, ComparisonReport, Figure};
use crate::confidence::{Number, Part};
use dupsift_algorithms::measure::Retrieval;
use dupsift_algorithms::recipe::entries::Entry;
use dupsift_engine::job::run_report::AlgorithmReport;

/// The maximum number of reported combinations of one size.
const MOST_COMBINATIONS: usize = 20;

impl From<Number> for Figure {
    fn from(number: Number) -> Figure {
        Figure { value: Some(number.value), low: Some(number.low), high: Some(number.high) }
    }
}

fn figure(number: Option<Number>) -> Figure {
    number.map_or_else(Figure::default, Figure::from)
}

/// Returns the recall and precision for a part of the pool.
fn measures(tally: &Tally, part: &Part) -> (Option<Number>, Option<Number>) {
    let found = part.duplicates();
    (found.of_both(&tally.all().without(part).duplicates()), found.over(part.pairs()))
}

/// Returns F and its interval. F increases with recall and with precision, so the ends of the F interval follow from the ends of the recall
/// and precision intervals. The figure is empty if F is undefined.
fn f_figure(recall: Option<Number>, precision: Option<Number>) -> Figure {
    let of = |end: fn(Number) -> f64| Retrieval::of(precision.map(end), recall.map(end)).f;
    let value = of(|number| number.value);
    // As recall and precision approach 0, F approaches 0.
    let end = |end: Option<f64>| value.map(|_| end.unwrap_or(0.0));
    Figure { value, low: end(of(|number| number.low)), high: end(of(|number| number.high)) }
}

/// Returns the CPU time that these algorithms took, in seconds.
fn cost(algorithms: &[AlgorithmReport], places: &BTreeSet<usize>) -> f64 {
    places.iter().map(|&at| algorithms[at].sign_seconds + algorithms[at].pair_cpu_seconds).sum()
}

/// Returns the record, except for the judge, the oracle and the advice. `entries` must be in the order of the bits in the
/// settled tally, and must refer to the algorithms of the run.
pub(crate) fn figures(tally: &Tally, entries: &[Entry], algorithms: &[AlgorithmReport]) -> ComparisonReport {
    let compared = entries.iter().enumerate().map(|(at, one)| {
        let (part, alone) = (tally.common(&[at]), tally.alone(at));
        let (recall, precision) = measures(tally, &part);
        let f = f_figure(recall, precision);
        ComparedReport {
            label: one.name.clone(),
            preset: one.preset,
            members: one.algorithms.iter().map(|&at| algorithms[at].label.clone()).collect(),
            typed: one.typed.clone(),
            pairs: part.pairs(),
            judged: part.judged(),
            recall: figure(recall),
            precision: figure(precision),
            f: f.value,
            f_low: f.low,
            f_high: f.high,
            alone: alone.pairs(),
            alone_duplicates: alone.duplicates().into(),
            cpu_seconds: cost(algorithms, &BTreeSet::from_iter(one.algorithms.iter().copied())),
            oracle_recall: None,
        }
    });
    let set = |a: usize, b: usize| if a == b { vec![a] } else { vec![a.min(b), a.max(b)] };
    let count = entries.len();
    let agreement = |a: usize| (0..count).map(|b| tally.common(&set(a, b)).pairs()).collect();
    ComparisonReport {
        pooled: tally.all().pairs(),
        duplicates: tally.all().duplicates().into(),
        algorithms: compared.collect(),
        agreement: (0..count).map(agreement).collect(),
        combinations: combinations(tally, entries, algorithms),
        ..ComparisonReport::default()
    }
}

struct Combination {
    of: Vec<usize>,
    union: bool,
    pairs: u64,
    recall: Option<f64>,
    precision: Option<f64>,
    f: f64,
}

/// Returns the combinations that are better than all of their parts. A combination of two settings must be better than either setting
/// alone; a combination of three must be better than each setting and each combination of two of them.
fn combinations(tally: &Tally, entries: &[Entry], algorithms: &[AlgorithmReport]) -> Vec<CombinationReport> {
    let count = entries.len();
    let f_of_set = |of: &[usize], union: bool| combine(tally, of, union).map_or(0.0, |one| one.f);
    let single: Vec<f64> = (0..count).map(|at| f_of_set(&[at], true)).collect();
    // `best` contains, for each pair of settings, the highest F of their union, their intersection, and each setting alone.
    let mut best = vec![0.0f64; count * count];
    let (mut twos, mut threes) = (Vec::new(), Vec::new());
    for b in 0..count {
        for a in 0..b {
            let parts = single[a].max(single[b]);
            let both = [true, false].map(|union| combine(tally, &[a, b], union));
            best[a * count + b] = both.iter().flatten().map(|one| one.f).fold(parts, f64::max);
            twos.extend(both.into_iter().flatten().filter(|one| one.f > parts));
        }
    }
    for c in 0..count {
        for b in 0..c {
            for a in 0..b {
                let parts = best[a * count + b].max(best[a * count + c]).max(best[b * count + c]);
                let both = [true, false].map(|union| combine(tally, &[a, b, c], union));
                threes.extend(both.into_iter().flatten().filter(|one| one.f > parts));
            }
        }
    }
    // An algorithm that is part of several settings runs only once.
    let places = |one: &Combination| one.of.iter().flat_map(|&at| entries[at].algorithms.clone()).collect();
    let seconds = |one: &Combination| cost(algorithms, &places(one));
    // Ties are broken by content, not by cost, because the cost differs from run to run.
    let order = |a: &Combination, b: &Combination| b.f.total_cmp(&a.f).then_with(|| a.of.cmp(&b.of));
    for list in [&mut twos, &mut threes] {
        list.sort_by(order);
        list.truncate(MOST_COMBINATIONS);
    }
    let mut all: Vec<Combination> = twos.into_iter().chain(threes).collect();
    all.sort_by(order);
    let report = |one: &Combination| CombinationReport {
        labels: one.of.iter().map(|&at| entries[at].name.clone()).collect(),
        how: if one.union { "union" } else { "intersection" }.into(),
        pairs: one.pairs,
        recall: one.recall,
        precision: one.precision,
        f: Some(one.f),
        cpu_seconds: seconds(one),
    };
    all.iter().map(report).collect()
}

/// Returns the union or the intersection of these settings; `None` if its F is undefined.
fn combine(tally: &Tally, of: &[usize], union: bool) -> Option<Combination> {
    let part = if union { tally.union(of) } else { tally.common(of) };
    let (recall, precision) = measures(tally, &part);
    let (recall, precision) = (recall.map(|number| number.value), precision.map(|number| number.value));
    let f = Retrieval::of(precision, recall).f?;
    Some(Combination { of: of.to_vec(), union, pairs: part.pairs(), recall, precision, f })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f_has_the_ends_that_recall_and_precision_have() {
        let number = |low: f64, value: f64, high: f64| Some(Number { value, low, high });
        let f = f_figure(number(0.25, 0.5, 0.75), number(0.5, 0.75, 1.0));
        let near = |end: Option<f64>, expected: f64| end.is_some_and(|end| (end - expected).abs() < 1e-12);
        assert!(near(f.value, 0.6) && near(f.low, 1.0 / 3.0) && near(f.high, 6.0 / 7.0), "{f:?}");
        let certain = f_figure(number(0.5, 0.5, 0.5), number(1.0, 1.0, 1.0));
        assert!(certain.value.is_some() && certain.low == certain.value && certain.high == certain.value);
        let down_to_none = f_figure(number(0.0, 0.1, 0.2), number(0.0, 0.1, 0.2));
        assert!(down_to_none.low == Some(0.0) && near(down_to_none.high, 0.2), "{down_to_none:?}");
    }

    #[test]
    fn without_anything_right_there_is_no_f() {
        let none = Some(Number { value: 0.0, low: 0.0, high: 0.5 });
        assert_eq!(f_figure(none, none), Figure::default());
        assert_eq!(f_figure(None, none), Figure::default());
    }
}

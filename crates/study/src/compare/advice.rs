//! Writes the recommendation at the end of a comparison, which states which algorithm or preset to use for this corpus, and why.
//!
//! The algorithms and presets whose F is at most [`NEAR`] below the largest F are considered. Among these, presets have priority, because
//! the parts of a preset were measured together. (This does not apply to presets with options of their own, which reproduce other tools.)
//! The next criterion is higher precision, because a wrong pair may lead to the loss of a document; the last is the requested order. If the
//! largest F is below [`LEAST`], the recommendation states that none of the algorithms and presets suits the corpus. The recommendation
//! also mentions a union or an intersection that is better by more than [`NEAR`]. CPU seconds are ignored, because they differ from run to
//! run.

use crate::comparison::{AdviceReport, ComparedReport, ComparisonReport};
use dupsift_core::number::{counted, share};

/// An F that is at most this far below the largest F counts as equal.
const NEAR: f64 = 0.01;
/// If F is below this value, the recommended algorithm or preset is presented as the best of poor alternatives.
const LEAST: f64 = 0.5;
/// The figures are reliable only if they are based on at least this many pairs.
const FEW: u64 = 100;
/// The maximum number of algorithms and presets listed as indistinguishable from the recommended one, given the sample.
const MOST_NAMED: usize = 3;

/// Returns the recommendation; `None` if the pool contains no duplicate pairs.
pub(crate) fn advice(report: &ComparisonReport) -> Option<AdviceReport> {
    let f = |one: &ComparedReport| one.f.unwrap_or(-1.0);
    let ranked = report.ranked();
    let best = ranked.first().copied().filter(|best| best.f.is_some())?;
    let near = report.algorithms.iter().filter(|one| one.f.is_some() && f(one) >= f(best) - NEAR);
    // If several entries are tied, the first one is taken.
    let taken = near.reduce(|taken, one| {
        let key = |one: &ComparedReport| (comes_first(one), one.precision.value.unwrap_or(0.0));
        if key(one) > key(taken) { one } else { taken }
    })?;
    let percent = |value: Option<f64>| format!("{:.0}%", 100.0 * value.unwrap_or(0.0));
    let told = |value: Option<f64>| share(value.unwrap_or(0.0));
    let finds = format!(
        "it finds {} of the duplicates in the pool, and {} of its pairs are correct (F {}",
        percent(taken.recall.value),
        percent(taken.precision.value),
        told(taken.f)
    );
    let rank = if std::ptr::eq(taken, best) {
        format!(", the best of {})", report.algorithms.len())
    } else {
        let precision = |one: &ComparedReport| one.precision.value.unwrap_or(0.0);
        let why = match () {
            () if comes_first(taken) && !comes_first(best) => "presets are preferred".to_string(),
            () if precision(taken) > precision(best) => format!("pairs from {} are more often correct", taken.label),
            () => format!("{} comes first in `algorithms`", taken.label),
        };
        // The values are compared as shown, that is, after rounding.
        match (told(taken.f), told(best.f)) {
            (own, other) if own == other => format!(", the same as {}; {why})", best.label),
            (_, other) => format!("; {} has {other}, which is hardly better; {why})", best.label),
        }
    };
    let mut sentence = if f(best) < LEAST {
        format!("no setting is suitable for this corpus; the best is {}: {finds}{rank}", taken.typed)
    } else {
        format!("for this corpus, use {}: {finds}{rank}", taken.typed)
    };
    let overlaps = |one: &&&ComparedReport| !std::ptr::eq(**one, taken) && one.f_high > taken.f_low;
    let alike: Vec<&str> = ranked.iter().filter(overlaps).map(|one| one.label.as_str()).collect();
    if report.judge.sampled && !alike.is_empty() {
        let more = alike.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        sentence += &format!(
            "; in this sample, it is not significantly better than {}{more}",
            alike[..alike.len().min(MOST_NAMED)].join(", ")
        );
    }
    if report.judge.judged < FEW {
        sentence += &format!("; {} are too few for a reliable choice", counted(report.judge.judged, "pair"));
    }
    if let Some((together, f)) = together(report, f(taken)) {
        sentence += &format!("; {together} have F {}", share(f));
    }
    Some(AdviceReport { label: taken.label.clone(), typed: taken.typed.clone(), sentence })
}

/// Returns the best combination and its F, if it is clearly better than the recommended algorithm or preset.
fn together(report: &ComparisonReport, taken: f64) -> Option<(String, f64)> {
    let best = report.combinations.iter().filter_map(|one| Some((one, one.f?))).max_by(|a, b| a.1.total_cmp(&b.1));
    let (one, f) = best.filter(|(_, f)| *f > taken + NEAR)?;
    Some(match one.how.as_str() {
        "union" => (format!("the pairs from {} together", one.labels.join(" or ")), f),
        _ => (format!("the pairs that {} share", one.labels.join(" and ")), f),
    })
}

/// Returns whether this is a preset without options of its own.
fn comes_first(one: &ComparedReport) -> bool {
    one.preset && one.typed == format!("`preset={}`", &one.label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::{CombinationReport, Figure, JudgeReport};

    fn one(name: &str, preset: bool, recall: f64, precision: f64) -> ComparedReport {
        let figure = |value: f64| Figure { value: Some(value), low: Some(value), high: Some(value) };
        let f = (recall + precision > 0.0).then(|| 2.0 * recall * precision / (recall + precision));
        ComparedReport {
            label: name.into(),
            preset,
            typed: format!("`{}={name}`", if preset { "preset" } else { "algorithms" }),
            recall: figure(recall),
            precision: figure(precision),
            f,
            f_low: f,
            f_high: f,
            ..ComparedReport::default()
        }
    }

    fn enough() -> JudgeReport {
        JudgeReport { judged: FEW, ..JudgeReport::default() }
    }

    fn of(entries: Vec<ComparedReport>) -> Option<AdviceReport> {
        advice(&ComparisonReport { algorithms: entries, judge: enough(), ..ComparisonReport::default() })
    }

    #[test]
    fn the_largest_f_wins() {
        let told = of(vec![one("tf", false, 0.5, 1.0), one("sim", false, 0.9, 0.9), one("strict", true, 0.2, 1.0)]);
        let told = told.expect("there are duplicates");
        assert_eq!(
            told.sentence,
            "for this corpus, use `algorithms=sim`: it finds 90% of the duplicates in the pool, and 90% of its pairs are \
             correct (F 0.900, the best of 3)"
        );
        assert_eq!((told.label.as_str(), told.typed.as_str()), ("sim", "`algorithms=sim`"));
    }

    #[test]
    fn near_the_largest_a_preset_comes_first_then_precision_then_order() {
        let sim = || one("sim", false, 0.9, 0.9);
        let take = |entries| of(entries).expect("there are duplicates").label;
        assert_eq!(take(vec![sim(), one("balanced", true, 0.85, 0.94)]), "balanced");
        assert_eq!(take(vec![sim(), one("balanced", true, 0.8, 0.94)]), "sim");
        let like_another =
            ComparedReport { typed: "`algorithms=minhash`".to_owned(), ..one("fineweb", true, 0.9, 0.895) };
        assert_eq!(take(vec![sim(), like_another]), "sim");
        assert_eq!(take(vec![sim(), one("tf", false, 0.85, 0.95)]), "tf");
        assert_eq!(take(vec![sim(), one("sum", false, 0.9, 0.9)]), "sim");
        let told = of(vec![sim(), one("balanced", true, 0.85, 0.94)]).expect("there are duplicates").sentence;
        assert!(told.ends_with("(F 0.893; sim has 0.900, which is hardly better; presets are preferred)"), "{told}");
        let told = of(vec![sim(), one("tf", false, 0.85, 0.95)]).expect("there are duplicates").sentence;
        assert!(told.ends_with("which is hardly better; pairs from tf are more often correct)"), "{told}");
        let told = of(vec![sim(), one("balanced", true, 0.9, 0.9)]).expect("there are duplicates").sentence;
        assert!(!told.contains("hardly more"), "{told}");
        let told = of(vec![sim(), one("tf", false, 0.9001, 0.9), one("balanced", true, 0.9, 0.9)]).expect("duplicates");
        assert!(told.sentence.ends_with("(F 0.900, the same as tf; presets are preferred)"), "{}", told.sentence);
    }

    #[test]
    fn a_combination_that_is_clearly_better_is_named() {
        let combination = |how: &str, f: f64| CombinationReport {
            labels: vec!["sim".into(), "tf".into()],
            how: how.into(),
            f: Some(f),
            ..CombinationReport::default()
        };
        let told = |combinations| {
            let algorithms = vec![one("sim", false, 0.9, 0.9), one("tf", false, 0.8, 0.8)];
            advice(&ComparisonReport { algorithms, combinations, judge: enough(), ..ComparisonReport::default() })
                .expect("duplicates")
                .sentence
        };
        let common = told(vec![combination("intersection", 0.93), combination("union", 0.92)]);
        assert!(common.ends_with("; the pairs that sim and tf share have F 0.930"), "{common}");
        let either = told(vec![combination("union", 0.95)]);
        assert!(either.ends_with("; the pairs from sim or tf together have F 0.950"), "{either}");
        assert!(!told(vec![combination("union", 0.905)]).contains("together"), "hardly more");
    }

    #[test]
    fn what_is_bad_is_reported_and_what_cannot_be_told_apart() {
        let bad = of(vec![one("tf", false, 0.2, 0.3)]).expect("there are duplicates").sentence;
        assert!(bad.starts_with("no setting is suitable for this corpus; the best is `algorithms=tf`:"), "{bad}");
        assert!(of(vec![one("tf", false, 0.0, 0.0)]).is_none() && of(Vec::new()).is_none());
        let mut report = ComparisonReport {
            algorithms: vec![one("sim", false, 0.9, 0.9), one("tf", false, 0.8, 0.8)],
            judge: enough(),
            ..ComparisonReport::default()
        };
        (report.algorithms[0].f_low, report.algorithms[1].f_high) = (Some(0.85), Some(0.86));
        assert!(!advice(&report).expect("duplicates").sentence.contains("sample"));
        report.judge.judged = 22;
        let told = advice(&report).expect("duplicates").sentence;
        assert!(told.ends_with("; 22 pairs are too few for a reliable choice"), "{told}");
        report.judge = JudgeReport { sampled: true, ..enough() };
        let told = advice(&report).expect("duplicates").sentence;
        assert!(told.ends_with("; in this sample, it is not significantly better than tf"), "{told}");
    }
}

//! Formats the tables of `compare` for a terminal: the quality and the agreement of the compared settings, the best combinations, the basis
//! of the figures, and the recommendation.
//!
//! The same record gives the same text; only CPU seconds differ between two identical comparisons.

use std::path::Path;

use super::losses::{guard, held};
use super::summary::left_out;
use super::{counted, other_inputs, rejections, table_of_numbers, thousands};
use dupsift_core::number::share;
use dupsift_engine::job::{RunReport, stands_in};
use dupsift_study::{CombinationReport, ComparedReport, ComparisonReport, Figure, JudgeReport, ShownFigure};

/// The maximum number of settings in the agreement table, so that the table fits in a terminal.
const MOST_AGREEING: usize = 8;
/// The number of combinations that are shown for each size.
const MOST_SHOWN: usize = 3;

/// Returns the tables of a comparison whose output is in `out`. The text ends with a line break.
pub fn comparison(report: &ComparisonReport, run: &RunReport, out: &Path) -> String {
    let mut text = run.documents.sampled_from.map_or(String::new(), |all| {
        format!("sample: {} of {}\n", thousands(run.documents.used), counted(all, "document"))
    });
    text += &headline(report);
    text += "\n";
    text += &study(report);
    if (2..=MOST_AGREEING).contains(&report.algorithms.len()) {
        text += "\npercentage of the row setting's pairs that the column setting also finds\n";
        text += &agreement(report);
    }
    text += &together(report);
    let notes = notes(report, run);
    if !notes.is_empty() {
        text += &format!("\n{}\n", notes.join("\n"));
    }
    let held = held(run, out);
    if !held.is_empty() {
        text += &format!("\n{held}");
    }
    let out = stands_in(run, out);
    let figures = out.join("compare/comparison.json");
    text += &format!("\noutput: {}\nall figures: {}\n", out.display(), figures.display());
    text + &format!("\n{}\n", report.recommendation())
}

/// States what recall is relative to.
pub(super) const RECALL: &str = "recall is relative to the pool: all duplicates that at least one setting found";

/// States that pairs are not removals.
pub(super) const REMOVAL: &str = "all figures count pairs, not removals; --remove-if is stricter than the algorithms, so a run usually keeps both documents of a pair if they are not duplicates";

/// Returns a warning if the rules of the judge are similar to the rules of the default preset.
pub(super) fn bias(judge: &JudgeReport) -> Option<&'static str> {
    judge.favors_the_default().then_some(
        "the judge favors the default preset, balanced, because their rules are similar; try --judge jaccard:0.8 or --judge lcs:0.85",
    )
}

fn headline(report: &ComparisonReport) -> String {
    let judge = &report.judge;
    let mut text = format!(
        "{pairs} found by {settings}; the judge {} accepts {duplicates} of them as duplicate pairs\n",
        judge.name,
        pairs = counted(report.pooled, "pair"),
        settings = report.settings(),
        duplicates = number_of(&report.duplicates)
    );
    text += &format!("{RECALL}\n");
    text += &format!(
        "judged: {pairs} from {documents} in {:.1} CPU seconds\n",
        judge.cpu_seconds,
        pairs = counted(judge.judged, "pair"),
        documents = counted(judge.documents, "document")
    );
    if let Some(oracle) = &report.oracle {
        text += &format!(
            "exact join of a sample ({documents}): {duplicates}, {} of them found by no algorithm; {pairs} judged\n",
            thousands(oracle.unseen),
            documents = counted(oracle.documents, "document"),
            duplicates = counted(oracle.duplicates, "duplicate pair"),
            pairs = counted(oracle.judged, "pair")
        );
    }
    text
}

/// Returns the table of compared settings, ordered by F, best first.
fn study(report: &ComparisonReport) -> String {
    let order = report.shown();
    let row = |one: &&ComparedReport| {
        [
            one.name(),
            share_of(&one.recall),
            share_of(&one.precision),
            share_of(&one.f_figure()),
            thousands(one.pairs),
            thousands(one.alone),
            number_of(&one.alone_duplicates),
            format!("{:.2}", one.cpu_seconds),
        ]
    };
    let header = ["", "recall", "precision", "F", "pairs", "alone", "duplicates alone", "CPU s"];
    if report.oracle.is_none() {
        return table_of_numbers(header, order.iter().map(row));
    }
    let [a, b, c, d, e, f, g, h] = header;
    let with_oracle = |one: &&ComparedReport| {
        let [a, b, c, d, e, f, g, h] = row(one);
        [a, b, c, d, e, f, g, h, one.oracle_recall.as_ref().map_or_else(|| "-".into(), share_of)]
    };
    table_of_numbers([a, b, c, d, e, f, g, h, "exact recall"], order.iter().map(with_oracle))
}

/// Returns the agreement table. Each row is formatted cell by cell, because the number of columns varies.
fn agreement(report: &ComparisonReport) -> String {
    let labels: Vec<&str> = report.algorithms.iter().map(|one| one.label.as_str()).collect();
    let first = labels.iter().map(|label| label.len()).max().unwrap_or(0);
    let mut text = format!(" {:first$}", "");
    labels.iter().for_each(|label| text += &format!("   {label:>5}"));
    text += "\n";
    for (a, (label, row)) in labels.iter().zip(&report.agreement).enumerate() {
        text += &format!(" {label:first$}");
        for (pairs, above) in row.iter().zip(&labels) {
            let of = row[a];
            let cell = if of > 0 { format!("{:.1}", 100.0 * *pairs as f64 / of as f64) } else { "-".into() };
            text += &format!("   {cell:>width$}", width = above.len().max(5));
        }
        text += "\n";
    }
    text
}

/// Returns the best combinations of two and three settings, and how they compare with the best single setting.
fn together(report: &ComparisonReport) -> String {
    let Some(best) = report.ranked().first().copied().filter(|best| best.f.is_some()) else { return String::new() };
    let of = |size: usize| report.combinations.iter().filter(move |one| one.labels.len() == size).take(MOST_SHOWN);
    let better: Vec<&CombinationReport> = of(2).chain(of(3)).collect();
    if better.is_empty() {
        return "\nno union or intersection of two or three settings has a higher F than the settings it combines\n"
            .into();
    }
    let alone = [
        best.name(),
        known(best.recall.value),
        known(best.precision.value),
        known(best.f),
        thousands(best.pairs),
        format!("{:.2}", best.cpu_seconds),
    ];
    let row = |one: &&CombinationReport| {
        let between = if one.how == "union" { " or " } else { " and " };
        [
            one.labels.join(between),
            known(one.recall),
            known(one.precision),
            known(one.f),
            thousands(one.pairs),
            format!("{:.2}", one.cpu_seconds),
        ]
    };
    let header = ["together", "recall", "precision", "F", "pairs", "CPU s"];
    format!("\n{}", table_of_numbers(header, std::iter::once(alone).chain(better.iter().map(row))))
}

/// Returns notes that state which data the figures are based on and what the figures do not cover.
fn notes(report: &ComparisonReport, run: &RunReport) -> Vec<String> {
    let judge = &report.judge;
    let mut notes: Vec<String> = bias(judge).map(str::to_owned).into_iter().collect();
    notes.push(REMOVAL.into());
    if judge.sampled {
        notes.push(format!(
            "sampled: for algorithms with more than {}, about that many pairs are judged (--judge-sample, seed {}); 95% confidence intervals are in parentheses; the intervals of F are computed from the endpoints of the recall and precision intervals",
            counted(judge.sample, "pair"),
            judge.seed
        ));
        if !report.combinations.is_empty() {
            notes.push(
                "combinations are ranked by estimates, so the true order of combinations with nearly the same F may differ"
                    .into(),
            );
        }
    }
    if judge.by_words > 0 {
        notes.push(format!(
            "judged by words, because a text is too long to compare by characters: {}",
            counted(judge.by_words, "pair")
        ));
    }
    if report.undecided() > 0 {
        let undecided = counted(report.undecided(), "pair");
        notes.push(format!("too long to judge, and not counted as duplicates: {undecided}"));
    }
    for one in &run.algorithms {
        if one.pairs > one.pairs_written {
            notes.push(format!(
                "{label}: {used} of {pairs} are used; in groups larger than --max-group, only pairs with the representative are written",
                label = one.label,
                used = thousands(one.pairs_written),
                pairs = counted(one.pairs, "pair")
            ));
        }
        if one.left_out > 0 {
            notes.push(format!("{}: {}", one.label, left_out(one.left_out)));
        }
    }
    if report.oracle.is_none() {
        notes.push("pass --oracle-sample N to look for duplicates that no setting found".into());
    }
    if report.algorithms.len() > MOST_AGREEING {
        notes.push("the agreement between any two settings is under \"agreement\" in the JSON file".into());
    }
    notes.extend(run.warnings.iter().map(|warning| format!("warning: {warning}")));
    notes.extend(run.bad_inputs.iter().map(|bad| format!("skipped: {}: {}", bad.file, bad.why)));
    if run.documents.rejections.rows > 0 {
        notes.push(rejections(&run.documents.rejections));
    }
    notes.extend(other_inputs(run));
    notes.extend(run.guards.iter().map(guard));
    notes
}

fn known(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), share)
}

fn share_of(figure: &Figure) -> String {
    with_interval(figure.share(share))
}

fn number_of(figure: &Figure) -> String {
    with_interval(figure.count())
}

/// Formats a value and its interval, which is rarely symmetric.
fn with_interval(figure: Option<ShownFigure>) -> String {
    match figure {
        None => "-".into(),
        Some(ShownFigure { value, interval: None }) => value,
        Some(ShownFigure { value, interval: Some([low, high]) }) => format!("{value} ({low}-{high})"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use dupsift_engine::job::AlgorithmReport;
    use dupsift_study::{AdviceReport, JudgeReport, OracleReport};

    /// Returns a figure whose interval extends twice as far below the value as above it.
    fn figure(value: f64, up: f64) -> Figure {
        Figure { value: Some(value), low: Some(value - 2.0 * up), high: Some(value + up) }
    }

    fn compared(label: &str, recall: f64, precision: f64, up: f64) -> ComparedReport {
        let f = figure(2.0 * recall * precision / (recall + precision), up);
        ComparedReport {
            label: label.into(),
            preset: label == "strict",
            pairs: 12_000,
            judged: 5_012,
            recall: figure(recall, up),
            precision: figure(precision, up),
            f: f.value,
            f_low: f.low,
            f_high: f.high,
            alone: 1_000,
            alone_duplicates: figure(250.0, 1_000.0 * up),
            cpu_seconds: 1.25,
            ..ComparedReport::default()
        }
    }

    fn study_of(algorithms: Vec<ComparedReport>) -> ComparisonReport {
        let count = algorithms.len() as u64;
        let row = |a: u64| (0..count).map(|b| if a == b { 12_000 } else { 3_000 }).collect();
        ComparisonReport {
            judge: JudgeReport {
                name: "versions:0.8".into(),
                documents: 9_000,
                judged: 9_876,
                sample: 5_000,
                sampled: true,
                seed: 7,
                by_words: 3,
                undecided: 2,
                cpu_seconds: 2.5,
            },
            pooled: 21_000,
            duplicates: figure(11_000.0, 120.0),
            agreement: (0..count).map(row).collect(),
            combinations: vec![CombinationReport {
                labels: vec!["exact".into(), "minhash".into()],
                how: "union".into(),
                pairs: 21_000,
                recall: Some(0.9),
                precision: Some(0.95),
                f: Some(0.924),
                cpu_seconds: 2.5,
            }],
            algorithms,
            ..ComparisonReport::default()
        }
    }

    #[test]
    fn a_study_in_full() {
        // The interval of the third setting is too narrow to be shown.
        let strict = compared("strict", 0.5, 0.95, 0.001);
        let mut study =
            study_of(vec![compared("exact", 0.23, 1.0, 0.0), compared("minhash", 0.8, 0.9, 0.0123), strict]);
        study.oracle = Some(OracleReport { documents: 300, judged: 4_000, duplicates: 40, unseen: 1, undecided: 0 });
        study.algorithms[1].oracle_recall = Some(figure(0.775, 0.05));
        study.advice =
            Some(AdviceReport { sentence: "for this corpus, use minhash".into(), ..AdviceReport::default() });
        let run = RunReport {
            algorithms: vec![AlgorithmReport {
                label: "exact".into(),
                pairs: 500_000,
                pairs_written: 12_000,
                left_out: 4,
                ..Default::default()
            }],
            ..RunReport::default()
        };
        expect![[r#"
            21,000 pairs found by 2 algorithms and 1 preset; the judge versions:0.8 accepts 11,000 (10,760-11,120) of them as duplicate pairs
            recall is relative to the pool: all duplicates that at least one setting found
            judged: 9,876 pairs from 9,000 documents in 2.5 CPU seconds
            exact join of a sample (300 documents): 40 duplicate pairs, 1 of them found by no algorithm; 4,000 pairs judged

                                          recall             precision                     F    pairs   alone   duplicates alone   CPU s          exact recall
            ---------------------------------------------------------------------------------------------------------------------------------------------------
             minhash         0.800 (0.775-0.812)   0.900 (0.875-0.912)   0.847 (0.822-0.859)   12,000   1,000      250 (225-262)    1.25   0.775 (0.675-0.825)
             preset strict                 0.500                 0.950                 0.655   12,000   1,000      250 (248-251)    1.25                     -
             exact                         0.230                 1.000                 0.374   12,000   1,000                250    1.25                     -

            percentage of the row setting's pairs that the column setting also finds
                       exact   minhash   strict
             exact     100.0      25.0     25.0
             minhash    25.0     100.0     25.0
             strict     25.0      25.0    100.0

             together           recall   precision       F    pairs   CPU s
            ----------------------------------------------------------------
             minhash             0.800       0.900   0.847   12,000    1.25
             exact or minhash    0.900       0.950   0.924   21,000    2.50

            the judge favors the default preset, balanced, because their rules are similar; try --judge jaccard:0.8 or --judge lcs:0.85
            all figures count pairs, not removals; --remove-if is stricter than the algorithms, so a run usually keeps both documents of a pair if they are not duplicates
            sampled: for algorithms with more than 5,000 pairs, about that many pairs are judged (--judge-sample, seed 7); 95% confidence intervals are in parentheses; the intervals of F are computed from the endpoints of the recall and precision intervals
            combinations are ranked by estimates, so the true order of combinations with nearly the same F may differ
            judged by words, because a text is too long to compare by characters: 3 pairs
            too long to judge, and not counted as duplicates: 2 pairs
            exact: 12,000 of 500,000 pairs are used; in groups larger than --max-group, only pairs with the representative are written
            exact: 4 comparisons skipped because of --max-candidates, so the pairs depend on the order of the documents

            output: out
            all figures: out/compare/comparison.json

            for this corpus, use minhash
        "#]].assert_eq(&comparison(&study, &run, Path::new("out")));
    }

    #[test]
    fn many_algorithms_and_none_at_all_fit() {
        let many = study_of((0..9).map(|n| compared(&format!("a{n}"), 0.5, 0.5, 0.0)).collect());
        let text = comparison(&many, &RunReport::default(), Path::new("out"));
        assert!(text.contains("under \"agreement\"") && !text.contains("above finds"), "{text}");
        let nothing = ComparisonReport { algorithms: vec![ComparedReport::default()], ..ComparisonReport::default() };
        let text = comparison(&nothing, &RunReport::default(), Path::new("out"));
        assert!(!text.contains("NaN") && !text.contains("inf") && !text.contains("sampled"), "{text}");
    }
}

//! Renders the result of `compare`: recall and precision against the pool, combinations, and the exact join.

use maud::{Markup, html};

use super::agreement::heat;
use super::markup::{cell, scrolling};
use super::text::{plain, seconds, share};
use crate::report::comparison::{RECALL, REMOVAL, bias};
use crate::report::{counted, thousands};
use dupsift_core::number::counted_as;
use dupsift_engine::options::Spelling;
use dupsift_study::{Agreement, ComparisonReport, Figure, ShownFigure};

/// Returns the recommendation, which comes first.
pub(crate) fn lead(comparison: &ComparisonReport) -> Markup {
    html! { p.lead { strong { (sentence(&plain(&Spelling::Flags.of(comparison.recommendation())))) } } }
}

/// Returns the complete section about the comparison.
pub(crate) fn section(comparison: &ComparisonReport) -> Markup {
    let judge = &comparison.judge;
    let (labels, agreement) = agreement(comparison);
    html! {
        p {
            (counted_as(comparison.pooled, "distinct pair was|distinct pairs were")) " found by at least one of " (comparison.settings()) "; the judge " code { (plain(&judge.name)) } " accepted " (whole(&comparison.duplicates)) " of them as duplicate pairs. It judged "
            (counted(judge.judged, "pair")) " from " (counted(judge.documents, "document")) " in " (seconds(judge.cpu_seconds)) " of CPU time."
            @if judge.sampled { " If an algorithm found more than " (thousands(judge.sample)) " pairs, a sample of about that size was judged (seed " (judge.seed) "). Figures are shown with 95% confidence intervals." }
            @if judge.by_words > 0 { " " (counted(judge.by_words, "pair")) " were judged by words, because their texts are too long \
                to compare by characters." }
            @if comparison.undecided() > 0 { " " (counted(comparison.undecided(), "pair")) " were too long to judge and do not count as duplicates." }
            @if let Some(bias) = bias(judge) { " " (sentence(bias)) }
            " " (sentence(REMOVAL))
        }
        (study(comparison))
        p.how {
            (sentence(RECALL)) " Precision is the share of a setting's pairs that are duplicates. F is 2PR/(P+R); its interval is computed from the endpoints of the intervals of P and R. Intervals narrower than 0.005 are not shown. “Alone” counts the pairs that no other setting found, except presets that contain this setting. A dash (–) means unknown. The recommended setting has the highest F; among settings within 0.01 of it, presets are preferred, then higher precision."
        }
        @if !comparison.combinations.is_empty() { (combinations(comparison)) }
        @if !agreement.0.is_empty() {
            (heat(&labels, &agreement, "Shared pairs as a percentage of all pairs of two algorithms (Jaccard)", Agreement::jaccard))
        }
        @if let Some(oracle) = &comparison.oracle {
            p {
                "An exact join of a sample of " (counted(oracle.documents, "document")) " found " (counted(oracle.duplicates, "duplicate pair")) "; no algorithm found " (thousands(oracle.unseen)) " of them, so they are missing from the pool."
            }
        }
    }
}

/// Returns the labels in table order, and the counts of shared pairs in the same order; the counts are empty if the record has none.
fn agreement(comparison: &ComparisonReport) -> (Vec<&str>, Agreement) {
    let labels: Vec<&str> = comparison.shown().iter().map(|one| one.label.as_str()).collect();
    let place = |label: &&str| comparison.algorithms.iter().position(|one| one.label == *label);
    let places: Vec<usize> = labels.iter().filter_map(place).collect();
    let row = |&a: &usize| {
        let row = comparison.agreement.get(a)?;
        places.iter().map(|&b| row.get(b).copied()).collect::<Option<Vec<u64>>>()
    };
    let rows: Option<Vec<Vec<u64>>> = places.iter().map(row).collect();
    (labels, Agreement(rows.unwrap_or_default()))
}

/// Turns a remark into a sentence.
fn sentence(remark: &str) -> String {
    let mut letters = remark.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).chain(['.']).collect())
}

fn study(comparison: &ComparisonReport) -> Markup {
    let oracle = comparison.algorithms.iter().any(|one| one.oracle_recall.is_some());
    let header =
        ["algorithm or preset", "recall", "precision", "F", "pairs", "judged", "alone", "duplicates alone", "CPU"];
    scrolling(
        "Recall and precision",
        html! {
            table.sort {
                thead { tr {
                    @for name in header { th scope="col" { (name) } }
                    @if oracle { th scope="col" { "recall in the exact join" } }
                } }
                tbody {
                    @for one in comparison.shown() {
                        tr {
                            th scope="row" { (plain(&one.name())) @if comparison.takes(one) { " (recommended)" } }
                            td { (estimate(&one.recall)) }
                            td { (estimate(&one.precision)) }
                            td { strong { (estimate(&one.f_figure())) } }
                            td { (thousands(one.pairs)) }
                            td { (thousands(one.judged)) }
                            td { (thousands(one.alone)) }
                            td { (whole(&one.alone_duplicates)) }
                            (cell(one.cpu_seconds, &seconds(one.cpu_seconds)))
                            @if oracle { td { (one.oracle_recall.as_ref().map_or_else(|| "–".to_string(), estimate)) } }
                        }
                    }
                }
            }
        },
    )
}

fn combinations(comparison: &ComparisonReport) -> Markup {
    let table = scrolling(
        "Unions and intersections",
        html! {
            table {
                thead { tr { @for name in ["algorithms", "how", "recall", "precision", "F", "pairs", "CPU"] { th scope="col" { (name) } } } }
                tbody {
                    @for one in &comparison.combinations {
                        tr {
                            th scope="row" { (plain(&one.labels.join(" + "))) }
                            td { (plain(&one.how)) }
                            td { (known(one.recall)) }
                            td { (known(one.precision)) }
                            td { strong { (known(one.f)) } }
                            td { (thousands(one.pairs)) }
                            (cell(one.cpu_seconds, &seconds(one.cpu_seconds)))
                        }
                    }
                }
            }
        },
    );
    html! {
        h3 { "Unions and intersections, best F first" }
        @if comparison.judge.sampled {
            p.how { "They are ranked by estimated F, so the true order of settings with nearly the same F may differ." }
        }
        (table)
    }
}

fn known(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_string(), share)
}

/// Formats a share like `0.874`, with the interval if there is one.
fn estimate(figure: &Figure) -> String {
    interval(figure.share(share))
}

/// Like [`estimate`], but formats a count.
fn whole(figure: &Figure) -> String {
    interval(figure.count())
}

fn interval(figure: Option<ShownFigure>) -> String {
    match figure {
        None => "–".into(),
        Some(ShownFigure { value, interval: None }) => value,
        Some(ShownFigure { value, interval: Some([low, high]) }) => format!("{value} ({low}–{high})"),
    }
}

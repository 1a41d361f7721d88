//! Renders the heat map of agreement: the share of one algorithm's pairs that another algorithm also finds.

use maud::{Markup, html};

use super::markup::{row_heading, scrolling, turned};
use crate::report::{counted, thousands};
use dupsift_core::number::counted_as;
use dupsift_engine::job::RunReport;
use dupsift_study::{Agreement, Review};

/// Returns the section, with algorithm A in the rows and algorithm B in the columns.
pub(crate) fn section(report: &RunReport, review: &Review) -> Markup {
    let labels: Vec<&str> =
        report.algorithms.iter().map(|one| one.label.as_str()).take(review.agreement.0.len()).collect();
    let left_out = report.algorithms.len() - labels.len();
    html! {
        p {
            (counted_as(review.pooled, "distinct pair was|distinct pairs were")) " found by at least one algorithm, not counting pairs that only share a template."
            @if left_out > 0 { " The last " (counted(left_out as u64, "algorithm")) " of this run are not included in this count or in \
                the heat map." }
        }
        (heat(&labels, &review.agreement, "Percentage of the row algorithm's pairs that the column algorithm also finds", Agreement::share))
        p.how {
            "Each row shows what percentage of an algorithm's pairs the other algorithms also found. A dark row means that the other algorithms confirm this algorithm's pairs; a dark column means that this algorithm finds most of the pairs that the other algorithms find. A dash (–) means that there are no pairs."
        }
    }
}

/// Returns a matrix of shares as a table. Cells with larger shares have stronger colors.
pub(crate) fn heat(
    labels: &[&str],
    agreement: &Agreement,
    caption: &str,
    share: impl Fn(&Agreement, usize, usize) -> Option<f64>,
) -> Markup {
    let table = scrolling(
        caption,
        html! {
            table.heat {
                thead { tr { th scope="col" { "" } @for label in labels { (turned(label)) } } }
                tbody {
                    @for (a, label) in labels.iter().enumerate() {
                        tr {
                            (row_heading(label))
                            @for b in 0..labels.len() { (cell(share(agreement, a, b), agreement.0[a][b])) }
                        }
                    }
                }
            }
        },
    );
    html! { h3 { (caption) } (table) }
}

fn cell(share: Option<f64>, pairs: u64) -> Markup {
    match share {
        // Uses at most 60% color, so that the number is legible.
        Some(share) => html! {
            td style={ "background:rgba(var(--heat)," (format!("{:.2}", share * 0.6)) ")" } title={ (thousands(pairs)) " pairs in \
                common" } {
                (percent(share))
            }
        },
        None => html! { td.none { "–" } },
    }
}

/// Formats a share as a whole percentage. Only a share of exactly 0 or 1 is shown as 0 or 100.
fn percent(share: f64) -> String {
    match 100.0 * share {
        all if all >= 100.0 => "100".into(),
        most if most >= 99.5 => "> 99".into(),
        few if few > 0.0 && few < 0.5 => "< 1".into(),
        other => format!("{other:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_and_all_are_said_only_of_none_and_all() {
        assert_eq!([0.0, 0.001, 0.5, 0.999, 1.0].map(percent), ["0", "< 1", "50", "> 99", "100"]);
    }
}

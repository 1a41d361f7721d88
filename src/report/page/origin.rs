//! Renders pair counts by the origin of the documents.

use dupsift_core::float;
use maud::{Markup, html};

use super::markup::{row_heading, scrolling, turned};
use super::text::{percent, plain};
use crate::report::{counted, thousands};
use dupsift_engine::job::RunReport;
use dupsift_study::{Crossing, Review};

/// The maximum number of values of the requested column that the page shows.
const VALUES: usize = 100;

/// Returns the tables by requested column, by source and by file, in this order.
pub(crate) fn section(report: &RunReport, review: &Review) -> Markup {
    let (sources, removes) = (&review.sources, report.removal.is_some());
    html! {
        (asked_for(report))
        @match (&sources.column, &sources.crossing) {
            (Some(column), Some(crossing)) => {
                h3 { "By column " (column) }
                (places(crossing, column, removes))
            }
            _ => p.muted {
                @if review.no_texts.is_some() { "The corpus could not be read, so its sources are unknown." }
                @else { "The Parquet files have no source, domain or lang column, so the sources are unknown." }
            },
        }
        @for note in &sources.notes { p.muted { "Note: " (note) "." } }
        // The table by file usually repeats the information in the table by source, so it is folded.
        @if sources.crossing.is_some() {
            details { summary { "By input file" } (places(&review.files, "file", removes)) }
        } @else {
            h3 { "By input file" }
            (places(&review.files, "file", removes))
        }
        p.how {
            "The tables count distinct pairs across all algorithms, excluding pairs that only share a template. “Within” means that both documents come from this source, “across” that only one of them does. The matrix counts each pair once."
        }
    }
}

/// Returns the removals for each value of the `--source-column` column, most removals first.
fn asked_for(report: &RunReport) -> Markup {
    let column = report.options.get("source-column").and_then(|column| column.as_str()).unwrap_or_default();
    let mut values: Vec<_> = report.sources.iter().collect();
    values.sort_by_key(|one| std::cmp::Reverse(one.removed));
    let more = values.len().saturating_sub(VALUES);
    html! {
        @if !values.is_empty() {
            h3 { "Removals by column " (plain(column)) }
            (scrolling("Removals by source", html! {
                table.sort {
                    thead { tr { @for name in [plain(column).as_ref(), "rows", "removed", "share removed"] { th scope="col" { (name) } } } }
                    tbody {
                        @for one in values.iter().take(VALUES) {
                            tr {
                                (row_heading(&one.source))
                                td { (thousands(one.rows)) }
                                td { (thousands(one.removed)) }
                                td { (percent(one.removed, one.rows)) }
                            }
                        }
                    }
                }
            }))
            @if more > 0 { p.muted { (counted(more as u64, "more value")) " can be found in run.json." } }
        }
    }
}

fn places(crossing: &Crossing, what: &str, removes: bool) -> Markup {
    let count = crossing.names.len();
    // Orders the values by the number of removals, largest first.
    let mut order: Vec<usize> = (0..count).collect();
    if removes {
        order.sort_by_key(|&at| std::cmp::Reverse(crossing.removed[at]));
    }
    html! {
        (scrolling(what, html! {
            table.sort {
                thead { tr {
                    @for name in [what, "documents"] { th scope="col" { (name) } }
                    @if removes { @for name in ["removed", "share removed"] { th scope="col" { (name) } } }
                    @for name in ["in a pair", "share in a pair", "pairs within", "pairs across"] { th scope="col" { (name) } }
                } }
                tbody {
                    @for (at, name) in order.iter().map(|&at| (at, &crossing.names[at])) {
                        tr {
                            (row_heading(name))
                            td { (thousands(crossing.documents[at])) }
                            @if removes {
                                td { (thousands(crossing.removed[at])) }
                                td { (percent(crossing.removed[at], crossing.documents[at])) }
                            }
                            td { (thousands(crossing.paired[at])) }
                            td { (percent(crossing.paired[at], crossing.documents[at])) }
                            td { (thousands(crossing.within(at))) }
                            td { (thousands(crossing.across(at))) }
                        }
                    }
                }
            }
        }))
        @if count > 1 && (0..count).any(|at| crossing.across(at) > 0) { (matrix(crossing, what)) }
    }
}

/// Returns a matrix of all sources or files. The shade is logarithmic, because counts differ by powers of ten.
fn matrix(crossing: &Crossing, what: &str) -> Markup {
    let count = crossing.names.len();
    let most = (0..count).flat_map(|a| (a..count).map(move |b| crossing.between(a, b))).max().unwrap_or(0);
    let shade = |pairs: u64| 0.6 * float::ln(1.0 + pairs as f64) / float::ln(1.0 + most as f64).max(1e-9);
    let caption = format!("Pairs by {what} of the two documents");
    let table = scrolling(
        &caption,
        html! {
            table.heat {
                thead { tr { th scope="col" { "" } @for name in &crossing.names { (turned(name)) } } }
                tbody {
                    @for (a, name) in crossing.names.iter().enumerate() {
                        tr {
                            (row_heading(name))
                            @for b in 0..count {
                                @if b < a { td {} } @else if crossing.between(a, b) == 0 { td.none { "0" } } @else {
                                    td style={ "background:rgba(var(--heat)," (format!("{:.2}", shade(crossing.between(a, b)))) ")" } {
                                        (thousands(crossing.between(a, b)))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        },
    );
    html! { details { summary { (caption) } (table) } }
}

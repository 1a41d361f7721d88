//! Pairs by the place that their documents come from.

use maud::{Markup, html};

use super::markup::{row_heading, scrolling, turned};
use super::text::percent;
use crate::report::thousands;
use crate::study::{Crossing, Review};

/// By source, then by file.
pub fn section(review: &Review, removes: bool) -> Markup {
    let sources = &review.sources;
    html! {
        @match (&sources.column, &sources.crossing) {
            (Some(column), Some(crossing)) => {
                h3 { "By the column " (column) }
                (places(crossing, column, removes))
            }
            _ => p.muted {
                @if review.no_texts.is_some() { "The corpus could not be read, so nothing is said of its sources." }
                @else { "The corpus has no column source, domain or lang in a Parquet file that could be used, so nothing is said of its sources." }
            },
        }
        @for note in &sources.notes { p.muted { "Note: " (note) "." } }
        // Sources are what a reader looks for; files mostly say the same again.
        @if sources.crossing.is_some() {
            details { summary { "By input file" } (places(&review.files, "file", removes)) }
        } @else {
            h3 { "By input file" }
            (places(&review.files, "file", removes))
        }
        p.how {
            "Different pairs that at least one algorithm wrote. Within: both documents come from there. Across: one of them does.
            In the matrix each pair stands once, in the row and the column of its two places."
        }
    }
}

fn places(crossing: &Crossing, what: &str, removes: bool) -> Markup {
    let count = crossing.names.len();
    html! {
        (scrolling(what, html! {
            table.sort {
                thead { tr {
                    @for name in [what, "documents"] { th scope="col" { (name) } }
                    @if removes { @for name in ["removed", "share removed"] { th scope="col" { (name) } } }
                    @for name in ["in a pair", "share in a pair", "pairs within", "pairs across"] { th scope="col" { (name) } }
                } }
                tbody {
                    @for (at, name) in crossing.names.iter().enumerate() {
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

/// All places with all; the shade follows the number of digits, for counts differ by powers of ten.
fn matrix(crossing: &Crossing, what: &str) -> Markup {
    let count = crossing.names.len();
    let most = (0..count).flat_map(|a| (a..count).map(move |b| crossing.between(a, b))).max().unwrap_or(0);
    let shade = |pairs: u64| 0.6 * (1.0 + pairs as f64).ln() / (1.0 + most as f64).ln().max(1e-9);
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

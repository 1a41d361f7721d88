//! Renders the size of the corpus by script and by length, and how much of each group was removed.

use maud::{Markup, html};

use super::markup::{cell, sortable};
use super::text::{bytes, percent, plain};
use crate::report::thousands;
use dupsift_engine::job::{PartReport, RunReport};

/// Returns the tables by script and by length.
pub(crate) fn section(report: &RunReport) -> Markup {
    let Some(parts) = &report.parts else {
        return html! { p.muted { "This run recorded no counts by script and length." } };
    };
    let removes = report.removal.is_some();
    html! {
        h3 { "By script" }
        (table("By script", "script", &parts.by_script, removes, |name, _| plain(name).into_owned()))
        h3 { "By length" }
        (table("By length", "characters", &parts.by_length, removes, range))
        p.how { "The script is that of most letters in a sample of 192 bytes from four places of each document. To count removals by language, pass the language column as --source-column, with --guard-rows 1. Character and byte counts refer to the uncompressed text." }
    }
}

fn range(least: &str, next: Option<&str>) -> String {
    let number = |text: &str| text.parse::<u64>().unwrap_or_default();
    match next {
        Some(next) => format!("{} – {}", thousands(number(least)), thousands(number(next).saturating_sub(1))),
        None => format!("{} or more", thousands(number(least))),
    }
}

fn table(
    label: &str,
    what: &str,
    parts: &[PartReport],
    removes: bool,
    name: impl Fn(&str, Option<&str>) -> String,
) -> Markup {
    let rows = parts.iter().enumerate().filter(|(_, part)| part.all.documents > 0);
    let next = |at: usize| parts.get(at + 1).map(|part| part.part.as_str());
    sortable(
        label,
        html! {
            thead { tr {
                @for name in [what, "documents", "characters", "bytes"] { th scope="col" { (name) } }
                @if removes { @for name in ["removed", "share", "characters removed", "bytes removed"] { th scope="col" { (name) } } }
            } }
            tbody {
                @for (at, part) in rows {
                    tr {
                        th scope="row" data-value=(at) { (name(&part.part, next(at))) }
                        td { (thousands(part.all.documents)) }
                        td { (thousands(part.all.characters)) }
                        (cell(part.all.bytes as f64, &bytes(part.all.bytes)))
                        @if removes {
                            td { (thousands(part.removed.documents)) }
                            td { (percent(part.removed.documents, part.all.documents)) }
                            td { (thousands(part.removed.characters)) }
                            (cell(part.removed.bytes as f64, &bytes(part.removed.bytes)))
                        }
                    }
                }
            }
        },
    )
}

//! Renders the section that compares this run with the previous run (`--previous`).

use maud::{Markup, html};

use super::markup::sortable;
use super::text::{percent, plain};
use crate::report::thousands;
use dupsift_engine::job::RunReport;

/// Returns a table with one row per figure; `None` if there is no previous run.
pub(crate) fn section(report: &RunReport, before: Option<&RunReport>) -> Option<Markup> {
    let before = before?;
    let removed = |run: &RunReport| run.removal.as_ref().map_or(0, |removal| removal.removed);
    let mut rows = vec![
        ("documents".to_string(), before.documents.used, report.documents.used),
        ("removed".to_string(), removed(before), removed(report)),
        ("exact copies".to_string(), before.documents.extra_copies, report.documents.extra_copies),
        ("rows rejected".to_string(), before.documents.rejections.rows, report.documents.rejections.rows),
    ];
    for one in &report.algorithms {
        let then = before.algorithms.iter().find(|other| other.label == one.label);
        rows.push((format!("pairs of {}", plain(&one.label)), then.map_or(0, |then| then.pairs), one.pairs));
    }
    let of = |count: u64, run: &RunReport| percent(count, run.documents.used);
    Some(html! {
        p.how { "The previous run started at " (plain(&before.started)) "." }
        (sortable("Compared with the previous run", html! {
            thead { tr { @for name in ["", "previous run", "share of documents", "this run", "share of documents", "this / previous"] { th scope="col" { (name) } } } }
            tbody {
                @for (name, then, now) in &rows {
                    tr {
                        th scope="row" { (name) }
                        td { (thousands(*then)) }
                        td { (of(*then, before)) }
                        td { (thousands(*now)) }
                        td { (of(*now, report)) }
                        td { (times(*then, *now)) }
                    }
                }
            }
        }))
    })
}

fn times(then: u64, now: u64) -> String {
    if then == 0 { "–".into() } else { format!("{:.2}", now as f64 / then as f64) }
}

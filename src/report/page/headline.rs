//! The top of the page: what became of the documents, and what a reader must know.

use maud::{Markup, html};

use super::text::{bytes, percent, plain, seconds};
use crate::job::RunReport;
use crate::report::summary::{by_reason, remarks};
use crate::report::{counted, rejections, thousands};

/// Remarks that are all shown at once; of more, those that are no warnings unfold.
const AT_ONCE: usize = 8;

/// The first line.
pub fn title(report: &RunReport) -> String {
    let documents = counted(report.documents.used, "document");
    match &report.removal {
        Some(removal) => format!("{} of {documents} removed", thousands(removal.removed)),
        None => format!("{documents}, {} compared", counted(report.algorithms.len() as u64, "algorithm")),
    }
}

/// What decided.
pub fn subtitle(report: &RunReport) -> String {
    let Some(removal) = &report.removal else { return "Nothing is removed by a comparison.".into() };
    let rule = if removal.remove_if.is_empty() { "pair" } else { &removal.remove_if };
    format!("Kept by {}; decided by {}; removed if {}.", plain(&removal.keep), plain(&removal.decide), plain(rule))
}

/// The counts.
pub fn facts(report: &RunReport) -> Markup {
    let documents = &report.documents;
    let rate = documents.text_bytes as f64 / 1e6 / report.seconds.max(1e-3);
    let of_used = |part: u64| percent(part, documents.used);
    let rejected = match documents.rejections.rows {
        0 => "rows that could not be used".to_string(),
        _ => rejections(&documents.rejections),
    };
    let mut facts = vec![
        (
            "Documents",
            thousands(documents.used),
            format!(
                "in {}, {:.1} MB of text",
                counted(report.inputs.len() as u64, "file"),
                documents.text_bytes as f64 / 1e6
            ),
        ),
        ("Exact copies", thousands(documents.surplus_copies), "beyond the first of each".to_string()),
        ("Rejected", thousands(documents.rejections.rows), rejected),
        ("Time", seconds(report.seconds), format!("{rate:.1} MB/s")),
        ("CPU time", seconds(report.cpu_seconds), String::new()),
        ("Memory", bytes(report.peak_memory_bytes), "at the peak".to_string()),
    ];
    if let Some(removal) = &report.removal {
        let why = format!("{}{}", of_used(removal.removed), by_reason(&removal.reasons));
        let stay = format!("with a kept partner{}", by_reason(&removal.stays));
        let of_removal = [
            ("Kept", thousands(removal.kept), of_used(removal.kept)),
            ("Removed", thousands(removal.removed), why),
            ("Alike, and kept", thousands(removal.stays.values().sum()), stay),
        ];
        facts.splice(1..1, of_removal);
    }
    html! {
        dl.grid.facts {
            @for (name, value, remark) in &facts {
                div.card { dt { (name) } dd { (value) @if !remark.is_empty() { small { (remark) } } } }
            }
        }
    }
}

/// Guards, warnings, and everything that was cut or set aside: the remarks of the summary.
pub fn notes(report: &RunReport) -> Markup {
    let mut remarks = remarks(report);
    let loud = |remark: &str| ["guard", "set aside:", "warning:"].iter().any(|word| remark.starts_with(word));
    remarks.sort_by_key(|remark| !loud(remark));
    let loud_ones = remarks.iter().filter(|remark| loud(remark)).count();
    let (first, rest) = remarks.split_at(if remarks.len() <= AT_ONCE { remarks.len() } else { loud_ones });
    html! {
        @if remarks.is_empty() {
            p.muted { "Nothing was cut or set aside, and no guard fired." }
        }
        @if !first.is_empty() {
            ul.notes { @for remark in first { li.warn[loud(remark)] { (plain(remark)) } } }
        }
        @if !rest.is_empty() {
            details {
                summary { (counted(rest.len() as u64, "further remark")) }
                ul.notes { @for remark in rest { li { (plain(remark)) } } }
            }
        }
    }
}

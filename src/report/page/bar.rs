//! Renders the bars at the top of the page, which show how much of the corpus was kept and removed, measured in documents and in bytes.

use maud::{Markup, html};

use super::text::{bytes, percent};
use crate::report::thousands;
use dupsift_engine::job::{PartsReport, RunReport};
use dupsift_tables::REPRESENTATIVE;

/// A part of a bar: its class, its name and its size.
type Part = (&'static str, &'static str, u64);

/// Returns the bars of a run that removes documents.
pub fn section(report: &RunReport) -> Markup {
    let Some(removal) = &report.removal else { return html! {} };
    // The first document of each cluster is also removed with `--keep none`.
    let originals = removal.reasons.get(REPRESENTATIVE).copied().unwrap_or(0);
    let copies = removal.removed.saturating_sub(removal.near_duplicates + originals);
    let similar: u64 = removal.stays.values().sum();
    let documents = [
        ("kept", "kept", removal.kept - similar.min(removal.kept)),
        ("similar", "similar but kept", similar),
        ("near", "near-duplicates removed", removal.near_duplicates),
        ("near", "originals removed", originals),
        ("copies", "exact copies removed", copies),
    ];
    let by_bytes = report.parts.as_ref().map(PartsReport::all).map(|[all, gone]| {
        let copied = removal.copied_bytes.min(gone.bytes);
        [
            ("kept", "kept, similar or not", all.bytes - gone.bytes.min(all.bytes)),
            (
                "near",
                if originals > 0 { "near-duplicates and originals removed" } else { "near-duplicates removed" },
                gone.bytes - copied,
            ),
            ("copies", "exact copies removed", copied),
        ]
    });
    html! {
        div.bars {
            (bar("Documents", &documents, &thousands))
            @if let Some(by_bytes) = by_bytes { (bar("Text", &by_bytes, &bytes)) }
        }
    }
}

fn bar(title: &str, parts: &[Part], shown: &dyn Fn(u64) -> String) -> Markup {
    let all: u64 = parts.iter().map(|part| part.2).sum();
    let width = |size: u64| format!("width:{:.2}%", 100.0 * size as f64 / all.max(1) as f64);
    let parts = || parts.iter().filter(|part| part.2 > 0);
    html! {
        div.bar {
            div.name { (title) ": " (shown(all)) }
            div.track aria-hidden="true" { @for (class, _, size) in parts() { span class=(class) style=(width(*size)) {} } }
            ul { @for (class, name, size) in parts() {
                li { span.key.(class) {} strong { (shown(*size)) } " " (name) " (" (percent(*size, all)) ")" }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_engine::job::RemovalReport;

    #[test]
    fn the_parts_add_up_to_all_documents() {
        let removal = RemovalReport {
            kept: 70,
            removed: 30,
            near_duplicates: 20,
            stays: [("unique text".to_owned(), 10)].into(),
            ..RemovalReport::default()
        };
        // Three of the ten other documents are the first documents in their clusters, removed with `--keep none`.
        let none = RemovalReport { reasons: [(REPRESENTATIVE.to_owned(), 3)].into(), ..removal.clone() };
        let page = section(&RunReport { removal: Some(none), ..RunReport::default() }).into_string();
        for told in ["<strong>3</strong> originals removed (3.0%)", "<strong>7</strong> exact copies removed (7.0%)"] {
            assert!(page.contains(told), "{told} is missing in {page}");
        }
        let page = section(&RunReport { removal: Some(removal), ..RunReport::default() }).into_string();
        assert!(!page.contains("originals"), "{page}");
        for told in [
            "Documents: 100",
            "width:60.00%",
            "<strong>10</strong> similar but kept (10.0%)",
            "<strong>20</strong> near-duplicates removed (20.0%)",
            "<strong>10</strong> exact copies removed (10.0%)",
        ] {
            assert!(page.contains(told), "{told} is missing in {page}");
        }
        assert_eq!(section(&RunReport::default()).into_string(), "");
    }
}

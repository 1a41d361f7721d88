//! Renders the bars at the top of the page, which show how much of the corpus was kept and removed, measured in documents and in bytes.

use maud::{Markup, html};

use super::text::{bytes, percent};
use crate::report::thousands;
use dupsift_engine::job::{PartsReport, RunReport};
use dupsift_tables::{EMPTIED, REPRESENTATIVE};

/// A part of a bar: its class, its name and its size.
type Part = (&'static str, String, u64);

/// Describes the documents that are removed for one reason.
struct Removed {
    /// The reason in the table of removals.
    reason: &'static str,
    /// The documents, as the bar names them.
    documents: &'static str,
    /// Whether the documents have the same text as a kept or an indexed document.
    is_copy: bool,
}

/// Lists all reasons.
const REASONS: [Removed; 6] = [
    Removed { reason: "pair", documents: "near-duplicates", is_copy: false },
    Removed { reason: "chain", documents: "documents linked by a chain", is_copy: false },
    Removed { reason: EMPTIED, documents: "documents with too little remaining text", is_copy: false },
    Removed { reason: REPRESENTATIVE, documents: "originals", is_copy: false },
    Removed { reason: "seen", documents: "documents seen before", is_copy: true },
    Removed { reason: "copy", documents: "exact copies", is_copy: true },
];

fn class(is_copy: bool) -> &'static str {
    if is_copy { "copies" } else { "near" }
}

/// Returns the bars of a run that removes documents.
pub(crate) fn section(report: &RunReport) -> Markup {
    let Some(removal) = &report.removal else { return html! {} };
    let similar = removal.kept_similar();
    let mut documents = vec![
        ("kept", "kept".to_owned(), removal.kept - similar.min(removal.kept)),
        ("similar", "similar but kept".to_owned(), similar),
    ];
    let removed = |is_copy: bool| REASONS.iter().filter(move |one| one.is_copy == is_copy);
    let parts = removed(false).chain(removed(true)).map(|one| {
        let count = removal.reasons.get(one.reason).copied().unwrap_or(0);
        (class(one.is_copy), format!("{} removed", one.documents), count)
    });
    documents.extend(parts);
    let by_bytes = report.parts.as_ref().map(PartsReport::all).map(|[all, gone]| {
        let copied = removal.copied_bytes.min(gone.bytes);
        let named = |is_copy: bool| {
            let found = removed(is_copy).filter(|one| removal.reasons.contains_key(one.reason));
            let names: Vec<&str> = found.map(|one| one.documents).collect();
            let names =
                if names.is_empty() { removed(is_copy).take(1).map(|one| one.documents).collect() } else { names };
            format!("{} removed", names.join(" and "))
        };
        [
            ("kept", "kept, similar or not".to_owned(), all.bytes - gone.bytes.min(all.bytes)),
            (class(false), named(false), gone.bytes - copied),
            (class(true), named(true), copied),
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
        let reasons =
            |reasons: &[(&str, u64)]| reasons.iter().map(|(reason, count)| (reason.to_string(), *count)).collect();
        let removal = RemovalReport {
            kept: 70,
            removed: 30,
            reasons: reasons(&[("pair", 20), ("copy", 10)]),
            stays: [("unique text".to_owned(), 10)].into(),
            ..RemovalReport::default()
        };
        let all = reasons(&[("pair", 14), ("chain", 2), (EMPTIED, 4), (REPRESENTATIVE, 3), ("seen", 1), ("copy", 6)]);
        assert_eq!(
            dupsift_tables::REASONS.iter().filter(|one| REASONS.iter().any(|known| known.reason == **one)).count(),
            REASONS.len()
        );
        let every = RemovalReport { reasons: all, ..removal.clone() };
        let page = section(&RunReport { removal: Some(every), ..RunReport::default() }).into_string();
        for told in [
            "Documents: 100",
            "<strong>14</strong> near-duplicates removed (14.0%)",
            "<strong>2</strong> documents linked by a chain removed (2.0%)",
            "<strong>4</strong> documents with too little remaining text removed (4.0%)",
            "<strong>3</strong> originals removed (3.0%)",
            "<strong>1</strong> documents seen before removed (1.0%)",
            "<strong>6</strong> exact copies removed (6.0%)",
        ] {
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

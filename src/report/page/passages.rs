//! Renders the repeated passages that take up the most text, such as templates, notices and quotations.

use maud::{Markup, html};

use super::markup::{cell, scrolling};
use super::text::{bytes, plain};
use crate::report::{counted, thousands};
use dupsift_engine::job::{CutReport, RunReport};

/// The number of characters of a passage that are shown unfolded.
const AT_ONCE: usize = 120;

/// Returns the passages with their text; `None` if the run did not search for passages.
pub(crate) fn section(report: &RunReport) -> Option<Markup> {
    let found = report.cut.as_ref()?;
    let written = report.corpus.as_ref().is_some_and(|corpus| corpus.folders.contains_key("deduped"));
    Some(html! {
        p {
            (counted(found.passages, "passage")) " in " (counted(found.documents, "document")) ", "
            (format!("{:.1}%", 100.0 * found.share())) " of the kept text, "
            @if written { "are cut from deduped/." } @else { "would be cut with " code { "--corpus keep" } "." }
            @if found.emptied > 0 {
                " " (counted(found.emptied, "document")) " "
                @if found.emptied == 1 { "is" } @else { "are" } " removed because too little other text remains."
            }
        }
        (costliest(found))
        p.how {
            "The total size of a passage is its size times the number of copies. Each distinct passage is listed once, with a document that it was cut from and the document that keeps the first copy. passages/ lists all passages."
        }
    })
}

fn costliest(found: &CutReport) -> Markup {
    let header = ["passage", "bytes", "copies", "total size", "cut from", "first copy in", "file of the first copy"];
    html! {
        @if !found.costliest.is_empty() {
            (scrolling("The largest repeated passages", html! {
                table.sort {
                    thead { tr { @for name in header { th scope="col" { (name) } } } }
                    tbody {
                        @for one in &found.costliest {
                            tr {
                                th scope="row" { (text(&one.text)) }
                                (cell(one.bytes as f64, &bytes(one.bytes)))
                                td { (thousands(one.copies)) }
                                (cell((one.bytes * one.copies) as f64, &bytes(one.bytes * one.copies)))
                                td { (plain(&one.id)) }
                                td { (plain(&one.first_id)) }
                                td { (plain(&one.first_file)) }
                            }
                        }
                    }
                }
            }))
        }
    }
}

/// Returns the beginning of the text, and folds the rest if the text is long.
fn text(text: &str) -> Markup {
    let first: String = text.chars().take(AT_ONCE).collect();
    html! {
        @if first.len() == text.len() { (plain(text)) }
        @else { details { summary { (plain(&first)) "…" } (plain(text)) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_engine::job::CostlyPassage;

    #[test]
    fn passages_are_shown_with_their_sources() {
        assert!(section(&RunReport::default()).is_none());
        let one = CostlyPassage {
            text: format!("<b>{}", "x".repeat(300)),
            bytes: 303,
            copies: 1200,
            id: "a".into(),
            first_id: "b".into(),
            first_file: "c.parquet".into(),
        };
        let cut = CutReport { passages: 5, documents: 2, emptied: 1, costliest: vec![one], ..CutReport::default() };
        let page = section(&RunReport { cut: Some(cut), ..RunReport::default() }).unwrap().into_string();
        for part in [
            "5 passages in 2 documents",
            "1 document is removed because too little other text remains",
            "&lt;b&gt;x",
            "1,200",
            "c.parquet",
            "--corpus keep",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
}

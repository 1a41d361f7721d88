//! Renders three commands to copy as next steps. They do not depend on whether the result is held, because that may change later.

use maud::{Markup, html};

use super::pair::{explain_line, quoted};
use super::text::plain;
use dupsift_engine::job::RunReport;
use dupsift_files::io::DASH;
use dupsift_study::study::Review;

/// Returns the commands for a run that removes documents from files.
pub fn section(report: &RunReport, review: &Review) -> Markup {
    let out = report.options.get("out").and_then(|out| out.as_str()).unwrap_or("OUT");
    let is_of_files = report.inputs.iter().all(|input| input.path != DASH);
    if report.removal.is_none() || !is_of_files {
        return html! {};
    }
    let out = plain(out);
    let mut lines = Vec::new();
    if let Some(one) = review.removed.sample.first() {
        let line = explain_line(report, review, one.doc, one.kept);
        lines.extend(line.map(|line| ("See why a document was removed", line)));
    }
    if report.corpus.is_none() {
        lines.push((
            "Write the corpus without the removed documents",
            format!("dupsift apply {} --corpus keep", quoted(&out)),
        ));
    }
    let strict = quoted(&format!("{out}-strict"));
    lines.push((
        "Or remove only documents that a kept document contains completely",
        format!("dupsift apply {} --remove-if contained:1:1 --out {strict}", quoted(&out)),
    ));
    html! {
        h2.verdict #next { "What next" }
        dl.next { @for (what, line) in &lines { div { dt { (what) } dd { p.line { code { (line) } } } } } }
    }
}

//! Renders up to four commands that can be copied as next steps. Only commands that work for this run are shown. The commands do not
//! depend on whether the result is held, because that may change later.

use std::path::Path;

use maud::{Markup, html};

use super::pair::{explain_line, quoted};
use super::text::plain;
use dupsift_engine::job::RunReport;
use dupsift_study::{Applicable, Finished, Review, applicable};

/// The rule that removes a document only if a kept document contains all of it.
const STRICTEST: &str = "contained:1:1";

/// Returns the commands for a run that removes documents, if there are any.
pub(crate) fn section(report: &RunReport, review: &Review) -> Markup {
    let out = report.options.get("out").and_then(|out| out.as_str()).unwrap_or("OUT");
    if report.removal.is_none() {
        return html! {};
    }
    // The file that holds a data frame is deleted when the process ends.
    let of_frame = Finished::new(Path::new(&report.folder), report.clone()).frame().is_some();
    let applies = if of_frame { Applicable::Nothing } else { applicable(report) };
    let out = plain(out);
    let mut lines = Vec::new();
    if let Some(one) = review.removed.sample.first() {
        let line = explain_line(report, review, one.doc, one.kept);
        lines.extend(line.map(|line| ("See why a document was removed", line)));
    }
    if report.corpus.is_none() && applies != Applicable::Nothing {
        lines.push((
            "Write the corpus without the removed documents",
            format!("dupsift apply {} --corpus keep", quoted(&out)),
        ));
    }
    let is_strict = report.removal.as_ref().is_some_and(|removal| removal.remove_if == STRICTEST);
    if applies == Applicable::StricterRule && !is_strict {
        let strict = quoted(&format!("{out}-strict"));
        lines.push((
            "Or remove only documents that a kept document contains completely",
            format!("dupsift apply {} --remove-if {STRICTEST} --out {strict}", quoted(&out)),
        ));
        lines.push(("See how much stricter and looser rules remove", format!("dupsift show {} --rules", quoted(&out))));
    }
    if lines.is_empty() {
        return html! {};
    }
    html! {
        h2.verdict #next { "What next" }
        dl.next { @for (what, line) in &lines { div { dt { (what) } dd { p.line { code { (line) } } } } } }
    }
}

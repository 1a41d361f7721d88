//! Renders `report.html`, which shows a finished run on one page and requires no network access. The page is complete without its script,
//! which sorts tables, and filters the removals and keeps the labels that readers give them.
//!
//! There is one module per section. Each module takes the record and the [`Review`] and returns the markup of its section. Templates escape
//! their arguments; text from a corpus also passes through [`text::plain`], so that no control character reaches the page. Charts are drawn
//! in placeholder colors, which the style sheet maps to the colors of light and dark mode.

mod agreement;
mod algorithms;
mod bar;
mod before;
mod chart;
mod clusters;
mod comparison;
mod contamination;
mod cost;
mod headline;
mod markup;
mod next;
mod origin;
mod pair;
mod parts;
mod passages;
mod ran;
mod removals;
mod s_curve;
mod scores;
mod text;
mod texts;
mod threshold;

pub use contamination::page as contamination_page;
pub use pair::marked;
pub(crate) use pair::quoted;
pub(crate) use text::percent;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use dupsift_core::error::Result;
use dupsift_engine::job::RunReport;
use dupsift_study::Review;

const STYLE: &str = include_str!("style.css");

/// The only script on the page, which sorts and filters tables, and lets readers filter and judge the removals.
const SCRIPT: &str = concat!(include_str!("sort.js"), include_str!("judge.js"));

/// The SHA-256 of the script. The browser runs only the script with this hash, and no script from a corpus.
const SCRIPT_HASH: &str = "sha256-QAf+GkJRb+ozPKGaZg+r3eGs7Av/hmfmdccSkCb4vw0=";

/// Markers around the remarks; the remarks change when a result is accepted. Text from a corpus is escaped, so the markers occur nowhere
/// else.
const NOTES: (&str, &str) = ("<!--remarks-->", "<!--/remarks-->");

struct Section {
    /// The anchor for links.
    anchor: &'static str,
    title: &'static str,
    /// Whether the section is folded because it contains details.
    folded: bool,
    body: Markup,
}

impl Section {
    fn folded(self) -> Section {
        Section { folded: true, ..self }
    }

    fn shown(&self) -> Markup {
        let heading = html! { h2 id=(self.anchor) { (self.title) } };
        html! {
            section aria-labelledby=(self.anchor) {
                @if self.folded { details.folded { summary { (heading) } (self.body) } } @else { (heading) (self.body) }
            }
        }
    }
}

/// Returns the page of a run.
///
/// # Errors
/// Returns an error if a chart cannot be drawn.
pub fn page(report: &RunReport, review: &Review) -> Result<String> {
    let section = |anchor, title, body| Section { anchor, title, folded: false, body };
    let mut sections = Vec::new();
    if let Some(comparison) = &review.comparison {
        let title = "Recall and precision of each algorithm";
        sections.push(section("comparison", title, comparison::section(comparison)));
    }
    if let Some(removals) = removals::section(report, review) {
        sections.push(section("removals", "Removed documents, one by one", removals));
    }
    sections.push(section("samples", "Pairs and their differences", texts::samples(report, review)));
    sections
        .push(section("least", "The checked pairs with the lowest similarity", texts::least(report, review)).folded());
    sections.push(section("large", "The largest clusters", texts::large(report, review)));
    sections.push(section("parts", "The corpus by script and length", parts::section(report)));
    sections.push(section("origin", "Where duplicates come from", origin::section(report, review)));
    if let Some(found) = passages::section(report) {
        sections.push(section("passages", "The largest repeated passages", found));
    }
    if let Some(curve) = threshold::section(report, review)? {
        sections.push(section("threshold", "Removals at other thresholds", curve));
    }
    if let Some(before) = before::section(report, review.before.as_deref()) {
        sections.push(section("before", "Compared with the previous run", before));
    }
    sections.push(section("algorithms", "What each algorithm found", algorithms::section(report)));
    sections
        .push(section("agreement", "Agreement between the algorithms", agreement::section(report, review)).folded());
    sections.push(section("similarity", "Pairs by similarity", scores::section(report, review)?));
    if let Some(curve) = s_curve::section(report, review)? {
        sections.push(section("bands", "Recall of the minhash bands", curve));
    }
    sections.push(section("sizes", "Clusters by size", clusters::section(report, review)?).folded());
    sections.push(section("unsigned", "Documents without a signature", algorithms::unsigned(report)).folded());
    sections.push(section("cost", "Time, memory and bytes of each stage", cost::section(&report.stages)).folded());
    let top = html! {
        p.muted { (headline::subtitle(report)) }
        @if let Some(comparison) = &review.comparison { (comparison::lead(comparison)) }
        (ran::section(report, review))
    };
    let facts = html! {
        (bar::section(report))
        (next::section(report, review))
        (headline::facts(report))
        (PreEscaped(NOTES.0)) (headline::notes(report)) (PreEscaped(NOTES.1))
    };
    let source = html! {
        "dupsift " (report.dupsift) "; recipe " (report.recipe.identity)
        ". run.json contains the same figures; pairs/, clusters/ and removed/ contain all pairs, clusters and removals."
    };
    Ok(shell(&headline::title(report, review.comparison.as_ref()), &top, &facts, &sections, &source))
}

/// Assembles a page. `top` follows the title, `facts` precedes the sections, and `source` is the footer.
fn shell(title: &str, top: &Markup, facts: &Markup, sections: &[Section], source: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                // Nothing is fetched, and only the page's own script runs, even if a document contains a script. Styles are inline.
                meta http-equiv="Content-Security-Policy" content={
                    "default-src 'none'; style-src 'unsafe-inline'; script-src '" (SCRIPT_HASH) "'; base-uri 'none'; form-action 'none'"
                };
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "dupsift: " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    (top)
                }
                main {
                    (facts)
                    nav aria-label="Contents" {
                        ul { @for section in sections { li { a href={ "#" (section.anchor) } { (section.title) } } } }
                    }
                    @for section in sections { (section.shown()) }
                }
                footer { (source) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// Returns the page with its remarks replaced by the remarks from this record. This function is used when a held result is accepted.
/// Returns `None` if the page has no markers around its remarks. Nothing is read again, because the corpus may no longer exist.
pub fn accepted_page(page: &str, report: &RunReport) -> Option<String> {
    let (before, rest) = page.split_once(NOTES.0)?;
    let (_, behind) = rest.split_once(NOTES.1)?;
    let notes = headline::notes(report).into_string();
    Some([before, NOTES.0, &notes, NOTES.1, behind].concat())
}

#[cfg(test)]
mod tests;

//! Renders the page for a contamination search: the evaluation sets, the items with the highest scores (each shown in its document), and
//! the public items.

use maud::{Markup, html};

use super::markup::{scrolling, sortable};
use super::text::{bytes, plain, seconds};
use super::{Section, cost, shell};
use crate::report::{counted, guarded, other_inputs, rejections_of, thousands};
use dupsift_commands::contaminated::{ContaminationReport, ExampleReport, SHOWN, SuiteReport};
use dupsift_engine::options::Spelling;
use std::path::Path;

/// Returns the page for a contamination search.
pub fn page(report: &ContaminationReport) -> String {
    let section = |anchor, title, body| Section { anchor, title, folded: false, body };
    let mut sections = vec![
        section("suites", "Evaluation sets", suites(&report.suites)),
        section("examples", "Items with the highest scores", examples(report)),
    ];
    if !report.public.is_empty() {
        sections.push(section("public", "Public items", public(report)));
    }
    sections.push(section("cost", "Time, memory and bytes of each stage", cost::section(&report.stages)).folded());
    let title = format!("{} of {} contaminated", thousands(report.contaminated), counted(report.documents, "document"));
    let top = html! {
        p.muted {
            "A document is contaminated if one of its spans has a score of " (report.threshold) " or more. The score is the share of \
                an item's words that the span contains in their order, weighted by how rare the words are in this corpus. The items come \
                from "
            @for (at, input) in report.against.iter().enumerate() { @if at > 0 { ", " } code { (plain(input)) } } "."
        }
    };
    let source = html! {
        "dupsift " (report.dupsift) ". contaminated/ and items/ list all documents and items; run.json has the same figures."
    };
    shell(&title, &top, &html! { (facts(report)) (notes(report)) }, &sections, &source)
}

fn facts(report: &ContaminationReport) -> Markup {
    let found = |of: fn(&SuiteReport) -> u64| report.suites.iter().map(of).sum::<u64>();
    let facts = [
        ("Contaminated", thousands(report.contaminated), format!("of {}", counted(report.documents, "document"))),
        (
            "Items found",
            thousands(found(|suite| suite.found_80)),
            format!("at 0.8 or more; {} at 0.5 or more", thousands(found(|suite| suite.found_50))),
        ),
        ("Items", thousands(report.items), format!("{} of memory", bytes(report.item_bytes))),
        ("Rejected", thousands(report.rejections.rows), rejections_of(&report.rejections, report)),
        ("Time", seconds(report.seconds), format!("{} of CPU", seconds(report.cpu_seconds))),
    ];
    html! {
        dl.grid.facts {
            @for (name, value, remark) in &facts {
                div.card { dt { (name) } dd { (value) @if !remark.is_empty() { small { (remark) } } } }
            }
        }
    }
}

fn notes(report: &ContaminationReport) -> Markup {
    let skipped = report.bad_inputs.iter().map(|file| format!("skipped: {}: {}", file.file, file.why));
    let guards = guarded(report, Path::new("the output"));
    let notes: Vec<String> = guards
        .lines()
        .map(str::to_owned)
        .chain(skipped)
        .chain(other_inputs(report))
        .chain(report.warnings.iter().cloned())
        .collect();
    html! { @if !notes.is_empty() { ul.notes { @for note in &notes { li.warn { (plain(&Spelling::Flags.of(note))) } } } } }
}

fn suites(suites: &[SuiteReport]) -> Markup {
    let header = [
        "set",
        "items",
        "found at 0.8",
        "found at 0.5",
        "documents at 0.8",
        "documents at 0.5",
        "variants",
        "public",
        "too short",
    ];
    html! {
        (sortable("Evaluation sets", html! {
            thead { tr { @for name in header { th scope="col" { (name) } } } }
            tbody {
                @for suite in suites {
                    @let [items, too_short, public, found_80, found_50, documents_80, documents_50, variants] = suite.numbers();
                    tr {
                        th scope="row" { (plain(&suite.suite)) }
                        @for number in [items, found_80, found_50, documents_80, documents_50, variants, public, too_short] { td { (thousands(number)) } }
                    }
                }
            }
        }))
        p.how {
            "Many documents contain a public item, such as a quotation, but neither its answer nor another item: these documents are \
                kept. Variants are items with other numbers, which are kept as well. Items with fewer than nine words, including their \
                choices and answer, are too short to search for."
        }
    }
}

fn examples(report: &ContaminationReport) -> Markup {
    html! {
        @if report.examples.is_empty() { p { "No item was found in any document." } }
        @else {
            div.shown { @for one in &report.examples { div.card { (example(one)) } } }
            p.how {
                "The top of each box shows the item; the parts that the document contains are marked. The bottom shows the span of the document that contains most of the item, with its context."
            }
        }
    }
}

fn example(one: &ExampleReport) -> Markup {
    let [before, span, after] = &one.texts;
    html! {
        h3 { (plain(&one.suite)) ": " bdi { (plain(&one.eval_id)) } " in " bdi { (plain(&one.id)) } }
        p.muted {
            "score " (format!("{:.2}", one.score)) ", in " (counted(one.documents, "document")) " at 0.5 or more"
            @match one.answer_found {
                Some(true) => ", the answer is nearby",
                Some(false) => ", the answer is not nearby",
                None => "",
            }
        }
        div.text { (marked(&one.item, &one.covered)) }
        hr;
        div.text { "…" (plain(before)) mark { (plain(span)) @if span.chars().count() >= SHOWN { " …" } } (plain(after)) "…" }
    }
}

/// Returns the text with these byte ranges marked.
fn marked(text: &str, places: &[[u32; 2]]) -> Markup {
    let mut parts = Vec::new();
    let mut at = 0;
    for [start, end] in places.iter().map(|place| place.map(|byte| byte as usize)) {
        let (Some(before), Some(part)) = (text.get(at..start), text.get(start..end)) else { continue };
        parts.push((before, part));
        at = end;
    }
    html! {
        @for (before, part) in parts { (plain(before)) mark { (plain(part)) } }
        (plain(text.get(at..).unwrap_or_default()))
    }
}

fn public(report: &ContaminationReport) -> Markup {
    scrolling(
        "Public items",
        html! {
            table.sort {
                thead { tr { @for name in ["item", "set", "documents at 0.5", "text"] { th scope="col" { (name) } } } }
                tbody {
                    @for one in &report.public {
                        tr {
                            th scope="row" { (plain(&one.eval_id)) }
                            td { (plain(&one.suite)) }
                            td { (thousands(one.documents)) }
                            td.text { (plain(&one.item)) }
                        }
                    }
                }
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_marked_and_nothing_is_obeyed() {
        let one = ExampleReport {
            suite: "exam".into(),
            eval_id: "q1".into(),
            item: "What <b>is</b> it?".into(),
            covered: vec![[0, 4], [5, 10]],
            id: "doc".into(),
            documents: 3,
            score: 0.8,
            answer_found: Some(true),
            texts: ["before ".into(), "What <i>is".into(), " after".into()],
        };
        let suite = SuiteReport { suite: "exam".into(), items: 1234, ..SuiteReport::default() };
        let public = vec![ExampleReport { eval_id: "q2".into(), documents: 200, ..one.clone() }];
        let report = ContaminationReport { suites: vec![suite], examples: vec![one], public, ..Default::default() };
        let page = page(&report);
        for part in [
            "<mark>What</mark> <mark>&lt;b&gt;is</mark>&lt;/b&gt; it?",
            "before <mark>What &lt;i&gt;is</mark> after",
            "the answer is nearby",
            "1,234",
            "Public items",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
}

//! Renders sampled removals, which readers can filter, search and judge one by one. Without the page's script, the removals are shown as a
//! foldable list.

use maud::{Markup, html};
use serde::Serialize;

use super::pair::{body, names};
use super::text::{json, share};
use crate::report::{counted, thousands};
use dupsift_core::hash::hash128;
use dupsift_engine::job::RunReport;
use dupsift_study::{Facet, RemovalSample, Review};

/// A way to group the removals, as the script reads it.
#[derive(Serialize)]
struct Groups<'f> {
    name: &'f str,
    groups: &'f [String],
}

/// Returns the sampled removals; `None` if no near-duplicate was removed or the texts cannot be read.
pub(crate) fn section(report: &RunReport, review: &Review) -> Option<Markup> {
    let removal = report.removal.as_ref()?;
    let sample = &review.removed.sample;
    if sample.is_empty() || review.no_texts.is_some() {
        return None;
    }
    let (all, shown) = (counted(removal.near_duplicates, "removed near-duplicate"), sample.len() as u64);
    let shown = match shown >= removal.near_duplicates {
        true => format!("This section shows {all}"),
        false => format!("This section shows {} of {all}, sampled with a fixed seed", thousands(shown)),
    };
    let fates = if removal.keep == "none" { "A and B were removed" } else { "A was removed, and B was kept" };
    let facets: Vec<Groups<'_>> =
        review.facets.iter().map(|facet| Groups { name: &facet.name, groups: &facet.groups }).collect();
    Some(html! {
        p.how {
            (shown) ", most doubtful first. " (fates) ". Text that is only in A is marked " del { "like this" } ", text that is only in B "
            ins { "like this" } ". Judge whether each removal is right: press y for right, n for wrong, and u for unsure; j and k move to the next pair "
            "and to the previous one, and / moves to the search. This browser keeps your labels. "
            code { "dupsift evaluate OUT --truth labels.csv" } " reads the exported ones."
        }
        div.browse data-run=(run_id(report)) data-removals=(removal.near_duplicates) data-facets=(json(&facets)) {
            @for (at, one) in sample.iter().enumerate() { (one_removal(report, review, at, one)) }
        }
    })
}

/// Returns the name under which a browser keeps the labels of this run. The same run has the same name in each of its pages.
fn run_id(report: &RunReport) -> String {
    let out = report.options.get("out").and_then(|out| out.as_str()).unwrap_or_default();
    let parts = [&report.started, &report.folder, out, &report.recipe.identity];
    format!("{:032x}", hash128(parts.join("\0").as_bytes()))
}

fn one_removal(report: &RunReport, review: &Review, at: usize, one: &RemovalSample) -> Markup {
    let id = |doc: u64| review.texts.get(&doc).map(|text| text.id.as_str());
    let ids = id(one.doc).zip(id(one.kept)).map(|(doc, kept)| json(&[doc, kept]));
    let group = |facet: &Facet| facet.of.get(at).map_or_else(String::new, ToString::to_string);
    let groups: Vec<String> = review.facets.iter().map(group).collect();
    let notes = [(one.other_title, "other title"), (one.others_as_near, "others as near")];
    let [doc, kept] = names(review, one.doc, one.kept);
    html! {
        details.card data-ids=[ids] data-groups=(groups.join(",")) data-rank=(one.rank) {
            summary {
                strong { @match one.similarity { Some(similarity) => (share(similarity)), None => "linked by a chain" } }
                " " bdi { (doc) } " → " bdi { (kept) }
                " " small.muted { "(doubt " (share(one.doubt)) @for (is, note) in notes { @if is { ", " (note) } } ")" }
            }
            (body(report, review, one.doc, one.kept))
        }
    }
}

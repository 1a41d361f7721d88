//! Renders sampled removals, which readers can inspect one by one. Without the page's script, the removals are shown as a foldable list.

use maud::{Markup, html};

use super::pair::{body, names};
use super::text::{plain, share};
use crate::report::{counted, thousands};
use dupsift_engine::job::RunReport;
use dupsift_study::{RemovalSample, Review};

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
    Some(html! {
        p.how {
            (shown) ". " (fates) ". Text that is only in A is marked " del { "like this" } ", text that is only in B "
            ins { "like this" } ". Press j for the next pair and k for the previous one. Mark the pairs that look wrong, and save the other pairs as labels for "
            code { "dupsift evaluate" } "."
        }
        div.browse { @for one in sample { (one_removal(report, review, one)) } }
    })
}

fn one_removal(report: &RunReport, review: &Review, one: &RemovalSample) -> Markup {
    // Labels refer to documents by id, so an id is omitted if the page cannot show it unchanged.
    let id = |doc: u64| review.texts.get(&doc).map(|text| text.id.as_str()).filter(|id| plain(id) == *id);
    let ids = id(one.doc).zip(id(one.kept));
    let [doc, kept] = names(review, one.doc, one.kept);
    html! {
        details.card data-a=[ids.map(|ids| ids.0)] data-b=[ids.map(|ids| ids.1)] {
            summary {
                strong { @match one.similarity { Some(similarity) => (share(similarity)), None => "linked by a chain" } }
                " " bdi { (doc) } " → " bdi { (kept) }
            }
            (body(report, review, one.doc, one.kept))
        }
    }
}

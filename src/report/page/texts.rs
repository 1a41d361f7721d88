//! Renders clusters and pairs to inspect, with the differences between their texts.

use maud::{Markup, html};

use super::pair::{body, id_of, summary};
use super::text::{plain, share};
use crate::report::{counted, thousands};
use dupsift_core::number::counted_as;
use dupsift_engine::job::RunReport;
use dupsift_engine::options::Spelling;
use dupsift_study::{LargeCluster, PairSample, Review, SAMPLE_BINS, sample_range};
use dupsift_text::side_by_side::{first_characters, language};

/// The number of characters shown from a text that is not compared with another text.
const ALONE: usize = 300;

/// Returns the largest clusters.
pub(crate) fn large(report: &RunReport, review: &Review) -> Markup {
    html! {
        (intro(review, "The largest clusters found by"))
        @if review.large.is_empty() { p { "There are no clusters." } }
        @else {
            p.how { "Each cluster is shown with its representative and the members that are least similar to the representative. Exact copies of the representative are counted but not shown." }
        }
        @let (copies, others): (Vec<&LargeCluster>, Vec<&LargeCluster>) = review.large.iter().partition(|one| one.members.is_empty());
        @if !copies.is_empty() {
            details {
                summary { (counted_as(copies.len() as u64, "cluster of exact copies|clusters of exact copies")) }
                ul { @for one in &copies { li { (counted(one.size, "document")) " identical to " bdi { (id_of(review, one.representative)) } } } }
            }
        }
        div.shown { @for one in others { (cluster(report, review, one)) } }
    }
}

fn cluster(report: &RunReport, review: &Review, one: &LargeCluster) -> Markup {
    html! {
        details.card {
            summary {
                strong { (counted(one.size, "document")) }
                " " (label(report, one.algorithm)) ": " bdi { (id_of(review, one.representative)) }
                @if one.equal > 0 { ", " (thousands(one.equal)) " identical to it" }
            }
            (excerpt(review, one.representative))
            @for member in &one.members {
                @let docs = [one.representative.min(member.doc), one.representative.max(member.doc)];
                h3 {
                    @match member.similarity {
                        Some(similarity) => { "Similarity " (share(similarity)) }
                        None => "Not paired with the first document; linked to it through other documents",
                    }
                }
                (body(report, review, docs[0], docs[1]))
            }
        }
    }
}

/// Returns the beginning of a text that is not compared with another text.
fn excerpt(review: &Review, doc: u64) -> Markup {
    let Some(text) = review.texts.get(&doc) else { return html! {} };
    let first = first_characters(&text.text, ALONE);
    let is_cut = text.longer || first.is_some();
    html! {
        p.text dir="auto" lang=(language(&text.text)) { (plain(first.unwrap_or(&text.text))) @if is_cut { "…" } }
    }
}

/// Returns the verified pairs near the threshold.
pub(crate) fn least(report: &RunReport, review: &Review) -> Markup {
    html! {
        p.how {
            "This section shows the pairs with the lowest verified similarity, up to ten across all algorithms that verify pairs. If these are duplicates, a lower
            threshold may find more; if not, a higher threshold is safer."
         }
        @if review.least.is_empty() { p { "None of the algorithms that decide which documents are removed verify their pairs." } }
        div.shown { @for one in &review.least { (pair(report, review, one, false)) } }
    }
}

/// Returns the pairs sampled from each bin.
pub(crate) fn samples(report: &RunReport, review: &Review) -> Markup {
    let bins = review.samples.iter().enumerate().rev().filter(|(_, pairs)| !pairs.is_empty());
    // One pair whose texts differ is unfolded if the page shows no removals before the pairs.
    let mut open = usize::from(review.removed.sample.is_empty());
    let mut opens = |bin: usize| {
        let opens = bin + 1 < SAMPLE_BINS.len() && open > 0;
        open -= usize::from(opens);
        opens
    };
    html! {
        (intro(review, "These pairs are sampled with a fixed seed from those found by"))
        @if review.samples.iter().all(Vec::is_empty) { p { "There are no pairs." } }
        @for (bin, pairs) in bins {
            h3 {
                @let (low, high) = sample_range(bin);
                @if bin + 1 == SAMPLE_BINS.len() { "Similarity 1" } @else { "Similarity " (low) " to " (high) }
            }
            div.shown { @for one in pairs { (pair(report, review, one, opens(bin))) } }
        }
    }
}

fn intro(review: &Review, what: &str) -> Markup {
    html! {
        p.how {
            (what) " " (review.deciding.iter().map(|label| plain(label)).collect::<Vec<_>>().join(", ")) ". "
            "Text that is only in A is marked " del { "like this" } ", text that is only in B " ins { "like this" } "."
        }
        @if let Some(why) = &review.no_texts { ul.notes { li.warn { "The texts could not be read: " (plain(&Spelling::Flags.of(why))) } } }
    }
}

fn pair(report: &RunReport, review: &Review, one: &PairSample, is_open: bool) -> Markup {
    html! {
        details.card open[is_open] {
            (summary(report, review, one.algorithm, Some(one.similarity), [one.a, one.b]))
            (body(report, review, one.a, one.b))
        }
    }
}

fn label(report: &RunReport, algorithm: usize) -> String {
    report.algorithms.get(algorithm).map_or_else(String::new, |one| plain(&one.label).into_owned())
}

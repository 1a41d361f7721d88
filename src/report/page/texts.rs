//! Clusters and pairs for the eye: the beginnings of their texts.

use maud::{Markup, html};

use super::text::{heading, language, plain, share};
use crate::job::RunReport;
use crate::report::thousands;
use crate::study::{LargeCluster, PairSample, Review, SAMPLE_BINS, sample_range};

/// The largest clusters.
pub fn large(report: &RunReport, review: &Review) -> Markup {
    html! {
        (intro(review, "The largest clusters of"))
        @if review.large.is_empty() { p { "There are no clusters." } }
        div.shown { @for one in &review.large { (cluster(report, review, one)) } }
    }
}

fn cluster(report: &RunReport, review: &Review, one: &LargeCluster) -> Markup {
    html! {
        article.card {
            h3 { (thousands(one.size)) " documents, " (label(report, one.algorithm)) }
            div.texts {
                (document(review, one.representative, "represents the cluster"))
                @for member in &one.members {
                    @let remark = match member.similarity {
                        Some(similarity) => format!("similarity {}", share(similarity)),
                        None => "no pair with the first: linked to it by others".to_string(),
                    };
                    (document(review, member.doc, &remark))
                }
            }
            @if one.members.is_empty() { p.muted { "All others have similarity 1 to it." } }
        }
    }
}

/// The checked pairs at the edge.
pub fn least(report: &RunReport, review: &Review) -> Markup {
    html! {
        p.how {
            "Pairs that were checked on their texts and are the nearest to not being one: of each algorithm with a check in turn the
            least similar, up to ten in all, for the similarities of two measures cannot be held against each other. If these
            are duplicates, a lower threshold of that algorithm may find more; if not, a higher one is safer."
         }
        @if review.least.is_empty() { p { "No algorithm that decides has checked pairs." } }
        div.shown { @for one in &review.least { (pair(report, review, one)) } }
    }
}

/// Pairs drawn from each bin.
pub fn samples(report: &RunReport, review: &Review) -> Markup {
    html! {
        (intro(review, "Drawn by a fixed seed from the pairs of"))
        @if review.samples.iter().all(Vec::is_empty) { p { "There are no pairs." } }
        @for (bin, pairs) in review.samples.iter().enumerate().rev().filter(|(_, pairs)| !pairs.is_empty()) {
            h3 {
                @let (low, high) = sample_range(bin);
                @if bin + 1 == SAMPLE_BINS.len() { "Similarity 1" } @else { "Similarity " (low) " to " (high) }
            }
            div.shown { @for one in pairs { (pair(report, review, one)) } }
        }
    }
}

fn intro(review: &Review, what: &str) -> Markup {
    html! {
        p.how { (what) " " (review.deciding.iter().map(|label| plain(label)).collect::<Vec<_>>().join(", ")) ". The first 300 characters of each text." }
        @if let Some(why) = &review.no_texts { ul.notes { li.warn { "The texts could not be read: " (plain(why)) } } }
    }
}

fn pair(report: &RunReport, review: &Review, one: &PairSample) -> Markup {
    html! {
        article.card {
            h3 { "Similarity " (share(one.similarity)) ", " (label(report, one.algorithm)) }
            div.texts { (document(review, one.a, "")) (document(review, one.b, "")) }
        }
    }
}

fn document(review: &Review, doc: u64, remark: &str) -> Markup {
    let text = review.texts.get(&doc);
    html! {
        div {
            div.id {
                @match text { Some(text) => bdi title=(plain(&text.id)) { (heading(&text.id)) }, None => { "document " (doc) } }
                @if !remark.is_empty() { "; " (remark) }
            }
            @if let Some(text) = text {
                p.text dir="auto" lang=(language(&text.text)) { (plain(&text.text)) @if text.longer { "…" } }
            }
        }
    }
}

fn label(report: &RunReport, algorithm: usize) -> String {
    report.algorithms.get(algorithm).map_or_else(String::new, |one| plain(&one.label).into_owned())
}

//! Renders the table of algorithms, and the documents without a signature.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::markup::{cell, scrolling};
use super::text::{plain, seconds};
use crate::report::thousands;
use dupsift_engine::job::RunReport;

/// Returns a table with one row per algorithm.
pub(crate) fn section(report: &RunReport) -> Markup {
    let header = [
        "algorithm",
        "signed",
        "unsigned",
        "candidates",
        "pairs",
        "written",
        "clusters",
        "documents in clusters",
        "largest",
        "by chance",
        "CPU",
    ];
    let by_chance = |expected: Option<f64>| match expected {
        None => "–".to_string(),
        Some(expected) if expected >= 10.0 => thousands(expected.round() as u64),
        Some(expected) if expected >= 0.01 => format!("{expected:.2}"),
        Some(_) => "< 0.01".to_string(),
    };
    html! {
        (scrolling("Algorithms", html! {
            table.sort {
                thead { tr { @for name in header { th scope="col" { (name) } } } }
                tbody {
                    @for one in &report.algorithms {
                        tr {
                            th scope="row" title=(one.recipe) { (plain(&one.label)) }
                            @for number in [
                                one.signed, one.without_signature(), one.candidates, one.pairs, one.pairs_written,
                                one.clusters, one.clustered, one.largest_cluster,
                            ] { td { (thousands(number)) } }
                            td { (by_chance(one.expected_chance_collisions)) }
                            (cell(one.sign_seconds + one.pair_cpu_seconds, &seconds(one.sign_seconds + one.pair_cpu_seconds)))
                        }
                    }
                }
            }
        }))
        p.how {
            "Candidates are documents that share a signature. Pairs are the candidates that the algorithm accepted and, if it verifies pairs, confirmed by comparing the texts. They include exact copies and, if the algorithm classifies pairs, pages that share a template. “By chance” is the expected number of unrelated pairs that share a signature of this width; a dash (–) means that the algorithm compares scores instead. CPU time covers signing (estimated from a sample), grouping and verification, but not reading and tokenizing, which all \
                algorithms share."
        }
        details { summary { "All parameters" } (scrolling("Parameters", html! {
            table.words {
                thead { tr { th scope="col" { "algorithm" } th.text scope="col" { "parameters" } } }
                tbody {
                    @for one in &report.algorithms {
                        tr { th scope="row" { (plain(&one.label)) } td.text { code { (plain(&one.recipe)) } } }
                    }
                }
            }
        })) }
    }
}

/// Returns a table of the documents without a signature, with one row per reason.
pub(crate) fn unsigned(report: &RunReport) -> Markup {
    let reasons: BTreeSet<&str> =
        report.algorithms.iter().flat_map(|one| one.unsigned.keys().map(String::as_str)).collect();
    html! {
        @if reasons.is_empty() {
            p { "Every document has a signature from every algorithm." }
        } @else {
            (scrolling("Documents without a signature", html! {
                table {
                    thead { tr { th scope="col" { "algorithm" } @for reason in &reasons { th scope="col" { (plain(reason)) } } } }
                    tbody {
                        @for one in report.algorithms.iter().filter(|one| !one.unsigned.is_empty()) {
                            tr {
                                th scope="row" { (plain(&one.label)) }
                                @for reason in &reasons { td { (one.unsigned.get(*reason).map_or("–".to_string(), |count| thousands(*count))) } }
                            }
                        }
                    }
                }
            }))
            p.how { "An algorithm cannot find duplicates of a document that has no signature, not even exact copies. Algorithms that \
                signed all documents are not listed." }
        }
    }
}

//! Formats what happened to web pages while their text was extracted.

use std::collections::BTreeMap;

use super::{counted, thousands};
use dupsift_core::number::counted_as;
use dupsift_engine::session::PurifyReport;

/// Returns lines that describe what happened to the pages.
pub(super) fn purified(report: &PurifyReport) -> Vec<String> {
    let characters = match report.malformed {
        0 => String::new(),
        some => format!("; {} with invalid bytes", counted(some, "page")),
    };
    let mut lines = vec![
        format!(
            "pages: {pages} ({bytes}); {text} of text extracted with {}",
            report.recipe,
            pages = thousands(report.pages),
            bytes = size(report.bytes),
            text = size(report.body_bytes)
        ),
        format!("pages: {}; read as {}{characters}", by_name(&report.kinds), by_name(&report.charsets)),
    ];
    if !report.cut.is_empty() {
        lines.push(format!("pages truncated by a limit: {}", by_name(&report.cut)));
    }
    if !report.other_records.is_empty() {
        lines.push(format!("archives: other records: {}", by_name(&report.other_records)));
    }
    if report.truncated > 0 {
        lines.push(format!(
            "archives: {} truncated by the crawler",
            counted_as(report.truncated, "page was|pages were")
        ));
    }
    lines
}

/// Returns counts with their names, largest first.
pub(super) fn by_name(counts: &BTreeMap<String, u64>) -> String {
    let mut counts: Vec<(&String, &u64)> = counts.iter().collect();
    counts.sort_by_key(|&(name, &count)| (std::cmp::Reverse(count), name));
    let counts: Vec<String> = counts.into_iter().map(|(name, &count)| format!("{} {name}", thousands(count))).collect();
    counts.join(", ")
}

fn size(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

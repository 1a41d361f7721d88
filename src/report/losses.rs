//! Reports guards that fired and rows that could not be used.

use std::path::Path;

use super::{counted, thousands};
use dupsift_engine::job::{GuardReport, Guarded, stands_in};
use dupsift_engine::reading::{BadInputReport, OtherInputReport, RejectionsReport};
use dupsift_input::FOLLOW_LINKS;

/// Formats a remark about a guard that fired.
pub(super) fn guard(guard: &GuardReport) -> String {
    format!("guard{}: {}", if guard.held { " (held back)" } else { "" }, guard.sentence)
}

/// Returns the guards that fired in a job with output folder `out` and, if the result is held, how to publish it.
pub fn guarded(report: &impl Guarded, out: &Path) -> String {
    let mut text: String = report.guards().iter().map(|one| guard(one) + "\n").collect();
    text += &held(report, out);
    text
}

/// Returns how to publish the result if it is held.
pub(super) fn held(report: &impl Guarded, out: &Path) -> String {
    if !report.is_held() {
        return String::new();
    }
    let folder = stands_in(report, out);
    let stays = if out.exists() { "is unchanged" } else { "was not created" };
    format!(
        "held back: {out} {stays}; the new result is in {folder}\nto publish it: dupsift accept {folder}\n",
        out = out.display(),
        folder = folder.display()
    )
}

/// Returns a suffix for the line that suggests the next step. That step uses the final name of the result, so a held result has to be
/// accepted first.
pub fn once_accepted(report: &impl Guarded) -> &'static str {
    if report.is_held() { ", once it is accepted" } else { "" }
}

/// Formats the rejected rows by reason, as in `500 rows rejected: 498 not UTF-8, 2 null text; see rejected/`.
pub fn rejections(report: &RejectionsReport) -> String {
    match rejected(report) {
        told if report.rows == 0 => told,
        told => told + "; see rejected/",
    }
}

/// Formats the rejected rows in the corpus of a job, like [`rejections`]. If rows were rejected only in other inputs, the text states that
/// no corpus rows were rejected.
pub fn rejections_of(report: &RejectionsReport, job: &impl Guarded) -> String {
    if report.rows == 0 && job.lost_of_others() { "no corpus rows rejected".to_owned() } else { rejections(report) }
}

/// Formats the files that could not be used, at most `most` of them by name, and how to read those that are behind links.
pub fn skipped(bad: &[BadInputReport], most: usize) -> Vec<String> {
    let why = |bad: &BadInputReport| format!("skipped: {}: {}", bad.file, bad.why.trim_end_matches(FOLLOW_LINKS));
    let mut lines: Vec<String> = bad.iter().take(most).map(why).collect();
    if bad.len() > most {
        let more = counted((bad.len() - most) as u64, "more file");
        lines.push(format!("skipped: {more}; see bad_inputs in run.json"));
    }
    if bad.iter().any(|bad| bad.why.ends_with(FOLLOW_LINKS)) {
        lines.push("help: `follow-links` reads what links out of the inputs lead to".to_owned());
    }
    lines
}

/// Formats the rejected rows and other remarks for each input other than the corpus, one line per input, as in `reference: 1 of 2 rows
/// used; 1 row rejected: 1 not JSON; see rejected/`.
pub fn other_inputs(job: &impl Guarded) -> Vec<String> {
    let of = |other: &OtherInputReport| {
        let OtherInputReport { input, bad_inputs, rows, used, rejections: lost, warnings } = other;
        let used = format!("{} of {} used", thousands(*used), counted(*rows, "row"));
        let lines = (lost.rows > 0).then(|| format!("{used}; {}", rejections(lost)));
        let lines = lines.into_iter().chain(skipped(bad_inputs, usize::MAX));
        let lines = lines.chain(warnings.iter().map(|warning| format!("warning: {warning}")));
        lines.map(|line| format!("{input}: {line}")).collect::<Vec<_>>()
    };
    job.other_inputs().iter().flat_map(of).collect()
}

/// Formats the rejected rows like [`rejections`], but without mentioning `rejected/`.
pub(super) fn rejected(report: &RejectionsReport) -> String {
    let named = |by_kind: bool| {
        let mut counts = report.named(by_kind);
        counts.sort_by_key(|&(reason, rows)| (std::cmp::Reverse(rows), reason));
        let counts = counts.into_iter().map(|(reason, rows)| format!("{} {reason}", thousands(rows)));
        counts.collect::<Vec<_>>().join(", ")
    };
    let of = |rows: u64, what: &str, names: String| {
        let names = if names.is_empty() { names } else { format!(": {names}") };
        (rows > 0).then(|| format!("{} {what}{names}", counted(rows, "row")))
    };
    // Version 1 records contain neither reasons nor kinds.
    let broken = of(report.rows - report.by_kind.min(report.rows), "rejected", named(false));
    let left_out = of(report.by_kind, "skipped by kind", named(true));
    let told: Vec<String> = [broken, left_out].into_iter().flatten().collect();
    if told.is_empty() { "no rows rejected".to_owned() } else { told.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_tables::RejectReason;

    #[test]
    fn rejections_are_summed_up_by_reason() {
        let mut report = RejectionsReport::default();
        assert_eq!(rejections(&report), "no rows rejected");
        report.add(RejectReason::NotUtf8, 498);
        report.add(RejectReason::NullText, 2);
        assert_eq!(rejections(&report), "500 rows rejected: 498 not UTF-8, 2 null text; see rejected/");
        report.add(RejectReason::HttpStatus, 1);
        let told = "500 rows rejected: 498 not UTF-8, 2 null text; 1 row skipped by kind: 1 HTTP status; see rejected/";
        assert_eq!((rejections(&report).as_str(), report.broken, report.by_kind, report.rows), (told, 500, 1, 501));
        let old = RejectionsReport { rows: 3, ..RejectionsReport::default() };
        assert_eq!(rejections(&old), "3 rows rejected; see rejected/");
    }
}

//! Renders the section about the run itself: the corpus, the time, the command, the version and the preset.

use maud::{Markup, html};

use super::pair::quoted;
use super::text::plain;
use crate::report::counted;
use dupsift_engine::job::RunReport;
use dupsift_study::Review;

/// The maximum number of inputs that are listed.
const NAMED: usize = 3;

/// Returns the facts about the run as a list.
pub(crate) fn section(report: &RunReport, review: &Review) -> Markup {
    let command = report.command.iter().map(|word| quoted(&plain(word))).collect::<Vec<_>>().join(" ");
    html! {
        dl.ran {
            div { dt { "Corpus" } dd { (corpus(report)) } }
            @if !report.started.is_empty() { div { dt { "When" } dd { (moment(&report.started)) } } }
            div { dt { "Preset" } dd { (preset(report, review)) } }
            div { dt { "Version" } dd { "dupsift " (plain(&report.dupsift)) } }
            @if let Some(names) = shortened(report) { div { dt { "Shortened names" } dd { (names) } } }
            @if !command.is_empty() { div { dt { "Command" } dd { code { (command) } } } }
        }
    }
}

/// Returns the files whose names were too long for the file system, with their full names; `None` if there are none.
fn shortened(report: &RunReport) -> Option<Markup> {
    let folders = report.corpus.as_ref()?.folders.values();
    let files: Vec<(&String, &String)> = folders.flat_map(|folder| &folder.shortened).collect();
    let more = files.len().saturating_sub(NAMED);
    (!files.is_empty()).then(|| {
        html! {
            @for (path, written) in files.iter().take(NAMED) {
                div { code { (plain(written)) } " is " code { (plain(path)) } }
            }
            @if more > 0 { div { "and " (counted(more as u64, "more file")) ", see run.json" } }
        }
    })
}

fn corpus(report: &RunReport) -> String {
    let inputs = report.options.get("input").and_then(|inputs| inputs.as_array());
    let inputs: Vec<&str> = inputs.into_iter().flatten().filter_map(|input| input.as_str()).collect();
    let files = counted(report.inputs.len() as u64, "file");
    let named = inputs.iter().take(NAMED).map(|input| plain(input)).collect::<Vec<_>>().join(", ");
    match inputs.len().saturating_sub(NAMED) {
        _ if inputs.is_empty() => files,
        0 => format!("{named} ({files})"),
        more => format!("{named} and {} ({files})", counted(more as u64, "more input")),
    }
}

/// Formats `2026-11-23T14:21:25.115110Z` as `2026-11-23 14:21:25 UTC`. A string in any other form is returned unchanged.
fn moment(time: &str) -> String {
    let Some((date, rest)) = time.split_once('T') else { return plain(time).into_owned() };
    match rest.split_once('.') {
        Some((clock, end)) if end.ends_with('Z') => format!("{} {} UTC", plain(date), plain(clock)),
        _ => plain(time).into_owned(),
    }
}

fn preset(report: &RunReport, review: &Review) -> String {
    let labels = report.algorithms.iter().map(|one| plain(&one.label).into_owned()).collect::<Vec<_>>().join(", ");
    format!("{} ({labels})", review.preset.unwrap_or("none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_by_people() {
        assert_eq!(moment("2026-11-23T14:21:25.115110Z"), "2026-11-23 14:21:25 UTC");
        assert_eq!(["yesterday", "2026T1"].map(moment), ["yesterday", "2026T1"]);
    }
}

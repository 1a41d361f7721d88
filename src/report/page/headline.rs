//! Renders the top of the page: the result of the run, and important remarks.

use maud::{Markup, html};

use super::pair::quoted;
use super::text::{bytes, percent, plain, seconds};
use crate::report::summary::{by_reason, peak_memory, remarks};
use crate::report::{counted, rejections, thousands};
use dupsift_engine::job::{Guarded, PartsReport, RunReport};
use dupsift_engine::options::Spelling;
use dupsift_study::ComparisonReport;

/// If there are at most this many remarks, all of them are shown unfolded. If there are more, only warnings are shown
/// unfolded.
const AT_ONCE: usize = 8;

/// Returns the title of the page.
pub(crate) fn title(report: &RunReport, comparison: Option<&ComparisonReport>) -> String {
    let documents = counted(report.documents.used, "document");
    match &report.removal {
        Some(removal) => format!("{} of {documents} removed", thousands(removal.removed)),
        // Several presets may consist of exactly the algorithms that ran.
        None => {
            let algorithms = || counted(report.algorithms.len() as u64, "algorithm");
            format!("{documents}, {} compared", comparison.map_or_else(algorithms, ComparisonReport::settings))
        }
    }
}

/// Returns the rules that determined the removals.
pub(crate) fn subtitle(report: &RunReport) -> String {
    let Some(removal) = &report.removal else { return "A comparison removes nothing.".into() };
    let rule = if removal.remove_if.is_empty() { "pair" } else { &removal.remove_if };
    let none = if removal.keep == "none" { " With keep=none, the preferred document is removed, too." } else { "" };
    let per = match report.options.get("keep-per").and_then(|column| column.as_str()) {
        Some(column) => (
            format!(" The two documents must have the same value in the column {}.", plain(column)),
            format!("; keep-per={}", plain(column)),
        ),
        None => Default::default(),
    };
    format!(
        "{}{none}{} (keep={}{}; decide={}; remove-if={})",
        in_words(rule),
        per.0,
        plain(&removal.keep),
        per.1,
        plain(&removal.decide),
        plain(rule)
    )
}

/// Describes a removal rule, given as `contained:GRAMS:NUMBERS` or `pair`, in words.
fn in_words(rule: &str) -> String {
    let share = |text: &str| text.parse::<f64>().ok().map(|share| (1000.0 * share).round() / 10.0);
    let mut bounds = rule.strip_prefix("contained:").into_iter().flat_map(|bounds| bounds.split(':')).map(share);
    match (bounds.next().flatten(), bounds.next().flatten()) {
        (Some(grams), Some(numbers)) => format!(
            "A document is removed only if a kept document contains at least {grams}% of its 3-grams and {numbers}% of its numbers."
        ),
        (Some(grams), None) => {
            format!("A document is removed only if a kept document contains at least {grams}% of its 3-grams.")
        }
        _ => {
            "A document is removed if it forms a pair with a kept document, even if part of its text is unique.".into()
        }
    }
}

/// Returns the counts, removals first.
pub(crate) fn facts(report: &RunReport) -> Markup {
    let documents = &report.documents;
    let files = counted(report.inputs.len() as u64, "file");
    let others: u64 = report.other_inputs.iter().map(|other| other.rejections.rows).sum();
    let rejected = match (documents.rejections.rows, others) {
        (0, 0) => "invalid rows".to_string(),
        (0, _) => format!("and {} from other inputs; see rejected/", counted(others, "row")),
        (_, 0) => rejections(&documents.rejections),
        _ => format!("{}, and {} from other inputs", rejections(&documents.rejections), counted(others, "row")),
    };
    let cost = format!(
        "{:.1} MB/s, {} of CPU time{}",
        report.megabytes_per_second(),
        seconds(report.cpu_seconds),
        peak_memory(report.peak_memory_bytes)
    );
    let sample =
        documents.sampled_from.map_or(String::new(), |all| format!("a sample of {} ", counted(all, "document")));
    let mut facts = removal_facts(report);
    facts.extend([
        (
            "Documents",
            thousands(documents.used),
            format!("{sample}in {files}, {:.1} MB of text", documents.megabytes()),
        ),
        ("Exact copies", thousands(documents.extra_copies), "not counting the first copy of each text".to_string()),
        ("Rejected", thousands(documents.rejections.rows), rejected),
        ("Time", seconds(report.seconds), cost),
    ]);
    html! {
        dl.grid.facts {
            @for (name, value, remark) in &facts {
                div.card { dt { (name) } dd { (value) @if !remark.is_empty() { small { (remark) } } } }
            }
        }
    }
}

/// Returns the number of removed documents, characters and bytes, and the number of documents that are similar but kept.
fn removal_facts(report: &RunReport) -> Vec<(&'static str, String, String)> {
    let Some(removal) = &report.removal else { return Vec::new() };
    let used = report.documents.used;
    let why = format!("{}{}", percent(removal.removed, used), by_reason(&removal.reasons));
    let mut facts = vec![("Removed", thousands(removal.removed), why)];
    if let Some([all, gone]) = report.parts.as_ref().map(PartsReport::all) {
        facts.push(("Characters removed", thousands(gone.characters), percent(gone.characters, all.characters)));
        facts.push(("Bytes removed", bytes(gone.bytes), percent(gone.bytes, all.bytes)));
    }
    facts.push(("Kept", thousands(removal.kept), percent(removal.kept, used)));
    let stays = by_reason(&removal.stays).trim().to_owned();
    facts.push(("Similar but kept", thousands(removal.kept_similar()), stays));
    facts
}

/// Returns the remarks of the summary: guards, warnings, and everything that was skipped.
pub(crate) fn notes(report: &RunReport) -> Markup {
    let out = report.options.get("out").and_then(|out| out.as_str()).unwrap_or("OUT");
    let mut remarks: Vec<String> =
        remarks(report).iter().map(|remark| Spelling::Flags.of(remark).into_owned()).collect();
    let loud = |remark: &str| ["guard", "skipped:", "warning:"].iter().any(|word| remark.starts_with(word));
    remarks.sort_by_key(|remark| !loud(remark));
    let loud_ones = remarks.iter().filter(|remark| loud(remark)).count();
    let (first, rest) = remarks.split_at(if remarks.len() <= AT_ONCE { remarks.len() } else { loud_ones });
    html! {
        h2.verdict #notes {
            @match loud_ones {
                0 => "Nothing looks wrong",
                1 => "One thing to look at",
                many => { (many) " things to look at" }
            }
        }
        @if report.is_held() {
            p.line { "If the result is correct, publish it: " code { "dupsift accept " (quoted(&format!("{}.held", plain(out)))) } }
        }
        @if remarks.is_empty() {
            p.muted { "Nothing was skipped, and no guard fired." }
        }
        @if !first.is_empty() {
            ul.notes { @for remark in first { li.warn[loud(remark)] { (plain(remark)) } } }
        }
        @if !rest.is_empty() {
            details {
                summary { (counted(rest.len() as u64, "further remark")) }
                ul.notes { @for remark in rest { li { (plain(remark)) } } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn the_rule_of_removal_is_reported_in_words() {
        let told = ["contained:0.8:0.9", "contained:0.995", "contained:0.7:0", "pair"].map(in_words);
        assert!(told[0].ends_with("at least 80% of its 3-grams and 90% of its numbers."), "{}", told[0]);
        assert!(told[1].ends_with("at least 99.5% of its 3-grams."), "{}", told[1]);
        assert!(told[2].ends_with("70% of its 3-grams and 0% of its numbers."), "{}", told[2]);
        assert!(told[3].contains("a pair with a kept document"), "{}", told[3]);
    }
}

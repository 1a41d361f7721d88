//! Formats the summary at the end of `contaminated`.

use std::path::Path;

use bytesize::ByteSize;

use super::summary::peak_memory;
use super::{counted, guarded, other_inputs, rejections_of, skipped, table_of_numbers, thousands};
use dupsift_commands::contaminated::ContaminationReport;
use dupsift_engine::job::stands_in;

/// The maximum number of suites in the summary; `suites/` contains all of them.
const SUITES: usize = 20;

/// Returns the summary of a search whose output is in `out`. The text ends with a line break.
pub fn contamination(report: &ContaminationReport, out: &Path) -> String {
    let mut text = format!(
        "{} of {} contaminated (threshold {}); {}\n",
        thousands(report.contaminated),
        counted(report.documents, "document"),
        report.threshold,
        rejections_of(&report.rejections, report)
    );
    if let Some(corpus) = &report.corpus {
        let cut = if report.cut_spans { ", without the spans" } else { "" };
        for (folder, written) in &corpus.folders {
            let cut = if folder == "clean" { cut } else { "" };
            text += &format!("{folder}/: {}{cut}\n", counted(written.rows, "document"));
        }
    }
    if report.kept_variants > 0 {
        text += &format!("{} kept with variants of items (other numbers)\n", counted(report.kept_variants, "document"));
    }
    text += &suites(report);
    text += &format!(
        "{:.1} s, {:.1} CPU seconds, {item_memory} for {items}{peak}\n",
        report.seconds,
        report.cpu_seconds,
        item_memory = ByteSize(report.item_bytes).display().iec(),
        items = counted(report.items, "item"),
        peak = peak_memory(report.peak_memory_bytes)
    );
    skipped(&report.bad_inputs, usize::MAX).iter().for_each(|line| text += &format!("{line}\n"));
    other_inputs(report).iter().for_each(|line| text += &format!("{line}\n"));
    report.warnings.iter().for_each(|warning| text += &format!("note: {warning}\n"));
    text += &guarded(report, out);
    text + &format!("\noutput: {}\n", stands_in(report, out).display())
}

/// Returns a table with one row per suite.
fn suites(report: &ContaminationReport) -> String {
    let header = ["suite", "items", "at 0.8", "at 0.5", "docs at 0.8", "docs at 0.5", "public", "short"];
    let row = |suite: &dupsift_commands::contaminated::SuiteReport| {
        let [items, too_short, public, found_80, found_50, documents_80, documents_50, _] =
            suite.numbers().map(thousands);
        [suite.suite.clone(), items, found_80, found_50, documents_80, documents_50, public, too_short]
    };
    let mut text = table_of_numbers(header, report.suites.iter().take(SUITES).map(row));
    if report.suites.len() > SUITES {
        text += &format!("{} in suites/\n", counted((report.suites.len() - SUITES) as u64, "more suite"));
    }
    text
}

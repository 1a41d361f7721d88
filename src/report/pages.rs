//! Formats the summary at the end of `purify`: the kinds of pages, their charsets, what was truncated, and how to continue.

use std::path::Path;

use super::losses::rejected;
use super::purified::{by_name, purified};
use super::summary::peak_memory;
use super::{counted, guarded, once_accepted, other_inputs, rejections, skipped};
use dupsift_commands::purify::{PagesReport, TrainingReport};
use dupsift_core::number::counted_as;
use dupsift_engine::job::stands_in;

/// Returns the summary of a `purify` run whose output is in `out`. The text ends with a line break.
pub fn pages(report: &PagesReport, out: &Path) -> String {
    let rejected = rejections(&report.rejections);
    let mut text =
        format!("{} in {}; {rejected}\n", counted(report.written, "page"), counted(report.inputs.len() as u64, "file"));
    purified(&report.purified).iter().for_each(|line| text += &format!("{line}\n"));
    text += &format!(
        "{:.1} s, {:.1} CPU seconds{}\n",
        report.seconds,
        report.cpu_seconds,
        peak_memory(report.peak_memory_bytes)
    );
    skipped(&report.bad_inputs, usize::MAX).iter().for_each(|line| text += &format!("{line}\n"));
    other_inputs(report).iter().for_each(|line| text += &format!("{line}\n"));
    report.warnings.iter().for_each(|warning| text += &format!("note: {warning}\n"));
    text += &guarded(report, out);
    text += &format!("\noutput: {}\n", stands_in(report, out).display());
    text + &format!(
        "next{}: dupsift run {pages} --text-column {prefix}body --title-column {prefix}title --id-column {prefix}id --out DIR\n",
        once_accepted(report),
        pages = out.join("pages").display(),
        prefix = report.prefix
    )
}

/// Returns the summary of a training run whose output is in `out`. The text ends with a line break.
pub fn training(report: &TrainingReport, out: &Path) -> String {
    let mut text = format!(
        "{} with {}: {}\n",
        counted(report.pages, "page"),
        counted(report.classes.len() as u64, "label"),
        by_name(&report.classes)
    );
    text += &format!("{} without a label; {}\n", counted(report.unlabelled, "row"), rejected(&report.rejections));
    text += &format!(
        "the model contains {}, covering {:.1}% of all word occurrences (left out: {} found on only one page{})\n",
        counted(report.words, "word"),
        100.0 * report.known_share,
        counted(report.rare_words, "word"),
        if report.words_beyond > 0 || report.halvings > 0 {
            format!(
                "; to save space, {} left out, and the vocabulary was halved {}",
                counted_as(report.words_beyond, "more word was|more words were"),
                counted(report.halvings.into(), "time")
            )
        } else {
            String::new()
        }
    );
    skipped(&report.bad_inputs, usize::MAX).iter().for_each(|line| text += &format!("{line}\n"));
    other_inputs(report).iter().for_each(|line| text += &format!("{line}\n"));
    report.warnings.iter().for_each(|warning| text += &format!("note: {warning}\n"));
    text += &guarded(report, out);
    text += &format!("\noutput: {}\n", stands_in(report, out).display());
    text + &format!("next{}: dupsift purify INPUT --model {} --out DIR\n", once_accepted(report), out.display())
}

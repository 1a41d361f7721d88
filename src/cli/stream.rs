//! Implements `dupsift stream`, which reads documents in order and flags each document that is similar to an earlier document, from this
//! run or a previous run.

use std::path::Path;

use anyhow::{Context, Result};
use bytesize::ByteSize;

use super::args::StreamArguments;
use super::signals::{cancel_on_signal, ignore_file_size_signal};
use super::{Exit, log, print_result, say};
use crate::report::{counted, guarded, once_accepted, other_inputs, rejections_of, skipped, thousands};
use dupsift_engine::engine::Progress;
use dupsift_engine::job;
use dupsift_engine::options::resolve;
use dupsift_engine::reading::{self, Writes};
use dupsift_engine::stream::{self, StreamOptions, StreamReport};

/// Runs the command.
///
/// # Errors
/// Returns an error if the run cannot finish.
pub fn stream(arguments: StreamArguments) -> Result<Exit> {
    let (inputs, settings) = arguments.asked()?;
    let options = StreamOptions {
        run: resolve(inputs, &settings)?,
        filter: settings.path("filter").map(Path::to_path_buf),
        keys: settings.number("keys"),
        rate: settings.real("rate").unwrap_or_default(),
    };
    let (_, progress) = log::start(&settings);
    work(&options, settings.texts("forget").to_vec(), &progress, settings.switch("dry-run"))
}

fn work(options: &StreamOptions, forget: Vec<String>, progress: &Progress, dry_run: bool) -> Result<Exit> {
    ignore_file_size_signal();
    let cancel = cancel_on_signal()?;
    stream::check(options, &forget, &cancel)?;
    if dry_run { job::check_dry(&options.run) } else { job::check(&options.run) }?;
    let inputs = reading::take_in(&options.run, &cancel, if dry_run { Writes::Nothing } else { Writes::Input })?;
    let mut old = options.run.clone();
    old.input.paths = forget;
    let old = if old.input.paths.is_empty() { None } else { Some(reading::look(&old, &cancel)?) };
    if dry_run {
        stream::check_filter(options, &inputs)?;
        say("no problems found; --dry-run reads no documents\n").context("cannot print")?;
        return Ok(Exit::Done);
    }
    let report = stream::stream(options, inputs, old.as_ref(), progress, &cancel)?;
    let exit = Exit::of(&report, report.rejections.rows, report.bad_inputs.len());
    Ok(print_result(&summary(&report, options), exit))
}

fn summary(report: &StreamReport, options: &StreamOptions) -> String {
    let mut text = format!(
        "{}: {} flagged as duplicates, {} new, {} without a key; {}\n",
        counted(report.rows - report.rejections.rows, "document"),
        thousands(report.duplicates),
        thousands(report.signed - report.duplicates),
        thousands(report.unsigned.values().sum()),
        rejections_of(&report.rejections, report)
    );
    if report.forgotten + report.unknown > 0 {
        text += &format!(
            "removed from the filter first: {} ({} not found)\n",
            thousands(report.forgotten),
            thousands(report.unknown)
        );
    }
    text += &format!(
        "the filter contains {} in {}; false-positive rate {:.1e}\n",
        counted(report.keys, "key"),
        ByteSize(report.filter_bytes).display().iec(),
        report.false_positives
    );
    skipped(&report.bad_inputs, usize::MAX).iter().for_each(|line| text += &format!("{line}\n"));
    other_inputs(report).iter().for_each(|line| text += &format!("{line}\n"));
    report.warnings.iter().for_each(|warning| text += &format!("note: {warning}\n"));
    text += &guarded(report, &options.run.output.folder);
    let filter = options.run.output.folder.join("filter.bloom");
    text += &format!("\noutput: {}\n", job::stands_in(report, &options.run.output.folder).display());
    text + &format!("next time{}: --filter {}\n", once_accepted(report), filter.display())
}

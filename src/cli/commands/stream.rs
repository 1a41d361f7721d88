//! Implements `dupsift stream`, which reads documents in order and flags each document that is similar to an earlier document, from this
//! run or a previous run.

use anyhow::{Context, Result};
use bytesize::ByteSize;

use crate::cli::signals::{cancel_on_signal, ignore_file_size_signal};
use crate::cli::terminal::log;
use crate::cli::typed::args::StreamArguments;
use crate::cli::{Exit, print_result, say};
use crate::report::{counted, guarded, once_accepted, other_inputs, rejections_of, skipped, thousands};
use dupsift_commands::stream::{Stream, StreamReport};
use dupsift_engine::job;

/// Runs the command.
///
/// # Errors
/// Returns an error if the run cannot finish.
pub fn stream(arguments: StreamArguments) -> Result<Exit> {
    let (inputs, settings) = arguments.asked()?;
    let command = Stream::resolve(inputs, &settings)?;
    let (_, progress) = log::start(&settings);
    ignore_file_size_signal();
    let cancel = cancel_on_signal()?;
    if settings.switch("dry-run") {
        command.dry_run(&cancel)?;
        say("no problems found; --dry-run reads no documents\n").context("cannot print")?;
        return Ok(Exit::Done);
    }
    let report = command.run(&progress, &cancel)?;
    let exit = Exit::of(&report, report.rejections.rows, report.bad_inputs.len());
    Ok(print_result(&summary(&report, &command), exit))
}

fn summary(report: &StreamReport, options: &Stream) -> String {
    let mut text = format!(
        "{}: {} flagged as duplicates, {} new, {} without a key; {}\n",
        counted(report.rows - report.rejections.rows, "document"),
        thousands(report.duplicates),
        thousands(report.signed - report.duplicates),
        thousands(report.without_key()),
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

//! Implements `dupsift purify`, which reads web pages and writes the elements of each page.

use anyhow::Result;

use crate::cli::signals::{cancel_on_signal, ignore_file_size_signal};
use crate::cli::terminal::log;
use crate::cli::typed::args::PurifyArguments;
use crate::cli::{Exit, print_result};
use crate::report::{pages, training};
use dupsift_commands::purify::{Purified, Purify};

/// Runs the command.
///
/// # Errors
/// Returns an error if the command cannot finish.
pub fn purify(arguments: PurifyArguments) -> Result<Exit> {
    let (inputs, settings) = arguments.asked()?;
    let command = Purify::resolve(inputs, &settings)?;
    let (_, progress) = log::start(&settings);
    ignore_file_size_signal();
    let cancel = cancel_on_signal()?;
    let out = command.run.output.folder.clone();
    let report = command.run(&progress, &cancel)?;
    let (summary, rejections, bad_inputs) = match &report {
        Purified::Pages(report) => (pages(report, &out), &report.rejections, report.bad_inputs.len()),
        Purified::Training(report) => (training(report, &out), &report.rejections, report.bad_inputs.len()),
    };
    Ok(print_result(&summary, Exit::of(&report, rejections.rows, bad_inputs)))
}

//! Implements `dupsift contaminated`, which finds the documents in a corpus that contain items of an evaluation set.

use anyhow::{Context, Result};

use crate::cli::signals::{cancel_on_signal, ignore_file_size_signal};
use crate::cli::terminal::log;
use crate::cli::typed::args::ContaminatedArguments;
use crate::cli::{Exit, print_result, say};
use crate::report::{contamination, contamination_page, counted};
use dupsift_commands::contaminated::{Contaminated, DryRun};

/// Runs the command.
///
/// # Errors
/// Returns an error if the search cannot finish.
pub fn contaminated(arguments: ContaminatedArguments) -> Result<Exit> {
    let (inputs, settings) = arguments.asked()?;
    let command = Contaminated::resolve(inputs, &settings)?;
    let (_, progress) = log::start(&settings);
    ignore_file_size_signal();
    let cancel = cancel_on_signal()?;
    if settings.switch("dry-run") {
        let DryRun { items, documents } = command.dry_run(&cancel)?;
        let (items, documents) = (counted(items, "item"), counted(documents, "document"));
        say(&format!("the search for {items} would read {documents} in one pass\n")).context("cannot print")?;
        return Ok(Exit::Done);
    }
    let report = command.run(Some(&contamination_page), &progress, &cancel)?;
    let exit = Exit::of(&report, report.rejections.rows, report.bad_inputs.len());
    Ok(print_result(&contamination(&report, &command.run.output.folder), exit))
}

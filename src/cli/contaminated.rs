//! Implements `dupsift contaminated`, which finds the documents in a corpus that contain items of an evaluation set.

use anyhow::{Context, Result};

use super::args::ContaminatedArguments;
use super::signals::{cancel_on_signal, ignore_file_size_signal};
use super::{Exit, log, print_result, say};
use crate::report::{contamination, contamination_page, counted};
use dupsift_engine::contaminated::{self, ContaminatedOptions};
use dupsift_engine::engine::Progress;
use dupsift_engine::reading::{self, Writes};

/// Runs the command.
///
/// # Errors
/// Returns an error if the search cannot finish.
pub fn contaminated(arguments: ContaminatedArguments) -> Result<Exit> {
    let (inputs, settings) = arguments.asked()?;
    let options = ContaminatedOptions::resolve(inputs, &settings)?;
    let (_, progress) = log::start(&settings);
    work(&options, &progress, settings.switch("dry-run"))
}

fn work(options: &ContaminatedOptions, progress: &Progress, dry_run: bool) -> Result<Exit> {
    ignore_file_size_signal();
    let cancel = cancel_on_signal()?;
    contaminated::check(options, dry_run)?;
    let against = contaminated::look(options, &cancel)?;
    let inputs = reading::take_in(&options.run, &cancel, if dry_run { Writes::Nothing } else { Writes::Input })?;
    if dry_run {
        let said = format!(
            "the search for {} would read {} in one pass\n",
            counted(against.rows(), "item"),
            counted(inputs.source.documents(), "document")
        );
        say(&said).context("cannot print")?;
        return Ok(Exit::Done);
    }
    let report = contaminated::contaminated(options, inputs, &against, progress, &cancel, Some(&contamination_page))?;
    let exit = Exit::of(&report, report.rejections.rows, report.bad_inputs.len());
    Ok(print_result(&contamination(&report, &options.run.output.folder), exit))
}

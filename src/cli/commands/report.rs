//! Implements `dupsift report`, which rewrites the report page of a finished run.

use anyhow::Result;

use crate::cli::signals::cancel_on_signal;
use crate::cli::terminal::log;
use crate::cli::typed::args::ReportArguments;
use crate::cli::{Exit, print_result};
use crate::report::page;
use dupsift_study::{self as study, Finished, PAGE};

/// Runs the command.
///
/// # Errors
/// Returns an error if the folder is not the output of a finished run, or if tables cannot be read.
pub fn report(arguments: ReportArguments) -> Result<Exit> {
    let settings = arguments.options.settings()?;
    let finished = Finished::open(&arguments.dir)?.with_corpus(arguments.input.as_deref());
    // The options on the command line have already been checked. If options are missing from the record, the page merely shows less.
    let options = finished.options(&settings).map(|run| {
        let mut run = run;
        run.output.report = true;
        run
    });
    let (_, progress) = log::start(&settings);
    let cancel = cancel_on_signal()?;
    let no_texts = study::write_again(&finished, options, &progress, &cancel, &page)?;
    if let Some(why) = no_texts {
        tracing::warn!("the page shows no document text: {why}");
    }
    Ok(print_result(&format!("{}\n", arguments.dir.join(PAGE).display()), Exit::Done))
}

//! Implements `dupsift evaluate`, which compares a finished run with labeled pairs or clusters.

use anyhow::{Context, Result};

use crate::cli::signals::{cancel_on_signal, ignore_file_size_signal};
use crate::cli::terminal::log;
use crate::cli::typed::args::EvaluateArguments;
use crate::cli::{Exit, print_result};
use crate::report::evaluation;
use dupsift_study::{self as study, Finished, truth_quotes};

/// Runs the command.
///
/// # Errors
/// Returns an error if the folder is not a finished run, if the labels cannot be interpreted, or if the corpus is missing.
pub fn evaluate(arguments: &EvaluateArguments) -> Result<Exit> {
    let finished = Finished::open(&arguments.dir)?.with_corpus(arguments.input.as_deref());
    let settings = arguments.options.settings()?;
    let options = finished.options(&settings)?;
    let (_, progress) = log::start(&settings);
    ignore_file_size_signal();
    let cancel = cancel_on_signal()?;
    let report = study::evaluate(&finished, &options, &arguments.truth, truth_quotes(&settings), &progress, &cancel)
        .with_context(|| format!("cannot evaluate {}", arguments.dir.display()))?;
    let text = if arguments.json {
        serde_json::to_string_pretty(&report).context("cannot write JSON")? + "\n"
    } else {
        evaluation(&report, &arguments.dir, arguments.full)
    };
    Ok(print_result(&text, if report.truth.is_lossy() { Exit::DoneWithLosses } else { Exit::Done }))
}

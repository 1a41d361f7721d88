//! `dupsift run`: settings become options, the estimate is told, the driver works, the summary is printed.

use anyhow::{Context, Result};

use super::args::RunArguments;
use super::exit::ends_with;
use super::log::LogFormat;
use super::signals::{cancel_on_signal, ignore_file_size_signal};
use super::{Exit, log, say, tell};
use crate::engine::Progress;
use crate::job::{self, Estimate, Guarded, Pass, RunReport};
use crate::nights;
use crate::options::{RunOptions, resolve};
use crate::reading::{self, Inputs};
use crate::report::{page, plan, summary};
use crate::study::with_page;

/// Runs the verb.
///
/// # Errors
/// What kept the run from being finished.
pub fn run(arguments: RunArguments) -> Result<Exit> {
    let settings = arguments.options.settings()?;
    let options = resolve(arguments.inputs, &settings)?;
    let (format, progress) = log::start_long(&settings);
    work(&options, &progress, format, settings.switch("dry-run"))
}

fn work(options: &RunOptions, progress: &Progress, format: LogFormat, dry_run: bool) -> Result<Exit> {
    ignore_file_size_signal();
    let cancel = cancel_on_signal()?;
    job::check(options)?;
    let inputs = reading::look(options, &cancel)?;
    let passes = tell_plan(options, &inputs, format)?;
    if dry_run {
        say(&plan(&passes)).context("cannot print")?;
        return Ok(Exit::Done);
    }
    let report = nights::run(options, inputs, progress, &cancel, &with_page(&page))?;
    let exit = Exit::of_report(&report);
    ends_with(exit);
    if format == LogFormat::Json {
        tell_end(&report, exit);
    }
    Ok(tell(&summary(&report, &options.out), exit))
}

/// Tells which algorithms there are, as they could be typed, and what the run will take. Returns its passes.
pub(super) fn tell_plan(options: &RunOptions, inputs: &Inputs, format: LogFormat) -> Result<Vec<Pass>> {
    let algorithms: Vec<String> = options.recipe.algorithms.iter().map(ToString::to_string).collect();
    tracing::info!("--algorithms {}", algorithms.join(","));
    let Estimate { documents, input_bytes, disk_bytes, memory_bytes, lines, passes } = job::estimate(options, inputs)?;
    for line in &lines {
        tracing::info!("{line}");
    }
    if format == LogFormat::Json {
        tracing::info!(documents, input_bytes, disk_bytes, memory_bytes, "estimate");
    }
    Ok(passes)
}

pub(super) fn tell_end(report: &RunReport, exit: Exit) {
    tracing::info!(
        exit_code = exit.code(),
        documents = report.documents.used,
        rejected = report.documents.rejections.rows,
        removed = report.removal.as_ref().map(|removal| removal.removed),
        kept = report.removal.as_ref().map(|removal| removal.kept),
        guards = report.guards.len(),
        held = report.is_held(),
        seconds = report.seconds,
        "done"
    );
}

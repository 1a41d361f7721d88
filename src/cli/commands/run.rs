//! Implements `dupsift run`: resolves the options, logs the estimate, runs the engine, and prints the summary.

use anyhow::{Context, Result};

use crate::cli::exit::ends_with;
use crate::cli::signals::{cancel_on_signal, ignore_file_size_signal};
use crate::cli::terminal::log;
use crate::cli::terminal::log::LogFormat;
use crate::cli::typed::args::RunArguments;
use crate::cli::{Exit, print_result, say};
use crate::report::{Detail, estimated, plan, summary};
use crate::{estimate, start_sample, start_with};
use dupsift_algorithms::recipe::DEFAULT_PRESET;
use dupsift_core::number::counted;
use dupsift_engine::engine::Leg;
use dupsift_engine::job::{self, Estimate, Guarded, Pass, RunReport};
use dupsift_engine::options::{RunOptions, Settings, Spelling, resolve};
use dupsift_engine::reading::{self, Inputs, Writes};

/// The maximum number of algorithms that the first log line lists. If there are more, the line shows only their number.
pub(crate) const MOST_NAMED: usize = 8;

/// Runs the command.
///
/// # Errors
/// Returns an error if the run cannot finish.
pub fn run(arguments: RunArguments) -> Result<Exit> {
    let (inputs, settings) = arguments.asked()?;
    let options = resolve(inputs, &settings)?;
    let (format, progress) = log::start_long(&settings);
    let called = called(&settings, &options);
    ignore_file_size_signal();
    let cancel = cancel_on_signal()?;
    let dry_run = settings.switch("dry-run");
    let options = &options;
    if dry_run { job::check_dry(options) } else { job::check(options) }?;
    let inputs = reading::take_in(options, &progress, &cancel, if dry_run { Writes::Nothing } else { Writes::Texts })?;
    let (passes, legs) = log_plan(&called, options, &inputs, format)?;
    if dry_run {
        say(&plan(&passes, options.sampling.size.is_some())).context("cannot print")?;
        if options.sampling.size.is_some() {
            say(&Spelling::Flags.of(&estimated(&start_sample(options, &progress, &cancel)?)))
                .context("cannot print")?;
        }
        return Ok(Exit::Done);
    }
    progress.follow(legs);
    let report = start_with(options, inputs, None, &progress, &cancel)?;
    let exit = Exit::of_report(&report);
    ends_with(exit);
    if format == LogFormat::Json {
        log_end(&report, exit);
    }
    let detail = Detail::verbose(settings.switch("verbose"));
    Ok(print_result(&summary(&report, &options.output.folder, detail), exit))
}

/// Returns a description of the recipe: a preset or a list of algorithms.
pub fn called(settings: &Settings, options: &RunOptions) -> String {
    let labels: Vec<&str> = options.recipe.algorithms.iter().map(|chosen| chosen.label.as_str()).collect();
    let by_default = (!settings.is_typed("algorithms")).then_some(DEFAULT_PRESET.name);
    let number = counted(labels.len() as u64, "algorithm");
    match (settings.text("preset").or(by_default), &labels[..]) {
        (Some(preset), labels) => format!("preset {preset} ({})", labels.join(", ")),
        (None, [one]) => format!("algorithm {one}"),
        (None, [_, ..]) if labels.len() > MOST_NAMED => number,
        (None, labels) => format!("algorithms {}", labels.join(", ")),
    }
}

/// Logs the task, the number of documents and the required resources. With `-v`, also logs the algorithms with all their parameters, as a
/// value of `--algorithms`. Returns the passes and the legs (consecutive parts) of the job.
pub(crate) fn log_plan(
    called: &str,
    options: &RunOptions,
    inputs: &Inputs,
    format: LogFormat,
) -> Result<(Vec<Pass>, Vec<Leg>)> {
    let algorithms: Vec<String> = options.recipe.algorithms.iter().map(ToString::to_string).collect();
    tracing::debug!("--algorithms {}", algorithms.join(","));
    let Estimate { documents, input_bytes, disk_bytes, memory_bytes, lines, passes, legs } = estimate(options, inputs)?;
    for (at, line) in lines.iter().enumerate() {
        let before = if at == 0 { format!("{called}: ") } else { String::new() };
        tracing::info!("{before}{line}");
    }
    if format == LogFormat::Json {
        tracing::info!(documents, input_bytes, disk_bytes, memory_bytes, "estimate");
    }
    Ok((passes, legs))
}

pub(crate) fn log_end(report: &RunReport, exit: Exit) {
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

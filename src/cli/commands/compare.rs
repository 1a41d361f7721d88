//! Implements `dupsift compare`, which runs several algorithms and prints a table of their quality.

use anyhow::{Context, Result};

use super::run::{MOST_NAMED, log_end, log_plan};
use crate::cli::exit::ends_with;
use crate::cli::signals::{cancel_on_signal, ignore_file_size_signal};
use crate::cli::terminal::log;
use crate::cli::terminal::log::LogFormat;
use crate::cli::typed::args::CompareArguments;
use crate::cli::{Exit, print_result, say};
use crate::report::{comparison, page, plan};
use dupsift_core::number::counted;
use dupsift_engine::engine::{Leg, Progress};
use dupsift_engine::job;
use dupsift_engine::reading::{self, Writes};
use dupsift_study::{self as study, CompareOptions};

/// Runs the command.
///
/// # Errors
/// Returns an error if the run cannot finish.
pub fn compare(arguments: CompareArguments) -> Result<Exit> {
    let (inputs, settings) = arguments.asked()?;
    let options = CompareOptions::resolve(inputs, &settings)?;
    let (format, progress) = log::start_long(&settings);
    work(&options, &progress, format, settings.switch("dry-run"))
}

fn work(options: &CompareOptions, progress: &Progress, format: LogFormat, dry_run: bool) -> Result<Exit> {
    ignore_file_size_signal();
    let cancel = cancel_on_signal()?;
    study::check_compare(options)?;
    if dry_run { job::check_dry(&options.run) } else { job::check(&options.run) }?;
    let inputs =
        reading::take_in(&options.run, progress, &cancel, if dry_run { Writes::Nothing } else { Writes::Texts })?;
    let (passes, mut legs) = log_plan(&called(options), &options.run, &inputs, format)?;
    if dry_run {
        say(&plan(&passes, options.run.sampling.size.is_some())).context("cannot print")?;
        return Ok(Exit::Done);
    }
    // Pairs are judged after the tables are written.
    legs.push(Leg {
        stages: vec!["collect pairs", "read sampled documents", "judge", "compare all pairs"],
        count: 4,
        work: 0.5,
    });
    progress.follow(legs);
    let compared = study::compare(options, inputs, progress, &cancel, &page)?;
    let exit = Exit::of_report(&compared.run);
    ends_with(exit);
    if format == LogFormat::Json {
        log_end(&compared.run, exit);
    }
    Ok(print_result(&comparison(&compared.comparison, &compared.run, &options.run.output.folder), exit))
}

/// Returns a description of the algorithms and presets that are compared.
fn called(options: &CompareOptions) -> String {
    let labels: Vec<&str> = options.entries.iter().map(|one| one.name.as_str()).collect();
    if labels.len() > MOST_NAMED {
        format!("comparing {}", counted(labels.len() as u64, "setting"))
    } else {
        format!("comparing {}", labels.join(", "))
    }
}

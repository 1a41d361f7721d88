//! `dupsift compare`: a run of many algorithms, and the table of how good each of them is.

use anyhow::{Context, Result};

use super::args::{CompareArguments, LogFormat};
use super::resolve::{resolve, whole_number};
use super::run::{cancel_on_signal, ignore_file_size_signal, tell_end, tell_plan};
use super::{Exit, config, log, say, whole_story};
use crate::job::{self, CompareOptions, Judge, Progress};
use crate::report::{comparison, page};

/// The `--judge` of a comparison that names none: that of the study of 2007.
const DEFAULT_JUDGE: &str = "lcs:0.85";
/// The `--judge-sample` of a comparison that names none: judging costs about as much as the run then, or less, and a share of
/// the pairs of such an algorithm is known to a third of a percent.
const DEFAULT_JUDGE_SAMPLE: u64 = 100_000;
/// The most documents of `--oracle-sample`: half a trillion pairs.
const MOST_ORACLE: u64 = 1_000_000;

/// Runs the verb.
///
/// # Errors
/// Whatever kept the run from being finished, unless it has been told as a JSON log line already.
pub fn compare(arguments: CompareArguments) -> Result<Exit> {
    let mut settings = match &arguments.config {
        Some(path) => arguments.settings.or(config::read(path)?),
        None => arguments.settings,
    };
    if settings.preset.is_none() {
        settings.algorithms.get_or_insert_with(|| "all".into());
    }
    let judge = Judge::parse(arguments.judge.as_deref().unwrap_or(DEFAULT_JUDGE))?;
    let number = |flag: &str, typed: &Option<super::args::Typed>, low: u64, high: u64, default: u64| {
        typed.as_ref().map_or(Ok(default), |typed| whole_number(flag, &typed.0, low, high))
    };
    let judge_sample = number("judge-sample", &arguments.judge_sample, 1, u64::MAX, DEFAULT_JUDGE_SAMPLE)?;
    let oracle_sample = number("oracle-sample", &arguments.oracle_sample, 0, MOST_ORACLE, 0)?;
    let seed = number("seed", &arguments.seed, 0, u64::MAX, 0)?;
    let resolved = resolve(arguments.inputs, settings)?;
    let format = resolved.log_format;
    let progress = log::progress(resolved.progress, format);
    log::start(format, &progress);
    let options = CompareOptions { run: resolved.options, judge, judge_sample, oracle_sample, seed };
    match work(&options, &progress, format, resolved.dry_run) {
        Err(error) if format == LogFormat::Json => {
            let exit = Exit::of_error(&error);
            tracing::error!(exit_code = exit.code(), "{}", whole_story(&error));
            Ok(exit)
        }
        other => other,
    }
}

fn work(options: &CompareOptions, progress: &Progress, format: LogFormat, dry_run: bool) -> Result<Exit> {
    ignore_file_size_signal();
    let cancel = cancel_on_signal()?;
    let inputs = job::look(&options.run)?;
    tell_plan(&options.run, &inputs, format)?;
    if dry_run {
        return Ok(Exit::Done);
    }
    let compared = job::compare(options, inputs, progress, &cancel, &page)?;
    let exit = Exit::of_report(&compared.run);
    if format == LogFormat::Json {
        tell_end(&compared.run, exit);
    }
    say(&comparison(&compared.comparison, &compared.run, &options.run.out)).context("cannot print the comparison")?;
    Ok(exit)
}

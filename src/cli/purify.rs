//! `dupsift purify`: pages in, the elements of each page out.

use std::path::Path;

use anyhow::{Context, Result};

use super::args::PurifyArguments;
use super::log::LogFormat;
use super::run::{cancel_on_signal, ignore_file_size_signal};
use super::{Exit, log, say, whole_story};
use crate::job::options::resolve;
use crate::job::{self, PagesOptions, Progress};
use crate::report::{pages, training};

/// Runs the verb.
///
/// # Errors
/// Whatever kept the work from being finished, unless it has been told as a JSON log line already.
pub fn purify(arguments: PurifyArguments) -> Result<Exit> {
    let settings = arguments.options.settings()?;
    let columns = match settings.text("columns") {
        None | Some("all") => None,
        Some("none") => Some(Vec::new()),
        Some(names) => Some(names.split(',').map(|name| name.trim().to_owned()).collect()),
    };
    let options = PagesOptions {
        run: resolve(arguments.inputs, &settings)?,
        columns,
        keep_html: settings.switch("keep-html"),
        prefix: settings.text("prefix").unwrap_or_default().into(),
        stats: settings.path("stats").map(Path::to_path_buf),
        model: settings.path("model").map(Path::to_path_buf),
    };
    let (format, progress) = log::start(&settings);
    match work(options, settings.text("train"), &progress) {
        Err(error) if format == LogFormat::Json => {
            let exit = Exit::of_error(&error);
            tracing::error!(exit_code = exit.code(), "{}", whole_story(&error));
            Ok(exit)
        }
        other => other,
    }
}

fn work(options: PagesOptions, train: Option<&str>, progress: &Progress) -> Result<Exit> {
    ignore_file_size_signal();
    let cancel = cancel_on_signal()?;
    let out = options.run.out.clone();
    if let Some(column) = train {
        let report = job::train(options.run, column, progress, &cancel)?;
        say(&training(&report, &out)).context("cannot print the summary")?;
        return Ok(Exit::of(&report, report.rejections.rows, report.bad_inputs.len()));
    }
    let report = job::purify(options, progress, &cancel)?;
    say(&pages(&report, &out)).context("cannot print the summary")?;
    Ok(Exit::of(&report, report.rejections.rows, report.bad_inputs.len()))
}

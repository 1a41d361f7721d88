//! `dupsift purify`: pages in, the elements of each page out.

use anyhow::{Context, Result};

use super::args::{LogFormat, PurifyArguments};
use super::resolve::resolve;
use super::run::{cancel_on_signal, ignore_file_size_signal};
use super::{Exit, log, say, whole_story};
use crate::error::Error;
use crate::job::{self, PagesOptions, Progress};
use crate::report::{pages, training};

/// Runs the verb.
///
/// # Errors
/// Whatever kept the work from being finished, unless it has been told as a JSON log line already.
pub fn purify(arguments: PurifyArguments) -> Result<Exit> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if !arguments.prefix.bytes().all(plain) {
        let prefix = &arguments.prefix;
        return Err(Error::Usage(format!(
            "--prefix {prefix:?} stands before the names of columns; expected letters, digits and _ only"
        ))
        .into());
    }
    let columns = match arguments.columns.as_deref() {
        None | Some("all") => None,
        Some("none") => Some(Vec::new()),
        Some(names) => Some(names.split(',').map(|name| name.trim().to_owned()).collect()),
    };
    let settings = arguments.settings();
    let resolved = resolve(arguments.inputs, settings)?;
    let (format, wanted) = (resolved.log_format, resolved.progress);
    let train = arguments.train;
    let options = PagesOptions {
        run: resolved.options,
        columns,
        keep_html: arguments.keep_html,
        prefix: arguments.prefix,
        stats: arguments.stats,
        model: arguments.model,
    };
    let progress = log::progress(wanted, format);
    log::start(format, &progress);
    match work(options, train.as_deref(), &progress) {
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
        return Ok(ended(report.rejected, report.bad_inputs.len()));
    }
    let report = job::purify(options, progress, &cancel)?;
    say(&pages(&report, &out)).context("cannot print the summary")?;
    Ok(ended(report.rejected, report.bad_inputs.len()))
}

fn ended(rejected: u64, bad_inputs: usize) -> Exit {
    if rejected > 0 || bad_inputs > 0 { Exit::DoneWithLosses } else { Exit::Done }
}

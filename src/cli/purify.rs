//! Implements `dupsift purify`, which reads web pages and writes the elements of each page.

use std::path::Path;

use anyhow::Result;

use super::args::PurifyArguments;
use super::signals::{cancel_on_signal, ignore_file_size_signal};
use super::{Exit, log, print_result};
use crate::report::{pages, training};
use dupsift_engine::engine::Progress;
use dupsift_engine::options::resolve;
use dupsift_study::purify::{self, PagesOptions};

/// Runs the command.
///
/// # Errors
/// Returns an error if the command cannot finish.
pub fn purify(arguments: PurifyArguments) -> Result<Exit> {
    let (inputs, settings) = arguments.asked()?;
    let columns = match settings.text("columns") {
        None | Some("all") => None,
        Some("none") => Some(Vec::new()),
        Some(names) => Some(names.split(',').map(|name| name.trim().to_owned()).collect()),
    };
    let options = PagesOptions {
        run: resolve(inputs, &settings)?,
        columns,
        keep_html: settings.switch("keep-html"),
        prefix: settings.text("prefix").unwrap_or_default().into(),
        stats: settings.path("stats").map(Path::to_path_buf),
        model: settings.path("model").map(Path::to_path_buf),
    };
    let (_, progress) = log::start(&settings);
    work(options, settings.text("train"), &progress)
}

fn work(options: PagesOptions, train: Option<&str>, progress: &Progress) -> Result<Exit> {
    ignore_file_size_signal();
    let cancel = cancel_on_signal()?;
    let out = options.run.output.folder.clone();
    if let Some(column) = train {
        let report = purify::train(options.run, column, progress, &cancel)?;
        let exit = Exit::of(&report, report.rejections.rows, report.bad_inputs.len());
        return Ok(print_result(&training(&report, &out), exit));
    }
    let report = purify::purify(options, progress, &cancel)?;
    let exit = Exit::of(&report, report.rejections.rows, report.bad_inputs.len());
    Ok(print_result(&pages(&report, &out), exit))
}

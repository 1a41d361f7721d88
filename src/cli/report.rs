//! `dupsift report`: the page of a finished run, written again.

use anyhow::{Context, Result};

use super::args::{LogFormat, ReportArguments};
use super::run::cancel_on_signal;
use super::{Exit, log, recorded, say};
use crate::error::Error;
use crate::job::{self, Finished, PAGE, RunOptions};
use crate::report::page;

/// Runs the verb.
///
/// # Errors
/// A folder that is no output of a finished run; tables that cannot be read.
pub fn report(arguments: ReportArguments) -> Result<Exit> {
    let ReportArguments { dir, resources } = arguments;
    let finished = Finished::open(&dir)?;
    let options = match recorded::options(&finished, &resources) {
        Ok(resolved) => Ok(RunOptions { report: true, ..resolved.options }),
        // What was typed now is to be mended now; what the record cannot give is only missing on the page.
        Err(error) if names_a_flag(&error) => return Err(error.into()),
        Err(error) => Err(error),
    };
    let progress = log::progress(!resources.no_progress, LogFormat::Text);
    log::start(LogFormat::Text, &progress);
    let cancel = cancel_on_signal()?;
    let no_texts = job::write_again(&finished, options, &progress, &cancel, &page)?;
    if let Some(why) = no_texts {
        tracing::warn!("the page shows no texts: {why}");
    }
    say(&format!("{}\n", dir.join(PAGE).display())).context("cannot print the path")?;
    Ok(Exit::Done)
}

/// Whether an error is about one of the flags of this verb.
fn names_a_flag(error: &Error) -> bool {
    let message = error.to_string();
    ["--threads", "--memory"].iter().any(|flag| message.starts_with(flag))
}

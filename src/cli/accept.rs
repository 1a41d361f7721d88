//! `dupsift accept`: a result that a guard held back becomes the output.

use anyhow::{Context, Result};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

use super::args::AcceptArguments;
use super::log::LogFormat;
use super::{Exit, log, tell};
use crate::job;
use crate::report::accepted_page;

/// Runs the verb.
///
/// # Errors
/// A folder that is no result held back, and what keeps it from its name.
pub fn accept(arguments: AcceptArguments) -> Result<Exit> {
    let mut time = String::new();
    SystemTime.format_time(&mut Writer::new(&mut time)).context("cannot tell the time")?;
    log::send(LogFormat::Text);
    let out = job::accept(&arguments.dir, time, arguments.reason, &accepted_page)?;
    Ok(tell(
        &format!(
            "{}
",
            out.display()
        ),
        Exit::Done,
    ))
}

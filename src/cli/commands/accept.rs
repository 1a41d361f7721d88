//! Implements `dupsift accept`, which publishes a held result as the output.

use anyhow::Result;

use crate::cli::terminal::log;
use crate::cli::terminal::log::LogFormat;
use crate::cli::typed::args::AcceptArguments;
use crate::cli::{Exit, print_result};

/// Runs the command.
///
/// # Errors
/// Returns an error if the folder is not a held result, or if it cannot be renamed.
pub fn accept(arguments: AcceptArguments) -> Result<Exit> {
    log::send(LogFormat::Text);
    let accepted = crate::accept(&arguments.dir, arguments.reason)?;
    Ok(print_result(&format!("{}\n", accepted.out.display()), Exit::Done))
}

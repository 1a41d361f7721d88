//! Implements `dupsift accept`, which publishes a held result as the output.

use anyhow::Result;

use super::args::AcceptArguments;
use super::log::LogFormat;
use super::{Exit, log, print_result};

/// Runs the command.
///
/// # Errors
/// Returns an error if the folder is not a held result, or if it cannot be renamed.
pub fn accept(arguments: AcceptArguments) -> Result<Exit> {
    log::send(LogFormat::Text);
    let accepted = crate::accept(&arguments.dir, arguments.reason)?;
    Ok(print_result(&format!("{}\n", accepted.out.display()), Exit::Done))
}

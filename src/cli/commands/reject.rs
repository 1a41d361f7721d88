//! Implements `dupsift reject`, which removes a held result.

use anyhow::Result;

use crate::cli::terminal::log;
use crate::cli::terminal::log::LogFormat;
use crate::cli::typed::args::RejectArguments;
use crate::cli::{Exit, print_result};

/// Runs the command.
///
/// # Errors
/// Returns an error if the folder is not a held result, or if it or its index cannot be changed.
pub fn reject(arguments: &RejectArguments) -> Result<Exit> {
    log::send(LogFormat::Text);
    let index = match crate::reject(&arguments.dir)? {
        Some(true) => "; the index has forgotten its batch",
        Some(false) => "; its index no longer had its batch",
        None => "",
    };
    Ok(print_result(&format!("removed {}{index}\n", arguments.dir.display()), Exit::Done))
}

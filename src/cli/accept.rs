//! Implements `dupsift accept`, which publishes a held result as the output.

use anyhow::Result;

use super::args::AcceptArguments;
use super::log::LogFormat;
use super::{Exit, log, print_result};
use crate::report::accepted_page;
use dupsift_engine::engine;
use dupsift_study::{self as study, Accepted};

/// Runs the command.
///
/// # Errors
/// Returns an error if the folder is not a held result, or if it cannot be renamed.
pub fn accept(arguments: AcceptArguments) -> Result<Exit> {
    log::send(LogFormat::Text);
    let Accepted { out, before } =
        study::accept(&arguments.dir, engine::now(), arguments.reason, &accepted_page, &dupsift_incremental::accept)?;
    if before {
        tracing::info!("already accepted: an earlier command published the result");
    }
    Ok(print_result(&format!("{}\n", out.display()), Exit::Done))
}

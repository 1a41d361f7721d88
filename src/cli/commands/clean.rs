//! Implements `dupsift clean`, which removes temporary files that killed runs left behind.

use anyhow::Result;
use bytesize::ByteSize;

use crate::cli::terminal::log;
use crate::cli::terminal::log::LogFormat;
use crate::cli::typed::args::CleanArguments;
use crate::cli::{Exit, print_result};
use dupsift_core::number::counted;
use dupsift_engine::job::{self, Cleared};

/// Runs the command.
///
/// # Errors
/// Returns an error if a run is still writing the output, or if something cannot be removed.
pub fn clean(arguments: &CleanArguments) -> Result<Exit> {
    log::send(LogFormat::Text);
    let cleared = job::clean(arguments.out.as_deref(), arguments.work.as_deref())?;
    if cleared.is_empty() {
        let of_output = arguments.out.as_ref().map(|out| format!(" for {}", out.display())).unwrap_or_default();
        return Ok(print_result(&format!("no temporary files of killed runs found{of_output}\n"), Exit::Done));
    }
    Ok(print_result(&cleared.iter().map(line).collect::<String>(), Exit::Done))
}

fn line(cleared: &Cleared) -> String {
    match cleared {
        Cleared::Removed { path, files, bytes } => {
            let files = counted(*files, "file");
            format!("removed {} ({files}, {})\n", path.display(), ByteSize(*bytes))
        }
        Cleared::PutBack(path) => format!("restored the earlier result at {}\n", path.display()),
        Cleared::OfAnother { path, user } => {
            format!("left {} in place, because it belongs to another user (user ID {user})\n", path.display())
        }
        Cleared::Left { path, foreign } => {
            format!("left {} in place, because it contains {}\n", path.display(), foreign.display())
        }
    }
}

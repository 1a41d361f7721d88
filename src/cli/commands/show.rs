//! Implements `dupsift show`, which prints the summary of a finished run or lists its rows.

use anyhow::{Context, Result};

use super::explain::screen;
use crate::cli::signals::cancel_on_signal;
use crate::cli::terminal::log;
use crate::cli::typed::args::ShowArguments;
use crate::cli::{Exit, say};
use crate::report::{Detail, finished, listing, rule_table};
use dupsift_engine::options::Spelling;
use dupsift_study::{self as study, Finished, ListOptions, Listed};

/// Runs the command.
///
/// # Errors
/// Returns an error if the folder does not contain a finished run, or if the corpus must be read and is missing or has changed.
pub fn show(arguments: &ShowArguments) -> Result<Exit> {
    let settings = arguments.options.settings()?;
    let what = match () {
        () if arguments.removed => Some(Listed::Removed),
        () if arguments.kept_similar => Some(Listed::KeptSimilar),
        () if arguments.clusters => Some(Listed::Clusters),
        () if arguments.rules => None,
        () => {
            let summary = finished(&arguments.dir, Detail::verbose(arguments.verbose))?;
            say(&Spelling::Flags.of(&summary)).context("cannot print the summary")?;
            return Ok(Exit::Done);
        }
    };
    let (_, progress) = log::start(&settings);
    let cancel = cancel_on_signal()?;
    let finished = Finished::open(&arguments.dir)?.with_corpus(arguments.input.as_deref());
    let options = finished.options(&settings)?;
    let width = screen(false).width;
    let text = match what {
        Some(what) => {
            let asked = ListOptions {
                what,
                limit: arguments.limit as usize,
                worst: arguments.worst,
                grep: arguments.grep.clone(),
                source: arguments.source.clone(),
            };
            let found = study::list(&finished, &options, &asked, &progress, &cancel)?;
            match arguments.json {
                true => serde_json::to_string_pretty(&found).context("cannot write JSON")? + "\n",
                false => listing(&found, &arguments.dir, width),
            }
        }
        None => {
            let found = study::rules(&finished, &options, &progress, &cancel)?;
            match arguments.json {
                true => serde_json::to_string_pretty(&found).context("cannot write JSON")? + "\n",
                false => rule_table(&found, &arguments.dir),
            }
        }
    };
    let text = if arguments.json { text.into() } else { Spelling::Flags.of(&text) };
    say(&text).context("cannot print the list")?;
    Ok(Exit::Done)
}

//! Implements `dupsift sample`, which draws removals for labeling.

use anyhow::{Context, Result};

use crate::cli::signals::cancel_on_signal;
use crate::cli::terminal::log;
use crate::cli::typed::args::SampleArguments;
use crate::cli::{Exit, say_styled};
use crate::report::label_table;
use dupsift_study::{self as study, Finished, SampleOptions};

/// Runs the command.
///
/// # Errors
/// Returns an error if the folder is not a finished run, or if it has no removals to label.
pub fn sample(arguments: &SampleArguments) -> Result<Exit> {
    let settings = arguments.options.settings()?;
    let (_, progress) = log::start(&settings);
    let cancel = cancel_on_signal()?;
    let finished = Finished::open(&arguments.dir)?.with_corpus(arguments.input.as_deref());
    let options = finished.options(&settings)?;
    let has = |name: &str| arguments.by.iter().any(|by| by == name);
    let asked = SampleOptions {
        pairs: arguments.pairs as usize,
        by_similarity: has("similarity"),
        by_source: has("source"),
        seed: arguments.seed,
    };
    let drawn = study::sample(&finished, &options, &asked, &progress, &cancel)?;
    let text = match arguments.json {
        true => serde_json::to_string_pretty(&drawn).context("cannot write JSON")? + "\n",
        false => label_table(&drawn),
    };
    // A file of labels must have the ids as they are, so nothing is escaped.
    say_styled(&text).context("cannot print the sample")?;
    Ok(Exit::Done)
}

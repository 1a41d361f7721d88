//! Implements `dupsift explain`, which explains why two documents of a finished run are or are not a pair, or why a document was removed.

use std::io::{self, IsTerminal};

use anyhow::{Context, Result};

use crate::cli::signals::cancel_on_signal;
use crate::cli::terminal::log;
use crate::cli::typed::args::ExplainArguments;
use crate::cli::{Exit, say, say_styled};
use crate::report::{LEAST_WIDTH, Screen, explanation};
use dupsift_engine::options::Spelling;
use dupsift_study::{self as study, Choice, Finished};

/// The width of the output in columns if there is no terminal.
const WIDTH: usize = 100;

/// Runs the command.
///
/// # Errors
/// Returns an error if the folder does not contain a finished run, if the corpus has changed, or if a document does not exist.
pub fn explain(arguments: ExplainArguments) -> Result<Exit> {
    let settings = arguments.options.settings()?;
    let (_, progress) = log::start(&settings);
    let cancel = cancel_on_signal()?;
    let finished = Finished::open(&arguments.dir)?.with_corpus(arguments.input.as_deref());
    let options = finished.options(&settings)?;
    let explained = match arguments.a {
        Some(a) => {
            let asked: Vec<String> = std::iter::once(a).chain(arguments.b).collect();
            study::explain(&finished, &options, &asked, arguments.docs, &progress, &cancel)?
        }
        None => {
            let choice = if arguments.worst { Choice::Worst } else { Choice::Drawn(arguments.seed) };
            study::explain_any(&finished, &options, choice, &progress, &cancel)?
        }
    };
    let screen = screen(arguments.full);
    let printed = if arguments.json {
        say(&(serde_json::to_string_pretty(&explained).context("cannot write JSON")? + "\n"))
    } else {
        let shown = explanation(&explained.spelled(Spelling::Flags), screen);
        if screen.colours { say_styled(&shown) } else { say(&shown) }
    };
    printed.context("cannot print the explanation")?;
    Ok(Exit::Done)
}

/// Describes the output device. The width comes from the terminal, or else from `COLUMNS`; the default is 100. Colors are used on a
/// terminal unless `NO_COLOR` is set.
pub(crate) fn screen(full: bool) -> Screen {
    let terminal = io::stdout().is_terminal();
    let size = terminal.then(terminal_size::terminal_size).flatten().map(|(width, _)| usize::from(width.0));
    let typed = || std::env::var("COLUMNS").ok()?.parse().ok();
    let colours = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    Screen { width: size.or_else(typed).unwrap_or(WIDTH).max(LEAST_WIDTH), colours, full }
}

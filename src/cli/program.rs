//! Parses the command line, runs the command, reports errors and determines the exit code.

use std::ffi::OsString;
use std::io::Write as _;

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use crate::cli::commands::accept;
use crate::cli::commands::algorithms;
use crate::cli::commands::apply;
use crate::cli::commands::clean;
use crate::cli::commands::compare;
use crate::cli::commands::completions::script;
use crate::cli::commands::contaminated;
use crate::cli::commands::evaluate;
use crate::cli::commands::explain;
use crate::cli::commands::index;
use crate::cli::commands::manual;
use crate::cli::commands::purify;
use crate::cli::commands::reject;
use crate::cli::commands::report;
use crate::cli::commands::run;
use crate::cli::commands::sample;
use crate::cli::commands::show;
use crate::cli::commands::stream;
use crate::cli::commands::version;
use crate::cli::terminal::escape::escaped;
use crate::cli::terminal::log;
use crate::cli::terminal::output::complain_of;
use crate::cli::typed::args::{Arguments, Verb};
use crate::cli::typed::suggest::suggestion;
use crate::cli::{Exit, complain, fail, say, signals};

/// The script described in docs/scheduling.md. The script is embedded in the program so that every package includes it.
const NIGHTLY: &str = include_str!("../../scripts/nightly.sh");

/// Runs a command line, which begins with the name of the program. This function is called once per process.
pub fn program(typed: Vec<OsString>) -> Exit {
    log::listen(typed.iter().cloned());
    dupsift_core::guard::quiet();
    let words: Vec<String> = typed.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let ended = match Arguments::try_parse_from(typed) {
        Ok(arguments) => verb(arguments.verb),
        Err(told) if told.kind() == ErrorKind::DisplayVersion => print_version(),
        Err(told) => {
            return match answer(&told, &words) {
                Ok(()) if told.use_stderr() => Exit::Usage,
                Ok(()) => Exit::Done,
                Err(error) => fail(&error),
            };
        }
    };
    signals::over(&ended);
    ended.unwrap_or_else(|error| fail(&error))
}

/// Prints the help text, or the error in the command line. A closed pipe counts as success, and errors from stderr are ignored.
///
/// # Errors
/// Returns the error if the help text cannot be printed, for example because a disk is full.
fn answer(told: &clap::Error, words: &[String]) -> Result<()> {
    let command = Arguments::command();
    let verb = words.iter().find_map(|word| command.find_subcommand(word)).map(|verb| verb.get_name());
    if let Some(ours) = suggestion(told, verb) {
        complain_of(&ours, Exit::Usage);
        return Ok(());
    }
    let message = told.render().to_string();
    if told.use_stderr() && log::is_json() {
        let message = message.trim().trim_start_matches("error: ");
        tracing::error!(exit_code = Exit::Usage.code(), "{message}");
    } else if message != escaped(&message) {
        // A message with control characters is escaped and therefore shown without colors.
        complain(message.trim_end());
    } else {
        let printed = told.print().and_then(|()| std::io::stdout().flush());
        match printed {
            Err(error) if !told.use_stderr() && error.kind() != std::io::ErrorKind::BrokenPipe => {
                return Err(error).context("cannot print the help");
            }
            _ => {}
        }
    }
    Ok(())
}

fn verb(verb: Verb) -> Result<Exit> {
    match verb {
        Verb::Run(arguments) => run::run(*arguments),
        Verb::Compare(arguments) => compare::compare(*arguments),
        Verb::Purify(arguments) => purify::purify(*arguments),
        Verb::Contaminated(arguments) => contaminated::contaminated(*arguments),
        Verb::Stream(arguments) => stream::stream(*arguments),
        Verb::Accept(arguments) => accept::accept(arguments),
        Verb::Reject(arguments) => reject::reject(&arguments),
        Verb::Clean(arguments) => clean::clean(&arguments),
        Verb::Index(verb) => index::index(verb),
        Verb::Apply(arguments) => apply::apply(&arguments),
        Verb::Sample(arguments) => sample::sample(&arguments),
        Verb::Evaluate(arguments) => evaluate::evaluate(&arguments),
        Verb::Explain(arguments) => explain::explain(*arguments),
        Verb::Show(arguments) => show::show(&arguments),
        Verb::Report(arguments) => report::report(arguments),
        Verb::Algorithms(arguments) => algorithms::algorithms(&arguments),
        Verb::Manual { dir, man } => manual::manual(&dir, man),
        Verb::Completions { shell } => {
            say(&script(shell)).context("cannot print the completions")?;
            Ok(Exit::Done)
        }
        Verb::Nightly => {
            say(NIGHTLY).context("cannot print the script")?;
            Ok(Exit::Done)
        }
    }
}

fn print_version() -> Result<Exit> {
    say(&version::version()?).context("cannot print the version")?;
    Ok(Exit::Done)
}

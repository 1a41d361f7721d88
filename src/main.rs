//! The program: parse, do the verb, say what went wrong, and end with a number that means something.

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use dupsift::cli::args::{Arguments, Verb};
use dupsift::cli::{
    Exit, accept, algorithms, compare, complain, evaluate, explain, purify, report, run, say, stream, version,
    whole_story,
};

/// Gives memory back to the system after a stage; the budget of a run counts on that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    dupsift::guard::quiet();
    let ended = match Arguments::try_parse() {
        Ok(arguments) => verb(arguments.verb),
        Err(told) if told.kind() == ErrorKind::DisplayVersion => tell_version(),
        Err(told) => {
            // Help goes to stdout and is no error; a terminal that is gone is no reason to fail either.
            let _ = told.print();
            return if told.use_stderr() { Exit::Usage } else { Exit::Done }.into();
        }
    };
    let exit = ended.unwrap_or_else(|error| {
        complain(&format!("error: {}", whole_story(&error)));
        Exit::of_error(&error)
    });
    exit.into()
}

fn verb(verb: Verb) -> Result<Exit> {
    match verb {
        Verb::Run(arguments) => run::run(*arguments),
        Verb::Compare(arguments) => compare::compare(*arguments),
        Verb::Purify(arguments) => purify::purify(*arguments),
        Verb::Stream(arguments) => stream::stream(*arguments),
        Verb::Accept(arguments) => accept::accept(arguments),
        Verb::Evaluate(arguments) => evaluate::evaluate(&arguments),
        Verb::Explain(arguments) => explain::explain(*arguments),
        Verb::Report(arguments) => report::report(arguments),
        Verb::Algorithms(arguments) => algorithms::algorithms(&arguments),
        Verb::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "dupsift", &mut script);
            say(&String::from_utf8_lossy(&script)).context("cannot print the completions")?;
            Ok(Exit::Done)
        }
    }
}

fn tell_version() -> Result<Exit> {
    say(&version::version()?).context("cannot print the version")?;
    Ok(Exit::Done)
}

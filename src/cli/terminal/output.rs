//! Writes terminal output: results to stdout, everything else to stderr. Control sequences are escaped, because paths, ids and values are
//! untrusted.

use std::io::{self, Write};

use super::escape::{escaped, one_line};
use super::log;
use super::log::LogFormat;
use super::two_lines::two_lines;
use crate::cli::Exit;
use crate::cli::exit::ends_with;
use dupsift_core::error::Error;
use dupsift_engine::engine::{self, Kept};
use dupsift_engine::options::Spelling;

/// Prints to stdout. A closed pipe (`dupsift algorithms | head -1`) counts as success.
///
/// # Errors
/// Returns any other error from stdout, such as a full disk.
pub fn say(text: &str) -> io::Result<()> {
    say_styled(&escaped(text))
}

/// Prints colored text whose external parts are already escaped.
///
/// # Errors
/// Returns the errors of [`say`].
pub fn say_styled(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints the summary of a complete result and returns the exit code. An error from stdout causes only a warning, because the exit code
/// describes the result. With `--quiet`, nothing is printed unless the result requires attention.
pub fn print_result(text: &str, exit: Exit) -> Exit {
    ends_with(exit);
    if log::is_quiet() {
        // The last line of a JSON log already contains the exit code.
        if let Some(why) = exit.asks_to_look().filter(|_| !log::is_json()) {
            complain(&format!("warning: {why}"));
        }
        return exit;
    }
    if let Err(error) = say(&Spelling::Flags.of(text)) {
        log::send(LogFormat::Text);
        tracing::warn!("the result is complete, but its summary could not be printed: {error}");
    }
    exit
}

/// Reports an error as text or as a JSON log line, and returns the exit code.
pub fn fail(error: &anyhow::Error) -> Exit {
    let exit = Exit::of_error(error);
    let story = match error.downcast_ref() {
        Some(Error::Interrupted) => stopped(engine::stage_at_hand(), engine::goes_on()),
        _ => whole_story(error),
    };
    complain_of(&story, exit);
    exit
}

/// Prints an error and its help line, or logs both as one line of JSON.
pub fn complain_of(story: &str, exit: Exit) {
    let (wrong, help) = two_lines(story);
    let (wrong, help) = (Spelling::Flags.of(wrong), help.as_deref().map(|help| Spelling::Flags.of(help)));
    if log::is_json() {
        tracing::error!(exit_code = exit.code(), help = help.as_deref(), "{wrong}");
        return;
    }
    complain(&format!("error: {}", one_line(&wrong)));
    if let Some(help) = help {
        complain(&format!("help: {}", one_line(&help)));
    }
}

/// Returns the message for a run that was interrupted in this stage.
fn stopped(stage: Option<String>, kept: Option<Kept>) -> String {
    let place = stage.map_or_else(|| "before the first stage".to_owned(), |stage| format!("in {stage:?}"));
    let next = kept.map_or_else(|| "no output was written".to_owned(), |kept| kept.to_string());
    format!("stopped {place}; {next}")
}

/// Returns an error with its causes on one line. Repeated causes are omitted, because some error messages already include their cause.
pub fn whole_story(error: &anyhow::Error) -> String {
    let mut story = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if story.is_empty() {
            story = cause;
        } else if !story.contains(&cause) {
            story += ": ";
            story += &cause;
        }
    }
    story
}

/// Prints to stderr. Ignores errors, because there is nowhere to report them.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", escaped(text));
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use anyhow::Context;

    use super::*;

    #[test]
    fn a_cause_is_reported_once() {
        let full = || io::Error::other("no space left");
        let told: anyhow::Error = Error::io("write", Path::new("a"))(full()).into();
        assert_eq!(whole_story(&told), "cannot write a: no space left");
        let untold = Err::<(), _>(full()).context("cannot print the summary").unwrap_err();
        assert_eq!(whole_story(&untold), "cannot print the summary: no space left");
    }

    #[test]
    fn who_stops_a_run_learns_where_it_was() {
        let nothing = "no output was written";
        assert_eq!(stopped(Some("sign".into()), None), format!("stopped in \"sign\"; {nothing}"));
        assert_eq!(stopped(None, None), format!("stopped before the first stage; {nothing}"));
        let kept = Some(Kept { cpu_seconds: 41.26, bytes: 1 << 30 });
        assert_eq!(
            stopped(Some("sign".into()), kept),
            "stopped in \"sign\"; run the same command again to resume (41.3 CPU s of work saved, 1.0 GiB)"
        );
    }
}

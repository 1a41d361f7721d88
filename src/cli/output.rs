//! Where text leaves the program: stdout for results, stderr for all else. What a terminal would obey is shown and not sent, for
//! paths, ids and values come from anywhere.

use std::borrow::Cow;
use std::io::{self, Write};

use super::log::LogFormat;
use super::signals::ends_with;
use super::{Exit, log};

/// Prints to stdout. A reader that has gone away (`dupsift algorithms | head -1`) has seen enough: that is success.
///
/// # Errors
/// Any other failure of stdout, such as a full disk behind it.
pub fn say(text: &str) -> io::Result<()> {
    say_styled(&escaped(text))
}

/// The same of a text with colours, in which nothing from outside stands as it came.
///
/// # Errors
/// As [`say`].
pub fn say_styled(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Prints what there is to say of a result that stands, and gives the exit code. That tells of the result: where stdout takes nothing, that is a
/// warning.
pub fn tell(text: &str, exit: Exit) -> Exit {
    ends_with(exit);
    if let Err(error) = say(text) {
        log::send(LogFormat::Text);
        tracing::warn!("the result is complete; what was to be printed about it is lost: {error}");
    }
    exit
}

/// Tells an error, as text or as a JSON log line, and says how the program ends for it.
pub fn fail(error: &anyhow::Error) -> Exit {
    let exit = Exit::of_error(error);
    let story = whole_story(error);
    if log::is_json() {
        tracing::error!(exit_code = exit.code(), "{story}");
    } else {
        complain(&format!("error: {}", one_line(&story)));
    }
    exit
}

/// An error with its causes on one line, each said once: some of ours tell their cause themselves.
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

/// Prints to stderr; where that is closed too, nothing more can be told.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", escaped(text));
}

/// The text with control characters, but line feeds and tabs, and with marks that turn the direction of writing as JSON spells
/// them: `\u001b`. So JSON stays the same value.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_obeyed(character) {
            shown += &format!("\\u{:04x}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// The same with line feeds, for texts of one line.
pub fn one_line(text: &str) -> Cow<'_, str> {
    match escaped(text) {
        shown if shown.contains('\n') => Cow::Owned(shown.replace('\n', "\\n")),
        shown => shown,
    }
}

fn is_obeyed(character: char) -> bool {
    let direction =
        matches!(character, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    direction || (character.is_control() && character != '\n' && character != '\t')
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use anyhow::Context;

    use super::*;
    use crate::error::Error;

    #[test]
    fn a_cause_is_told_once() {
        let full = || io::Error::other("no space left");
        let told: anyhow::Error = Error::io("write", Path::new("a"))(full()).into();
        assert_eq!(whole_story(&told), "cannot write a: no space left");
        let untold = Err::<(), _>(full()).context("cannot print the summary").unwrap_err();
        assert_eq!(whole_story(&untold), "cannot print the summary: no space left");
    }

    #[test]
    fn what_a_terminal_would_obey_is_spelled() {
        assert_eq!(
            escaped("\u{1b}[31mкот\u{7}\r\u{9b}2J\u{202e}\t\n"),
            "\\u001b[31mкот\\u0007\\u000d\\u009b2J\\u202e\t\n"
        );
        assert!(matches!(escaped("猫 cat\n"), Cow::Borrowed("猫 cat\n")));
        assert_eq!(one_line("a\nb\u{7f}"), "a\\nb\\u007f");
        // A value of JSON stays what it is.
        let json = serde_json::to_string("\u{1b}\u{7f}\u{85}\n").unwrap();
        assert_eq!(serde_json::from_str::<String>(&escaped(&json)).unwrap(), "\u{1b}\u{7f}\u{85}\n");
    }
}

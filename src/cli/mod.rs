//! The command line: what was typed ([`args`], [`options`], [`config`]), and one file a verb.
//!
//! ```text
//! argv --options--> Settings --config--> Settings --job::options::resolve--> RunOptions --> job::run --> report::summary --> Exit
//! ```
//!
//! What a person reads of a result goes to stdout, everything about the way there to stderr.

pub mod accept;
pub mod algorithms;
pub mod args;
pub mod compare;
pub mod config;
pub mod evaluate;
pub mod exit;
pub mod explain;
mod handbook;
pub mod log;
pub mod options;
pub mod purify;
pub mod report;
pub mod run;
pub mod stream;
pub mod version;

pub use exit::Exit;

use std::io::{self, Write};

/// Prints to stdout. A reader that has gone away (`dupsift algorithms | head -1`) has seen enough: that is success.
///
/// # Errors
/// Any other failure of stdout, such as a full disk behind it.
pub fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
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

/// Prints to stderr; where that is closed too, nobody is left to tell.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
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
}

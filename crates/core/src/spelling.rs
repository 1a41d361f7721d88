//! How options stand in messages: `--max-group 5` where one types a command line, `max_group=5` where one writes a program.
//!
//! A process has one face, which says at its start how the reader writes options; without a word they are keywords. Messages name
//! options by their names in the table, [`opt`], and texts that are constants by that name in braces, see [`spelled`].

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// How options are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// `max_group=5`
    Keywords,
    /// `--max-group 5`
    Flags,
}

static FLAGS: AtomicBool = AtomicBool::new(false);

/// From now on options are written so in every message of this process.
pub fn write_options_as(spelling: Spelling) {
    FLAGS.store(spelling == Spelling::Flags, Ordering::Relaxed);
}

fn spelling() -> Spelling {
    if FLAGS.load(Ordering::Relaxed) { Spelling::Flags } else { Spelling::Keywords }
}

/// An option in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opt(&'static str);

/// The option of this name; `tests/it/spelling.rs` holds that there is one.
pub const fn opt(name: &'static str) -> Opt {
    Opt(name)
}

impl Opt {
    /// Its name in the table of options.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// The option with a value, as it could be written.
    pub fn with(self, value: impl fmt::Display) -> String {
        self.with_as(&value.to_string(), spelling())
    }

    fn with_as(self, value: &str, spelling: Spelling) -> String {
        let bare = value.parse::<f64>().is_ok() || value.starts_with('"');
        match spelling {
            Spelling::Flags => format!("--{} {value}", self.0),
            Spelling::Keywords if bare => format!("{}={value}", self.keyword()),
            Spelling::Keywords => format!("{}={value:?}", self.keyword()),
        }
    }

    fn keyword(self) -> String {
        self.0.replace('-', "_")
    }

    fn alone(self, spelling: Spelling) -> String {
        match spelling {
            Spelling::Flags => format!("--{}", self.0),
            Spelling::Keywords => self.keyword() + "=",
        }
    }
}

/// The option as it is named within a sentence; with `{:#}` at the head of one, where a colon follows.
impl fmt::Display for Opt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let alone = self.alone(spelling());
        f.write_str(if f.alternate() { alone.trim_end_matches('=') } else { &alone })
    }
}

/// A text that is a constant, such as the help of an option, with the options that it names in braces: `{max-group}`, or
/// `{max-group 5}`.
pub fn spelled(text: &'static str) -> String {
    spelling().fill(text)
}

impl Spelling {
    /// The same for a reader who writes options so.
    pub fn fill(self, text: &'static str) -> String {
        let mut parts = text.split('{');
        let mut told = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            match part.split_once('}') {
                Some((named, rest)) => {
                    let option = |(name, value)| Opt(name).with_as(value, self);
                    told += &named.split_once(' ').map_or_else(|| Opt(named).alone(self), option);
                    told += rest;
                }
                None => told += part,
            }
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_written_as_the_reader_writes_it() {
        let option = opt("max-group");
        assert_eq!(option.alone(Spelling::Flags), "--max-group");
        assert_eq!(option.alone(Spelling::Keywords), "max_group=");
        let with = |value| [Spelling::Flags, Spelling::Keywords].map(|spelling| option.with_as(value, spelling));
        assert_eq!(with("5"), ["--max-group 5", "max_group=5"]);
        assert_eq!(with("1.0 MiB"), ["--max-group 1.0 MiB", "max_group=\"1.0 MiB\""]);
        assert_eq!(with("\"a b\""), ["--max-group \"a b\"", "max_group=\"a b\""]);
        assert_eq!(format!("{option:#}: {option}"), "max_group: max_group=");
    }

    #[test]
    fn constants_name_options_in_braces() {
        let text = "Of a group above {max-group}, or {keep}";
        assert_eq!(Spelling::Flags.fill(text), "Of a group above --max-group, or --keep");
        assert_eq!(Spelling::Keywords.fill(text), "Of a group above max_group=, or keep=");
        assert_eq!(Spelling::Flags.fill("take {keep doc}!"), "take --keep doc!");
        assert_eq!(Spelling::Keywords.fill("take {keep doc}!"), "take keep=\"doc\"!");
        assert_eq!(Spelling::Flags.fill("no option"), "no option");
    }
}

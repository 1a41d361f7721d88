//! Spells the options in messages in the style of each interface.
//!
//! Messages name options in backticks, without dashes:
//!
//! ```text
//! in a message    `remove-if=pair`         `max-group`      `strict`
//! command line    `--remove-if pair`       `--max-group`    `--strict`
//! configuration   `remove-if = "pair"`     max-group        strict
//! Python          `remove_if="pair"`       `max_group`      `strict`
//! ```

use std::borrow::Cow;

use super::{Kind, OPTIONS, OptionSpec};

/// The flags of individual commands that appear in messages but not in the table of options.
pub(crate) const OTHER_FLAGS: [&str; 4] = ["config", "docs", "input", "truth"];

/// Selects how options are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// Flags of the command line.
    Flags,
    /// Keys of the configuration file.
    Keys,
    /// Keyword arguments of Python.
    Keywords,
}

impl Spelling {
    /// Returns the message with its options in this spelling. Everything else in backticks is unchanged.
    pub fn of(self, message: &str) -> Cow<'_, str> {
        let mut spelled = String::new();
        let mut rest = message;
        while let Some((before, after)) = rest.split_once('`') {
            spelled += before;
            match after.split_once('`').and_then(|(code, after)| Some((self.option(code)?, after))) {
                Some((code, after)) => {
                    spelled += &code;
                    rest = after;
                }
                None => {
                    spelled.push('`');
                    rest = after;
                }
            }
        }
        let spelled = match spelled.is_empty() {
            true => Cow::Borrowed(message),
            false => Cow::Owned(spelled + rest),
        };
        if self == Spelling::Keywords && spelled.contains(FRAME) { Cow::Owned(with_frames(&spelled)) } else { spelled }
    }

    /// Returns an option and its value, if any, in this spelling; `None` if the text is not an option.
    fn option(self, code: &str) -> Option<String> {
        let (name, value) = code.split_once('=').map_or((code, None), |(name, value)| (name, Some(value)));
        let option = OPTIONS.iter().find(|option| option.name == name);
        if option.is_none() && !OTHER_FLAGS.contains(&name) {
            return None;
        }
        let is_switch = option.is_some_and(|option| matches!(option.kind, Kind::Switch));
        let is_size = option.is_some_and(|option| matches!(option.kind, Kind::Size));
        Some(match (self, value) {
            (Spelling::Flags, None) => format!("`--{name}`"),
            (Spelling::Flags, Some("true")) if option.is_some_and(OptionSpec::is_plain_switch) => format!("`--{name}`"),
            (Spelling::Flags, Some(value)) if is_switch => format!("`--{name}={value}`"),
            (Spelling::Flags, Some(value)) if is_size => format!("`--{name} {}`", value.replace(' ', "")),
            (Spelling::Flags, Some(value)) => format!("`--{name} {}`", in_shell(value)),
            (Spelling::Keys, None) => name.to_owned(),
            (Spelling::Keys, Some(value)) => format!("`{name} = {}`", in_quotes(value)),
            // In Python, the argument `rows=True` of `explain` replaces the flag `--docs`.
            (Spelling::Keywords, None) if name == "docs" => "`rows=True`".to_owned(),
            (Spelling::Keywords, None) => format!("`{}`", name.replace('-', "_")),
            (Spelling::Keywords, Some(value)) if is_switch => {
                format!("`{}={}`", name.replace('-', "_"), if value == "true" { "True" } else { "False" })
            }
            (Spelling::Keywords, Some(value)) => format!("`{}={}`", name.replace('-', "_"), in_quotes(value)),
        })
    }
}

/// The file in which the Python package passes a frame, and the beginning of the name of its folder.
const FRAME: &str = "frame.parquet";
const FOLDER_OF_FRAME: &str = "/.dupsift-frame-";

/// Returns the message with the words "the frame" in place of the file that the Python package wrote. The ids of its rows are unchanged.
fn with_frames(message: &str) -> String {
    let words = message.split_inclusive(' ').map(|word| {
        let Some((before, after)) = word.split_once(FRAME) else { return word.to_owned() };
        let path = before.trim_start_matches(['"', '(', '`']);
        let is_frame = path.is_empty() || (path.starts_with('/') && path.contains(FOLDER_OF_FRAME));
        if !is_frame || after.starts_with('#') {
            return word.to_owned();
        }
        format!("{}the frame{after}", &before[..before.len() - path.len()])
    });
    words.collect()
}

/// Quotes a value for the shell if necessary.
fn in_shell(value: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| !letter.is_whitespace() && !"\"'`$&;|<>()*?[]{}\\!#~".contains(letter);
    match value.chars().all(is_plain) || value.contains(['\'', '"']) {
        true => Cow::Borrowed(value),
        false => Cow::Owned(format!("'{value}'")),
    }
}

/// Quotes a value, unless it is a number, a Boolean, a placeholder such as DIR, or already quoted.
fn in_quotes(value: &str) -> Cow<'_, str> {
    let is_placeholder = value.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
    let is_number = value.parse::<f64>().is_ok();
    match is_placeholder || is_number || matches!(value, "true" | "false") || value.contains('"') {
        true => Cow::Borrowed(value),
        false => Cow::Owned(format!("\"{value}\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_not_called_by_its_file() {
        for (message, expected) in [
            ("/tmp/.dupsift-frame-x1/frame.parquet: no column", "the frame: no column"),
            ("frame.parquet: column \"id\" is Float64", "the frame: column \"id\" is Float64"),
            ("no \"frame.parquet\" here", "no \"the frame\" here"),
            ("frame.parquet#2 and out/deduped/frame.parquet", "frame.parquet#2 and out/deduped/frame.parquet"),
        ] {
            assert_eq!(Spelling::Keywords.of(message), expected);
            assert_eq!(Spelling::Flags.of(message), message);
        }
    }

    #[test]
    fn each_interface_has_its_own_spelling() {
        let all = |message: &str| {
            [Spelling::Flags, Spelling::Keys, Spelling::Keywords].map(|spelling| spelling.of(message).into_owned())
        };
        assert_eq!(
            all("no rule; use `remove-if=pair` or `max-group`"),
            [
                "no rule; use `--remove-if pair` or `--max-group`",
                "no rule; use `remove-if = \"pair\"` or max-group",
                "no rule; use `remove_if=\"pair\"` or `max_group`",
            ]
        );
        assert_eq!(
            all("pass `out=DIR`, `threads=4`, `resume=false`, `strict=true` or `memory=1.5 GiB`"),
            [
                "pass `--out DIR`, `--threads 4`, `--resume=false`, `--strict` or `--memory 1.5GiB`",
                "pass `out = DIR`, `threads = 4`, `resume = false`, `strict = true` or `memory = \"1.5 GiB\"`",
                "pass `out=DIR`, `threads=4`, `resume=False`, `strict=True` or `memory=\"1.5 GiB\"`",
            ]
        );
        assert_eq!(
            all("`decide=\"minhsh\"`: pass `docs`"),
            [
                "`--decide \"minhsh\"`: pass `--docs`",
                "`decide = \"minhsh\"`: pass docs",
                "`decide=\"minhsh\"`: pass `rows=True`"
            ]
        );
    }

    #[test]
    fn all_else_in_backticks_is_unchanged() {
        for message in ["run `dupsift accept out` first", "`ulimit -n` is 4", "the rule `pair`", "a ` b", "plain", "`"]
        {
            for spelling in [Spelling::Flags, Spelling::Keys, Spelling::Keywords] {
                assert_eq!(spelling.of(message), message);
            }
        }
        // An option is recognized even if a command in backticks precedes it.
        assert_eq!(Spelling::Flags.of("`dupsift run` needs `out`"), "`dupsift run` needs `--out`");
    }
}

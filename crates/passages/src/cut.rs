//! Defines the units to cut (`--cut`), and where cuts may begin and end (`--cut-at`).

use std::fmt;

use dupsift_core::error::{Error, Result};

/// The minimum length of a run in `runs:L`. Shorter runs are often just words and stock phrases.
pub(crate) const LEAST_RUN: u32 = 20;
/// The upper bound on the length in `runs:L` and on the number of sentences in `sentences:N`.
const MOST: u32 = 1_000_000;

/// Defines the passages that can be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// A line.
    Lines,
    /// A paragraph: text between blank lines.
    Paragraphs,
    /// Every sequence of this many consecutive sentences.
    Sentences(u32),
    /// Every sequence of this many consecutive characters.
    Runs(u32),
}

impl Cut {
    /// Parses `lines`, `paragraphs`, `sentences:N` or `runs:L`. Returns `None` for `none`.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] for anything else.
    pub fn parse(typed: &str) -> Result<Option<Cut>> {
        let number = |digits: &str, low: u32| digits.parse().ok().filter(|number| (low..=MOST).contains(number));
        let cut = match typed.split_once(':') {
            None if typed == "none" => return Ok(None),
            None if typed == "lines" => Some(Cut::Lines),
            None if typed == "paragraphs" => Some(Cut::Paragraphs),
            Some(("sentences", count)) => number(count, 1).map(Cut::Sentences),
            Some(("runs", length)) => number(length, LEAST_RUN).map(Cut::Runs),
            _ => None,
        };
        let expected = || {
            Error::wrong(
                "cut",
                format!(
                    "{typed:?}: expected lines, paragraphs, sentences:N with N sentences (1 to {MOST}), runs:L with L characters \
                     ({LEAST_RUN} to {MOST}), or none"
                ),
            )
        };
        cut.map(Some).ok_or_else(expected)
    }

    /// Returns the minimum number of positions (units or characters) in a passage.
    pub fn length(self) -> u32 {
        match self {
            Cut::Lines | Cut::Paragraphs => 1,
            Cut::Sentences(count) => count,
            Cut::Runs(length) => length,
        }
    }

    /// Returns the default minimum number of characters that a unit must have to count as a repeat.
    pub fn least_chars(self) -> u32 {
        match self {
            Cut::Lines => 15,
            Cut::Paragraphs | Cut::Sentences(_) => 40,
            Cut::Runs(length) => length,
        }
    }

    /// Returns whether passages consist of units rather than characters.
    pub fn has_units(self) -> bool {
        !matches!(self, Cut::Runs(_))
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cut::Lines => f.write_str("lines"),
            Cut::Paragraphs => f.write_str("paragraphs"),
            Cut::Sentences(count) => write!(f, "sentences:{count}"),
            Cut::Runs(length) => write!(f, "runs:{length}"),
        }
    }
}

/// Defines where a run that is cut may begin and end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CutAt {
    /// Between words.
    #[default]
    Word,
    /// Between sentences.
    Sentence,
}

impl CutAt {
    /// The values with their descriptions.
    pub const ALL: &'static [(&'static str, &'static str)] =
        &[("word", "Cuts begin and end between words"), ("sentence", "Cuts begin and end between sentences")];

    /// Returns the value with that name, or [`CutAt::Word`] for any other name.
    pub fn of(name: &str) -> CutAt {
        if name == CutAt::Sentence.name() { CutAt::Sentence } else { CutAt::Word }
    }

    /// Returns the name of the value.
    pub fn name(self) -> &'static str {
        match self {
            CutAt::Word => "word",
            CutAt::Sentence => "sentence",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_is_parsed_and_printed_back() {
        for typed in ["lines", "paragraphs", "sentences:3", "runs:20", "runs:500"] {
            let cut = Cut::parse(typed).expect("a value").expect("something is cut");
            assert_eq!(cut.to_string(), typed);
        }
        assert_eq!(Cut::parse("none").expect("a value"), None);
        for wrong in ["", "line", "sentences", "sentences:0", "runs:19", "runs:1000001", "runs:-5", "lines:2", "runs:a"]
        {
            let said = Cut::parse(wrong).expect_err(wrong).to_string();
            assert!(said.contains("expected lines, paragraphs"), "{said}");
        }
    }

    #[test]
    fn places_of_cuts_have_names() {
        assert!(CutAt::ALL.iter().all(|(name, _)| CutAt::of(name).name() == *name));
    }
}

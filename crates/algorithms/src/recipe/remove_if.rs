//! The condition under which a document is removed in favor of a kept partner (`--remove-if`).
//!
//! A pair means that two documents are similar. Similarity alone is no reason to remove one of them: two notices with the same template are
//! similar but state different facts. A document is therefore removed only in favor of a kept document that contains its text, that is, a
//! minimum share of its distinct 3-grams and a minimum share of its distinct numbers; see [`crate::measure::contained()`]. An exact copy is
//! always removed.
//!
//! The direction matters. If one text consists of another text and an addition, only the shorter text may be removed.
//!
//! Source: Broder 1997 defines containment; requiring containment for removal but not for pairing is dupsift's own rule.

use serde::Serialize;
use std::fmt;

use crate::measure::Contained;
use dupsift_core::error::{Error, Result};

/// The maximum number of kept partners with which a document is compared; the most similar partners come first.
pub const MOST_LOOKED_AT: usize = 20;

/// Defines the condition for removing a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RemoveIf {
    /// It is enough that the two documents form a pair.
    Pair,
    /// The kept document contains the other document.
    Contained(Bounds),
}

/// Holds the minimum shares of a document that the kept document must contain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bounds {
    /// The share of the distinct 3-grams.
    pub grams: f64,
    /// The share of the distinct numbers.
    pub numbers: f64,
}

/// States why a document is kept although it forms a pair with a kept document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stays {
    /// No kept document contains enough of the document's 3-grams.
    OwnText,
    /// The document contains a kept document, but no kept document contains it.
    Larger,
    /// A kept document contains enough of the document's 3-grams, but too few of its numbers.
    OwnNumbers,
}

impl Stays {
    /// Returns the name in run.json.
    pub fn name(self) -> &'static str {
        match self {
            Stays::OwnText => "unique text",
            Stays::Larger => "contains the kept one",
            Stays::OwnNumbers => "different numbers",
        }
    }
}

impl Bounds {
    /// The default share of numbers.
    pub const NUMBERS: f64 = 0.9;

    /// Returns whether a document may be removed if another document contains this much of it. A document without words is not contained in
    /// any other document.
    pub fn hold(self, contained: Contained) -> bool {
        self.grams_hold(contained) && contained.facts.share().is_none_or(|share| share >= self.numbers)
    }

    fn grams_hold(self, contained: Contained) -> bool {
        contained.grams.share().is_some_and(|share| share >= self.grams)
    }

    /// Returns the reason why a document is kept although it forms a pair with a kept document, given how much of each document the other
    /// contains. Returns `None` if the document may be removed.
    pub fn stays(self, [of_it, of_kept]: [Contained; 2]) -> Option<Stays> {
        match () {
            () if self.hold(of_it) => None,
            () if self.grams_hold(of_it) => Some(Stays::OwnNumbers),
            () if self.hold(of_kept) => Some(Stays::Larger),
            () => Some(Stays::OwnText),
        }
    }
}

impl RemoveIf {
    /// Parses `pair` or `contained:T[:N]`.
    ///
    /// # Errors
    /// Returns an error for anything else.
    pub fn parse(typed: &str) -> Result<RemoveIf> {
        let wrong = |why: String| {
            Error::wrong_value(
                "remove-if",
                format_args!("{typed:?}"),
                format_args!(
                    "{why}; expected pair, or contained:T or contained:T:N with shares from 0 to 1, such as contained:0.8:0.9"
                ),
            )
        };
        let share = |word: &str, name: &str| match word.parse::<f64>() {
            Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
            _ => Err(wrong(format!("{name} is {word:?}"))),
        };
        let words: Vec<&str> = typed.split(':').collect();
        match words[..] {
            ["pair"] => Ok(RemoveIf::Pair),
            ["contained", grams] => {
                Ok(RemoveIf::Contained(Bounds { grams: share(grams, "T")?, numbers: Bounds::NUMBERS }))
            }
            ["contained", grams, numbers] => {
                Ok(RemoveIf::Contained(Bounds { grams: share(grams, "T")?, numbers: share(numbers, "N")? }))
            }
            ["contained"] => Err(wrong("the share T is missing".into())),
            [rule, ..] => {
                let hint = dupsift_core::error::did_you_mean(rule, ["pair", "contained"]);
                Err(wrong(format!("this is not a rule{hint}")))
            }
            [] => Err(wrong("it is empty".into())),
        }
    }

    /// Returns the bounds of `contained`.
    pub fn bounds(self) -> Option<Bounds> {
        match self {
            RemoveIf::Pair => None,
            RemoveIf::Contained(bounds) => Some(bounds),
        }
    }
}

impl fmt::Display for RemoveIf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RemoveIf::Pair => f.write_str("pair"),
            RemoveIf::Contained(Bounds { grams, numbers }) => write!(f, "contained:{grams}:{numbers}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Part;

    #[test]
    fn rules_are_parsed_and_printed_back() {
        for typed in ["pair", "contained:0.8:0.9", "contained:1:0"] {
            assert_eq!(RemoveIf::parse(typed).unwrap().to_string(), typed);
        }
        assert_eq!(RemoveIf::parse("contained:.7").unwrap().to_string(), "contained:0.7:0.9");
        let message = |typed: &str| RemoveIf::parse(typed).unwrap_err().to_string();
        assert!(message("contaned:0.8").contains("did you mean \"contained\"?"));
        assert!(message("contained:1.5").contains("T is \"1.5\"") && message("contained:1:x").contains("N is \"x\""));
        assert!(
            message("contained").contains("T is missing") && message("contained:0.8:0.9:1").contains("expected pair")
        );
        assert!(message("contained:NaN").contains("from 0 to 1"));
    }

    #[test]
    fn who_may_go_and_why_the_others_stay() {
        let contained = |grams: (u64, u64), numbers: (u64, u64)| {
            let part = |(common, all)| Part { common, all };
            Contained { grams: part(grams), facts: part(numbers), ..Contained::default() }
        };
        let bounds = Bounds { grams: 0.8, numbers: 0.9 };
        let of = |of_it, of_kept| bounds.stays([of_it, of_kept]);
        let (whole, none) = (contained((8, 10), (9, 10)), contained((1, 10), (0, 0)));
        assert_eq!(of(whole, none), None);
        assert_eq!(of(contained((8, 10), (0, 0)), none), None);
        assert_eq!(of(contained((8, 10), (8, 10)), none), Some(Stays::OwnNumbers));
        assert_eq!(of(contained((79, 100), (1, 1)), none), Some(Stays::OwnText));
        assert_eq!(of(none, whole), Some(Stays::Larger));
        assert!(
            !bounds.hold(contained((0, 0), (0, 0))) && !Bounds { grams: 0.0, numbers: 0.0 }.hold(Contained::default())
        );
        // Shares are compared as decimal numbers: 7 out of 100 equals 0.07.
        assert!(Bounds { grams: 0.07, numbers: 0.0 }.hold(contained((7, 100), (0, 0))));
    }
}

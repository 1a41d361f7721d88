//! Defines the options for cutting passages from kept documents (`--cut`).

use super::RunOptions;
use dupsift_core::error::{Error, Result};
use dupsift_passages::{Cut, CutAt, Rule};

/// Holds the value of `--cut` and the options that apply only with `--cut`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CutOptions {
    /// The unit of a passage; `None` if nothing is cut.
    pub what: Option<Cut>,
    /// The boundaries at which a cut may start and end if runs of characters are cut.
    pub at: CutAt,
    /// The minimum length of a unit that can be cut, in characters; `None` selects the default for the unit.
    pub min_chars: Option<u32>,
    /// The minimum number of occurrences for a passage to be cut.
    pub copies: u64,
    /// Whether first copies are also cut.
    pub first: bool,
    /// The minimum number of characters that must remain after cutting. A document with fewer remaining characters is removed.
    pub min_left: u32,
    /// The share of cut text above which the result does not replace an earlier result.
    pub max_share: f64,
}

impl CutOptions {
    /// Returns the rule that decides which occurrences are repeats, or `None` if nothing is cut.
    pub fn rule(&self) -> Option<Rule> {
        self.what.map(|cut| Rule { cut, copies: self.copies, cuts_first: self.first })
    }

    /// Returns the minimum length of a unit that can be cut, in characters.
    pub fn least_chars(&self) -> u32 {
        self.min_chars.unwrap_or_else(|| self.what.map_or(0, Cut::least_chars))
    }

    /// Returns a line identifying the settings that affect which repeats are found.
    pub fn line(&self) -> String {
        let what = self.what.map(|cut| cut.to_string());
        format!("{what:?} {} {} {}", self.least_chars(), self.copies, self.first)
    }
}

/// Checks that a run can cut the passages that the options select.
///
/// # Errors
/// Returns [`Error::Usage`] for an option that has no effect without `cut`, or that cannot be combined with `cut`.
pub fn check(options: &RunOptions) -> Result<()> {
    let cut = &options.cut;
    let Some(what) = cut.what else {
        let idle = [
            (cut.at != CutAt::Word, "cut-at"),
            (cut.min_chars.is_some(), "cut-min-chars"),
            (cut.copies > 2, "cut-copies"),
            (cut.first, "cut-first"),
        ];
        return match idle.into_iter().find(|(is_given, _)| *is_given) {
            Some((_, name)) => {
                Err(Error::wrong(name, "has no effect without `cut`; add `cut=lines` or another value of `cut`"))
            }
            None => Ok(()),
        };
    };
    if cut.at != CutAt::Word && what.has_units() {
        return Err(Error::wrong("cut-at", format!("`cut={what}` cuts complete units; remove `cut-at`")));
    }
    if cut.min_chars.is_some() && !what.has_units() {
        let why = format!("`cut={what}` defines the length of a passage; remove `cut-min-chars`");
        return Err(Error::wrong("cut-min-chars", why));
    }
    let refused = |why: &str| Err(Error::wrong("cut", why));
    if options.index.is_some() {
        return refused("a run with `index` cannot cut passages; run again over deduped/ without `index` to cut them");
    }
    if options.reference.is_some() {
        return refused(
            "a run with `reference` cannot cut passages; run again over deduped/ without `reference` to cut them",
        );
    }
    if options.html {
        return refused(
            "passages cannot be cut from HTML pages; run `dupsift purify` first, then use its pages/ as input",
        );
    }
    Ok(())
}

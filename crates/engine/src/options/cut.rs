//! What is cut out of the documents that are kept (`--cut`).

use super::RunOptions;
use dupsift_core::error::{Error, Result};
use dupsift_passages::{Cut, CutAt, Rule};

/// The options of `--cut`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CutOptions {
    /// What counts as a passage; `None` if nothing is cut.
    pub what: Option<Cut>,
    /// Where cuts of runs begin and end.
    pub at: CutAt,
    /// The least number of characters of a unit that can be cut; `None` for the default of what is cut.
    pub min_chars: Option<u32>,
    /// Passages with fewer occurrences are kept.
    pub copies: u64,
    /// Whether first copies are cut too.
    pub first: bool,
    /// A document of which something was cut is removed if fewer characters are left.
    pub min_left: u32,
    /// The share of the text above which a result does not replace an earlier one.
    pub max_share: f64,
}

impl CutOptions {
    /// Returns which occurrences are repeats; `None` if nothing is cut.
    pub fn rule(&self) -> Option<Rule> {
        self.what.map(|cut| Rule { cut, copies: self.copies, cuts_first: self.first })
    }

    /// Returns the least number of characters of a unit that can be cut.
    pub fn least_chars(&self) -> u32 {
        self.min_chars.unwrap_or_else(|| self.what.map_or(0, Cut::least_chars))
    }

    /// Returns what the repeats of a corpus depend on, as a line.
    pub fn line(&self) -> String {
        let what = self.what.map(|cut| cut.to_string());
        format!("{what:?} {} {} {}", self.least_chars(), self.copies, self.first)
    }
}

/// Checks that a run can cut what was asked for.
///
/// # Errors
/// [`Error::Usage`] for an option that has nothing to cut, or that `cut` does not go with.
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
        let why = format!("`cut={what}` says how long a passage is; leave `cut-min-chars` out");
        return Err(Error::wrong("cut-min-chars", why));
    }
    let refused = |why: &str| Err(Error::wrong("cut", why));
    if options.index.is_some() {
        return refused("a run with `index` cannot cut passages; cut them in a second run over its deduped/");
    }
    if options.reference.is_some() {
        return refused("a run with `reference` cannot cut passages; cut them in a second run over its deduped/");
    }
    if options.html {
        return refused("passages of HTML pages cannot be cut; run `dupsift purify` first, and this over its pages/");
    }
    Ok(())
}

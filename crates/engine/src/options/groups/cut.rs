//! Options for cutting passages from kept documents (`--cut`).

use super::RUN;
use crate::options::RunOptions;
use crate::options::help_groups::PASSAGES;
use crate::options::spec::{Affects, OptionSpec, depends, is};
use crate::options::value::Kind;
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
}

impl CutOptions {
    /// Returns the rule that decides which occurrences are repeats, or `None` if nothing is cut.
    pub fn rule(&self) -> Option<Rule> {
        self.what.map(|cut| Rule { cut, copies: self.copies, cuts_first: self.first })
    }

    /// Returns the minimum length of a unit that can be cut, in characters.
    pub(crate) fn least_chars(&self) -> u32 {
        self.min_chars.unwrap_or_else(|| self.what.map_or(0, Cut::least_chars))
    }
}

/// Checks that a run can cut the passages that the options select.
///
/// # Errors
/// Returns [`Error::Usage`] for an option that has no effect without `cut`, or that cannot be combined with `cut`.
pub(crate) fn check(options: &RunOptions) -> Result<()> {
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
    if options.incremental.index.is_some() {
        return refused("a run with `index` cannot cut passages; run again over deduped/ without `index` to cut them");
    }
    if options.incremental.reference.is_some() {
        return refused(
            "a run with `reference` cannot cut passages; run again over deduped/ without `reference` to cut them",
        );
    }
    if options.columns.html {
        return refused(
            "passages cannot be cut from HTML pages; run `dupsift purify` first, then use its pages/ as input",
        );
    }
    Ok(())
}

/// The options of this group, in the order of the help.
#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(PASSAGES, RUN, "cut", "WHAT", Kind::Text(|typed| Cut::parse(typed).map(drop)),
        "Find passages that also occur in an earlier kept document (in the order of `keep`), and cut them from deduped/ (with `corpus=keep`): lines, paragraphs, sentences:N (N consecutive sentences), or runs:L (at least L consecutive characters)")
        .default(is("none"))
        .field(
            |run, given| Ok(run.cut.what = Cut::parse(given.text())?),
            |run| Some(run.cut.what.map_or_else(|| "none".into(), |cut| cut.to_string()).into()),
        )
        .affects(Affects::Removals),
    OptionSpec::new(PASSAGES, RUN, "cut-at", "PLACE", Kind::Choice(CutAt::ALL), "Where cuts made by `cut=runs:L` begin and end")
        .default(is("word"))
        .field(|run, given| Ok(run.cut.at = CutAt::of(given.text())), |run| Some(run.cut.at.name().into()))
        .affects(Affects::Output),
    OptionSpec::new(PASSAGES, RUN, "cut-min-chars", "N", Kind::Whole(0, u32::MAX as u64),
        "Do not cut lines, paragraphs or groups of sentences with fewer characters than this")
        .default(depends("15 for lines, 40 for paragraphs and sentences"))
        .field(
            |run, given| Ok(run.cut.min_chars = Some(given.number() as u32)),
            |run| run.cut.min_chars.map(|count| u64::from(count).into()),
        )
        .affects(Affects::Removals),
    OptionSpec::new(PASSAGES, RUN, "cut-copies", "N", Kind::Whole(2, u64::MAX), "Do not cut passages that occur fewer times than this in the corpus")
        .default(is("2"))
        .field(|run, given| Ok(run.cut.copies = given.number()), |run| Some(run.cut.copies.into()))
        .affects(Affects::Removals),
    OptionSpec::new(PASSAGES, RUN, "cut-first", "", Kind::Switch, "Cut the first copy of a passage, too")
        .field(|run, given| Ok(run.cut.first = given.switch()), |run| Some(run.cut.first.into()))
        .affects(Affects::Removals),
    OptionSpec::new(PASSAGES, RUN, "min-chars-left", "N", Kind::Whole(0, u32::MAX as u64),
        "Remove a document if fewer characters than this remain after cutting, unless the document contains the first copy of a passage")
        .default(is("200"))
        .field(|run, given| Ok(run.cut.min_left = given.number() as u32), |run| Some(u64::from(run.cut.min_left).into()))
        .affects(Affects::Output),
];

//! Holds the options in groups. A group is a struct with the values for a run, next to the specifications of its options. To add an option,
//! add a specification and, if the option affects a run, a field of the struct. Help, configuration files, run.json, the saved state,
//! docs/options.md and python/dupsift/_keywords.py are derived from the specifications.
//!
//! The values of a run are set in the order of [`OPTIONS`]. `--decide` may refer to an algorithm, so `removal` comes after `duplicates`.
//! The help shows options under headings; see [`in_groups`].

pub(crate) mod columns;
pub(crate) mod cut;
pub(crate) mod duplicates;
mod evaluation_set;
mod filter;
pub(crate) mod guards;
pub(crate) mod incremental;
pub(crate) mod input;
mod judging;
mod log;
pub(crate) mod output;
pub(crate) mod pages;
pub(crate) mod removal;
pub(crate) mod resources;
pub(crate) mod sampling;
pub(crate) mod text;

use super::help_groups::GROUPS;
use super::spec::{OptionSpec, Verb};
use dupsift_core::error::Result;

const EVERY: &[Verb] = &Verb::ALL;
const MAKING: &[Verb] = &Verb::MAKING;
/// The commands that split Chinese text into words.
const WORDING: &[Verb] = &[Verb::Run, Verb::Compare, Verb::Stream, Verb::Purify];
/// The commands that find duplicates among documents.
const FINDERS: &[Verb] = &[Verb::Run, Verb::Compare, Verb::Stream];
/// The commands that read document texts.
const TEXTS: &[Verb] = &[Verb::Run, Verb::Compare, Verb::Stream, Verb::Contaminated];
/// The commands that accept the options for deciding which documents are removed. `stream` ignores these options.
const DECIDING: &[Verb] = &[Verb::Run, Verb::Stream];
const RUN: &[Verb] = &[Verb::Run];
const COMPARE: &[Verb] = &[Verb::Compare];
/// The commands that resume an interrupted run.
const RESUMING: &[Verb] = &[Verb::Run, Verb::Compare];
/// The commands that may run for hours.
const LONG: &[Verb] = RESUMING;
const STREAM: &[Verb] = &[Verb::Stream];
const EVALUATE: &[Verb] = &[Verb::Evaluate];
const PURIFY: &[Verb] = &[Verb::Purify];
const CONTAMINATED: &[Verb] = &[Verb::Contaminated];
/// The commands that accept a threshold.
const THRESHOLD: &[Verb] = &[Verb::Run, Verb::Stream, Verb::Contaminated];
/// The commands that may rewrite the corpus.
const COPYING: &[Verb] = &[Verb::Run, Verb::Contaminated];
/// The commands that may use the statistics of an earlier run.
const COUNTING: &[Verb] = &[Verb::Run, Verb::Purify];

/// Accepts any string. Used for options whose value is checked elsewhere.
fn any(_: &str) -> Result<()> {
    Ok(())
}

const ALL: &[&[OptionSpec]] = &[
    judging::OPTIONS,
    filter::OPTIONS,
    evaluation_set::OPTIONS,
    input::OPTIONS,
    columns::OPTIONS,
    sampling::OPTIONS,
    guards::OPTIONS,
    pages::OPTIONS,
    output::OPTIONS,
    duplicates::OPTIONS,
    text::OPTIONS,
    removal::OPTIONS,
    cut::OPTIONS,
    incremental::OPTIONS,
    resources::OPTIONS,
    log::OPTIONS,
];

/// Lists every option.
pub static OPTIONS: &[OptionSpec] = &JOINED;

static JOINED: [OptionSpec; count()] = joined();

const fn count() -> usize {
    let (mut count, mut group) = (0, 0);
    while group < ALL.len() {
        count += ALL[group].len();
        group += 1;
    }
    count
}

const fn joined() -> [OptionSpec; count()] {
    let mut all = [ALL[0][0]; count()];
    let (mut count, mut group) = (0, 0);
    while group < ALL.len() {
        let mut at = 0;
        while at < ALL[group].len() {
            all[count] = ALL[group][at];
            (count, at) = (count + 1, at + 1);
        }
        group += 1;
    }
    all
}

/// Returns the options of a command.
pub fn options_of(verb: Verb) -> impl Iterator<Item = &'static OptionSpec> {
    OPTIONS.iter().filter(move |option| option.verbs.contains(&verb))
}

/// Returns the options of a command in help order, group by group.
pub fn in_groups(verb: Verb) -> Vec<&'static OptionSpec> {
    let mut options: Vec<&OptionSpec> = options_of(verb).collect();
    options.sort_by_key(|option| GROUPS.iter().position(|group| *group == option.heading));
    options
}

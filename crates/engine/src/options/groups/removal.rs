//! Options that decide which documents are kept and which are removed.

use super::{DECIDING, FINDERS, RUN, any};
use crate::options::help_groups::KEPT;
use crate::options::spec::{Affects, OptionSpec, Verb, in_words, is};
use crate::options::value::{Kind, Value};
use crate::options::words::CHAIN;
use crate::options::{Decide, Keep};
use dupsift_algorithms::recipe::remove_if::RemoveIf;

/// Decides which documents are removed.
#[derive(Clone, Debug)]
pub struct RemovalOptions {
    /// Whether documents are removed; false if algorithms are only compared.
    pub removes: bool,
    /// The order of preference, which determines which document is kept.
    pub keep: Keep,
    /// The column for each of whose values a document is kept.
    pub keep_per: Option<String>,
    /// The pairs that decide which documents are removed.
    pub decide: Decide,
    /// The condition for removing a document that forms a pair with a kept document.
    pub remove_if: RemoveIf,
    /// Whether documents linked only by a chain of pairs are also removed.
    pub chains: bool,
}

impl Default for RemovalOptions {
    fn default() -> RemovalOptions {
        RemovalOptions {
            removes: true,
            keep: Keep { keys: Vec::new(), is_none: false },
            keep_per: None,
            decide: Decide::All,
            remove_if: RemoveIf::Pair,
            chains: false,
        }
    }
}

/// The options of this group, in the order of the help.
#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(KEPT, FINDERS, "keep", "KEYS", Kind::Text(|typed| Keep::parse(typed).map(drop)),
        "Which of several duplicates is kept: the first one when sorted by columns, length or doc, each with asc or desc. With none, the preferred document is removed along with its duplicates")
        .brief("Which duplicate is kept: columns, length or doc; or none")
        .list()
        .default(is("length desc"))
        .but(&[(Verb::Compare, "Which document represents a cluster: the first one when sorted by columns, length or doc, each with asc or desc", is("length desc")),
            (Verb::Stream, "Which of several duplicates is kept: the first one when sorted by columns, length or doc, each with asc or desc", is("length desc"))])
        .field(|run, given| Ok(run.removal.keep = Keep::parse(given.text())?), |run| Some(run.removal.keep.to_string().into()))
        .affects(Affects::Notes),
    OptionSpec::new(KEPT, RUN, "keep-per", "COLUMN", Kind::Column,
        "Keep one of several duplicates for each value of this column, such as a source: a document is removed only in favor of a document with the same value. Pairs and clusters do not change. Missing values count as equal to each other")
        .field(|run, given| Ok(run.removal.keep_per = Some(given.text().to_owned())), |run| run.removal.keep_per.clone().map(Value::from))
        .affects(Affects::Notes),
    OptionSpec::new(KEPT, DECIDING, "decide", "RULE", Kind::Text(any),
        "Algorithms that must find a pair before a document is removed: any, all, at-least:K, or the label of a single algorithm")
        .default(is("any"))
        .field(
            |run, given| {
                let labels: Vec<&str> = run.recipe.algorithms.iter().map(|chosen| chosen.label.as_str()).collect();
                Ok(run.removal.decide = Decide::parse(given.text(), &labels)?)
            },
            |run| Some(run.removal.decide.to_string().into()),
        )
        .affects(Affects::Removals),
    OptionSpec::new(KEPT, RUN, "remove-if", "RULE", Kind::Text(|typed| RemoveIf::parse(typed).map(drop)),
        "Condition for removing one document of a pair: pair (always) or contained:T[:N] (only if the kept document contains at least the share T of the removed document's 3-grams and the share N of its numbers)")
        .brief("Condition for removing a document: pair, or contained:T[:N]")
        .default(in_words("contained:0.8:0.9", "contained:0.8:0.9; pair for `algorithms=exact:form=url`"))
        .field(|run, given| Ok(run.removal.remove_if = RemoveIf::parse(given.text())?), |run| Some(run.removal.remove_if.to_string().into()))
        .affects(Affects::Removals),
    OptionSpec::new(KEPT, DECIDING, "chain", "WHAT", Kind::Choice(CHAIN),
        "What to do with documents that are linked to the kept document only through a chain of pairs")
        .default(is("keep"))
        .field(
            |run, given| Ok(run.removal.chains = given.text() == "remove"),
            |run| Some(if run.removal.chains { "remove" } else { "keep" }.into()),
        )
        .affects(Affects::Removals),
];

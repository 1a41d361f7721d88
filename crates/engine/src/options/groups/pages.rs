//! Options for web pages: their main text, and the categories of `purify`.

use super::{MAKING, PURIFY};
use crate::options::help_groups::{ELEMENTS, INPUT};
use crate::options::purifier::{parse_purify, purify_name};
use crate::options::spec::{Affects, OptionSpec, is};
use crate::options::value::Kind;
use dupsift_pages::PurifyOptions;

/// Selects how pages are read.
#[derive(Clone, Debug, Default)]
pub struct PageOptions {
    /// How the text is extracted from pages, if the corpus contains pages.
    pub purify: PurifyOptions,
}

/// The options of this group, in the order of the help.
#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(INPUT, MAKING, "purify", "METHOD", Kind::Text(|typed| parse_purify(typed).map(drop)),
        "Method that extracts the text from pages: docview, readability or visible, with optional parameters :name=value,..., as in docview:other=skip")
        .default(is("readability"))
        .field(
            |run, given| Ok(run.pages.purify = parse_purify(given.text())?),
            |run| Some(purify_name(&run.pages.purify).into()),
        )
        .affects(Affects::Identified),
    OptionSpec::new(ELEMENTS, PURIFY, "model", "DIR", Kind::Path, "Output of an earlier run with `train`; its model assigns a category to each page"),
    OptionSpec::new(ELEMENTS, PURIFY, "train", "COLUMN", Kind::Column,
        "Train a category model on the labels in this column, instead of writing pages"),
];

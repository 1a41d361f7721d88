//! Options of `stream`: the filter of known keys.

use super::STREAM;
use crate::options::help_groups::FILTER;
use crate::options::spec::{OptionSpec, depends, is};
use crate::options::value::Kind;

/// The options of this group, in the order of the help.
#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(FILTER, STREAM, "filter", "FILE", Kind::Path,
        "Filter from an earlier `dupsift stream` (OUT/filter.bloom)"),
    OptionSpec::new(FILTER, STREAM, "forget", "INPUT", Kind::Texts,
        "Files with old versions of documents to remove from the filter first; can be repeated"),
    OptionSpec::new(FILTER, STREAM, "keys", "N", Kind::Whole(1, u64::MAX), "Planned number of keys in a new filter")
        .default(depends("ten times the number of documents in this input")),
    OptionSpec::new(FILTER, STREAM, "rate", "RATE", Kind::Rate,
        "Maximum false-positive rate of a new filter: the share of new documents that it may flag by mistake")
        .default(is("0.001")),
];

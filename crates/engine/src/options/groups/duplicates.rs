//! Options for the algorithms, and for the pairs that they find.

use std::path::PathBuf;

use super::{COUNTING, FINDERS, RUN, THRESHOLD};
use crate::options::help_groups::DUPLICATES;
use crate::options::spec::{Affects, NONE, OptionSpec, Verb, in_words, is};
use crate::options::value::{Kind, Value};
use crate::options::words;
use dupsift_algorithms::recipe::entries::{EVERYTHING, Entries};
use dupsift_algorithms::recipe::{DEFAULT_PRESET, Recipe, preset};

/// Limits the pairs. The algorithms are in [`RunOptions::recipe`](crate::options::RunOptions::recipe).
#[derive(Clone, Debug, Default)]
pub struct DuplicateOptions {
    /// The maximum size of a group with equal signatures for which all pairs are written. In larger groups, only pairs with the
    /// representative are written.
    pub max_group: u64,
    /// The maximum number of comparisons within one group, for algorithms that compare the rows of a group.
    pub max_candidates: u64,
    /// The output of an earlier run whose statistics, models and document count replace the values that would be computed from the corpus.
    pub stats: Option<PathBuf>,
}

/// The options of this group, in the order of the help.
#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(DUPLICATES, FINDERS, "algorithms", "LIST", Kind::Text(|typed| Entries::parse(typed).map(drop)),
        "Algorithms, such as three_plus_five,minhash:bands=20,rows=5, or all; see `dupsift algorithms`")
        .brief("Algorithms, such as three_plus_five,minhash")
        .list()
        .default(in_words(DEFAULT_PRESET.algorithms, "the algorithms of `preset=balanced`"))
        .but(&[
            (Verb::Compare, "Algorithms and presets to compare, such as balanced,strict,minhash:bands=20,rows=5; see `dupsift algorithms`",
                in_words(EVERYTHING, "all algorithms and presets")),
            (Verb::Stream, "The algorithm whose signature is the key; see `dupsift algorithms`", is("exact")),
            // `purify` uses no algorithm, but a value is required, so the default is the cheapest algorithm.
            (Verb::Purify, "", is("exact")),
            (Verb::Contaminated, "", is("exact")),
        ])
        .field(
            |run, given| Ok(run.recipe.algorithms = Entries::parse(given.text())?.algorithms),
            |run| {
                let all: Vec<String> = run.recipe.algorithms.iter().map(ToString::to_string).collect();
                Some(all.join(",").into())
            },
        )
        .affects(Affects::Identified),
    OptionSpec::new(DUPLICATES, FINDERS, "preset", "NAME", Kind::Text(|typed| preset(typed).map(drop)),
        "A set of algorithms, instead of `algorithms`: balanced, strict, broad or fineweb; see `dupsift algorithms`")
        .brief("Algorithms: balanced (default), strict, broad, fineweb")
        .but(&[(Verb::Compare, "A preset and its algorithms, instead of `algorithms`: balanced, strict, broad or fineweb", NONE)])
        .field(
            |run, given| Ok(run.recipe.algorithms = Recipe::parse_algorithms(preset(given.text())?.algorithms)?),
            |_| None,
        )
        .affects(Affects::Identified),
    OptionSpec::new(DUPLICATES, THRESHOLD, "threshold", "T", Kind::Share,
        "Minimum similarity of duplicates, if `algorithms` lists only one algorithm: `algorithms=minhash` with `threshold=0.8` is the same as `algorithms=minhash:threshold=0.8`")
        .but(&[(Verb::Contaminated, "Minimum score of a contaminated document, from 0 to 1", is("0.8"))]),
    OptionSpec::new(DUPLICATES, FINDERS, "count-copies", "", Kind::Switch,
        "Whether word statistics include exact copies")
        .default(is("true"))
        .field(
            |run, given| Ok(run.recipe.count_copies = given.switch()),
            |run| Some(run.recipe.count_copies.into()),
        )
        .affects(Affects::Counts),
    OptionSpec::new(DUPLICATES, RUN, "scope", "SCOPE", Kind::Text(|typed| words::scope(typed).map(drop)),
        "Documents to compare with each other: all, within:COLUMN (only documents with the same value in this column), or across:COLUMN (only documents with different values). Missing values count as equal to each other")
        .default(is("all"))
        .field(|run, given| words::set_scope(&mut run.recipe, given.text()), |run| Some(words::of_scope(&run.recipe).into())),
    OptionSpec::new(DUPLICATES, FINDERS, "max-group", "N", Kind::Whole(2, u64::MAX),
        "If more than this number of distinct texts share a signature, write only their pairs with the representative. Regardless of this limit, exact copies are paired only with the best copy of their text")
        .default(is("1000"))
        .field(|run, given| Ok(run.duplicates.max_group = given.number()), |run| Some(run.duplicates.max_group.into()))
        .affects(Affects::Output),
    // The default allows all pairs in a group of 4,472 rows.
    OptionSpec::new(DUPLICATES, FINDERS, "max-candidates", "N", Kind::Whole(1, u64::MAX),
        "Maximum number of comparisons in one group. If there are more, the remaining comparisons are skipped and counted, and the pairs found depend on the order of the documents")
        .default(is("10000000"))
        .field(|run, given| Ok(run.duplicates.max_candidates = given.number()), |run| Some(run.duplicates.max_candidates.into()))
        .affects(Affects::Pairs),
    OptionSpec::new(DUPLICATES, COUNTING, "stats", "DIR", Kind::Path,
        "Output of an earlier run. The statistics, models and document count of that run are used, so a signature depends only on the document itself")
        .but(&[(
            Verb::Purify,
            "Output of an earlier run whose word statistics are used to weight keywords. By default, keywords are weighted only by their frequency in the page",
            NONE,
        )])
        .field(|run, given| Ok(run.duplicates.stats = Some(given.path())), |run| run.duplicates.stats.clone().map(Value::from))
        .affects(Affects::Identified),
];

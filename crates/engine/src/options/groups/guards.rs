//! Options that hold back an implausible result.

use std::path::PathBuf;

use super::{MAKING, RUN};
use crate::options::help_groups::{GUARDS, INPUT};
use crate::options::spec::{Affects, OptionSpec, depends, is};
use crate::options::value::{Kind, Value};

/// Holds the bounds beyond which a result does not replace an earlier result.
#[derive(Clone, Debug, Default)]
pub struct GuardOptions {
    /// Whether the first bad row or file ends the run.
    pub strict: bool,
    /// Whether the result is published even if a guard would prevent it.
    pub accept: bool,
    /// The maximum share of defective rows; `None` selects the default for the number of rows.
    pub max_rejected_share: Option<f64>,
    /// The maximum share of removed rows in a large file.
    pub max_removed_share: f64,
    /// The minimum number of rows that a file must have for the removal guard to apply.
    pub guard_rows: u64,
    /// The maximum share of text that is cut.
    pub max_cut_share: f64,
    /// The maximum share of removed near-duplicates that look like pages from the same template.
    pub max_template_share: f64,
    /// The output of an earlier run whose pair counts are compared with the pair counts of this run.
    pub previous: Option<PathBuf>,
    /// The column with the source of each row. Removals are reported for each source.
    pub source_column: Option<String>,
    /// The maximum number of pairs per document, as a multiple of the number in the `previous` run.
    pub max_pairs_factor: u64,
    /// The maximum factor by which the amount of text may shrink compared with the `previous` run.
    pub max_shrink_factor: u64,
    /// The maximum number of candidates per document, as a multiple of the number expected from earlier batches in the index.
    pub max_candidates_factor: u64,
}

/// The options of this group, in the order of the help.
#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(INPUT, MAKING, "strict", "", Kind::Switch, "Stop at the first invalid row or file")
        .field(|run, given| Ok(run.guards.strict = given.switch()), |run| Some(run.guards.strict.into()))
        .affects(Affects::Notes),
    OptionSpec::new(GUARDS, MAKING, "accept", "", Kind::Switch,
        "Publish the result even if a guard fires; the guards are still reported")
        .field(|run, given| Ok(run.guards.accept = given.switch()), |run| Some(run.guards.accept.into()))
        .affects(Affects::Output),
    OptionSpec::new(GUARDS, MAKING, "max-rejected-share", "SHARE", Kind::Share,
        "Keep the previous output if more than this share of rows is invalid")
        .default(depends("0.05; 0.5 for fewer than 100 rows"))
        .field(
            |run, given| Ok(run.guards.max_rejected_share = Some(given.real())),
            |run| run.guards.max_rejected_share.map(Value::from),
        )
        .affects(Affects::Output),
    OptionSpec::new(GUARDS, RUN, "max-removed-share", "SHARE", Kind::Share,
        "Keep the previous output if more than this share of the rows in a file is removed. With `previous`, this guard also applies if `out` does not exist yet")
        .default(is("0.5"))
        .field(|run, given| Ok(run.guards.max_removed_share = given.real()), |run| Some(run.guards.max_removed_share.into()))
        .affects(Affects::Output),
    OptionSpec::new(GUARDS, RUN, "guard-rows", "N", Kind::Whole(0, u64::MAX), "Apply `max-removed-share` only to files with at least this many rows")
        .default(is("10000"))
        .field(|run, given| Ok(run.guards.guard_rows = given.number()), |run| Some(run.guards.guard_rows.into()))
        .affects(Affects::Output),
    OptionSpec::new(GUARDS, RUN, "max-cut-share", "SHARE", Kind::Share,
        "Keep the previous output if `cut` removes more than this share of the text in the kept documents")
        .default(is("0.5"))
        .field(|run, given| Ok(run.guards.max_cut_share = given.real()), |run| Some(run.guards.max_cut_share.into()))
        .affects(Affects::Output),
    OptionSpec::new(GUARDS, RUN, "max-template-share", "SHARE", Kind::Share,
        "Keep the previous output if more than this share of the removed near-duplicates look like pages with the same template")
        .default(is("0.2"))
        .field(|run, given| Ok(run.guards.max_template_share = given.real()), |run| Some(run.guards.max_template_share.into()))
        .affects(Affects::Output),
    OptionSpec::new(GUARDS, RUN, "previous", "DIR", Kind::Path,
        "Output of an earlier run to compare with. If a guard fires, the result is not published, even if `out` does not exist yet")
        .field(|run, given| Ok(run.guards.previous = Some(given.path())), |run| run.guards.previous.clone().map(Value::from))
        .affects(Affects::Output),
    OptionSpec::new(GUARDS, RUN, "source-column", "COLUMN", Kind::Column,
        "Column with the source of each row. `max-removed-share` then applies to each source, run.json contains the number of removed rows for each source with at least `guard-rows` rows, and attributes/ contains the number of sources in each cluster")
        .field(|run, given| Ok(run.guards.source_column = Some(given.text().to_owned())), |run| run.guards.source_column.clone().map(Value::from))
        .affects(Affects::Notes),
    OptionSpec::new(GUARDS, RUN, "max-pairs-factor", "N", Kind::Whole(1, u64::MAX),
        "Keep the previous output if an algorithm's number of pairs per document exceeds the number in `previous` by more than this factor. Applies only to algorithms with at least 1,000 pairs")
        .default(is("5"))
        .field(|run, given| Ok(run.guards.max_pairs_factor = given.number()), |run| Some(run.guards.max_pairs_factor.into()))
        .affects(Affects::Output),
    OptionSpec::new(GUARDS, RUN, "max-shrink-factor", "N", Kind::Whole(1, u64::MAX),
        "Keep the previous output if the amount of input text has shrunk by more than this factor. Applies only if the previous input had at least 100 documents. With `index`, the average amount of text per document is compared instead")
        .default(is("10"))
        .field(|run, given| Ok(run.guards.max_shrink_factor = given.number()), |run| Some(run.guards.max_shrink_factor.into()))
        .affects(Affects::Output),
    OptionSpec::new(GUARDS, RUN, "max-candidates-factor", "N", Kind::Whole(1, u64::MAX),
        "With `index`, do not publish the result if an algorithm's number of candidates per document exceeds the number in earlier runs by more than this factor. Applies only to algorithms with at least 1,000 candidates")
        .default(is("10"))
        .field(|run, given| Ok(run.guards.max_candidates_factor = given.number()), |run| Some(run.guards.max_candidates_factor.into()))
        .affects(Affects::Output),
];

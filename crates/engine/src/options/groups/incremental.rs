//! Options for matching against earlier documents.

use std::path::PathBuf;

use super::{RUN, any};
use crate::options::help_groups::INCREMENTAL;
use crate::options::spec::{Affects, OptionSpec, depends};
use crate::options::value::{Kind, Value};

/// Names the index or the reference against which the corpus is matched.
#[derive(Clone, Debug, Default)]
pub struct IncrementalOptions {
    /// The index against which the corpus is matched and to which it is then added.
    pub index: Option<PathBuf>,
    /// The reference against which the corpus is matched. The corpus is not added to the reference.
    pub reference: Option<PathBuf>,
    /// Whether the run builds the index of a reference. The run that requested the index then reports the guards.
    pub is_reference: bool,
    /// The name of the corpus in the index; `None` uses the name of the output.
    pub batch: Option<String>,
    /// The planned number of documents in a new index.
    pub planned_documents: Option<u64>,
}

/// The options of this group, in the order of the help.
#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(INCREMENTAL, RUN, "index", "DIR", Kind::Path,
        "Match against all documents from earlier runs, and add the new documents. The first run creates the folder. \
         Indexed documents are never removed")
        .brief("Match against all earlier runs, and add the new documents")
        .field(|run, given| Ok(run.incremental.index = Some(given.path())), |run| run.incremental.index.clone().map(Value::from))
        .affects(Affects::Identified),
    OptionSpec::new(INCREMENTAL, RUN, "reference", "PATH", Kind::Path,
        "Match against an index, the output of an earlier run, or files. Documents in the reference are never removed, and a reference index is not changed")
        .field(|run, given| Ok(run.incremental.reference = Some(given.path())), |run| run.incremental.reference.clone().map(Value::from))
        .affects(Affects::Identified),
    OptionSpec::new(INCREMENTAL, RUN, "batch", "NAME", Kind::Text(any), "Name of this run in the index")
        .default(depends("the last component of `out`"))
        .field(|run, given| Ok(run.incremental.batch = Some(given.text().into())), |run| run.incremental.batch.clone().map(Value::from))
        .affects(Affects::Output),
    OptionSpec::new(INCREMENTAL, RUN, "planned-documents", "N", Kind::Whole(1, u64::MAX),
        "Planned number of documents in a new index; determines the layout of its search tables")
        .default(depends("100 times the number of documents in this run, at least 100 million"))
        .field(|run, given| Ok(run.incremental.planned_documents = Some(given.number())), |run| run.incremental.planned_documents.map(Value::from))
        .affects(Affects::Output),
];

//! Defines the `run.json` file of the `purify` command.

use std::collections::BTreeMap;

use serde::Serialize;

use super::elements::Elements;
use dupsift_engine::pass::{
    BadInputReport, GuardReport, Guarded, Losses, OtherInputReport, PurifyReport, RejectionsReport, SCHEMA_VERSION,
    Session, StageReport, notes,
};
use dupsift_input::OwnColumns;

/// Describes a finished run of `purify`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PagesReport {
    /// The version of the format of this record and its tables.
    pub schema_version: u32,
    /// The version of the program.
    pub dupsift: String,
    /// The tokenizer, the normalization and their versions, which affect the keywords.
    pub text: String,
    /// The prefix of the page columns.
    pub prefix: String,
    /// The name of the statistics used to weight the keywords, as recorded with the statistics. `None` if keywords are weighted only by
    /// their frequency on the page.
    pub statistics: Option<String>,
    /// The hash of the model used to predict categories, in hexadecimal.
    pub model: Option<String>,
    /// The names of the input files, as used in ids.
    pub inputs: Vec<String>,
    /// The input files that could not be used.
    pub bad_inputs: Vec<BadInputReport>,
    /// The inputs whose rows were read in addition to the corpus.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_inputs: Vec<OtherInputReport>,
    /// The number of input files that were not read, by file extension.
    pub unread: BTreeMap<String, u64>,
    /// The folders inside the inputs that were skipped because they were written by dupsift, each with its type of content.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped_folders: BTreeMap<String, String>,
    /// The number of rows in all usable files; with `--limit`, the number of rows within the limit.
    pub rows: u64,
    /// The number of rows written to `pages/`.
    pub written: u64,
    /// The rejected rows, which are listed in `rejected/`.
    #[serde(flatten)]
    pub rejections: RejectionsReport,
    /// Counts of the processed pages.
    pub purified: PurifyReport,
    /// The time spent on keywords, abstracts, links and categories, in seconds, totaled over all threads.
    pub elements_seconds: f64,
    /// One entry per stage, in order.
    pub stages: Vec<StageReport>,
    /// The guards that fired. The exit code is 3, or 4 if a guard prevented publication of the result.
    pub guards: Vec<GuardReport>,
    /// The warnings of the run.
    pub warnings: Vec<String>,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// User and system CPU seconds of the process.
    pub cpu_seconds: f64,
    /// The highest sampled anonymous memory use, in bytes.
    pub peak_memory_bytes: u64,
}

impl Guarded for PagesReport {
    fn guards(&self) -> &[GuardReport] {
        &self.guards
    }

    fn other_inputs(&self) -> &[OtherInputReport] {
        &self.other_inputs
    }
}

pub(super) fn report(
    session: &Session<'_>,
    prefix: &str,
    own: &OwnColumns,
    elements: &Elements,
    losses: &Losses<'_>,
    purified: PurifyReport,
    elements_seconds: f64,
    written: u64,
    rejections: RejectionsReport,
) -> PagesReport {
    let (seconds, cpu_seconds, peak_memory_bytes) = session.engine.clock.totals();
    let mut warnings: Vec<String> = own
        .columns
        .iter()
        .filter(|column| column.mixed)
        .map(|column| format!("column {} is written as text, because its type differs between files", column.name))
        .collect();
    if !own.nested.is_empty() {
        warnings.push(format!("nested columns are skipped: {}", own.nested.join(", ")));
    }
    warnings.extend(notes(session, losses.bad));
    PagesReport {
        schema_version: SCHEMA_VERSION,
        dupsift: env!("CARGO_PKG_VERSION").to_string(),
        text: session.pipeline.identity(),
        prefix: prefix.to_owned(),
        statistics: elements.snapshot().map(|snapshot| format!("{snapshot:016x}")),
        model: elements.model().map(str::to_owned),
        inputs: session.source.files.iter().map(|file| file.label.clone()).collect(),
        bad_inputs: losses.bad_inputs(),
        other_inputs: losses.other_inputs(),
        unread: session.source.unread.by_ending().clone(),
        skipped_folders: session.source.unread.skipped_folders(),
        rows: session.documents(),
        written,
        rejections,
        purified,
        elements_seconds,
        stages: session.engine.clock.stages(),
        guards: Vec::new(),
        warnings,
        seconds,
        cpu_seconds,
        peak_memory_bytes,
    }
}

//! Defines the record and the text of a dry run for programs that use the library. The command line logs the same lines.

use serde::Serialize;

use super::{estimated, plan};
use dupsift_engine::job::{Estimate, RunReport};
use dupsift_engine::options::RunOptions;
use dupsift_study::WholeCorpus;

/// Holds the estimate for a run on a complete corpus. Field names are part of the interface.
#[derive(Clone, Debug, Serialize)]
pub struct DryRun {
    /// The number of rows in all files, up to `limit`.
    pub documents: u64,
    /// The size of the input files on disk, in bytes.
    pub input_bytes: u64,
    /// The algorithms of the run, with all their parameters.
    pub algorithms: Vec<String>,
    /// The peak of anonymous memory in bytes, excluding the allowance for the longest document.
    pub memory_bytes: u64,
    /// The approximate size of temporary files in bytes, excluding candidates to verify.
    pub disk_bytes: u64,
    /// The passes of the run, in order.
    pub passes: Vec<PlannedPass>,
    /// The result on a sample; null if no sample was requested.
    pub sample: Option<SampleEstimate>,
}

/// Describes one pass.
#[derive(Clone, Debug, Serialize)]
pub struct PlannedPass {
    /// The name of the pass.
    pub name: &'static str,
    /// The work of the pass, and the algorithms that take part.
    pub does: String,
    /// The number of bytes of text that the pass reads; 0 if only some documents are looked up.
    pub read_bytes: u64,
    /// The approximate number of bytes that the pass writes to temporary files.
    pub disk_bytes: u64,
}

/// Estimates the result for the complete corpus from a run on a sample.
#[derive(Clone, Debug, Serialize)]
pub struct SampleEstimate {
    /// The number of rows in the sample.
    pub documents: u64,
    /// The number of rows in the sample that contain text.
    pub used: u64,
    /// The number of removed documents in the sample.
    pub removed: u64,
    /// The time for the run on the sample, in seconds.
    pub seconds: f64,
    /// The lowest and highest estimates of the share of documents in the complete corpus that would be removed, 0 to 1.
    pub removed_share: [f64; 2],
    /// The estimated time for the complete corpus in seconds, without the report and the cleaned corpus.
    pub estimated_seconds: f64,
}

impl DryRun {
    /// Returns the estimate for `run`, whose options specify no sample. `sample` is the record of a run on a sample
    /// of the same corpus, if there is one.
    pub fn new(run: &RunOptions, estimate: &Estimate, sample: Option<&RunReport>) -> DryRun {
        let pass = |pass: &dupsift_engine::job::Pass| PlannedPass {
            name: pass.name,
            does: pass.does.clone(),
            read_bytes: pass.reads,
            disk_bytes: pass.writes,
        };
        DryRun {
            documents: estimate.documents,
            input_bytes: estimate.input_bytes,
            algorithms: run.recipe.algorithms.iter().map(ToString::to_string).collect(),
            memory_bytes: estimate.memory_bytes,
            disk_bytes: estimate.disk_bytes,
            passes: estimate.passes.iter().map(pass).collect(),
            sample: sample.map(SampleEstimate::new),
        }
    }
}

impl SampleEstimate {
    fn new(report: &RunReport) -> SampleEstimate {
        let whole = WholeCorpus::of(report);
        SampleEstimate {
            documents: report.documents.rows,
            used: report.documents.used,
            removed: whole.removed,
            seconds: report.seconds,
            removed_share: whole.removed_share,
            estimated_seconds: whole.seconds,
        }
    }
}

/// Returns the text of a dry run: the lines of the estimate, a table of the passes, and the result on the sample. `sample` holds the
/// estimate for the run on the sample and the record of that run; if it is given, the table shows the passes of that run. `called`
/// describes the recipe. The text ends with a line break.
pub fn dry_run(called: &str, estimate: &Estimate, sample: Option<(&Estimate, &RunReport)>) -> String {
    let passes = plan(&sample.map_or(estimate, |(sampled, _)| sampled).passes, sample.is_some());
    let sample = sample.map_or_else(String::new, |(_, report)| format!("\n{}", estimated(report)));
    format!("{called}: {}\n\n{passes}{sample}", estimate.lines.join("\n"))
}

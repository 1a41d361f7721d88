//! Starts a run. This is the only place that distinguishes ordinary runs, incremental runs and runs on a cluster.

use std::sync::atomic::AtomicBool;

use dupsift_cluster::Cluster;
use dupsift_core::error::{Error, Result};
use dupsift_engine::engine::Progress;
use dupsift_engine::job::{self, Estimate, RunReport};
use dupsift_engine::options::RunOptions;
use dupsift_engine::reading::{self, Inputs, Writes};
use dupsift_publish::TemporaryFolder;

/// Checks the options, opens the inputs and starts the run, on the cluster if there is one.
///
/// # Errors
/// Returns the errors of [`crate::Job::run`].
pub fn start(
    options: &RunOptions,
    cluster: Option<&(dyn Cluster + Sync)>,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<RunReport> {
    job::check(options)?;
    let inputs = match cluster {
        // The other machines read the inputs themselves.
        Some(_) => reading::look(options, cancel)?,
        None => reading::look_and_write(options, progress, cancel, Writes::Texts)?,
    };
    if cluster.is_none() && progress.is_shown() {
        progress.follow(estimate(options, &inputs)?.legs);
    }
    start_with(options, inputs, cluster, progress, cancel)
}

/// Runs the job on inputs that are already open, and writes `report.html` if the program was built with support for this page.
///
/// # Errors
/// Returns the errors of [`crate::Job::run`].
pub fn start_with(
    options: &RunOptions,
    inputs: Inputs,
    cluster: Option<&(dyn Cluster + Sync)>,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<RunReport> {
    #[cfg(feature = "report")]
    let finish: &job::Finish<'_> = &dupsift_study::with_page(&crate::report::page);
    #[cfg(not(feature = "report"))]
    let finish: &job::Finish<'_> = &|_, _, report| Ok(report);
    match (cluster, &options.incremental.index, &options.incremental.reference) {
        (Some(cluster), ..) => dupsift_cluster::run(options, inputs, cluster, progress, cancel, finish),
        (None, None, None) => job::run(options, inputs, progress, cancel, finish),
        (None, Some(dir), None) => dupsift_incremental::with_index(options, inputs, dir, progress, cancel, finish),
        (None, None, Some(result)) => {
            dupsift_incremental::with_reference(options, inputs, result, progress, cancel, finish)
        }
        (None, Some(_), Some(_)) => Err(Error::usage("`index` and `reference` cannot be combined; remove one of them")),
    }
}

/// Estimates the cost of a run, after checking everything that can be checked without reading documents.
///
/// # Errors
/// Returns an error if the options contradict each other, do not fit within the memory limit, or do not match the inputs.
pub fn estimate(options: &RunOptions, inputs: &Inputs) -> Result<Estimate> {
    dupsift_incremental::check(options, inputs)?;
    job::estimate(options, inputs)
}

/// Runs the job on the sample for an estimate, in a temporary folder that is deleted afterwards.
///
/// # Errors
/// Returns the errors of [`start`].
pub fn start_sample(options: &RunOptions, progress: &Progress, cancel: &AtomicBool) -> Result<RunReport> {
    let folder = TemporaryFolder::create(options.resources.work.as_deref())?;
    let mut sampled = options.clone();
    sampled.output.folder = folder.path().join("out");
    sampled.resources.work = None;
    sampled.output.overwrite = false;
    // No result is published, so none can be held back.
    sampled.guards.accept = true;
    sampled.resources.checkpoint = None;
    sampled.output.keep_texts = false;
    sampled.output.report = false;
    job::check(&sampled)?;
    let inputs = reading::take_in(&sampled, progress, cancel, Writes::Texts)?;
    progress.follow(estimate(&sampled, &inputs)?.legs);
    start_with(&sampled, inputs, None, progress, cancel)
}

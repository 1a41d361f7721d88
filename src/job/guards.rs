//! Guards of a job: what [`crate::stage::guard`] measures, and whether the result is held back for it.
//!
//! A result is held back only where an output stands that it would replace: on a first run there is nothing to lose.

use std::path::{Path, PathBuf};

use super::category::TrainingReport;
use super::compare::Compared;
use super::pages_report::PagesReport;
use super::run_report::{GuardReport, RejectionsReport, RunReport};
use super::stream::StreamReport;
use super::workers::Job;
use crate::error::Result;
use crate::io::{BadInput, Stage, held_path};
use crate::stage::guard::{Fired, ReadCounts, holds, reading, removal};

/// A record of a job whose guards decide where its result goes.
pub trait Guarded {
    /// The guards that fired.
    fn guards(&self) -> &[GuardReport];

    /// Whether a guard fired that holds results back where they would replace another one.
    fn would_hold(&self) -> bool {
        self.guards().iter().any(|guard| holds(&guard.name))
    }

    /// Whether the result is held back: it stands beside the output that it does not replace.
    fn is_held(&self) -> bool {
        self.guards().iter().any(|guard| guard.held)
    }
}

impl Guarded for RunReport {
    fn guards(&self) -> &[GuardReport] {
        &self.guards
    }
}

impl Guarded for Compared {
    fn guards(&self) -> &[GuardReport] {
        &self.run.guards
    }
}

impl Guarded for StreamReport {
    fn guards(&self) -> &[GuardReport] {
        &self.guards
    }
}

impl Guarded for PagesReport {
    fn guards(&self) -> &[GuardReport] {
        &self.guards
    }
}

impl Guarded for TrainingReport {
    fn guards(&self) -> &[GuardReport] {
        &self.guards
    }
}

/// Where the result of a job with that `--out` stands: there, or beside it if it is held back.
pub fn stands_in(report: &impl Guarded, out: &Path) -> PathBuf {
    if report.is_held() { held_path(out) } else { out.to_path_buf() }
}

/// The guards of a run: over what was read, and over what is removed.
pub(super) fn of_run(job: &Job<'_>, stage: &Stage, bad: &[BadInput], report: &RunReport) -> Result<Vec<GuardReport>> {
    let documents = &report.documents;
    let mut fired = over_reading(job, bad, documents.used, &documents.rejections);
    fired.extend(report.inputs.iter().filter_map(|file| removal(&file.file, file.rows, file.removed)));
    decided(job, stage, fired)
}

/// The guards over what was read.
pub(super) fn of_reading(
    job: &Job<'_>,
    stage: &Stage,
    bad: &[BadInput],
    used: u64,
    rejections: &RejectionsReport,
) -> Result<Vec<GuardReport>> {
    decided(job, stage, over_reading(job, bad, used, rejections))
}

fn over_reading(job: &Job<'_>, bad: &[BadInput], used: u64, rejections: &RejectionsReport) -> Vec<Fired> {
    let (files, bad_bytes) = (&job.source.files, bad.iter().map(|file| file.bytes).sum::<u64>());
    // The bytes of a file that takes part hold those that were lost of it.
    let gone = bad.iter().filter(|file| !file.takes_part);
    let read = ReadCounts {
        rows: job.documents(),
        used,
        broken: rejections.broken,
        bad_files: bad.len() as u64,
        bad_bytes,
        bytes: files.iter().map(|file| file.bytes).chain(gone.clone().map(|file| file.bytes)).sum(),
        unknown_files: bad.iter().filter(|file| file.bytes == 0).count() as u64,
        files: files.len() as u64 + gone.count() as u64,
    };
    reading(&read, job.options.max_rejected_share)
}

fn decided(job: &Job<'_>, stage: &Stage, fired: Vec<Fired>) -> Result<Vec<GuardReport>> {
    let holding = !job.options.accept && stage.replaces()?;
    let report = |fired: Fired| GuardReport {
        name: fired.name.to_owned(),
        measured: fired.measured,
        limit: fired.limit,
        sentence: fired.sentence,
        held: fired.holds && holding,
    };
    let guards: Vec<GuardReport> = fired.into_iter().map(report).collect();
    guards.iter().for_each(|guard| tracing::warn!("{}", guard.sentence));
    Ok(guards)
}

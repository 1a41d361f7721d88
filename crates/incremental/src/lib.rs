//! Implements `run --index` and `run --reference`: an incremental run matches a batch against all indexed documents and adds it to the
//! index.
//!
//! ```text
//! first pass      signatures of the batch; their keys are looked up
//! match           a scan of the index's rows: a document that shares a key with the batch takes part, unless the sketch words
//!                 in the index show that the two are not a pair
//! read            texts of these indexed documents are copied out of the index and read as documents before the batch
//! everything else as in any run, except that two indexed documents are not a pair, and an indexed document stays kept or removed
//! append          texts, keys and removals of the batch, each text once, with the kept document
//! publish         folders, intent, output, manifest, in this order
//! ```
//!
//! The first incremental run creates the index and computes the statistics. The signatures in this first run are the same as in a run with
//! frozen statistics (`frozen`).

// Tests write files to their own folders and use the platform's math library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod append;
mod batch;
mod drift;
mod join;
mod reference;
mod run_batch;
mod stored;
#[cfg(test)]
mod test_kit;
pub mod upkeep;

use std::path::Path;
use std::sync::atomic::AtomicBool;

pub use batch::place::place_of;
pub use batch::{accept, reject};
use reference::Reference;
use run_batch::{Purpose, matched};
pub use upkeep::again::{Again, ReadAgain};

use dupsift_core::error::Result;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::job::RunReport;
use dupsift_engine::job::run::Finish;
use dupsift_engine::options::RunOptions;
use dupsift_engine::reading::inputs::Inputs;
use dupsift_engine::session::Session;
use dupsift_input::absolute;
use dupsift_publish::{ReferenceFolder, Stage};

/// Checks that a run can be matched against its index or reference, if it has one.
///
/// # Errors
/// Returns [`Error::Usage`](dupsift_core::error::Error::Usage) naming the option or the input that makes this impossible.
pub fn check(options: &RunOptions, inputs: &Inputs) -> Result<()> {
    match (&options.incremental.index, &options.incremental.reference) {
        (None, None) => Ok(()),
        _ => batch::recipe::check(options, inputs),
    }
}

/// Performs a run against the index in a folder, and adds the batch to the index.
///
/// # Errors
/// Returns the errors of [`run`](dupsift_engine::job::run()), or an error if the index has a different recipe or already contains a
/// different batch with the same name.
pub fn with_index(
    options: &RunOptions,
    inputs: Inputs,
    dir: &Path,
    progress: &Progress,
    cancel: &AtomicBool,
    finish: &Finish<'_>,
) -> Result<RunReport> {
    batch::recipe::check(options, &inputs)?;
    matched(options, inputs, progress, cancel, finish, (dir, Purpose::Append))
}

/// Performs a run against a reference, which remains unchanged.
///
/// # Errors
/// Returns the errors of [`with_index`], or an error if the reference cannot be read.
pub fn with_reference(
    options: &RunOptions,
    inputs: Inputs,
    reference: &Path,
    progress: &Progress,
    cancel: &AtomicBool,
    finish: &Finish<'_>,
) -> Result<RunReport> {
    batch::recipe::check(options, &inputs)?;
    let documents = inputs.source.documents();
    let reference = Reference::open(options, documents, reference, ReferenceFolder::create, (progress, cancel))?;
    let inputs = inputs.beside(reference.read());
    let stats = options.duplicates.stats.as_ref().map(|dir| absolute(dir).display().to_string());
    // The record has the statistics that were requested, not those of a temporary index.
    let finish = |session: &Session<'_>, stage: &Stage, mut report: RunReport| {
        match &stats {
            Some(dir) => drop(report.options.insert("stats".to_owned(), dir.as_str().into())),
            None => drop(report.options.remove("stats")),
        }
        finish(session, stage, report)
    };
    // The options used for the reference also apply to the corpus.
    let mut options = options.clone();
    options.duplicates.stats = reference.stats(&options);
    options.incremental.planned_documents = None;
    matched(&options, inputs, progress, cancel, &finish, (reference.dir(), reference.purpose()))
}

//! `run`, and with `--index` a run over a night against everything already seen, and what it adds to the index.
//!
//! ```text
//! first reading   the night signs; its keys are those of its rows
//! meet            a scan of the index's rows: who has a key of the night becomes a guest, unless what the index keeps of both
//!                 says that they are no pair
//! guests          their texts are copied out of the index and read as documents that stand before the night
//! all else        as in any run, but that two guests are no pair, and what became of a guest is known
//! append          texts, keys and fates of the night, each text once, by the document that is kept
//! publish         folders, intent, output, manifest, in this order
//! ```
//!
//! The first such run makes the index: it counts and learns, and its signatures are those under frozen counts too (`frozen`).

// Tests write files into folders of their own, and compute with the library of the platform.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod again;
mod append;
mod batch;
mod drift;
mod earlier;
mod job;
mod join;
mod known_by;
mod nearest;
mod night;
mod place;
mod published;
mod recipe;
mod reference;
mod rows;
mod rule_out;
mod scan;
pub mod upkeep;

use std::path::Path;
use std::sync::atomic::AtomicBool;

pub use again::Again;
pub use batch::accept;
use night::matched;
pub use place::place_of;
use reference::Reference;

use dupsift_core::error::Result;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::job::RunReport;
use dupsift_engine::job::run::Finish;
use dupsift_engine::options::RunOptions;
use dupsift_engine::reading::inputs::Inputs;

/// Runs against the index in a folder, and adds the batch to it.
///
/// # Errors
/// As [`run`](dupsift_engine::job::run()); an index of another recipe; a name that another batch has.
pub fn with_index(
    options: &RunOptions,
    inputs: Inputs,
    dir: &Path,
    progress: &Progress,
    cancel: &AtomicBool,
    finish: &Finish<'_>,
) -> Result<RunReport> {
    recipe::check(options, &inputs)?;
    matched(options, inputs, progress, cancel, finish, (dir, true))
}

/// Runs against a reference, which stays as it is.
///
/// # Errors
/// As [`with_index`]; a reference that cannot be read.
pub fn with_reference(
    options: &RunOptions,
    inputs: Inputs,
    reference: &Path,
    progress: &Progress,
    cancel: &AtomicBool,
    finish: &Finish<'_>,
) -> Result<RunReport> {
    recipe::check(options, &inputs)?;
    let reference = Reference::open(options, &inputs, reference, progress, cancel)?;
    let inputs = inputs.beside(reference.read());
    // The options of the reference apply to the corpus too.
    let options = RunOptions { stats: reference.stats(options), planned_documents: None, ..options.clone() };
    matched(&options, inputs, progress, cancel, finish, (reference.dir(), false))
}

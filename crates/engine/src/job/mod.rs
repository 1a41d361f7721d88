//! Drives a run: opens files, starts threads, enforces the memory limit and runs the steps in order.
//!
//! `story` defines the order of the steps. The steps are divided into five modules: `read`, `pair`, `decide`, `cut` and `write`. Each step
//! that uses files or threads has a file in one of them; `saved` holds the saved state. The computation itself is in
//! `dupsift_algorithms::steps`.

// What is checked before a run, and the estimate of its cost.
pub mod check;
pub(crate) mod estimate;
mod folders;
mod timing;

// The run: its states in order, and what a state leaves to the next.
pub mod algorithm_state;
pub(crate) mod passes;
pub mod run;
pub mod story;
#[cfg(test)]
mod story_tests;
pub mod text_edits;

// The steps.
pub mod cut;
pub mod decide;
pub mod pair;
pub mod read;
pub mod write;

// The record of a run, the guards that check it, and what later runs read back.
pub mod guards;
mod places;
pub mod read_back;
pub mod run_report;
pub mod saved;

pub use check::{check, check_dry};
pub use estimate::{Estimate, estimate};
pub use guards::{Guarded, stands_in};
pub use run::{Finish, run};
pub use run_report::*;

pub use dupsift_algorithms::steps::parts::{PartReport, PartsReport};
/// One pass in the plan that a dry run prints.
pub use dupsift_algorithms::steps::passes::Pass;
/// Functions that end a process after a request to stop.
pub use dupsift_publish::unfinished::{end, ends_by_itself, left};
/// The function that removes temporary files left by unfinished runs.
pub use dupsift_publish::{Cleared, clean};

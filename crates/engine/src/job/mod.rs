//! The driver of a run. It opens files, starts threads, and keeps the memory limit and the order of steps.
//!
//! `story` has the order of steps. They are in three parts: `read`, `pair` and `write`. Each step that touches files or threads is a file in
//! one of them; what it computes is in `dupsift_algorithms::stage`.

pub mod check;
pub mod cut;
mod describe;
pub(crate) mod estimate;
mod folders;
pub mod guards;
pub mod member;
pub mod pair;
mod places;
pub mod read;
pub mod read_back;
pub mod run;
pub mod run_report;
pub mod saved;
pub mod story;
#[cfg(test)]
mod story_tests;
mod timing;
pub mod write;

pub use check::{check, check_dry};
pub use estimate::{Estimate, estimate};
pub use guards::{Guarded, stands_in};
pub use run::{Finish, run};
pub use run_report::*;

/// What a corpus is made of.
pub use dupsift_algorithms::stage::parts::{Amount, PartReport, PartsReport};
/// What a dry run says.
pub use dupsift_algorithms::stage::passes::Pass;
/// How a process ends that is asked to stop.
pub use dupsift_files::io::unfinished::{end, ends_by_itself, left};
/// What is left of runs that were never finished.
pub use dupsift_files::io::{Cleared, clean};

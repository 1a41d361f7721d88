//! The local driver: it opens files, starts threads, keeps the memory budget and the order of stages.
//!
//! [`run()`] tells the story; each stage that touches files or threads has a file here, its arithmetic stands in `stage`.

mod attributes;
pub mod check;
mod clusters;
mod contents;
pub mod copies;
pub mod corpus_files;
pub mod count;
pub mod decide;
mod describe;
pub(crate) mod estimate;
mod folders;
pub mod group;
pub mod guards;
mod headings;
pub mod intake;
pub mod keep;
pub mod last_reading;
pub mod learn;
pub mod links;
mod look_ahead;
mod margin;
pub mod member;
pub mod output;
pub mod pair_list;
mod pairs;
pub mod passes;
mod places;
pub mod products;
pub mod read_back;
pub mod reading;
mod recall;
pub mod relate;
pub mod removals;
pub mod run;
pub mod run_report;
pub mod saved_inputs;
mod sift;
pub mod sign;
pub mod story;
#[cfg(test)]
mod story_tests;
pub mod tables;
mod tell;
mod timing;
pub mod verify;

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

//! The local driver: it opens files, starts threads, keeps the memory budget and the order of stages.
//!
//! [`run()`] tells the story; each stage that touches files or threads has a file here, its arithmetic stands in `stage`.

mod attributes;
pub(crate) mod check;
mod clusters;
mod contents;
pub(crate) mod copies;
pub(crate) mod corpus_files;
pub(crate) mod count;
pub(crate) mod decide;
mod describe;
pub(crate) mod estimate;
mod folders;
pub(crate) mod group;
pub(crate) mod guards;
mod headings;
pub(crate) mod intake;
pub(crate) mod keep;
pub(crate) mod last_reading;
pub(crate) mod learn;
pub(crate) mod links;
mod look_ahead;
mod margin;
pub(crate) mod member;
pub(crate) mod output;
pub(crate) mod pair_list;
mod pairs;
pub(crate) mod passes;
mod places;
pub(crate) mod products;
pub(crate) mod read_back;
pub(crate) mod reading;
mod recall;
pub(crate) mod relate;
pub(crate) mod removals;
pub(crate) mod run;
pub(crate) mod run_report;
pub(crate) mod saved_inputs;
mod sift;
pub(crate) mod sign;
pub(crate) mod tables;
mod tell;
mod timing;
pub(crate) mod verify;

pub use check::{check, check_dry};
pub use estimate::{Estimate, estimate};
pub use guards::{Guarded, stands_in};
pub use run::{Finish, run};
pub use run_report::*;

/// How a process ends that is asked to stop.
pub use crate::io::unfinished::{end, ends_by_itself, left};
/// What is left of runs that were never finished.
pub use crate::io::{Cleared, clean};
/// What a corpus is made of.
pub use crate::stage::parts::{Amount, PartReport, PartsReport};
/// What a dry run says.
pub use crate::stage::passes::Pass;

//! What a person reads of a finished run; the same facts stand in run.json for machines.
//!
//! The summary and its tables are text only, without colours but in a difference at a terminal: they are read in terminals,
//! mails of cron and logs alike. [`page()`] is the same result at length, for a browser.

mod columns;
mod comparison;
mod containment;
mod contamination;
mod difference;
mod evaluation;
mod explanation;
mod finished;
mod losses;
mod page;
mod pages;
mod plan;
mod summary;
mod tables;

pub use columns::{LEAST_WIDTH, Screen};
pub use comparison::comparison;
pub use contamination::contamination;
pub(crate) use dupsift_core::number::{counted, thousands};
pub use evaluation::evaluation;
pub use explanation::explanation;
pub use finished::finished;
pub use losses::{guarded, once_accepted, other_inputs, rejections, rejections_of};
pub use page::{accepted_page, contamination_page, marked, page};
pub use pages::{pages, training};
pub use plan::plan;
pub use summary::{Detail, applied, summary};
pub use tables::{table, table_of_numbers};

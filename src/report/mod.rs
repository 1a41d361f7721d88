//! Formats human-readable reports of finished runs; `run.json` contains the same facts in machine-readable form.
//!
//! The summary and its tables are text without colors, because they are read in terminals, cron emails and logs. Only differences between
//! texts are colored on a terminal. [`page()`] is a longer report for a browser.

mod columns;
mod comparison;
mod containment;
mod contamination;
mod difference;
mod dry_run;
mod evaluation;
mod explanation;
mod finished;
mod listing;
mod losses;
mod page;
mod pages;
mod plan;
mod purified;
mod summary;
mod tables;

pub use columns::{LEAST_WIDTH, Screen};
pub use comparison::comparison;
pub use contamination::contamination;
pub use dry_run::{DryRun, PlannedPass, SampleEstimate, dry_run};
pub(crate) use dupsift_core::number::{counted, thousands};
pub use evaluation::evaluation;
pub use explanation::explanation;
pub use finished::finished;
pub use listing::{label_table, listing, planned, rule_table};
pub use losses::{guarded, once_accepted, other_inputs, rejections, rejections_of, skipped};
pub use page::{accepted_page, contamination_page, marked, page};
pub use pages::{pages, training};
pub use plan::plan;
pub use summary::{Detail, applied, estimated, summary};
pub use tables::{table, table_of_numbers};

//! Implements the `stream` command, which flags documents in input order and writes a filter for the next run.

mod check;
mod filter;
mod keys;
mod run;
mod seen;

use std::path::PathBuf;

use crate::options::RunOptions;

pub use check::{check, check_filter};
pub use run::{StreamReport, stream};
pub use seen::Seen;

/// Holds the options for a stream, in addition to the options that every run has.
#[derive(Clone)]
pub struct StreamOptions {
    /// The options for columns, text processing and resources, and the single algorithm whose signatures are the keys.
    pub run: RunOptions,
    /// The filter that an earlier stream wrote; `None` starts with an empty filter.
    pub filter: Option<PathBuf>,
    /// The number of keys for which a new filter is built; `None` means ten times the number of input documents.
    pub keys: Option<u64>,
    /// The false-positive rate of a new filter after `keys` keys have been inserted.
    pub rate: f64,
}

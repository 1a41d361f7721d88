//! The verb `stream`: documents flagged in the order of the input, and the filter that one run leaves for the next.

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

/// What a stream is asked to do besides what every run is.
#[derive(Clone)]
pub struct StreamOptions {
    /// Columns, words, resources, and the one algorithm whose signatures are the keys.
    pub run: RunOptions,
    /// The filter that an earlier stream left; none: an empty one.
    pub filter: Option<PathBuf>,
    /// Keys that a new filter is made for; none: ten times the documents of this input.
    pub keys: Option<u64>,
    /// The rate of false positives of a new filter at that many keys.
    pub rate: f64,
}

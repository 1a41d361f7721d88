//! Implements `purify --train` and the `purify` command, which reads web pages and writes the elements of each page next to the columns of
//! its input file.

mod category;
mod elements;
mod report;
mod run;

use std::path::PathBuf;

use dupsift_engine::options::RunOptions;

pub use category::{TrainingReport, train};
pub use report::PagesReport;
pub use run::purify;

/// Holds the options of `purify`, including the options that all commands share.
#[derive(Clone)]
pub struct PagesOptions {
    /// The options for columns, word segmentation and resources. The algorithms in these options are not used.
    pub run: RunOptions,
    /// The input columns to copy to the output; `None` for all columns.
    pub columns: Option<Vec<String>>,
    /// Whether the HTML pages are also copied.
    pub keep_html: bool,
    /// The prefix for the names of the page columns.
    pub prefix: String,
    /// The output of the run whose word statistics are used to weight the keywords.
    pub stats: Option<PathBuf>,
    /// The output of the training run whose model is used to predict categories.
    pub model: Option<PathBuf>,
}

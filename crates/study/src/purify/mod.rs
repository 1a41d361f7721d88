//! Implements the `purify` command, which reads web pages and writes the elements of each page next to the columns of its file, and `purify
//! --train`.

mod category;
mod elements;
mod report;
mod run;

use std::path::PathBuf;

use dupsift_engine::options::RunOptions;

pub use category::{TrainingReport, train};
pub use report::PagesReport;
pub use run::purify;

/// Holds the options of `purify`, in addition to the options of every command.
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
    /// The output of a run whose word statistics weight the keywords.
    pub stats: Option<PathBuf>,
    /// The output of a training run; its model predicts categories.
    pub model: Option<PathBuf>,
}

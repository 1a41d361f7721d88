//! The verb `purify`: pages in, and beside the columns of their file the elements of each page out; `purify --train`.

mod category;
mod elements;
mod report;
mod run;

use std::path::PathBuf;

use dupsift_engine::options::RunOptions;

pub use category::{TrainingReport, train};
pub use report::PagesReport;
pub use run::purify;

/// What the verb is asked to do besides what every verb is.
#[derive(Clone)]
pub struct PagesOptions {
    /// Columns, words, resources; its algorithms are not asked.
    pub run: RunOptions,
    /// The columns of the files that are written beside the page's; none: all of them.
    pub columns: Option<Vec<String>>,
    /// Whether the pages themselves are among them.
    pub keep_html: bool,
    /// What stands before the names of the columns of pages.
    pub prefix: String,
    /// The output of a run whose word statistics weigh the keywords.
    pub stats: Option<PathBuf>,
    /// The output of a training that says categories.
    pub model: Option<PathBuf>,
}

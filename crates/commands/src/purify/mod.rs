//! Implements `purify --train` and the `purify` command, which reads web pages and writes the elements of each page next to the columns of
//! its input file.

mod category;
mod elements;
mod report;
mod run;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use dupsift_core::error::Result;
use dupsift_engine::options::{RunOptions, Settings, resolve};
use dupsift_engine::pass::{GuardReport, Guarded, OtherInputReport, Progress};

pub use category::TrainingReport;
pub use report::PagesReport;

/// Describes a run of `purify`: its options, including the options that all commands share.
#[derive(Clone)]
pub struct Purify {
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
    /// The column with the labels on which a category model is trained; `None` writes pages instead.
    pub train: Option<String>,
}

/// Holds the contents of `run.json`.
#[derive(Clone, Debug)]
pub enum Purified {
    /// The pages were written.
    Pages(PagesReport),
    /// A category model was trained.
    Training(TrainingReport),
}

impl Guarded for Purified {
    fn guards(&self) -> &[GuardReport] {
        match self {
            Purified::Pages(report) => report.guards(),
            Purified::Training(report) => report.guards(),
        }
    }

    fn other_inputs(&self) -> &[OtherInputReport] {
        match self {
            Purified::Pages(report) => report.other_inputs(),
            Purified::Training(report) => report.other_inputs(),
        }
    }
}

impl Purify {
    /// Creates a run from complete settings.
    ///
    /// # Errors
    /// Returns an error if a run would reject an option.
    pub fn resolve(inputs: Vec<String>, settings: &Settings) -> Result<Purify> {
        let columns = match settings.text("columns") {
            None | Some("all") => None,
            Some("none") => Some(Vec::new()),
            Some(names) => Some(names.split(',').map(|name| name.trim().to_owned()).collect()),
        };
        Ok(Purify {
            run: resolve(inputs, settings)?,
            columns,
            keep_html: settings.switch("keep-html"),
            prefix: settings.text("prefix").unwrap_or_default().into(),
            stats: settings.path("stats").map(Path::to_path_buf),
            model: settings.path("model").map(Path::to_path_buf),
            train: settings.text("train").map(str::to_owned),
        })
    }

    /// Writes the elements of the pages, or trains a category model.
    ///
    /// # Errors
    /// Returns an error if a column is missing or conflicts with a page column, if no page is labeled, or if the run cannot finish.
    pub fn run(self, progress: &Progress, cancel: &AtomicBool) -> Result<Purified> {
        match &self.train {
            Some(column) => category::train(self.run.clone(), column, progress, cancel).map(Purified::Training),
            None => run::purify(self, progress, cancel).map(Purified::Pages),
        }
    }
}

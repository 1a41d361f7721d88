//! Implements the `stream` command, which flags documents in input order and writes a filter for the next run.

mod check;
mod filter;
mod keys;
mod run;
mod seen;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use dupsift_core::error::Result;
use dupsift_engine::options::{RunOptions, Settings, resolve};
use dupsift_engine::pass::{Inputs, Progress, Writes, check as check_run, check_dry, look_others, take_in};

pub use run::StreamReport;
pub use seen::Seen;

/// Describes a stream: its options, in addition to the options that every run has.
#[derive(Clone)]
pub struct Stream {
    /// The options for columns, text processing and resources, and the single algorithm whose signatures are the keys.
    pub run: RunOptions,
    /// The filter that an earlier stream wrote; `None` starts with an empty filter.
    pub filter: Option<PathBuf>,
    /// The number of keys for which a new filter is built; `None` means ten times the number of input documents.
    pub keys: Option<u64>,
    /// The false-positive rate of a new filter after `keys` keys have been inserted.
    pub rate: f64,
    /// The files, folders or globs with old versions of documents to remove from the filter first.
    pub forget: Vec<String>,
}

impl Stream {
    /// Creates a stream from complete settings.
    ///
    /// # Errors
    /// Returns an error if a run would reject an option.
    pub fn resolve(inputs: Vec<String>, settings: &Settings) -> Result<Stream> {
        Ok(Stream {
            run: resolve(inputs, settings)?,
            filter: settings.path("filter").map(Path::to_path_buf),
            keys: settings.number("keys"),
            rate: settings.real("rate").unwrap_or_default(),
            forget: settings.texts("forget").to_vec(),
        })
    }

    /// Removes the documents to forget from the filter, streams the corpus through it, and writes the output folder.
    ///
    /// # Errors
    /// Returns an error if the algorithm's signatures cannot be keys or if the filter has a different recipe, and any other error that
    /// prevents the run from finishing.
    pub fn run(&self, progress: &Progress, cancel: &AtomicBool) -> Result<StreamReport> {
        check::check(self, cancel)?;
        check_run(&self.run)?;
        let (inputs, forget) = self.open(Writes::Input, progress, cancel)?;
        run::stream(self, inputs, forget.as_ref(), progress, cancel)
    }

    /// Checks everything that can be checked without reading documents, such as the filter. Writes nothing.
    ///
    /// # Errors
    /// Returns the errors of [`Stream::run`] that can be detected early.
    pub fn dry_run(&self, cancel: &AtomicBool) -> Result<()> {
        check::check(self, cancel)?;
        check_dry(&self.run)?;
        let (inputs, _) = self.open(Writes::Nothing, &Progress::hidden(), cancel)?;
        check::check_filter(self, &inputs)
    }

    /// Opens the corpus and the documents to forget.
    fn open(&self, writes: Writes, progress: &Progress, cancel: &AtomicBool) -> Result<(Inputs, Option<Inputs>)> {
        let inputs = take_in(&self.run, progress, cancel, writes)?;
        let mut old = self.run.clone();
        old.input.paths = self.forget.clone();
        let forget = if self.forget.is_empty() { None } else { Some(look_others(&old, progress, cancel)?) };
        Ok((inputs, forget))
    }
}

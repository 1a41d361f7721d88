//! Starts runs from Rust programs, with options set by a builder.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::start;
use dupsift_commands::contaminated::{Contaminated, ContaminationReport, Page};
use dupsift_commands::purify::{Purified, Purify};
use dupsift_commands::stream::{Stream, StreamReport};
use dupsift_core::error::Result;
use dupsift_engine::engine::Progress;
use dupsift_engine::job::RunReport;
use dupsift_engine::options::{Settings, Verb, resolve};

/// Describes a run, or another command, over a corpus: its inputs, its output folder and its options.
///
/// Every option of the command can be set by name with [`Job::option`]. Options that are not set have their default values. Nothing is
/// checked until [`Job::run`] or another command is called.
#[derive(Clone, Debug, Default)]
#[must_use = "nothing happens before `run`"]
pub struct Job {
    inputs: Vec<String>,
    options: Vec<(String, String)>,
}

impl Job {
    /// Creates a job without inputs.
    pub fn new() -> Job {
        Job::default()
    }

    /// Adds an input: a file, a folder or a glob.
    pub fn input(mut self, path: impl AsRef<Path>) -> Job {
        self.inputs.push(path.as_ref().to_string_lossy().into_owned());
        self
    }

    /// Sets the output folder. The folder appears only when the run succeeds.
    pub fn output(self, folder: impl AsRef<Path>) -> Job {
        let folder = folder.as_ref().to_string_lossy().into_owned();
        self.option("out", folder)
    }

    /// Sets the algorithms and their parameters, for example `"exact,minhash:bands=20,rows=5"`.
    pub fn algorithms(self, algorithms: impl Into<String>) -> Job {
        self.option("algorithms", algorithms)
    }

    /// Sets the number of threads.
    pub fn threads(self, threads: usize) -> Job {
        self.option("threads", threads.to_string())
    }

    /// Sets the memory limit, in bytes.
    pub fn memory(self, bytes: u64) -> Job {
        self.option("memory", bytes.to_string())
    }

    /// Sets an option of the command. The value has the same form as on the command line. The words in the name may be separated by
    /// `_` or `-`. A later value replaces an earlier value.
    pub fn option(mut self, name: impl Into<String>, value: impl Into<String>) -> Job {
        self.options.push((name.into(), value.into()));
        self
    }

    /// Finds the duplicates and writes the output folder.
    ///
    /// If a guard prevents publication of the result, an earlier output is kept, and the guard is listed in `guards` in the report.
    ///
    /// # Errors
    /// Returns an error whose [`error::Kind`](crate::error::Kind) states whether the options, the inputs or the machine are at fault.
    /// After an error, an earlier output is unchanged.
    pub fn run(self) -> Result<RunReport> {
        let options = resolve(self.inputs.clone(), &self.settings(Verb::Run)?)?;
        start(&options, None, &Progress::hidden(), &AtomicBool::new(false))
    }

    /// Finds the documents that contain items of an evaluation set, as `dupsift contaminated` does, and writes the output folder. The option
    /// `against` names the evaluation set.
    ///
    /// # Errors
    /// See [`Job::run`].
    pub fn contaminated(self) -> Result<ContaminationReport> {
        #[cfg(feature = "report")]
        let page: Option<&Page<'_>> = Some(&crate::report::contamination_page);
        #[cfg(not(feature = "report"))]
        let page: Option<&Page<'_>> = None;
        let command = Contaminated::resolve(self.inputs.clone(), &self.settings(Verb::Contaminated)?)?;
        command.run(page, &Progress::hidden(), &AtomicBool::new(false))
    }

    /// Flags the documents that are similar to earlier ones, in input order, as `dupsift stream` does, and writes the output folder.
    ///
    /// # Errors
    /// See [`Job::run`].
    pub fn stream(self) -> Result<StreamReport> {
        let command = Stream::resolve(self.inputs.clone(), &self.settings(Verb::Stream)?)?;
        command.run(&Progress::hidden(), &AtomicBool::new(false))
    }

    /// Writes the elements of web pages, or trains a category model with the option `train`, as `dupsift purify` does.
    ///
    /// # Errors
    /// See [`Job::run`].
    pub fn purify(self) -> Result<Purified> {
        let command = Purify::resolve(self.inputs.clone(), &self.settings(Verb::Purify)?)?;
        command.run(&Progress::hidden(), &AtomicBool::new(false))
    }

    fn settings(&self, verb: Verb) -> Result<Settings> {
        let mut settings = Settings::default();
        for (name, value) in &self.options {
            settings.give_by_name(verb, name, &value.as_str().into())?;
        }
        settings.with_defaults(verb)
    }
}

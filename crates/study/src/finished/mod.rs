//! Reads a finished output folder: its record, its tables, and its corpus.
//!
//! Everything that uses a result (`evaluate`, `compare`, `explain`, the report) reads the written files, so that every command sees the
//! same result.

pub(crate) mod applied;
mod corpus;
mod frame;
pub(crate) mod pool;
mod rows;
pub(crate) mod tables;

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use applied::AppliedReport;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash128;
use dupsift_core::safe_fs::listing::{is_file, is_there};
use dupsift_core::safe_fs::{self, MOST_JSON};
use dupsift_engine::job::RunReport;
use dupsift_engine::job::read_back::Of;
use dupsift_engine::job::run_report::SCHEMA_VERSION;
use dupsift_engine::options::{Kind, OPTIONS, RunOptions, Settings, options_again};
use dupsift_incremental::{Again, ReadAgain, place_of};
use dupsift_index::IndexReport;
use dupsift_publish::{HELD, SUCCESS, leads_out};
use serde_json::Value as Json;

/// The file name of the record of an evaluation.
pub(crate) const EVALUATION: &str = "evaluation.json";

/// Holds an output folder with its record.
pub struct Finished {
    dir: PathBuf,
    /// The content of `run.json`.
    pub report: RunReport,
    /// The current location of the corpus, if given.
    moved: Option<PathBuf>,
    /// The folder and the record that were opened; `None` for the folder of an unfinished run, which no other run replaces.
    seen: Option<Seen>,
}

/// Identifies a folder and its record, to notice that another run has replaced them.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    /// The device and inode of the folder.
    folder: (u64, u64),
    /// A hash of the record.
    record: u128,
}

impl Seen {
    fn of(dir: &Path, record: &[u8]) -> std::io::Result<Seen> {
        let there = dir.metadata()?;
        Ok(Seen { folder: (there.dev(), there.ino()), record: hash128(record) })
    }
}

impl Finished {
    /// Returns the options of the run, except that the folder and the resources come from `today`.
    ///
    /// # Errors
    /// Returns an error if this version does not support an option in the record, or if a word list no longer exists.
    pub fn options(&self, today: &Settings) -> Result<RunOptions> {
        let inputs = self.report.inputs.iter().map(|file| self.stands(file)).collect();
        let mut recorded = self.report.options.clone();
        for option in OPTIONS.iter().filter(|option| matches!(option.kind, Kind::Path)) {
            if let Some(Json::String(path)) = recorded.get_mut(option.name) {
                let there = self.report.option_path(path, &self.dir);
                *path = there.map_or_else(|| path.clone(), |place| place.to_string_lossy().into_owned());
            }
        }
        options_again(&recorded, inputs, &self.dir, today)
    }

    /// Opens the output folder of a finished run.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the folder is not the output of a finished run, or belongs to another command, and [`Error::BadFile`] if
    /// `run.json` cannot be parsed.
    pub fn open(dir: &Path) -> Result<Finished> {
        // A held result can be inspected before it is accepted.
        if !is_file(&dir.join(SUCCESS))? && !is_file(&dir.join(HELD))? {
            return Err(Error::usage(format!(
                "{} is not the output of a finished run: it contains no file {SUCCESS}; expected the output folder of dupsift run",
                dir.display()
            )));
        }
        let path = dir.join("run.json");
        let other = |verb: String| {
            Error::usage(format!(
                "{} is the output of dupsift {verb}; expected the output folder of dupsift run or dupsift compare",
                dir.display()
            ))
        };
        if !is_there(&path)? && is_file(&dir.join(EVALUATION))? {
            return Err(other("evaluate".into()));
        }
        if AppliedReport::is_alone(dir)? {
            return Err(other("apply".into()));
        }
        let json = safe_fs::read(&path, MOST_JSON).map_err(Error::reading("read", &path))?;
        let seen = Seen::of(dir, &json).map_err(Error::reading("look at", dir))?;
        let report: RunReport = serde_json::from_slice(&json).map_err(|error| match other_verb(&json) {
            Some(verb) => other(verb),
            None => Error::BadFile {
                path,
                why: format!("{error}; it was written by a different version of dupsift; run again with `overwrite`"),
            },
        })?;
        if let Some(wrong) = report.leads_out() {
            return Err(leads_out(dir.join("run.json"), &wrong));
        }
        if report.schema_version != SCHEMA_VERSION {
            let version = report.schema_version;
            return Err(Error::BadFile {
                path: dir.join("run.json"),
                why: format!(
                    "its schema version is {version}, but this version of dupsift writes {SCHEMA_VERSION}; run again with `overwrite`"
                ),
            });
        }
        let mut finished = Finished { seen: Some(seen), ..Finished::new(dir, report) };
        // A corpus written later by `apply` is treated like a corpus written by the run.
        if let Some(added) = AppliedReport::added(dir)? {
            match &mut finished.report.corpus {
                Some(corpus) => corpus.folders.extend(added.folders),
                none => *none = Some(added),
            }
        }
        Ok(finished)
    }

    /// Creates an instance from a folder that contains the tables of a run, and from the record of the run.
    pub fn new(dir: &Path, report: RunReport) -> Finished {
        Finished { dir: dir.to_path_buf(), report, moved: None, seen: None }
    }

    /// Opens the folder again, because another run may have replaced it.
    ///
    /// # Errors
    /// Returns the same errors as [`Finished::open`].
    pub(super) fn opened_again(&self) -> Result<Finished> {
        Ok(Finished::open(&self.dir)?.with_corpus(self.moved.as_deref()))
    }

    /// Checks that the folder still contains the result that was opened.
    ///
    /// # Errors
    /// Returns [`Error::BadFile`] if another run has replaced the folder.
    pub fn check_not_replaced(&self) -> Result<()> {
        let record = || safe_fs::read(&self.dir.join("run.json"), MOST_JSON);
        match &self.seen {
            Some(seen) if record().and_then(|json| Seen::of(&self.dir, &json)).is_ok_and(|now| now == *seen) => Ok(()),
            None => Ok(()),
            Some(_) => Err(Error::BadFile {
                path: self.dir.clone(),
                why: "another run replaced the folder while it was being read; run the command again".to_owned(),
            }),
        }
    }

    /// Calls `work`, which reads the folder, and checks that all that it read belongs to the same result.
    ///
    /// # Errors
    /// Returns the errors of `work` and of [`Finished::check_not_replaced`].
    pub(super) fn of_one_result<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let done = self.unless_replaced(work)?;
        self.check_not_replaced().map(|()| done)
    }

    /// Calls `work`, which reads the folder and then publishes what it made, and which calls [`Finished::check_not_replaced`] before it
    /// publishes. If `work` fails because another run replaced the folder, the error says so.
    ///
    /// # Errors
    /// Returns the errors of `work` and of [`Finished::check_not_replaced`].
    pub(super) fn unless_replaced<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        match work() {
            Err(Error::Interrupted) => Err(Error::Interrupted),
            // The files of a folder that was replaced seem to be missing or damaged.
            Err(error) => self.check_not_replaced().and(Err(error)),
            done => done,
        }
    }

    /// Returns the origin of the run's statistics.
    pub fn of(&self) -> Of<'_> {
        Of { dir: &self.dir, report: &self.report }
    }

    /// Returns the output folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the index report if the tables contain documents that were indexed before the run.
    pub fn incremental(&self) -> Option<&IndexReport> {
        self.report.index.as_ref().filter(|index| index.first_doc > 0)
    }

    /// Opens the documents that were indexed before an incremental run; returns `None` for other runs. The files of a reference are read
    /// again if `again` is given.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the index or the reference does not exist.
    pub fn again(&self, again: Option<ReadAgain<'_>>) -> Result<Option<Again<'_>>> {
        match self.incremental() {
            Some(batch) => {
                Again::open((batch, &self.report), &place_of(batch, &self.report, &self.dir), again).map(Some)
            }
            None => Ok(None),
        }
    }

    /// Returns the number that the tables use for the first document in the corpus.
    pub fn first_doc(&self) -> u64 {
        self.incremental().map_or(0, |index| index.first_doc)
    }

    /// Checks that the tables contain only documents from the run's own corpus.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if this is the output of an incremental run.
    pub(crate) fn is_of_its_corpus(&self) -> Result<()> {
        let Some(index) = self.incremental() else { return Ok(()) };
        // A run against a reference adds nothing to an index, and its temporary index no longer exists.
        let (against, option) = match index.generation == index.read_generation {
            true => ("a `reference`".to_owned(), "reference"),
            false => (format!("the index {}", index.folder), "index"),
        };
        Err(Error::usage(format!(
            "the run in {} was matched against {against}, so its tables refer to documents outside its corpus; look up matches in removed/, or use the output of a run without `{option}`",
            self.dir.display()
        )))
    }
}

/// Returns the command that wrote a record. The command is recognized by an entry that other records do not contain.
fn other_verb(json: &[u8]) -> Option<String> {
    let record: serde_json::Value = serde_json::from_slice(json).ok()?;
    let entries = [
        ("label_column", "purify --train"),
        ("prefix", "purify"),
        ("filter_bytes", "stream"),
        ("item_bytes", "contaminated"),
    ];
    entries.into_iter().find(|(entry, _)| record.get(entry).is_some()).map(|(_, verb)| verb.to_owned())
}

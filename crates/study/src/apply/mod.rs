//! Implements `dupsift apply`, which writes the corpus from a finished run, without a second run.
//!
//! ```text
//! the rule of the run   removed/, rejected/ and passages/ decide the fate of each row; the folders are added to the output
//! another rule          decides again from pairs/, see `deciding.rs`; removed/ and the corpus folders form another output
//! ```
//!
//! The folders are written by the same code as in a run, so they are identical to the folders of a run with the same options, byte for
//! byte. The corpus for a different rule is never written to the folder of the run, because the `removed/` folder there would contradict
//! the new `deduped/` folder.

pub(crate) mod applicable;
mod deciding;
mod documents;
mod own_tables;
pub(crate) mod rules;
mod written_pairs;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::finished::Finished;
use crate::finished::applied::{AppliedReport, SCHEMA_VERSION};
use applicable::{refuse, refuse_sample};
use deciding::DecidingPairs;
use documents::{order, with_documents};
use dupsift_algorithms::recipe::remove_if::RemoveIf;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs;
use dupsift_core::safe_fs::listing::is_there;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::job::check::check_resources;
use dupsift_engine::job::decide::decided;
use dupsift_engine::job::run_report::RemovalReport;
use dupsift_engine::job::write::corpus_files;
use dupsift_engine::options::{AddedColumns, CorpusFiles, RunOptions, Settings};
use dupsift_engine::reading::again::work_again;
use dupsift_engine::session::Session;
use dupsift_publish::{HELD, Stage, WorkFolder, real_path};
use own_tables::{REMOVED, cuts, rejected, removed};
use written_pairs::shown;

/// Selects the output to write.
#[derive(Clone, Debug, Default)]
pub struct ApplyOptions {
    /// The corpus folders to write.
    pub corpus: CorpusFiles,
    /// The columns to add to the kept rows.
    pub add: AddedColumns,
    /// The removal rule, if it differs from the rule of the run.
    pub remove_if: Option<RemoveIf>,
    /// Higher thresholds, by algorithm label.
    pub thresholds: Vec<(String, f64)>,
    /// The output folder, if it differs from the folder of the run.
    pub out: Option<PathBuf>,
    /// Whether to replace an existing output folder, or existing folders in the output of the run.
    pub overwrite: bool,
}

/// Holds the result of applying a different rule.
#[derive(Clone, Debug, Default)]
pub struct Survivors {
    /// The number of rows in the corpus.
    pub rows: u64,
    /// The removed documents, in order, each with the kept document that replaces it.
    pub removed: Vec<(u64, u64)>,
}

/// Decides which documents are kept according to a different rule, without writing anything. `options` contains the recorded options, and
/// `asked` contains the rule.
///
/// # Errors
/// Returns [`Error::Usage`] if the run has no algorithm with a given label, if a threshold is lower than in the run, or if the tables are
/// not sufficient. Also returns an error if the corpus is missing or has changed, or if the call is interrupted.
pub fn survivors(
    finished: &Finished,
    options: &RunOptions,
    asked: &ApplyOptions,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<Survivors> {
    finished.of_one_result(|| survivors_of(finished, options, asked, progress, cancel))
}

fn survivors_of(
    finished: &Finished,
    options: &RunOptions,
    asked: &ApplyOptions,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<Survivors> {
    check_resources(options)?;
    let removal = removal(finished)?;
    let options = &asked.over(options);
    refuse(finished, options, asked.is_other(removal), true)?;
    let pairs = DecidingPairs::read(finished, options, &asked.thresholds)?;
    let inputs = finished.corpus(options, progress, cancel)?;
    work_again(options, &inputs.source, progress, cancel, |session| {
        finished.check_contents(session)?;
        let shown = Arc::new(shown(session.engine, session.documents(), &pairs.known)?);
        let keep = order(session, &shown, &removal.keep_columns)?;
        let decided = pairs.decide(session, &keep, &shown)?;
        let mut survivors = Survivors { rows: session.documents(), removed: Vec::new() };
        decided::each(&decided, session.engine.budget.a_thread, |doc, kept| Ok(survivors.removed.push((doc, kept))))?;
        Ok(survivors)
    })
}

/// Writes the corpus of a finished run, and returns the record. A folder gets its final name only when it is complete. `settings` has the
/// resources of this call.
///
/// If the folders are added to the output of the run, no other run can replace that output in the meantime.
///
/// # Errors
/// Returns the errors of [`survivors`]. Returns [`Error::Usage`] if a folder exists and must not be replaced, if a different rule is given
/// without a separate output folder, or if the result is held. Also returns an error if a file cannot be copied or the disk is full.
pub fn apply(
    finished: &Finished,
    settings: &Settings,
    asked: &ApplyOptions,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<AppliedReport> {
    if asked.out.is_some() {
        return finished.unless_replaced(|| apply_in(finished, None, settings, asked, progress, cancel));
    }
    check(finished, asked, asked.is_other(removal(finished)?))?;
    let work = WorkFolder::take(finished.dir(), None)?;
    // Another run may have replaced the output before it was locked.
    apply_in(&finished.opened_again()?, Some(work), settings, asked, progress, cancel)
}

/// Writes the corpus. If `work` is given, it holds the lock on the output of the run, and the corpus is added to that output.
fn apply_in(
    finished: &Finished,
    work: Option<WorkFolder>,
    settings: &Settings,
    asked: &ApplyOptions,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<AppliedReport> {
    let options = &finished.options(settings)?;
    check_resources(options)?;
    let removal = removal(finished)?;
    refuse_sample(&finished.report)?;
    let is_other = asked.is_other(removal);
    check(finished, asked, is_other)?;
    asked.add.check(asked.corpus)?;
    let options = &{
        let mut run = asked.over(options);
        run.output.corpus = asked.corpus;
        run.output.add = asked.add;
        run
    };
    if options.output.corpus.copies() {
        finished.check_columns(options)?;
    }
    let annotates = options.output.corpus.annotate || !options.output.add.is_none();
    refuse(finished, options, is_other, annotates)?;
    let pairs =
        (is_other || annotates).then(|| DecidingPairs::read(finished, options, &asked.thresholds)).transpose()?;
    let inputs = finished.corpus(options, progress, cancel)?;
    finished.warn_of_new_files(options, &inputs.source);
    let out = asked.out.as_deref().unwrap_or(finished.dir());
    let applied = |session: &Session<'_>| {
        corpus_files::check(session)?;
        finished.check_contents(session)?;
        let stage = match work {
            Some(work) => Stage::begin_added(work, &folders(asked.corpus), asked.overwrite)?,
            None => Stage::begin(out, asked.overwrite, None)?,
        };
        stage.reads(session.source.local_paths().chain([&*finished.dir().join("run.json")]));
        if asked.overwrite {
            stage.spares(session.source.local_paths())?;
        }
        let corpus = match &pairs {
            Some(pairs) => with_documents(session, finished, &stage, pairs, is_other)?,
            None => {
                let decided = decided::decided_again(session, removed(session, finished)?, None)?;
                let rejected = rejected(session, finished)?;
                let cuts = cuts(session, finished, false)?;
                corpus_files::write_by(session, &stage, (&decided, &rejected), cuts.as_ref(), None)?
            }
        };
        if asked.out.is_some() && !is_other {
            let (from, to) = (finished.dir().join(REMOVED), stage.file(REMOVED)?);
            safe_fs::copy(&from, &to).map_err(Error::io("copy a table to", &to))?;
        }
        Ok((corpus, stage))
    };
    let (mut corpus, stage) = work_again(options, &inputs.source, progress, cancel, applied)?;
    let earlier = if asked.out.is_none() { AppliedReport::added(finished.dir())? } else { None };
    if let Some(earlier) = earlier {
        earlier.folders.into_iter().for_each(|(name, folder)| _ = corpus.folders.entry(name).or_insert(folder));
    }
    let report = AppliedReport {
        schema_version: SCHEMA_VERSION,
        dupsift: env!("CARGO_PKG_VERSION").to_owned(),
        run: real_path(finished.dir()).unwrap_or_else(|_| finished.dir().to_path_buf()).display().to_string(),
        remove_if: options.removal.remove_if.to_string(),
        thresholds: asked.thresholds.iter().cloned().collect(),
        corpus,
        files: Vec::new(),
    };
    let json = serde_json::to_string_pretty(&report).map_err(Error::table("write applied.json"))?;
    stage.write_applied(&json)?;
    if cancel.load(Ordering::Relaxed) {
        return Err(Error::Interrupted);
    }
    match asked.out {
        Some(_) => stage.commit_if(false, || finished.check_not_replaced())?,
        None => stage.commit_added(&folders(asked.corpus))?,
    }
    Ok(report)
}

impl ApplyOptions {
    /// Returns whether the rule differs from the rule of the run.
    fn is_other(&self, removal: &RemovalReport) -> bool {
        !self.thresholds.is_empty() || self.remove_if.is_some_and(|rule| rule.to_string() != removal.remove_if)
    }

    /// Returns the options of the run with this rule.
    fn over(&self, options: &RunOptions) -> RunOptions {
        {
            let mut run = options.clone();
            run.removal.remove_if = self.remove_if.unwrap_or(options.removal.remove_if);
            run
        }
    }
}

/// Returns the names of the corpus folders to write.
fn folders(corpus: CorpusFiles) -> Vec<&'static str> {
    let asked = [(corpus.annotate, "attributes"), (corpus.keep, "deduped"), (corpus.drop, "dropped")];
    asked.into_iter().filter(|(asked, _)| *asked).map(|(_, name)| name).collect()
}

fn removal(finished: &Finished) -> Result<&RemovalReport> {
    finished
        .report
        .removal
        .as_ref()
        .ok_or_else(|| Error::usage("a comparison removes no documents; expected the output folder of dupsift run"))
}

/// Before any work is done, checks that the folders can be written.
fn check(finished: &Finished, asked: &ApplyOptions, is_other: bool) -> Result<()> {
    let shown = finished.dir().display();
    if asked.corpus.is_none() {
        return Err(Error::wrong("corpus", "`none` would write nothing; expected keep, drop or annotate"));
    }
    if is_there(&finished.dir().join(HELD))? {
        return Err(Error::usage(format!(
            "{shown} is held back by a guard; accept it first, with `dupsift accept {shown}`"
        )));
    }
    let Some(out) = &asked.out else {
        if is_other {
            return Err(Error::usage(format!(
                "a different rule requires a separate folder, because removed/ in {shown} follows the run's rule; pass `out=DIR`"
            )));
        }
        return Stage::look_added(finished.dir(), &folders(asked.corpus), asked.overwrite);
    };
    let both = [out, finished.dir()].map(|path| real_path(path).unwrap_or_else(|_| path.to_path_buf()));
    if both[0].starts_with(&both[1]) {
        return Err(Error::wrong_value(
            "out",
            out.display(),
            "it is inside the output folder of the run; use a different folder",
        ));
    }
    Stage::look(out, asked.overwrite, false)
}

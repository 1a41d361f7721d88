//! Implements `dupsift apply`, which writes the corpus from a finished run, without a second run.
//!
//! ```text
//! the rule of the run   removed/, rejected/ and passages/ decide the fate of each row; the folders are added to the output
//! another rule          decides again from pairs/, see `written_pairs.rs`; removed/ and the corpus folders form another output
//! ```
//!
//! The folders are written by the same code as in a run, so they are identical to the folders of a run with the same options, byte for
//! byte. The corpus for a different rule is never written to the folder of the run, because the `removed/` folder there would contradict
//! the new `deduped/` folder.

pub(crate) mod applicable;
pub(crate) mod rules;
mod written_pairs;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::finished::Finished;
use crate::finished::applied::{AppliedReport, SCHEMA_VERSION};
use crate::finished::tables::ids_of;
use applicable::{refuse, refuse_sample};
use dupsift_algorithms::recipe::remove_if::RemoveIf;
use dupsift_algorithms::steps::note;
use dupsift_core::error::{Error, Result, did_you_mean};
use dupsift_core::number::counted;
use dupsift_core::safe_fs;
use dupsift_core::safe_fs::listing::is_there;
use dupsift_engine::classes::Classes;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::job::check::check_resources;
use dupsift_engine::job::cut::read_back;
use dupsift_engine::job::decide::decided::{self, Decided};
use dupsift_engine::job::decide::{Deciding, clusters_by, decide_by};
use dupsift_engine::job::pair::components::Components;
use dupsift_engine::job::read::intake::Taken;
use dupsift_engine::job::read::keep::{KeepOrder, KeepRecorder};
use dupsift_engine::job::read::one_pass::note_again;
use dupsift_engine::job::run_report::{CorpusReport, RemovalReport};
use dupsift_engine::job::text_edits::TextEdits;
use dupsift_engine::job::write::attributes::MarkSources;
use dupsift_engine::job::write::corpus_files;
use dupsift_engine::job::write::last_pass;
use dupsift_engine::job::write::removals;
use dupsift_engine::job::write::tables::rejected_table;
use dupsift_engine::options::{AddedColumns, CorpusFiles, RunOptions, Settings};
use dupsift_engine::reading::again::work_again;
use dupsift_engine::reading::document::View;
use dupsift_engine::reading::ids::Ids;
use dupsift_engine::reading::losses::CORPUS;
use dupsift_engine::reading::rejected::{Rejected, Rejecter};
use dupsift_engine::session::Session;
use dupsift_input::{RowFilter, TableReader, Want};
use dupsift_publish::{HELD, Stage, WorkFolder, real_path};
use dupsift_spill::shuffle::AtomicBits;
use dupsift_tables::{PASSAGE_COLUMNS, PassageFound, REJECTED_COLUMNS, RejectReason, passages_found, rejected_rows};
use written_pairs::{Links, look, shown};

/// The table of removed documents in an output folder.
const REMOVED: &str = "removed/part-00000.parquet";

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
    let pairs = Pairs::read(finished, options, &asked.thresholds)?;
    let inputs = finished.corpus(options, cancel)?;
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
    let pairs = (is_other || annotates).then(|| Pairs::read(finished, options, &asked.thresholds)).transpose()?;
    let inputs = finished.corpus(options, cancel)?;
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

/// Holds the pairs that determine which documents are removed.
struct Pairs {
    deciding: Deciding,
    known: Vec<Links>,
    /// The rule, if it differs from the rule of the run.
    other_rule: Option<String>,
}

impl Pairs {
    fn read(finished: &Finished, options: &RunOptions, thresholds: &[(String, f64)]) -> Result<Pairs> {
        let report = &finished.report;
        let labels: Vec<&str> = report.algorithms.iter().map(|one| one.label.as_str()).collect();
        if let Some((unknown, _)) = thresholds.iter().find(|(label, _)| !labels.contains(&label.as_str())) {
            let hint = did_you_mean(unknown, labels.iter().copied());
            let names = labels.join(", ");
            return Err(Error::usage(format!(
                "{unknown:?} is not an algorithm of this run{hint}; expected one of {names}"
            )));
        }
        let deciding = Deciding::new(&options.removal.decide, &labels);
        for (at, (label, _)) in thresholds.iter().enumerate() {
            if thresholds[..at].iter().any(|(other, _)| other == label) {
                return Err(Error::wrong("threshold", format_args!("{label} has two thresholds; pass only one")));
            }
            if !deciding.labels.contains(label) {
                let names = deciding.labels.join(", ");
                let what =
                    format_args!("pairs from {label} do not affect removal in this run; expected one of: {names}");
                return Err(Error::wrong("threshold", what));
            }
        }
        let mut known = Vec::new();
        for &at in &deciding.chosen {
            let one = &report.algorithms[at];
            let threshold = thresholds.iter().find(|(label, _)| *label == one.label).map(|(_, threshold)| *threshold);
            known.push(Links::read(finished, one, threshold, options)?);
        }
        let rule = options.removal.remove_if.to_string();
        let other_rule = report.removal.as_ref().is_some_and(|removal| removal.remove_if != rule).then_some(rule);
        Ok(Pairs { deciding, known, other_rule })
    }

    fn decide(&self, session: &Session<'_>, keep: &KeepOrder, shown: &AtomicBits) -> Result<Decided> {
        let look = |doc, kept| match look(&self.known, doc, kept) {
            Some(known) => Ok(known),
            None => Err(self.not_compared(session, [doc, kept])),
        };
        decide_by(session, &self.deciding, || Ok(self.known.iter().collect()), (keep, |_| None), shown, look)
    }

    /// Returns the error for a removed document and a kept document whose contents were not compared in the run.
    fn not_compared(&self, session: &Session<'_>, docs: [u64; 2]) -> Error {
        let ids = match ids_of(session, docs.to_vec(), None) {
            Ok(ids) => ids,
            Err(error) => return error,
        };
        let [doc, kept] = docs.map(|doc| ids.get(&doc).cloned().unwrap_or_else(|| session.source.name_of(doc)));
        Error::usage(match &self.other_rule {
            Some(rule) => format!(
                "the run did not compare document {doc:?} with document {kept:?}, which `remove-if={rule}` would keep; run again with \
                 this rule"
            ),
            None => format!(
                "the run did not compare document {doc:?} with document {kept:?}, which this threshold would keep; run again with \
                 this threshold, or use `remove-if=pair`"
            ),
        })
    }

    fn clusters(&self, session: &Session<'_>, keep: &KeepOrder, shown: &AtomicBits) -> Result<Components> {
        clusters_by(session, &self.deciding, &self.known.iter().collect::<Vec<_>>(), keep, shown)
    }
}

/// Writes the parts that require reading the documents again: annotations for each row, and the removals according to a different rule.
fn with_documents(
    session: &Session<'_>,
    finished: &Finished,
    stage: &Stage,
    pairs: &Pairs,
    is_other: bool,
) -> Result<CorpusReport> {
    let (taken, copies) = note_again(session)?;
    let shown = Arc::new(shown(session.engine, session.documents(), &pairs.known)?);
    let decided = match is_other {
        true => pairs.decide(session, &taken.columns.keep, &shown)?,
        false => {
            let clusters = pairs.clusters(session, &taken.columns.keep, &shown)?;
            decided::decided_again(session, removed(session, finished)?, Some(clusters))?
        }
    };
    let cuts = cuts(session, finished, true)?;
    let ids = ids(session, &taken, &decided, shown)?;
    if is_other {
        write_removed(session, stage, &decided, (&copies, &taken), &ids)?;
    }
    let known = MarkSources { decided: &decided, taken: &taken, copies: &copies, ids: &ids, cuts: cuts.as_ref() };
    corpus_files::write(session, stage, known)
}

/// Reads the ids of the documents that are in pairs or removed, or the ids of all documents if each row is annotated.
fn ids<'s>(session: &Session<'s>, taken: &Taken, decided: &Decided, shown: Arc<AtomicBits>) -> Result<Ids<'s>> {
    decided::each(decided, session.engine.budget.a_thread, |doc, _| {
        shown.set(doc as usize);
        Ok(())
    })?;
    if session.options.output.corpus.annotate {
        (0..session.documents() as usize).for_each(|doc| _ = shown.set(doc));
    }
    last_pass::ids(session, &taken.ids_named(session), &shown)
}

fn write_removed(
    session: &Session<'_>,
    stage: &Stage,
    decided: &Decided,
    (copies, taken): (&Classes, &Taken),
    ids: &Ids<'_>,
) -> Result<()> {
    let running = session.engine.clock.stage("write removed/");
    stage.file(REMOVED)?;
    let part = |doc: u64| (taken.columns.shapes.load(doc as usize), taken.columns.keep.length(doc));
    let (removals, bytes) = removals::write(session, stage, decided, copies, ids, part)?;
    running.end(removals.removed, removals.removed, bytes);
    Ok(())
}

/// Returns the rows of `removed/`, with the number of each document in the corpus.
fn removed(
    session: &Session<'_>,
    finished: &Finished,
) -> Result<impl Iterator<Item = Result<(u64, u64, &'static str)>> + use<>> {
    let (first, end, path) = (finished.first_doc(), session.documents(), finished.dir().join(REMOVED));
    let row = move |doc: u64| doc.checked_sub(first).filter(|doc| *doc < end).ok_or_else(|| wrong_table(&path));
    let rows = finished.removals()?;
    Ok(rows.map(move |found| {
        found.and_then(|found| Ok((row(found.doc)?, found.kept.saturating_sub(first), found.reason)))
    }))
}

/// Returns the rows of the corpus that are listed in `rejected/`.
fn rejected(session: &Session<'_>, finished: &Finished) -> Result<Rejected> {
    let path = rejected_table(finished.dir());
    let files: HashMap<&str, u64> = finished
        .report
        .inputs
        .iter()
        .zip(&session.source.files)
        .map(|(known, file)| (&*known.file, file.first_doc))
        .collect();
    let rejecter = Rejecter::new(session)?;
    let mut writer = rejecter.writer();
    let mut count = 0;
    for batch in TableReader::open(&path, &REJECTED_COLUMNS)? {
        let rows = rejected_rows(&batch?, CORPUS).ok_or_else(|| wrong_table(&path))?;
        for (file, row) in rows {
            // A row without a number represents a skipped file.
            let (Some(first), Some(row)) = (files.get(&*file), row) else { continue };
            let doc = first.saturating_add(row);
            if doc >= session.documents() {
                return Err(wrong_table(&path));
            }
            rejecter.put(&mut writer, doc, RejectReason::BrokenRecord, b"")?;
            count += 1;
        }
    }
    writer.flush()?;
    drop(writer);
    let known = finished.report.documents.rejections.rows;
    if count != known {
        let why = format!("it has {}, but run.json has {known}", counted(count, "row"));
        return Err(Error::BadFile { path, why });
    }
    rejecter.finish()
}

/// Returns the passages that the run cut; `None` if there are none.
fn cuts(session: &Session<'_>, finished: &Finished, measures: bool) -> Result<Option<TextEdits>> {
    if session.options.cut.what.is_none() {
        return Ok(None);
    }
    let path = finished.dir().join("passages/part-00000.parquet");
    let (first, end) = (finished.first_doc(), session.documents());
    let batches = TableReader::open(&path, &PASSAGE_COLUMNS)?;
    let rows = batches.flat_map(|batch| {
        let rows = batch.and_then(|batch| passages_found(&batch).ok_or_else(|| wrong_table(&path)));
        match rows {
            Ok(rows) => {
                rows.into_iter().map(|row| of_corpus(row, first, end).ok_or_else(|| wrong_table(&path))).collect()
            }
            Err(error) => vec![Err(error)],
        }
    });
    read_back(session, rows, measures).map(Some)
}

/// Converts the document numbers in a row to positions in the corpus, which has `end` documents and starts at document number `first`.
/// Returns `None` if the document is not in the corpus.
fn of_corpus(mut row: PassageFound, first: u64, end: u64) -> Option<PassageFound> {
    row.doc = row.doc.checked_sub(first).filter(|doc| *doc < end)?;
    row.first_doc = row.first_doc.map(|doc| doc.saturating_sub(first));
    Some(row)
}

fn wrong_table(path: &Path) -> Error {
    let why = "it has changed since the run wrote it; run again with `overwrite`".into();
    Error::BadFile { path: path.to_path_buf(), why }
}

/// Reads the lengths and other columns of the documents in `shown`, and returns their order of preference. Columns are compared in the same
/// way as in the run.
fn order(session: &Session<'_>, shown: &Arc<AtomicBits>, compared_as: &BTreeMap<String, String>) -> Result<KeepOrder> {
    let running = session.engine.clock.stage("read lengths");
    let (recorder, view, bits) = (KeepRecorder::new(session)?, View::first(session), shown.clone());
    let rows = RowFilter::Where(Arc::new(move |doc| bits.get(doc as usize)));
    let want = KeepRecorder::want(session, Want { rows: Some(rows), ..view.want() });
    session.read(
        "read lengths",
        &want,
        || Ok(Vec::new()),
        |lengths, batch| {
            let columns = view.columns(batch)?;
            lengths.clear();
            for row in 0..batch.len() {
                session.engine.go_on()?;
                let length = |text| note::length(&view.document(batch.doc(row), text, &columns, row));
                lengths.push(batch.text(row).text().map_or(0, length));
            }
            recorder.record(batch, lengths)
        },
        |_| Ok(()),
    )?;
    running.end(shown.count(), shown.count(), 0);
    recorder.finish_as(compared_as)
}

//! Performs an incremental run: reads a batch, matches it with the index, deduplicates it like any other corpus, and adds it to the index.

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::append::{self, FinishedBatch};
use crate::batch;
use crate::batch::Begun;
use crate::batch::job::Job;
use crate::batch::published::state;
use crate::batch::recipe;
use crate::drift;
use crate::join::Joining;
use crate::stored::earlier::Kept;
use dupsift_core::doc::IndexDoc;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash128;
use dupsift_core::number::{counted, counted_as, thousands};
use dupsift_engine::classes::Classes;
use dupsift_engine::engine::checkpoints::Checkpoints;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::job::pair::links::Earlier;
use dupsift_engine::job::read::intake::Taken;
use dupsift_engine::job::read::saved_inputs;
use dupsift_engine::job::run::{Finish, carry_out_and};
use dupsift_engine::job::run_report::{FrozenReport, IndexReport, RunReport};
use dupsift_engine::job::story::{self, CompleteOutput, Variant};
use dupsift_engine::job::{Guarded, guards, stands_in};
use dupsift_engine::matching::indexed::Indexed;
use dupsift_engine::matching::meeting::{Meeting, Numbered, RecordedKeys};
use dupsift_engine::options::RunOptions;
use dupsift_engine::reading::again::work_again;
use dupsift_engine::reading::inputs::Inputs;
use dupsift_engine::reading::losses::Losses;
use dupsift_engine::session::Session;
use dupsift_index::{Batch, Index, Manifest, MatchedBatch, STATISTICS, check_rights, stop_at};
use dupsift_input::{Source, absolute};
use dupsift_publish::{Stage, clean_output};

/// The number of document numbers that are initially reserved for indexed documents: the first value times the number of rows in the batch,
/// but at least the second value.
const RESERVED: (u64, u64) = (4, 1 << 16);

/// Performs a run against the index in a folder, and adds the batch to the index if this is the purpose of the run.
pub(crate) fn matched(
    options: &RunOptions,
    inputs: Inputs,
    progress: &Progress,
    cancel: &AtomicBool,
    finish: &Finish<'_>,
    (dir, purpose): (&Path, Purpose<'_>),
) -> Result<RunReport> {
    let appends = purpose == Purpose::Append;
    let named = batch::Named::new(options, &inputs.source.files)?;
    let known = OnceCell::new();
    // The files are read at most once, because reading them may take as long as the run itself.
    let contents = || match known.get() {
        Some(contents) => Ok(Option::clone(contents)),
        None => {
            let contents = contents(options, &inputs, progress, cancel)?;
            Ok(known.get_or_init(|| contents).clone())
        }
    };
    let rows = options.sampling.limit.map_or(inputs.source.documents(), |limit| limit.min(inputs.source.documents()));
    if appends {
        check_rights(dir)?;
    }
    let looked = Index::look(dir, state)?;
    let (mut index, again) = match (appends, looked) {
        (true, looked) => {
            // An invalid run is rejected before anything is created or cleaned up.
            let seen = looked.and_then(|index| index.manifest.clone());
            let mut manifest = seen.clone();
            let mut begun = batch::begin(&mut manifest, dir, options, &named, &contents)?;
            if let Begun::Run(_) = begun {
                recipe::compare(manifest.as_ref(), dir, options, rows)?;
            }
            let mut index = Index::open(dir, state)?;
            if index.manifest == seen {
                index.manifest = manifest;
            } else {
                // Another run has changed the index in the meantime.
                begun = batch::begin(&mut index.manifest, dir, options, &named, &contents)?;
            }
            match begun {
                Begun::Published(report) => {
                    // The process may have been killed after it published the batch. The output is complete in any case.
                    let _ = clean_output(&options.output.folder, options.resources.work.as_deref());
                    return Ok(*report);
                }
                Begun::Run(again) => (index, again),
            }
        }
        (false, Some(looked)) => (looked, None),
        (false, None) => return Err(Error::usage(format!("{} is no longer an index", dir.display()))),
    };
    let mut options = options.clone();
    let documents_planned = recipe::compare(index.manifest.as_ref(), dir, &options, rows)?;
    if let Some(manifest) = &index.manifest {
        index.check_statistics()?;
        options.duplicates.stats = Some(index.folder(STATISTICS, &manifest.statistics));
    }
    let next: RefCell<Option<Manifest>> = RefCell::new(None);
    let report = {
        let matched = matched_line(index.manifest.as_ref(), purpose)?;
        let job = Job {
            index: &index,
            options: &options,
            documents_planned,
            batch: named,
            again,
            appends,
            matched,
            purpose,
            finish,
        };
        let texts: Vec<PathBuf> = index.text_files();
        let attempt = |session: &Session<'_>, stage: &Stage, losses: &Losses<'_>, checkpoints: &Checkpoints<'_>| {
            stage.reads(texts.iter().map(PathBuf::as_path));
            let (report, manifest) = attempt(session, stage, losses, checkpoints, &job)?;
            next.replace(Some(manifest).filter(|_| appends));
            Ok(report)
        };
        let before =
            |stage: &Stage| next.borrow_mut().as_mut().map_or(Ok(()), |next| append::intend(&index, stage, next));
        carry_out_and(&options, inputs, progress, cancel, attempt, &before)?
    };
    match next.into_inner() {
        Some(next) if !report.is_held() => {
            stop_at("output");
            index.publish(next)?;
        }
        Some(next) => append::hold(&index, &stands_in(&report, &options.output.folder), next)?,
        None => {}
    }
    Ok(report)
}

/// Indicates why a run is matched against an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose<'p> {
    /// To add the batch to the index.
    Append,
    /// To use the index as a reference, which is not changed.
    Reference,
    /// To use a temporary index of these reference files, each with the number of its first document. Each process rebuilds the index.
    Files(&'p [(IndexDoc, String)]),
}

/// Returns the name of each batch of the index, or of each file of a reference, and the number of its first document.
fn parts(job: &Job<'_>) -> Vec<(IndexDoc, String)> {
    match job.purpose {
        Purpose::Files(files) => files.to_vec(),
        Purpose::Append | Purpose::Reference => {
            let batches = job.index.manifest.iter().flat_map(|manifest| &manifest.batches);
            batches.map(|batch| (IndexDoc(batch.first_doc), batch.name.clone())).collect()
        }
    }
}

/// Returns a hash that identifies the content of an index, to be stored in the saved state of a run. For a temporary index, the hash covers
/// only data that depends on the reference files and the options.
fn matched_line(manifest: Option<&Manifest>, purpose: Purpose<'_>) -> Result<String> {
    let mut manifest = manifest.cloned().unwrap_or_default();
    if matches!(purpose, Purpose::Files(_)) {
        manifest.statistics_files.clear();
        manifest.rows.clear();
        for batch in &mut manifest.batches {
            let Batch { inputs, contents, first_doc, rows, texts, used, .. } = std::mem::take(batch);
            *batch = Batch { inputs, contents, first_doc, rows, texts, used, ..Batch::default() };
        }
    }
    let json = serde_json::to_vec(&manifest).map_err(Error::table("describe the index"))?;
    Ok(format!("{:032x}", hash128(&json)))
}

/// Reads the files of a batch and returns a hash of their content; `None` if one of them cannot be read.
fn contents(options: &RunOptions, inputs: &Inputs, progress: &Progress, cancel: &AtomicBool) -> Result<Option<String>> {
    match work_again(options, &inputs.source, progress, cancel, saved_inputs::hash_all) {
        Ok(sums) => Ok(Some(saved_inputs::line(&inputs.source, &sums))),
        Err(Error::BadFile { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Processes all input files once. If more indexed documents take part than expected, repeats the run and reserves more document numbers
/// for them.
fn attempt(
    session: &Session<'_>,
    stage: &Stage,
    losses: &Losses<'_>,
    checkpoints: &Checkpoints<'_>,
    job: &Job<'_>,
) -> Result<(RunReport, Manifest)> {
    let next_doc = IndexDoc(job.index.manifest.as_ref().map_or(0, |manifest| manifest.next_doc));
    let base = next_doc.0.min((RESERVED.0 * session.documents()).max(RESERVED.1));
    let mut base = checkpoints.match_against(&job.matched, base)?;
    loop {
        let numbered = Numbered { base, next_doc, documents_planned: job.documents_planned };
        if next_doc.0 + session.documents() > numbered.capacity() {
            return Err(Error::wrong(
                "index",
                format_args!(
                    "it has room for {} and already holds {}; create a new index with a larger `planned-documents`",
                    counted(numbered.capacity(), "document"),
                    thousands(next_doc.0)
                ),
            ));
        }
        let source = session.source.shifted(base);
        let shifted = session.shifted(&source, base);
        let mut matching = Matching {
            job,
            joining: Joining::new(job.index, job.options, numbered),
            earlier: Kept::new(job.index, numbered),
            keys: Vec::new(),
            copy_keys: None,
            next: None,
        };
        match story::attempt(&shifted, stage, losses, checkpoints, &mut matching) {
            Err(_) if matching.joining.beyond.load(Relaxed) > 0 => {
                base = matching.joining.beyond.load(Relaxed);
                checkpoints.match_with(&job.matched, base)?;
            }
            Err(error) => return Err(error),
            Ok(report) => match matching.next {
                Some(next) => return Ok((report, next)),
                None => return Err(Error::Internal("the run ended without writing a generation of the index".into())),
            },
        }
    }
}

/// Adapts a run so that its documents are matched against an index.
struct Matching<'m> {
    job: &'m Job<'m>,
    joining: Joining<'m>,
    earlier: Kept<'m>,
    /// The keys by which documents in the batch are matched, each with its label.
    keys: Vec<(String, RecordedKeys)>,
    /// The keys of exact copies.
    copy_keys: Option<RecordedKeys>,
    /// The index generation that includes the batch.
    next: Option<Manifest>,
}

impl Variant for Matching<'_> {
    fn documents_planned(&self) -> Option<u64> {
        Some(self.job.documents_planned)
    }

    fn meeting(&self) -> Option<&dyn Meeting> {
        Some(&self.joining)
    }

    fn join(
        &mut self,
        session: &Session<'_>,
        keys: Vec<(String, RecordedKeys)>,
        copy_keys: Option<RecordedKeys>,
    ) -> Result<Option<(Source, Indexed)>> {
        (self.keys, self.copy_keys) = (keys, copy_keys);
        let (source, indexed) = self.joining.indexed(session.engine)?;
        let source = source.map_or_else(|| session.source.shifted(0), |source| session.source.after(&source));
        Ok(Some((source, indexed.in_parts(parts(self.job)))))
    }

    /// Marks the indexed documents whose text is repeated in the batch, and specifies which documents are preferred.
    fn joined(&mut self, session: &Session<'_>, taken: &mut Taken, copies: &Classes) {
        let (Some(indexed), Some(manifest)) = (&session.indexed, &self.job.index.manifest) else { return };
        for class in copies.of(0..session.base).filter(|class| class.iter().any(|doc| doc >= session.base)) {
            indexed.copy(class.get(0));
        }
        let batches = manifest.batches.iter().map(|batch| indexed.first_from(IndexDoc(batch.first_doc)));
        taken.columns.keep.by_batches(batches.chain([session.base]).collect());
    }

    fn earlier(&self) -> Option<&dyn Earlier> {
        Some(&self.earlier)
    }

    /// After the first run, the statistics are already in the index and in the output of the run that created the index.
    fn writes_statistics(&self) -> bool {
        self.job.index.manifest.is_none()
    }

    fn written(&mut self, written: CompleteOutput<'_>) -> Result<RunReport> {
        let CompleteOutput { session, stage, mut report, taken, corpus, copies, decided } = written;
        self.joining.scanned.fetch_add(self.earlier.scanned.load(Relaxed), Relaxed);
        let (keys, copy_keys) = (std::mem::take(&mut self.keys), self.copy_keys.take());
        let contents = saved_inputs::line(corpus, &taken.contents);
        let (noted, ids) = (self.earlier.noted(), &taken.ids_seen);
        let finished = FinishedBatch { keys, copy_keys, noted, copies, decided, ids, contents };
        let removal = report.removal.as_ref();
        let mut manifest = append::append(session, self.job, self.joining.numbered, finished, removal)?;
        record(session, stage, self.job, (&mut report, &mut manifest), &self.joining)?;
        self.next = Some(manifest);
        (self.job.finish)(session, stage, report)
    }
}

/// Records in the report how the batch was matched and added to the index, and how much it cost to add the batch.
fn record(
    session: &Session<'_>,
    stage: &Stage,
    job: &Job<'_>,
    (report, manifest): (&mut RunReport, &mut Manifest),
    joining: &Joining<'_>,
) -> Result<()> {
    let from = absolute(job.index.dir()).display().to_string();
    report.frozen = Some(FrozenReport { from, documents_planned: job.documents_planned });
    report.index = Some(index_report(job, report, manifest, session, joining));
    report.warnings.extend(job.again.as_ref().and_then(|again| stay_forgotten(&again.forgotten)));
    let fired = drift::watch(report, manifest, job.appends, job.options.guards.max_candidates_factor);
    guards::add(session, stage, report, fired)?;
    report.stages = session.engine.clock.stages();
    (report.seconds, report.cpu_seconds, report.peak_memory_bytes) = session.engine.clock.totals();
    Ok(())
}

/// Returns a note about forgotten documents in a recomputed batch.
fn stay_forgotten(forgotten: &[[u64; 2]]) -> Option<String> {
    let count: u64 = forgotten.iter().map(|[from, to]| to - from).sum();
    (count > 0).then(|| {
        let note = format!(
            "{rows_stay} forgotten: forgotten documents are not matched; to match them, run the batch under a different name with `batch`", rows_stay = counted_as(count, "row of this batch was forgotten earlier and stays|rows of this batch were forgotten earlier and stay"));
        tracing::warn!("{note}");
        note
    })
}

fn index_report(
    job: &Job<'_>,
    report: &RunReport,
    manifest: &Manifest,
    session: &Session<'_>,
    joining: &Joining<'_>,
) -> IndexReport {
    let next_doc = joining.numbered.next_doc.0;
    IndexReport {
        folder: absolute(job.index.dir()).display().to_string(),
        identity: match job.purpose {
            Purpose::Files(_) => manifest.identity_of_files(next_doc),
            Purpose::Append | Purpose::Reference => manifest.identity(next_doc),
        },
        batch: job.batch.name.clone(),
        publication: manifest
            .batches
            .last()
            .filter(|_| job.appends)
            .map_or_else(String::new, |batch| batch.publication.clone()),
        generation: manifest.generation,
        read_generation: job.index.manifest.as_ref().map_or(0, |manifest| manifest.generation),
        first_doc: next_doc,
        indexed: session.indexed.as_ref().map_or(0, Indexed::count),
        batches: matched_batches(job.index.manifest.as_ref(), session).unwrap_or_default(),
        texts: manifest.batches.last().filter(|_| job.appends).map_or(0, |batch| batch.texts),
        seen: report.removal.as_ref().and_then(|removal| removal.reasons.get("seen").copied()).unwrap_or_default(),
        bytes_scanned: joining.scanned.load(Relaxed),
        bytes_looked_up: joining.looked_up.load(Relaxed),
    }
}

/// Returns the earlier batches from which indexed documents take part; `None` for a reference that is not an index, because the batches of
/// a temporary index are internal.
fn matched_batches(manifest: Option<&Manifest>, session: &Session<'_>) -> Option<Vec<MatchedBatch>> {
    let indexed = session.indexed.as_ref()?;
    let met = manifest?.batches.iter().map(|batch| {
        let [first, end] = [0, batch.rows].map(|rows| indexed.first_from(IndexDoc(batch.first_doc + rows)));
        let documents = end - first;
        MatchedBatch { name: batch.name.clone(), first_doc: batch.first_doc, documents }
    });
    Some(met.filter(|batch| batch.documents > 0).collect())
}

#[cfg(test)]
#[path = "run_batch_tests.rs"]
mod tests;

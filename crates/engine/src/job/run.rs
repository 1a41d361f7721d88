//! Runs the stages in order, from inputs to an output folder. The folder appears only when it is complete.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::estimate;
use super::guards::{self, Guarded};
use super::run_report::RunReport;
use super::story::{self, CompleteOutput, Variant};
use crate::engine::checkpoints::{Checkpoints, nothing_is_kept};
use crate::engine::full_disk::Disk;
use crate::engine::progress::Progress;
use crate::engine::resources::Resources;
use crate::job::read::saved_inputs;
use crate::job::write::corpus_files;
use crate::options::RunOptions;
use crate::reading::inputs::Inputs;
use crate::reading::losses::Losses;
use crate::session::Session;
use dupsift_core::number::thousands;
use serde::Serialize;

use dupsift_core::error::{Error, Result};
use dupsift_input::{BadInput, Source};
use dupsift_publish::{Stage, WorkFolder, empty_folder};
use dupsift_text::Pipeline;

/// The maximum number of times that a run starts over because the status of a file (such as its permissions) has changed.
const MOST_AGAIN: usize = 3;

/// Finishes a result whose tables are complete, in the folder that is being built. Returns the record, including the finishing stage.
pub type Finish<'f> = dyn Fn(&Session<'_>, &Stage, RunReport) -> Result<RunReport> + 'f;

/// Runs the complete job. `finish` writes report.html.
///
/// If a file turns out to be damaged while it is read, the run starts over without the file, so that none of its rows affect the result.
///
/// # Errors
/// Returns an error if an option is invalid, the disk is full, or the run is interrupted. If `strict` is set, also returns an error for the
/// first bad row or file. If an error occurs, `out` is not written.
pub fn run(
    options: &RunOptions,
    inputs: Inputs,
    progress: &Progress,
    cancel: &AtomicBool,
    finish: &Finish<'_>,
) -> Result<RunReport> {
    carry_out(options, inputs, progress, cancel, |session, stage, losses, checkpoints| {
        story::attempt(session, stage, losses, checkpoints, &mut Alone { finish })
    })
}

/// Describes a plain run over a corpus.
struct Alone<'f> {
    finish: &'f Finish<'f>,
}

impl Variant for Alone<'_> {
    fn written(&mut self, CompleteOutput { session, stage, report, .. }: CompleteOutput<'_>) -> Result<RunReport> {
        (self.finish)(session, stage, report)
    }
}

/// Carries out a command: reads the opened inputs, and writes the output folder and its record. The folder appears only when it is
/// complete.
///
/// # Errors
/// See [`run()`].
pub fn carry_out<R: Serialize + Guarded>(
    options: &RunOptions,
    inputs: Inputs,
    progress: &Progress,
    cancel: &AtomicBool,
    attempt: impl Fn(&Session<'_>, &Stage, &Losses<'_>, &Checkpoints<'_>) -> Result<R>,
) -> Result<R> {
    carry_out_and(options, inputs, progress, cancel, attempt, &|_| Ok(()))
}

/// Works like `carry_out`, but calls `before` on the complete output just before it is published. If the output is held back, `before` is
/// not called.
///
/// # Errors
/// See [`carry_out`]; also returns errors from `before`.
pub fn carry_out_and<R: Serialize + Guarded>(
    options: &RunOptions,
    inputs: Inputs,
    progress: &Progress,
    cancel: &AtomicBool,
    attempt: impl Fn(&Session<'_>, &Stage, &Losses<'_>, &Checkpoints<'_>) -> Result<R>,
    before: &dyn Fn(&Stage) -> Result<()>,
) -> Result<R> {
    let resources = Resources::new(options.resources.memory, options.resources.threads)?;
    let pipeline = Pipeline::new(&options.recipe.text)?;
    let Inputs { mut source, mut bad, work, can_be_read_again: goes_on, others } = inputs;
    let stage = begin(options, work)?;
    stage.spares(source.files.iter().map(|file| &*file.path).chain(bad.iter().map(|file| &*file.path)))?;
    // Who may read an object is decided by its store, not by the mode of the local copy.
    stage.reads(source.local_paths());
    // The record of the run that counted the words is as readable as its inputs.
    stage.reads(
        options.duplicates.stats.iter().map(|dir| dir.join("run.json")).collect::<Vec<_>>().iter().map(|file| &**file),
    );
    if options.guards.accept {
        guards::check_held_before(options, &source)?;
    } else {
        stage.can_hold()?;
    }
    let checkpoints = Checkpoints::open(
        stage.work(),
        options.resources.checkpoint.filter(|_| goes_on),
        options.resources.resumes && goes_on,
    )?;
    let disk = Disk::of(stage.work().path());
    let known = checkpoints.known_bad();
    if !options.guards.strict {
        let why = "found by an earlier run; `resume=false` reads the file again".to_owned();
        leave_out(&mut source, &mut bad, &known, &why);
    }
    let mut again = 0;
    loop {
        check_bad(&source, &bad, options.guards.strict)?;
        // Removes tables from an earlier attempt, because a file may turn out to be damaged after tables were written.
        empty_folder(stage.path())?;
        checkpoints.begin()?;
        let engine =
            resources.engine(options.resources.prefilter, options.guards.strict, stage.work().path(), progress, cancel);
        let session = Session::new(&engine, options, &source, &pipeline);
        let losses = Losses::new(&bad, &others);
        let ready = || {
            session.check_pages()?;
            saved_inputs::check(&session, &checkpoints)?;
            corpus_files::check(&session)
        };
        match ready().and_then(|()| attempt(&session, &stage, &losses, &checkpoints)) {
            Ok(report) => {
                let json = serde_json::to_string_pretty(&report).map_err(Error::table("write run.json"))?;
                stage.write_record(&json)?;
                if cancel.load(std::sync::atomic::Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                publish(stage, &report, options.guards.accept, before)?;
                nothing_is_kept();
                return Ok(report);
            }
            // The run starts over only for a damaged input file. A different file, such as a model, would still be damaged in the next
            // attempt.
            Err(Error::BadFile { path, why })
                if !options.guards.strict && source.files.iter().any(|file| file.path == path) =>
            {
                let mut late = engine.bad.into_inner().unwrap_or_default();
                late.entry(path).or_insert(why);
                if again < MOST_AGAIN {
                    again += 1;
                    take_again(&mut source, &mut bad, &mut late);
                }
                checkpoints.record_skipped(
                    source.files.iter().filter_map(|file| Some((file, late.get(&file.path)?.as_str()))),
                )?;
                leave_out(&mut source, &mut bad, &late, "the run starts over without this file");
            }
            Err(error) => return Err(disk.tell(error, || estimate::disk_bytes(options, &source).ok())),
        }
    }
}

/// Begins the output. If `work` is given, this folder, which is already locked, becomes the temporary folder of the output.
fn begin(options: &RunOptions, work: Option<WorkFolder>) -> Result<Stage> {
    match work {
        Some(work) => Stage::begin_in(work, options.output.overwrite),
        None => Stage::begin(&options.output.folder, options.output.overwrite, options.resources.work.as_deref()),
    }
}

/// Checks whether the job can continue without the files that cannot be used.
fn check_bad(source: &Source, bad: &[BadInput], strict: bool) -> Result<()> {
    let Some(first) = bad.first() else { return Ok(()) };
    let why = match () {
        () if strict => first.why.clone(),
        () if source.files.is_empty() => match bad.len() {
            1 => format!("{} (and it is the only input file)", first.why),
            all => format!("{} (none of the {} input files can be used)", first.why, thousands(all as u64)),
        },
        () => return Ok(()),
    };
    Err(Error::BadFile { path: first.path.clone(), why })
}

/// Publishes the output under its name, or holds it back if a guard requires this.
fn publish(stage: Stage, report: &impl Guarded, accepts: bool, before: &dyn Fn(&Stage) -> Result<()>) -> Result<()> {
    if report.is_held() {
        let folder = stage.hold()?;
        tracing::warn!("the result is held back in {}; `out` is unchanged", folder.display());
        return Ok(());
    }
    before(&stage)?;
    stage.commit(accepts || !report.would_hold())
}

/// Reopens the files that changed only in status, and removes them from `late`. The contents of these files are later compared with the
/// saved state.
fn take_again(source: &mut Source, bad: &mut Vec<BadInput>, late: &mut BTreeMap<PathBuf, String>) {
    for (path, looked) in source.look_again() {
        match looked {
            Ok(lost) => {
                let shown = path.display();
                tracing::warn!("{shown} changed while it was being read; the run starts over");
                late.remove(&path);
                bad.retain(|known| known.path != path);
                bad.extend(lost);
            }
            Err(why) => _ = late.insert(path, why),
        }
    }
}

/// Removes files from the inputs. The list of files is not rebuilt, so no files are searched for or added.
fn leave_out(source: &mut Source, bad: &mut Vec<BadInput>, files: &BTreeMap<PathBuf, String>, what: &str) {
    for (path, why) in files.iter().filter(|(path, _)| source.files.iter().any(|file| file.path == **path)) {
        tracing::warn!("{}: {why}; {what}", path.display());
    }
    bad.extend(source.skip(files));
    bad.sort_by(|a, b| a.path.as_os_str().as_encoded_bytes().cmp(b.path.as_os_str().as_encoded_bytes()));
}

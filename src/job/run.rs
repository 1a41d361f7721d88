//! The order of stages: from inputs to an output folder that appears whole or not at all.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::document::View;
use super::group::Relation;
use super::guards::Guarded;
use super::inputs::Inputs;
use super::means::Means;
use super::member::Member;
use super::options::RunOptions;
use super::page::{self, Page};
use super::passes::{self, First, Waiting};
use super::products::{Counts, Products, Stock};
use super::progress::Progress;
use super::relate::relate;
use super::run_report::RunReport;
use super::workers::Job;
use super::{Outcome, learn, output, relate};
use serde::Serialize;

use crate::algorithm::Corpus;
use crate::corpus::CorpusStats;
use crate::error::{Error, Result};
use crate::io::{BadInput, Source, Stage, empty_folder};
use crate::stage::plan::Plan;

/// Runs the whole job; `page` makes report.html.
///
/// A file whose damage shows only while it is read is set aside as a whole: the run starts again without it, so that none
/// of its rows counts anywhere.
///
/// # Errors
/// Wrong options, a full disk, an interruption; with `strict` the first bad row or file. Then nothing stands at `out`.
pub fn run(
    options: &RunOptions,
    inputs: Inputs,
    progress: &Progress,
    cancel: &AtomicBool,
    page: &Page<'_>,
) -> Result<Outcome> {
    let attempt = |job: &Job<'_>, stage: &Stage, bad: &[BadInput], products: &Products<'_>| {
        let report = attempt(job, stage, bad, products, |_| Ok(()))?;
        page::write(job, stage, report, page)
    };
    carry_out(options, inputs, progress, cancel, attempt).map(|report| Outcome { report })
}

/// Does the work of a verb: from opened inputs to an output folder with its record, whole or not at all.
///
/// # Errors
/// As [`run()`].
pub(super) fn carry_out<R: Serialize + Guarded>(
    options: &RunOptions,
    inputs: Inputs,
    progress: &Progress,
    cancel: &AtomicBool,
    attempt: impl Fn(&Job<'_>, &Stage, &[BadInput], &Products<'_>) -> Result<R>,
) -> Result<R> {
    let means = Means::new(options)?;
    let stage = Stage::begin(&options.out, options.overwrite, options.work.as_deref())?;
    let Inputs { mut source, mut bad } = inputs;
    stage.spares(source.files.iter().map(|file| &*file.path).chain(bad.iter().map(|file| &*file.path)))?;
    if !options.accept {
        stage.can_hold()?;
    }
    let products = Products::open(stage.work(), options.checkpoint, options.resumes)?;
    let known = products.known_bad();
    if !options.strict {
        leave_out(&mut source, &mut bad, &known, "an earlier run found that");
    }
    loop {
        if let (true, Some(first)) = (options.strict, bad.first()) {
            return Err(Error::BadFile { path: first.path.clone(), why: first.why.clone() });
        }
        if let (true, Some(first)) = (source.files.is_empty(), bad.first()) {
            return Err(Error::BadFile {
                path: first.path.clone(),
                why: format!("{} (none of the {} input files can be used)", first.why, bad.len()),
            });
        }
        // A file may turn out to be damaged when tables have been written.
        empty_folder(stage.path())?;
        products.clear_away()?;
        let job = means.job(options, &source, stage.work().path(), progress, cancel);
        match job.check_pages().and_then(|()| attempt(&job, &stage, &bad, &products)) {
            Ok(report) => {
                let json = serde_json::to_string_pretty(&report).map_err(Error::table("write run.json"))?;
                stage.write_record(&json)?;
                if cancel.load(std::sync::atomic::Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
                products.end()?;
                if report.is_held() {
                    let folder = stage.hold()?;
                    tracing::warn!("the result is held back in {}; what stands at --out stays", folder.display());
                } else {
                    stage.commit(options.accept || !report.would_hold())?;
                }
                return Ok(report);
            }
            // Another file that is damaged, such as a model, would be as damaged the next time.
            Err(Error::BadFile { path, why })
                if !options.strict && source.files.iter().any(|file| file.path == path) =>
            {
                let mut late = job.bad.into_inner().unwrap_or_default();
                late.entry(path).or_insert(why);
                leave_out(&mut source, &mut bad, &late, "the run starts again without this file");
                products.set_aside(&late)?;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Sets files aside. The list of files stays as it was made: what is gone is not found again, and what came does not join.
fn leave_out(source: &mut Source, bad: &mut Vec<BadInput>, files: &BTreeMap<PathBuf, String>, what: &str) {
    for (path, why) in files.iter().filter(|(path, _)| source.files.iter().any(|file| file.path == **path)) {
        tracing::warn!("{}: {why}; {what}", path.display());
    }
    bad.extend(source.set_aside(files));
    bad.sort_by(|a, b| a.path.as_os_str().as_encoded_bytes().cmp(b.path.as_os_str().as_encoded_bytes()));
}

/// One attempt over the files that are whole as far as is known; `look` sees what the algorithms say of pairs.
pub(super) fn attempt(
    job: &Job<'_>,
    stage: &Stage,
    bad: &[BadInput],
    products: &Products<'_>,
    look: impl FnOnce(&[Member<'_, Relation>]) -> Result<()>,
) -> Result<RunReport> {
    let plan = Plan::new(&job.options.recipe, job.documents(), job.options.sift)?;
    let (stock, none) = (Stock::new(job, &plan, products), CorpusStats::none());
    let First { taken, copies, counts, words, members } = passes::first(job, &plan, &stock, &none)?;
    let Counts { stats, cuts } = counts.unwrap_or_else(|| Counts { stats: CorpusStats::none(), cuts: None });
    let view = match plan.counts {
        Some(_) => View::after_count(job, cuts.as_ref(), &stats),
        None => View::first(job),
    };
    let corpus = Corpus::new(job.documents(), &stats);
    let models = learn::learn(job, &stock, &view, &corpus, plan.counts.map(|_| &*copies))?;
    let text_bytes = taken.text_bytes;
    let waiting = Waiting { view: &view, stats: &stats, copies: &copies, words, models: &models, text_bytes };
    let members = passes::sign(job, &plan, &stock, members, waiting)?;
    let known = relate::Corpus { copies: &copies, view: &view, headings: taken.headings.as_ref() };
    let (members, contents) = relate(job, &stock, members, known)?;
    look(&members)?;
    let known = output::Corpus { taken: &taken, copies: &copies, view: &view, stats: &stats, models: &models, bad };
    let mut report = output::write(job, stage, &plan, members, contents, known)?;
    report.taken_up = products.taken_up();
    Ok(report)
}

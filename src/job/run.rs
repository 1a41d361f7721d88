//! The order of stages: from inputs to an output folder that appears whole or not at all.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::classes::Classes;
use super::contents::{Alike, Compared};
use super::count::Counting;
use super::document::View;
use super::forward::Forward;
use super::guards::{self, Guarded};
use super::inputs::Inputs;
use super::means::{Means, work_folder};
use super::options::RunOptions;
use super::page::{self, Page};
use super::progress::Progress;
use super::reading::{self, Asked, First};
use super::relate::relate;
use super::run_report::{AlgorithmReport, RunReport};
use super::sign::{SignedRows, Signing, rows, spilled};
use super::tables::Tables;
use super::workers::Job;
use super::{Outcome, copies, decide, describe, last_reading, learn, pairs, recall, relate, sift};
use serde::Serialize;

use crate::algorithm::Corpus;
use crate::corpus::CorpusStats;
use crate::error::{Error, Result};
use crate::io::{BadInput, Stage, empty_folder};
use crate::shuffle::AtomicBits;
use crate::stage::bound::Bound;
use crate::stage::sift::Sieve;

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
    let attempt = |job: &Job<'_>, stage: &Stage, bad: &[BadInput]| {
        let report = attempt(job, stage, bad)?;
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
    attempt: impl Fn(&Job<'_>, &Stage, &[BadInput]) -> Result<R>,
) -> Result<R> {
    let means = Means::new(options)?;
    let stage = Stage::begin(&options.out, options.overwrite)?;
    let Inputs { mut source, mut bad } = inputs;
    stage.spares(source.files.iter().map(|file| &*file.path).chain(bad.iter().map(|file| &*file.path)))?;
    if !options.accept {
        stage.can_hold()?;
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
        let folder = work_folder(options, stage.path())?;
        let job = means.job(options, &source, folder.path(), progress, cancel);
        match job.check_pages().and_then(|()| attempt(&job, &stage, &bad)) {
            Ok(report) => {
                let json = serde_json::to_string_pretty(&report).map_err(Error::table("write run.json"))?;
                stage.write_record(&json)?;
                let place = folder.path().to_path_buf();
                folder.close().map_err(Error::io("remove the work folder", &place))?;
                if cancel.load(std::sync::atomic::Ordering::Relaxed) {
                    return Err(Error::Interrupted);
                }
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
                for (path, why) in &late {
                    tracing::warn!("{}: {why}; the run starts again without this file", path.display());
                }
                // The list of files stays as it was made: what is gone is not found again, and what came does not join.
                bad.extend(source.set_aside(&late));
                bad.sort_by(|a, b| a.path.as_os_str().as_encoded_bytes().cmp(b.path.as_os_str().as_encoded_bytes()));
            }
            Err(error) => return Err(error),
        }
    }
}

/// One attempt over the files that are whole as far as is known.
pub(super) fn attempt(job: &Job<'_>, stage: &Stage, bad: &[BadInput]) -> Result<RunReport> {
    let (recipe, sifts) = (&job.options.recipe, job.options.sift);
    let needs = recipe.needs_stats();
    let none = CorpusStats::none();
    let uncounted = Corpus::new(job.documents(), &none);
    let learners: Vec<usize> = recipe.learners(&uncounted)?.into_iter().map(|(at, _)| at).collect();
    let counts = needs.any() || !learners.is_empty();
    // Statistics and models that count each text once have to know the copies before they count.
    let early = if counts && !recipe.count_copies { Some(copies::fold(job, &copies::read(job)?)?) } else { None };

    // With words that are kept one reading is enough: who needs no counts signs in it. Where there is another one, all wait for
    // it: surplus copies are known by then, and need no rows.
    let keeps_words = recipe.keeps_words(!learners.is_empty(), sifts);
    let waits = |at: usize| counts && (keeps_words.is_none() || recipe.algorithms[at].needs_stats().any());
    let at_once = recipe.bind_where(&uncounted, &[], |at| !waits(at))?;
    let first = View::first(job);
    let mut sieve = if sifts && !counts { Some(sift::sift(job, &at_once, None, &first)?) } else { None };
    let counting = counts.then(|| Counting::new(job, needs, keeps_words)).transpose()?;
    let First { mut taken, counted, mut signed } =
        reading::first(job, &at_once, counting, early.as_ref(), sieve.as_ref())?;
    let copies = match (early, taken.hashes.take()) {
        (Some(copies), _) => copies,
        (None, Some(hashes)) => copies::fold(job, &hashes)?,
        (None, None) => return Err(Error::Usage("no hashes of texts were taken".into())),
    };
    let (stats, cuts, words) = match counted {
        Some(counted) => (counted.stats, counted.cuts, counted.forward),
        None => (CorpusStats::none(), None, None),
    };

    let view = if counts { View::after_count(job, cuts.as_ref(), &stats) } else { first };
    let corpus = Corpus::new(job.documents(), &stats);
    let models = learn::learn(job, &view, &corpus, Some(&copies).filter(|_| counts))?;
    let learnt: Vec<_> =
        learners.iter().map(|&at| (recipe.algorithms[at].label.as_str(), models[at].as_slice())).collect();
    let waited = recipe.bind_where(&corpus, &models, waits)?;
    if !waited.is_empty() {
        let view = view.with_copies(Some(&copies));
        if sifts {
            sieve = Some(sift::sift(job, &waited, Some(&copies), &view)?);
        }
        signed.extend(sign_again(job, &waited, &view, &stats, &copies, words, sieve.as_ref())?);
    }
    // Those of the first reading stand before the others: each goes to its place in the recipe.
    let mut places: Vec<usize> = (0..recipe.algorithms.len()).collect();
    places.sort_by_key(|&at| waits(at));
    let all: BTreeMap<usize, (Bound<'_>, SignedRows)> =
        places.into_iter().zip(at_once.into_iter().chain(waited).zip(signed)).collect();
    let (bound, signed): (Vec<Bound<'_>>, Vec<SignedRows>) = all.into_values().unzip();
    let copies = Arc::new(copies);
    let mut reports: Vec<AlgorithmReport> =
        describe::algorithms(job, &bound, &signed, taken.text_bytes, sieve.as_ref());
    drop(sieve);
    for (report, model) in reports.iter_mut().zip(&models).filter(|(_, model)| !model.is_empty()) {
        report.model = Some(recall::digest(model));
    }
    let known = relate::Corpus { copies: &copies, view: &view, headings: taken.headings.as_ref() };
    let (relations, known) = relate(job, &bound, &signed, known, &mut reports)?;

    let shown = Arc::new(AtomicBits::new(job.dir, "shown", job.documents() as usize)?);
    let alike = Alike::new(job, &copies)?;
    let mut expanded = Vec::new();
    for ((bound, (relation, _)), report) in bound.iter().zip(&relations).zip(&mut reports) {
        let pairs = pairs::expand(job, bound, relation, &alike, &taken.keep, &shown)?;
        (report.pairs, report.forms, report.large_groups) = (pairs.total, pairs.forms, pairs.large_groups);
        if bound.confirm().is_none() {
            report.candidates = relation.pairs.rows();
        }
        expanded.push(pairs);
    }
    taken.rejected.each(job, |doc, _, _| {
        shown.set(doc as usize);
        Ok(())
    })?;
    let looks = job.options.removes && job.options.remove_if.bounds().is_some() && !alike.is_empty();
    let taking = looks.then(|| alike.begin(job, known)).transpose()?;
    let (ids, contents) = last_reading::read(job, &view, &taken.ids_seen, &shown, taking)?;
    let decide = || decide::decide(job, &relations, &taken.keep, &shown, contents.as_ref());
    let mut decided = job.options.removes.then(decide).transpose()?;
    let looked_at = decided.as_mut().and_then(|decided| decided.looked_at.take());
    let compared = looked_at.map(|looked_at| Compared { copies: copies.clone(), contents, looked_at });
    let tables = Tables {
        bound: &bound,
        relations: &relations,
        pairs: &expanded,
        keep: &taken.keep,
        copies: &copies,
        decided: decided.as_ref(),
        compared: compared.as_ref(),
        rejected: &taken.rejected,
        bad,
        ids: &ids,
        stats: &stats,
        needs,
        models: &learnt,
    };
    let written = tables.write(job, stage)?;
    for ((report, pairs), counts) in reports.iter_mut().zip(&written.pairs).zip(&written.clusters) {
        [report.pairs_written, report.forms_written] = *pairs;
        (report.clusters, report.clustered, report.largest_cluster) =
            (counts.clusters, counts.clustered, counts.largest);
    }
    let removal = decided.as_ref().map(|decided| describe::removal(job, taken.used, &written.removals, decided));
    let mut report = describe::report(job, &taken, &copies, &stats, reports, removal, &written.removals, bad);
    report.guards = guards::of_run(job, stage, bad, &report)?;
    Ok(report)
}

/// Signs with the algorithms that had to wait for the counts: from the words that were kept, or in another reading.
fn sign_again(
    job: &Job<'_>,
    bound: &[Bound<'_>],
    view: &View<'_>,
    stats: &CorpusStats,
    copies: &Classes,
    words: Option<Forward>,
    sieve: Option<&Sieve>,
) -> Result<Vec<SignedRows>> {
    let running = job.clock.stage(if words.is_some() { "recall kept words" } else { "sign" });
    let signing = Signing::new(job, bound, Some(copies), sieve)?;
    let tallies = match words {
        Some(words) => words.sign(job, view, stats, &signing)?,
        None => {
            let asked = Asked { signing: Some(&signing), copies: Some(copies), ..Asked::default() };
            reading::read(job, "sign", view, asked)?.into_iter().filter_map(|share| share.signed).collect()
        }
    };
    let signed = signing.finish(tallies)?;
    running.end(job.documents(), rows(&signed), spilled(&signed));
    Ok(signed)
}

//! One night: it is read, meets the index, is judged as any corpus, and becomes a part of the index.

use std::cell::{OnceCell, RefCell};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use super::append::{self, Night};
use super::batch::Begun;
use super::earlier::Kept;
use super::job::Job;
use super::join::Joining;
use super::published::state;
use super::{batch, drift, recipe};
use dupsift_algorithms::algorithm::Corpus;
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_algorithms::stage::plan::Plan;
use dupsift_core::error::{Error, Result};
use dupsift_core::number::{counted, counted_as};
use dupsift_core::spelling::opt;
use dupsift_engine::engine::products::Products;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::job::intake::Taken;
use dupsift_engine::job::member::{Member, Step};
use dupsift_engine::job::passes::{self, Before, First, Waiting};
use dupsift_engine::job::products::{Counts, Stock};
use dupsift_engine::job::read_back::Frozen;
use dupsift_engine::job::relate::{self, relate};
use dupsift_engine::job::run::{Finish, carry_out_and};
use dupsift_engine::job::run_report::{FrozenReport, IndexReport, RunReport};
use dupsift_engine::job::saved_inputs;
use dupsift_engine::job::{Guarded, corpus_files, guards, learn, output, stands_in};
use dupsift_engine::options::RunOptions;
use dupsift_engine::reading::again::work_again;
use dupsift_engine::reading::classes::Classes;
use dupsift_engine::reading::document::View;
use dupsift_engine::reading::guests::Guests;
use dupsift_engine::reading::inputs::Inputs;
use dupsift_engine::reading::losses::Losses;
use dupsift_engine::reading::meeting::{Keys, Numbered};
use dupsift_engine::reading::reader::Reader;
use dupsift_files::io::{Stage, absolute};
use dupsift_index::{Index, Manifest, NightMet, STATISTICS, check_rights, stop_at};

/// Numbers that are left for guests at first: so many times the rows of the night, and at least so many.
const RESERVED: (u64, u64) = (4, 1 << 16);

/// A run against the index in a folder, which `appends` to it or leaves it as it is.
pub fn matched(
    options: &RunOptions,
    inputs: Inputs,
    progress: &Progress,
    cancel: &AtomicBool,
    finish: &Finish<'_>,
    (dir, appends): (&Path, bool),
) -> Result<RunReport> {
    let named = batch::Named::new(options, &inputs.source.files)?;
    let known = OnceCell::new();
    // They are read once at most: that may take as long as the run.
    let contents = || match known.get() {
        Some(contents) => Ok(Option::clone(contents)),
        None => {
            let contents = contents(options, &inputs, progress, cancel)?;
            Ok(known.get_or_init(|| contents).clone())
        }
    };
    let rows = options.limit.map_or(inputs.source.documents(), |limit| limit.min(inputs.source.documents()));
    if appends {
        check_rights(dir)?;
    }
    let looked = Index::look(dir, state)?;
    let (mut index, again) = match (appends, looked) {
        (true, looked) => {
            // What is to be refused is refused before anything is made or cleared up.
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
                // Another run has changed it meanwhile.
                begun = batch::begin(&mut index.manifest, dir, options, &named, &contents)?;
            }
            match begun {
                Begun::Published(report) => return Ok(*report),
                Begun::Run(again) => (index, again),
            }
        }
        (false, Some(looked)) => (looked, None),
        (false, None) => return Err(Error::usage(format!("{} is no index any more", dir.display()))),
    };
    let mut options = options.clone();
    (options.checkpoint, options.resumes) = (None, false);
    let documents_planned = recipe::compare(index.manifest.as_ref(), dir, &options, rows)?;
    if let Some(manifest) = &index.manifest {
        index.check_statistics()?;
        options.stats = Some(index.folder(STATISTICS, &manifest.statistics));
    }
    let next: RefCell<Option<Manifest>> = RefCell::new(None);
    let report = {
        let job = Job { index: &index, options: &options, documents_planned, batch: named, again, appends, finish };
        let attempt =
            |engine: &Engine<'_>, reader: &Reader<'_>, stage: &Stage, losses: &Losses<'_>, products: &Products<'_>| {
                corpus_files::check(engine, reader)?;
                let (report, manifest) = attempt(engine, reader, stage, losses, products, &job)?;
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
        Some(next) => append::hold(&index, &stands_in(&report, &options.out), next)?,
        None => {}
    }
    Ok(report)
}

/// Reads the files of a night and hashes what they hold; `None` if one of them cannot be read.
fn contents(options: &RunOptions, inputs: &Inputs, progress: &Progress, cancel: &AtomicBool) -> Result<Option<String>> {
    let hash = |engine: &Engine<'_>, reader: &Reader<'_>| saved_inputs::hash_all(engine, reader);
    match work_again(options, &inputs.source, progress, cancel, hash) {
        Ok(sums) => Ok(Some(saved_inputs::line(&inputs.source, &sums))),
        Err(Error::BadFile { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// One attempt over the files that are whole; again with more room before the night, where there are more guests than was thought.
fn attempt(
    engine: &Engine<'_>,
    reader: &Reader<'_>,
    stage: &Stage,
    losses: &Losses<'_>,
    products: &Products<'_>,
    job: &Job<'_>,
) -> Result<(RunReport, Manifest)> {
    let next_doc = job.index.manifest.as_ref().map_or(0, |manifest| manifest.next_doc);
    let mut base = next_doc.min((RESERVED.0 * reader.documents()).max(RESERVED.1));
    loop {
        let numbered = Numbered { base, next_doc, documents_planned: job.documents_planned };
        if next_doc + reader.documents() > numbered.room() {
            return Err(Error::wrong(
                opt("index"),
                format_args!(
                    "it has room for {}, and {} there; make another one with {} above that",
                    counted(numbered.room(), "document"),
                    counted_as(next_doc, "is|are"),
                    opt("planned-documents")
                ),
            ));
        }
        let source = reader.source.shifted(base);
        let night = reader.shifted(&source, base);
        let mut joining = Joining::new(job.index, job.options, numbered);
        match once(engine, &night, stage, losses, products, job, &mut joining) {
            Err(_) if joining.beyond.load(Relaxed) > 0 => base = joining.beyond.load(Relaxed),
            other => return other,
        }
    }
}

fn once(
    engine: &Engine<'_>,
    night: &Reader<'_>,
    stage: &Stage,
    losses: &Losses<'_>,
    products: &Products<'_>,
    job: &Job<'_>,
    joining: &mut Joining<'_>,
) -> Result<(RunReport, Manifest)> {
    let (options, planned) = (night.options, job.documents_planned);
    let frozen = frozen(engine, night, planned)?;
    let plan = Plan::new(&options.recipe, planned, false, frozen.is_some())?;
    let stock = Stock::new(engine, night, &plan, frozen.as_ref(), products);
    let none = CorpusStats::none();
    let before = Before::new(engine, night, frozen.as_ref(), &none, planned);
    let First { mut taken, copies, counts, words, members, copy_keys } =
        passes::first(engine, night, &plan, &stock, &before, Some(&*joining))?;
    let Counts { stats, cuts } = counts.unwrap_or_else(|| Counts { stats: CorpusStats::none(), cuts: None });
    let stats = stats.frozen();
    let view =
        if plan.counts.is_some() { View::after_count(engine, night, cuts.as_ref(), &stats) } else { before.view };
    let corpus = Corpus::new(planned, &stats);
    let learn = || learn::learn(engine, night, &stock, &view, &corpus, plan.counts.map(|_| &*copies));
    let learnt = if frozen.is_some() { Vec::new() } else { learn()? };
    let models = frozen.as_ref().map_or(&learnt, |frozen| &frozen.models);
    let waiting = Waiting {
        view: &view,
        stats: &stats,
        copies: &copies,
        words,
        models,
        text_bytes: taken.text_bytes,
        documents_planned: planned,
        numbered: Some(joining.numbered),
    };
    let mut members = passes::sign(engine, night, &plan, &stock, members, waiting)?;
    let keys = take_keys(&mut members);

    let (source, guests) = joining.guests(engine)?;
    let source = source.map_or_else(|| night.source.shifted(0), |source| night.source.after(&source));
    let reader = night.joined(&source, guests);
    acquaint(&reader, job.index, &mut taken, &copies);
    let view = view.over(&reader);
    let earlier = Kept::new(job.index, joining.numbered);
    let headings = taken.headings.as_ref();
    let known = relate::Corpus { copies: &copies, view: &view, headings, earlier: Some(&earlier) };
    let (members, contents) = relate(engine, &reader, &stock, members, known)?;
    // Counts are in the index, and in the output of the run that made it.
    let tables = frozen.as_ref().map(|frozen| frozen.tables).filter(|_| job.index.manifest.is_none());
    let tables = plan.counts.map(|counts| counts.needs).or(tables);
    let stats = frozen.as_ref().map_or(&stats, |frozen| &frozen.stats);
    let known = output::Corpus { taken: &taken, copies: &copies, view: &view, stats, tables, models, losses };
    let (mut report, decided) = output::write(engine, &reader, stage, &stock, members, contents, known)?;
    joining.scanned.fetch_add(earlier.scanned.load(Relaxed), Relaxed);
    let (noted, decided, ids) = (earlier.noted(), decided.as_ref(), &taken.ids_seen);
    let contents = saved_inputs::line(night.source, &taken.contents);
    let night = Night { keys, copy_keys, noted, copies: &copies, decided, ids, contents };
    let mut manifest = append::append(engine, &reader, job, joining.numbered, night, report.removal.as_ref())?;
    record(engine, stage, job, (&mut report, &mut manifest), &reader, joining)?;
    Ok(((job.finish)(engine, &reader, stage, report)?, manifest))
}

/// The statistics and models that signatures are made by, of another run or of the index; none for the run that counts them.
fn frozen(engine: &Engine<'_>, night: &Reader<'_>, planned: u64) -> Result<Option<Frozen>> {
    let read = |dir: &std::path::PathBuf| Frozen::read(engine, night, dir);
    let mut frozen = night.options.stats.as_ref().map(read).transpose()?;
    frozen.iter_mut().for_each(|frozen| frozen.report.documents_planned = planned);
    Ok(frozen)
}

/// By what the documents of each algorithm meet others.
fn take_keys(members: &mut [Member<'_, Step>]) -> Vec<(String, Keys)> {
    let keys = members.iter_mut().map(|member| match &mut member.now {
        Step::Rows(signed) => Some((member.bound.label.clone(), *signed.keys.take()?)),
        _ => None,
    });
    keys.flatten().collect()
}

/// Tells guests and night what they are to each other: whose text came again, and who is preferred.
fn acquaint(reader: &Reader<'_>, index: &Index, taken: &mut Taken, copies: &Classes) {
    let (Some(guests), Some(manifest)) = (&reader.guests, &index.manifest) else { return };
    for class in copies.of(0..reader.base).filter(|class| class.iter().any(|doc| doc >= reader.base)) {
        guests.copy(class.get(0));
    }
    let nights = manifest.batches.iter().map(|batch| guests.first_from(batch.first_doc));
    taken.keep.by_nights(nights.chain([reader.base]).collect());
}

/// Says in the record what the night was to the index, and what that took: what was added has cost something too.
fn record(
    engine: &Engine<'_>,
    stage: &Stage,
    job: &Job<'_>,
    (report, manifest): (&mut RunReport, &mut Manifest),
    reader: &Reader<'_>,
    joining: &Joining<'_>,
) -> Result<()> {
    let from = absolute(job.index.dir()).display().to_string();
    report.frozen = Some(FrozenReport { from, documents_planned: job.documents_planned });
    report.index = Some(of_night(job, report, manifest, reader, joining));
    report.warnings.extend(job.again.as_ref().and_then(|again| stay_forgotten(&again.forgotten)));
    let fired = drift::watch(report, manifest, job.appends, job.options.max_candidates_factor);
    guards::add(reader, stage, report, fired)?;
    report.stages = engine.clock.stages();
    (report.seconds, report.cpu_seconds, report.peak_memory_bytes) = engine.clock.totals();
    Ok(())
}

/// A note on documents of a batch that is made again.
fn stay_forgotten(forgotten: &[[u64; 2]]) -> Option<String> {
    let count: u64 = forgotten.iter().map(|[from, to]| to - from).sum();
    (count > 0).then(|| {
        let note = format!(
            "{} forgotten: the index does not match such documents; to have them matched, run the batch under another name by {}",
            counted_as(count, "row of this batch was forgotten before and stays|rows of this batch were forgotten before and stay"),
            opt("batch")
        );
        tracing::warn!("{note}");
        note
    })
}

fn of_night(
    job: &Job<'_>,
    report: &RunReport,
    manifest: &Manifest,
    reader: &Reader<'_>,
    joining: &Joining<'_>,
) -> IndexReport {
    IndexReport {
        folder: absolute(job.index.dir()).display().to_string(),
        identity: manifest.identity(joining.numbered.next_doc),
        batch: job.batch.name.clone(),
        publication: manifest
            .batches
            .last()
            .filter(|_| job.appends)
            .map_or_else(String::new, |batch| batch.publication.clone()),
        generation: manifest.generation,
        read_generation: job.index.manifest.as_ref().map_or(0, |manifest| manifest.generation),
        first_doc: joining.numbered.next_doc,
        guests: reader.guests.as_ref().map_or(0, Guests::count),
        nights: nights_met(job.index.manifest.as_ref(), reader).unwrap_or_default(),
        texts: manifest.batches.last().filter(|_| job.appends).map_or(0, |batch| batch.texts),
        seen: report.removal.as_ref().and_then(|removal| removal.reasons.get("seen").copied()).unwrap_or_default(),
        bytes_scanned: joining.scanned.load(Relaxed),
        bytes_looked_up: joining.looked_up.load(Relaxed),
    }
}

/// The earlier nights that guests came in. A reference that is no index has none that a user would know.
fn nights_met(manifest: Option<&Manifest>, reader: &Reader<'_>) -> Option<Vec<NightMet>> {
    let guests = reader.guests.as_ref()?;
    let met = manifest?.batches.iter().map(|batch| {
        let documents = guests.first_from(batch.first_doc + batch.rows) - guests.first_from(batch.first_doc);
        NightMet { name: batch.name.clone(), first_doc: batch.first_doc, documents }
    });
    Some(met.filter(|night| night.documents > 0).collect())
}

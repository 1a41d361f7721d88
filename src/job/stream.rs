//! The counting Bloom filter as a lookup: documents in the order of the input, each flagged if its key came before.
//!
//! No pairs come out, for a filter cannot name the partner; what comes out is the filter itself, so that the next snapshot
//! is held against all earlier ones at the cost of one reading of its own. Every document is inserted, duplicates too: so the
//! old version of a page that is crawled again can be taken out (`--forget`) without losing the others that were equal to it.
//! A flag is wrong at the filter's rate of false positives; a document that is not flagged is certainly new.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use serde::Serialize;

use super::document::View;
use super::guards;
use super::ids::Ids;
use super::input_notes;
use super::inputs::{Inputs, notes};
use super::last_reading;
use super::options::RunOptions;
use super::progress::Progress;
use super::purified::Purified;
use super::rejected::{Rejected, Rejecter};
use super::run::carry_out;
use super::run_report::{BadInputReport, GuardReport, RejectionsReport, SCHEMA_VERSION, StageReport};
use super::stream_check::{check_key, key, named};
use super::stream_filter::{self, Held};
use super::tables::write_rejected;
use super::workers::Job;
use crate::batch::{FlagBuilder, IdsSeen, flag_schema};
use crate::bloom::CountingBloom;
use crate::corpus::CorpusStats;
use crate::error::{Error, Result};
use crate::hash::combine;
use crate::io::{BadInput, Stage, TableWriter, Want};
use crate::purify::Purifier;
use crate::row::{Reason, Signatures};
use crate::shuffle::{AtomicBits, AtomicCells, Memory};
use crate::stage::bound::Bound;
use crate::text::Analysis;

/// What a stream is asked to do besides what every run is.
#[derive(Clone)]
pub struct StreamOptions {
    /// Columns, words, resources, and the one algorithm whose signature is the key.
    pub run: RunOptions,
    /// The filter that an earlier stream left; none: an empty one.
    pub filter: Option<PathBuf>,
    /// Keys that a new filter is made for; none: ten times the documents of this input.
    pub keys: Option<u64>,
    /// The rate of false positives of a new filter at that many keys.
    pub rate: f64,
}

/// `run.json` of a stream.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StreamReport {
    /// Version of this record and of the table beside it.
    pub schema_version: u32,
    /// Version of the program.
    pub dupsift: String,
    /// The algorithm with its parameters.
    pub recipe: String,
    /// A hash of that and of all that words depend on, in hexadecimal.
    pub identity: String,
    /// Input files that could not be used at all.
    pub bad_inputs: Vec<BadInputReport>,
    /// Files of the inputs that are not read, by the endings of their names.
    pub unread: BTreeMap<String, u64>,
    /// Rows of all usable files.
    pub rows: u64,
    /// Rows set aside, see `rejected/`.
    #[serde(flatten)]
    pub rejections: RejectionsReport,
    /// Documents with a key.
    pub signed: u64,
    /// Documents without one, by reason.
    pub unsigned: BTreeMap<String, u64>,
    /// Documents whose key came before.
    pub duplicates: u64,
    /// Documents of `--forget` whose keys were taken out.
    pub forgotten: u64,
    /// Documents of `--forget` whose keys were not there.
    pub unknown: u64,
    /// Keys in the filter now.
    pub keys: u64,
    /// Bytes of the filter.
    pub filter_bytes: u64,
    /// The share of new documents that are flagged by chance, at the number of keys that there are now.
    pub false_positives: f64,
    /// One entry a stage, in order.
    pub stages: Vec<StageReport>,
    /// Guards that fired: exit code 3, or 4 where one held the result back.
    pub guards: Vec<GuardReport>,
    /// What a reader should know besides.
    pub warnings: Vec<String>,
    /// Wall-clock seconds of the run.
    pub seconds: f64,
    /// User and system CPU seconds of the process.
    pub cpu_seconds: f64,
    /// Highest anonymous memory that was sampled, in bytes.
    pub peak_memory_bytes: u64,
}

/// Streams the documents of `inputs` through the filter; those of `forget` are taken out of it first.
///
/// # Errors
/// Algorithms that have no one key or need statistics, a filter of another recipe, and whatever keeps a run from its end.
pub fn stream(
    options: &StreamOptions,
    inputs: Inputs,
    forget: Option<&Inputs>,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<StreamReport> {
    let none = CorpusStats::none();
    check_key(options)?;
    let bound = key(options, &none)?;
    carry_out(&options.run, inputs, progress, cancel, |job, stage, bad, _| {
        attempt(options, job, stage, bad, &bound, forget)
    })
}

/// The keys that a new filter is made for.
fn wanted_keys(options: &StreamOptions, job: &Job<'_>) -> u64 {
    options.keys.unwrap_or(job.documents().saturating_mul(10))
}

fn attempt(
    options: &StreamOptions,
    job: &Job<'_>,
    stage: &Stage,
    bad: &[BadInput],
    bound: &Bound<'_>,
    forget: Option<&Inputs>,
) -> Result<StreamReport> {
    let (recipe, identity) = named(options, job.pipeline, job.has_pages());
    let most_bytes = job.budget.rows;
    let (filter, mut held) = match &options.filter {
        Some(path) => stream_filter::read(path, &recipe, &identity, most_bytes)?,
        None => {
            let keys = wanted_keys(options, job);
            let (recipe, identity, rate) = (recipe.clone(), identity.clone(), options.rate);
            let held = Held { recipe, identity, keys: 0, rate, numbers: 0, hash: String::new() };
            (CountingBloom::new(keys, options.rate, most_bytes), held)
        }
    };
    let mut report = StreamReport {
        schema_version: SCHEMA_VERSION,
        dupsift: env!("CARGO_PKG_VERSION").to_string(),
        recipe,
        identity,
        bad_inputs: bad.iter().map(|file| BadInputReport { file: file.label.clone(), why: file.why.clone() }).collect(),
        unread: job.source.unread.by_ending().clone(),
        rows: job.documents(),
        ..StreamReport::default()
    };
    if let Some(forget) = forget {
        // --limit is about the documents that come in.
        let whole = RunOptions { limit: None, ..job.options.clone() };
        if let (true, Some(first)) = (whole.strict, forget.bad.first()) {
            return Err(Error::Usage(format!("--forget {}: {}", first.path.display(), first.why)));
        }
        let old = Job {
            options: &whole,
            source: &forget.source,
            pipeline: job.pipeline,
            purified: Purified::new(Purifier::new(whole.recipe.purify)),
            fields: job.fields.clone(),
            pool: job.pool,
            budget: job.budget,
            memory: Memory::new(0),
            dir: job.dir,
            progress: job.progress,
            cancel: job.cancel,
            clock: job.clock,
            long_documents: job.long_documents,
            segmented: AtomicU64::new(0),
            bad: Mutex::default(),
        };
        old.check_pages()?;
        let (keys, read) = read(&old, bound, "forget").map_err(|error| match error {
            // Half of the old versions taken out would be worse than none: the filter must stay what it was.
            Error::BadFile { path, why } => {
                Error::Usage(format!("--forget {}: {why}; expected files that can be read whole", path.display()))
            }
            other => other,
        })?;
        report
            .warnings
            .extend(forget.bad.iter().map(|file| format!("--forget {}: cannot be used: {}", file.label, file.why)));
        let without = old.documents() - read.signed;
        if without > 0 {
            report
                .warnings
                .push(format!("{without} rows of --forget have no text or no key; nothing was taken out for them"));
        }
        for doc in 0..old.documents() {
            match keys.of(doc) {
                Some(key) if filter.remove(key) => report.forgotten += 1,
                Some(_) => report.unknown += 1,
                None => {}
            }
        }
        held.keys = held.keys.saturating_sub(report.forgotten);
    }
    let (keys, read) = read(job, bound, "stream")?;
    let shown = Arc::new(AtomicBits::new(job.dir, "shown", job.documents() as usize)?);
    (0..job.documents()).for_each(|doc| _ = shown.set(doc as usize));
    let ids = last_reading::ids(job, &read.ids_seen, &shown)?;
    report.duplicates = flag(job, stage, &filter, &keys, &ids)?;
    write_rejected(job, stage, &read.rejected, bad, &ids)?;
    held.keys += read.signed;
    let running = job.clock.stage("write filter");
    stream_filter::write(&stage.file("filter.bloom")?, &filter, &held)?;
    running.end(held.keys, 1, filter.bytes());

    (report.signed, report.rejections) = (read.signed, read.rejected.report());
    report.warnings.extend(input_notes::other_encoding(job, &report.rejections));
    report.unsigned = read.unsigned.into_iter().map(|(reason, count)| (reason.to_string(), count)).collect();
    (report.keys, report.filter_bytes) = (held.keys, filter.bytes());
    report.false_positives = filter.false_positives(held.keys);
    if options.filter.is_none() {
        report.warnings.extend(stream_filter::cut(wanted_keys(options, job), options.rate, &filter));
    }
    if report.false_positives > 2.0 * held.rate {
        report.warnings.push(format!(
            "the filter holds {} keys in {} bytes: {:.2} % of new documents are flagged by chance; start again with a larger --keys or --memory",
            report.keys,
            report.filter_bytes,
            100.0 * report.false_positives
        ));
    }
    if report.unknown > 0 {
        report.warnings.push(format!("{} documents of --forget were not in the filter", report.unknown));
    }
    report.warnings.extend(notes(job, bad));
    report.guards = guards::of_reading(job, stage, bad, report.rows - report.rejections.rows, &report.rejections)?;
    report.stages = job.clock.stages();
    (report.seconds, report.cpu_seconds, report.peak_memory_bytes) = job.clock.totals();
    Ok(report)
}

/// The key of each document; 0 stands for none.
struct Keys(AtomicCells<u64>);

impl Keys {
    fn of(&self, doc: u64) -> Option<u64> {
        Some(self.0.load(doc as usize)).filter(|&key| key > 0)
    }
}

/// What the reading found besides.
struct Read {
    signed: u64,
    unsigned: BTreeMap<&'static str, u64>,
    rejected: Rejected,
    ids_seen: IdsSeen,
}

/// Signs all documents, on all threads.
fn read(job: &Job<'_>, bound: &Bound<'_>, name: &str) -> Result<(Keys, Read)> {
    let running = job.clock.stage(name);
    let keys = Keys(AtomicCells::new(job.dir, &format!("{name}-keys"), job.documents() as usize)?);
    let rejecter = Rejecter::new(job)?;
    let view = View::first(job);
    let want = Want { id: true, ..view.want() };
    let counts = job.read(
        name,
        &want,
        || Ok((Signatures::default(), rejecter.writer(), BTreeMap::new(), 0u64, IdsSeen::default())),
        |(scratch, rejected, unsigned, signed, ids_seen), batch| {
            let columns = view.columns(batch)?;
            for row in 0..batch.len() {
                let doc = batch.doc(row);
                let text = match batch.text(row).text() {
                    Ok(text) => text,
                    Err(why) => {
                        rejecter.push(job, rejected, batch, row, &why)?;
                        continue;
                    }
                };
                scratch.clear();
                let _long = job.long_document(View::bytes(text, &columns, row))?;
                let document = view.document(doc, text, &columns, row);
                bound.signer.sign(&document, scratch);
                match key_of(&document, scratch) {
                    Ok(key) => {
                        keys.0.store(doc as usize, key);
                        *signed += 1;
                    }
                    Err(reason) => *unsigned.entry(reason).or_insert(0) += 1,
                }
            }
            ids_seen.merge(batch.ids_seen());
            Ok(())
        },
        |(_, mut rejected, unsigned, signed, ids_seen)| rejected.flush().map(|()| (unsigned, signed, ids_seen)),
    )?;
    let mut read =
        Read { signed: 0, unsigned: BTreeMap::new(), rejected: rejecter.finish()?, ids_seen: IdsSeen::default() };
    for (unsigned, signed, ids_seen) in counts {
        read.signed += signed;
        unsigned.into_iter().for_each(|(reason, count)| *read.unsigned.entry(reason).or_insert(0) += count);
        read.ids_seen.merge(&ids_seen);
    }
    running.end(job.documents(), read.signed, 0);
    Ok((keys, read))
}

/// The key of a document: its signature, never 0. A text without one, such as one that is too short, is known by its bytes: its
/// copies are duplicates to every algorithm. White space alone has no key.
fn key_of(document: &Analysis<'_>, signatures: &Signatures) -> std::result::Result<u64, Reason> {
    let both = |key: u64, halves: u128| combine(combine(key, (halves >> 64) as u64), halves as u64);
    let key = match signatures.reason() {
        None => signatures.rows(0).fold(1, |key, row| both(key, row.key)),
        Some(reason) if document.raw().trim_start().is_empty() => return Err(reason),
        Some(_) => both(2, document.copy_hash()),
    };
    Ok(key.max(1))
}

/// Asks the filter about each document in order, and inserts it; writes the table and returns the number of duplicates.
fn flag(job: &Job<'_>, stage: &Stage, filter: &CountingBloom, keys: &Keys, ids: &Ids<'_>) -> Result<u64> {
    let running = job.clock.stage("flag");
    let mut writer = TableWriter::create(&stage.file("flags/part-00000.parquet")?, flag_schema(ids.kind()))?;
    let mut builder = FlagBuilder::new(ids.kind());
    let mut duplicates = 0;
    for doc in 0..job.documents() {
        let seen = keys.of(doc).map(|key| {
            let seen = filter.count(key);
            filter.insert(key);
            seen
        });
        duplicates += u64::from(seen.is_some_and(|seen| seen > 0));
        builder.push(ids.of(doc).as_ref(), seen, doc)?;
        if builder.is_full() {
            job.go_on()?;
            writer.write(&builder.finish()?)?;
        }
    }
    if !builder.is_empty() {
        writer.write(&builder.finish()?)?;
    }
    let (rows, bytes) = writer.close()?;
    running.end(rows, duplicates, bytes);
    Ok(duplicates)
}

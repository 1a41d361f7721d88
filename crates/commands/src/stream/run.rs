//! Streams documents through a counting Bloom filter. Documents are looked up in input order, and each document whose key was seen before
//! is flagged.
//!
//! The output has no pairs, because a filter cannot identify the matching document. The output includes the filter. The next snapshot can
//! therefore be compared with all earlier snapshots in one pass over the new data. Every document is inserted, including duplicates, so the
//! old version of a recrawled page can be removed (`--forget`) without forgetting other documents that have the same text. The probability
//! that a new document is flagged by mistake is the filter's false-positive rate. A document that is not flagged is certainly new.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::Serialize;

use super::Stream;
use super::check::{check_key, key, named, sizing};
use super::filter::{self, FilterFacts};
use super::keys::{Sizing, insert, keys_of, remove, seen};
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_algorithms::steps::guard;
use dupsift_core::error::{Error, Result};
use dupsift_core::number::{counted, counted_as};
use dupsift_core::row::Signatures;
use dupsift_engine::pass::{
    BadInputReport, GuardReport, Guarded, Ids, Inputs, Losses, OtherInput, OtherInputReport, Progress, Rejected,
    Rejecter, RejectionsReport, SCHEMA_VERSION, Session, StageReport, View, carry_out, guards, input_notes, last_pass,
    notes, other_input, write_rejected,
};
use dupsift_input::Want;
use dupsift_publish::{Stage, TableWriter};
use dupsift_spill::bloom::CountingBloom;
use dupsift_spill::shuffle::{AtomicBits, AtomicCells};
use dupsift_tables::{FlagBuilder, IdsSeen, LostValues, flag_schema};

/// Holds the contents of `run.json` for a stream.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StreamReport {
    /// The version of this record and of the table next to it.
    pub schema_version: u32,
    /// The version of the program.
    pub dupsift: String,
    /// The algorithm with its parameters.
    pub recipe: String,
    /// A hash of the recipe and of all settings that affect the extraction of words, in hexadecimal.
    pub identity: String,
    /// The input files that could be used only partially or not at all.
    pub bad_inputs: Vec<BadInputReport>,
    /// The inputs whose rows were read, other than the corpus.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_inputs: Vec<OtherInputReport>,
    /// The number of input files that are not read, by file extension.
    pub unread: BTreeMap<String, u64>,
    /// The folders in the inputs that were skipped because dupsift wrote them, each with a description of its contents.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped_folders: BTreeMap<String, String>,
    /// The number of rows in all usable files.
    pub rows: u64,
    /// The counts of the rejected rows, which are listed in `rejected/`.
    #[serde(flatten)]
    pub rejections: RejectionsReport,
    /// The number of documents with a key.
    pub signed: u64,
    /// The number of documents without a key, by reason.
    pub unsigned: BTreeMap<String, u64>,
    /// The number of documents whose key was seen before.
    pub duplicates: u64,
    /// The number of documents in `--forget` whose keys were removed.
    pub forgotten: u64,
    /// The number of documents in `--forget` whose keys were not found.
    pub unknown: u64,
    /// The number of keys in the filter at the end of the run.
    pub keys: u64,
    /// The size of the filter in bytes.
    pub filter_bytes: u64,
    /// The share of new documents that are flagged by chance when the filter contains `keys` keys.
    pub false_positives: f64,
    /// The stage reports, in order.
    pub stages: Vec<StageReport>,
    /// The guards that fired. The exit code is 3, or 4 if a guard prevented the result from being published.
    pub guards: Vec<GuardReport>,
    /// All other warnings.
    pub warnings: Vec<String>,
    /// The wall-clock time of the run in seconds.
    pub seconds: f64,
    /// The user and system CPU time of the process in seconds.
    pub cpu_seconds: f64,
    /// The highest sampled amount of anonymous memory, in bytes.
    pub peak_memory_bytes: u64,
}

impl StreamReport {
    /// Returns the number of documents without a key.
    pub fn without_key(&self) -> u64 {
        self.unsigned.values().sum()
    }
}

impl Guarded for StreamReport {
    fn guards(&self) -> &[GuardReport] {
        &self.guards
    }

    fn other_inputs(&self) -> &[OtherInputReport] {
        &self.other_inputs
    }
}

/// Removes the documents in `forget` from the filter, then streams the documents in `inputs` through the filter.
pub(super) fn stream(
    options: &Stream,
    inputs: Inputs,
    forget: Option<&Inputs>,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<StreamReport> {
    let none = CorpusStats::none();
    check_key(options)?;
    let bound = key(&options.run.recipe, &none)?;
    carry_out(&options.run, inputs, progress, cancel, |session, stage, losses, _| {
        attempt(options, session, stage, losses, &bound, forget)
    })
}

/// Returns the number of keys for which a new filter is built.
fn wanted_keys(options: &Stream, session: &Session<'_>) -> u64 {
    options.keys.unwrap_or(session.documents().saturating_mul(10))
}

/// Returns the filter that an earlier stream wrote with the same recipe and identity, or an empty filter.
fn filter_of(
    options: &Stream,
    session: &Session<'_>,
    (recipe, identity): (&str, &str),
    (sizing, most_bytes): (Sizing, usize),
) -> Result<(CountingBloom, FilterFacts)> {
    match &options.filter {
        Some(path) => filter::read(path, recipe, identity, most_bytes),
        None => {
            let keys = wanted_keys(options, session);
            let (recipe, identity, rate) = (recipe.to_string(), identity.to_string(), options.rate);
            let held = FilterFacts { recipe, identity, keys: 0, rate, numbers: 0, hash: String::new() };
            Ok((sizing.filter(keys, most_bytes)?, held))
        }
    }
}

/// Removes the keys of forgotten documents from the filter.
fn take_out(
    session: &Session<'_>,
    bound: &Bound<'_>,
    forget: &Inputs,
    filter: &CountingBloom,
    report: &mut StreamReport,
) -> Result<OtherInput> {
    // `--limit` applies only to the input documents.
    let mut whole = session.options.clone();
    whole.sampling.limit = None;
    if let (true, Some(first)) = (whole.guards.strict, forget.bad.first()) {
        return Err(Error::wrong_value("forget", first.path.display(), &first.why));
    }
    let old = Session::new(session.engine, &whole, &forget.source, session.pipeline);
    old.check_pages()?;
    let (keys, read) = read(&old, bound, "forget").map_err(|error| match error {
        // The filter must remain unchanged, because it is better to remove no old versions than to remove only some of them.
        Error::BadFile { path, why } => {
            let why = format!("{why}; expected files that can be read completely");
            Error::wrong_value("forget", path.display(), why)
        }
        other => other,
    })?;
    let without: u64 = read.unsigned.values().sum();
    if without > 0 {
        report.warnings.push(format!(
            "{rows_have} no key; nothing was removed from the filter for {them}",
            rows_have = counted_as(without, "row in `forget` has|rows in `forget` have"),
            them = if without == 1 { "it" } else { "them" }
        ));
    }
    for doc in 0..old.documents() {
        let own = keys.of(doc);
        if own.iter().all(|&key| key == 0) {
            continue;
        }
        *if remove(filter, &own) { &mut report.forgotten } else { &mut report.unknown } += 1;
    }
    other_input::lost("forget", &old, forget, &read.ids_seen, &read.rejected)
}

/// Returns warnings if the result may be unreliable.
fn doubts(report: &StreamReport, rate: f64) -> Vec<String> {
    let mut warnings = Vec::new();
    if report.false_positives > 2.0 * rate {
        warnings.push(format!(
            "the filter has {keys} in {size}, so its false-positive rate is {:.2}%; start again with a larger `keys` or `memory`", 100.0 * report.false_positives, keys = counted(report.keys, "key"), size = counted(report.filter_bytes, "byte")));
    }
    if report.unknown > 0 {
        warnings.push(format!(
            "{documents_were} not found in the filter",
            documents_were = counted_as(report.unknown, "document in `forget` was|documents in `forget` were")
        ));
    }
    warnings
}

fn attempt(
    options: &Stream,
    session: &Session<'_>,
    stage: &Stage,
    losses: &Losses<'_>,
    bound: &Bound<'_>,
    forget: Option<&Inputs>,
) -> Result<StreamReport> {
    let (recipe, identity) = named(options, session.pipeline, session.has_pages());
    let sizing = sizing(bound, options.rate);
    let (filter, mut held) = filter_of(options, session, (&recipe, &identity), (sizing, session.engine.budget.rows))?;
    let mut report = StreamReport {
        schema_version: SCHEMA_VERSION,
        dupsift: env!("CARGO_PKG_VERSION").to_string(),
        recipe,
        identity,
        bad_inputs: losses.bad_inputs(),
        unread: session.source.unread.by_ending().clone(),
        skipped_folders: session.source.unread.skipped_folders(),
        rows: session.documents(),
        ..StreamReport::default()
    };
    let mut take_out = |forget| take_out(session, bound, forget, &filter, &mut report);
    let forgotten = forget.map(&mut take_out).transpose()?;
    held.keys = held.keys.saturating_sub(report.forgotten);
    let losses = &losses.clone().with(forgotten.as_ref());
    let (keys, read) = read(session, bound, "stream")?;
    let shown = Arc::new(AtomicBits::new(session.engine.dir, "shown", session.documents() as usize)?);
    (0..session.documents()).for_each(|doc| _ = shown.set(doc as usize));
    let ids = last_pass::ids(session, &read.ids_seen.clone().of_every_row(), &shown)?;
    report.duplicates = flag(session, stage, &filter, &keys, &ids)?;
    write_rejected(session, stage, &read.rejected, losses, &ids)?;
    held.keys += read.signed;
    let running = session.engine.clock.stage("write filter");
    filter::write(&stage.file("filter.bloom")?, &filter, &held)?;
    running.end(held.keys, 1, filter.bytes());

    report.other_inputs = losses.other_inputs();
    (report.signed, report.rejections) = (read.signed, read.rejected.report());
    report.warnings.extend(input_notes::other_encoding(session, &report.rejections));
    report.warnings.extend(read.lost.warnings());
    report.warnings.extend(read.ids_seen.warning());
    report.warnings.extend(input_notes::unread_parts(read.with_unread_parts));
    report.unsigned = read.unsigned.into_iter().map(|(reason, count)| (reason.to_string(), count)).collect();
    (report.keys, report.filter_bytes) = (held.keys, filter.bytes());
    report.false_positives = sizing.false_positives(&filter, held.keys);
    if options.filter.is_none() {
        report.warnings.extend(filter::cut(wanted_keys(options, session), sizing, &filter));
    }
    report.warnings.extend(doubts(&report, held.rate));
    report.warnings.extend(notes(session, losses.bad));
    let used = report.rows - report.rejections.rows;
    let full = guard::false_positives(report.false_positives, held.rate);
    report.guards = guards::of_reading(session, stage, losses, used, &report.rejections, full)?;
    report.stages = session.engine.clock.stages();
    (report.seconds, report.cpu_seconds, report.peak_memory_bytes) = session.engine.clock.totals();
    Ok(report)
}

/// Holds the keys of each document, and the number of keys per document. A key of 0 marks a missing key.
struct Keys(AtomicCells<u64>, usize);

impl Keys {
    fn of(&self, doc: u64) -> Vec<u64> {
        let first = doc as usize * self.1;
        (first..first + self.1).map(|at| self.0.load(at)).collect()
    }

    fn put(&self, doc: u64, own: &[u64]) {
        own.iter().enumerate().for_each(|(at, &key)| self.0.store(doc as usize * self.1 + at, key));
    }
}

/// Holds the results of the pass, except for the keys.
struct Read {
    signed: u64,
    with_unread_parts: u64,
    unsigned: BTreeMap<&'static str, u64>,
    rejected: Rejected,
    ids_seen: IdsSeen,
    lost: LostValues,
}

/// The kinds of ids, and the non-text values that count as null.
type Seen = (IdsSeen, LostValues);

/// Signs all documents on all threads.
fn read(session: &Session<'_>, bound: &Bound<'_>, name: &str) -> Result<(Keys, Read)> {
    let running = session.engine.clock.stage(name);
    let each = bound.scheme.shape.positions as usize;
    let cells = AtomicCells::new(session.engine.dir, &format!("{name}-keys"), session.documents() as usize * each)?;
    let keys = Keys(cells, each);
    let rejecter = Rejecter::new(session)?;
    let view = View::first(session);
    let want = Want { id: true, ..view.want() };
    let counts = session.read(
        name,
        &want,
        || Ok(((Signatures::default(), vec![0; each]), rejecter.writer(), BTreeMap::new(), [0u64; 2], Seen::default())),
        |((scratch, own), rejected, unsigned, [signed, with_unread_parts], (ids_seen, lost)), batch| {
            let columns = view.columns(batch)?;
            for row in 0..batch.len() {
                let doc = batch.doc(row);
                let text = match batch.text(row).text() {
                    Ok(text) => text,
                    Err(why) => {
                        rejecter.push(session, rejected, batch, row, &why)?;
                        continue;
                    }
                };
                scratch.clear();
                let _long = session.engine.long_document(View::bytes(text, &columns, row))?;
                let document = view.document(doc, text, &columns, row);
                *with_unread_parts += u64::from(document.unread().is_some());
                bound.signer.sign(&document, scratch);
                match keys_of(&document, scratch, own) {
                    Ok(()) => {
                        keys.put(doc, own);
                        *signed += 1;
                    }
                    Err(reason) => *unsigned.entry(reason).or_insert(0) += 1,
                }
            }
            ids_seen.merge(batch.ids_seen());
            lost.merge(&batch.lost_values());
            Ok(())
        },
        |(_, mut rejected, unsigned, signed, seen)| rejected.flush().map(|()| (unsigned, signed, seen)),
    )?;
    let (ids_seen, lost) = Seen::default();
    let mut read = Read {
        signed: 0,
        with_unread_parts: 0,
        unsigned: BTreeMap::new(),
        rejected: rejecter.finish()?,
        ids_seen,
        lost,
    };
    for (unsigned, [signed, with_unread_parts], (ids_seen, lost)) in counts {
        read.signed += signed;
        read.with_unread_parts += with_unread_parts;
        unsigned.into_iter().for_each(|(reason, count)| *read.unsigned.entry(reason).or_insert(0) += count);
        read.ids_seen.merge(&ids_seen);
        read.lost.merge(&lost);
    }
    running.end(session.documents(), read.signed, 0);
    Ok((keys, read))
}

/// Looks up the documents in the filter one after another, and inserts each document after its lookup. Also writes the table. Returns the
/// number of duplicates.
fn flag(session: &Session<'_>, stage: &Stage, filter: &CountingBloom, keys: &Keys, ids: &Ids<'_>) -> Result<u64> {
    let running = session.engine.clock.stage("flag");
    let mut writer = TableWriter::create(&stage.file("flags/part-00000.parquet")?, flag_schema(ids.kind()))?;
    let mut builder = FlagBuilder::new(ids.kind());
    let mut duplicates = 0;
    for doc in 0..session.documents() {
        let own = keys.of(doc);
        let seen = seen(filter, &own);
        insert(filter, &own);
        duplicates += u64::from(seen.is_some_and(|seen| seen > 0));
        builder.push(ids.of(doc).as_ref(), seen, doc)?;
        if builder.is_full() {
            session.engine.go_on()?;
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

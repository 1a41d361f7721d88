//! Writes the table of removals, and counts the removals by reason, file and source.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::classes::Classes;
use crate::job::decide::decided::{Decided, DecidedRow, fate};
use crate::job::pair::contents::Shares;
use crate::job::text_edits::TextEdits;
use crate::reading::ids::Ids;
use crate::reading::source_values::{SourceReport, SourceValues};
use crate::session::Session;
use dupsift_algorithms::steps::parts::Parts;
use dupsift_core::error::Result;
use dupsift_core::shown::shortened;
use dupsift_publish::{Stage, TableWriter};
use dupsift_spill::shuffle::AtomicBits;
use dupsift_tables::{RemovalBuilder, RemovalRow, removal_schema};
use zerocopy::big_endian::U64;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Holds the outcome for one document, from which the removals are counted by source. Rows are grouped by source value.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct SourceRow {
    /// The hash of the source value.
    value: U64,
    doc: U64,
    fate: u8,
}

/// The fate of a document that is kept.
const IS_KEPT: u8 = 0;
/// The fate of a document that is removed.
const IS_REMOVED: u8 = 1;
/// The fate of a document that is removed because its text is already in the index.
const IS_SEEN: u8 = 2;

/// Counts the removals.
#[derive(Clone, Debug, Default)]
pub struct Removals {
    /// The number of removed documents.
    pub removed: u64,
    /// The number of removed documents by reason.
    pub reasons: BTreeMap<String, u64>,
    /// The number of removed documents by input file.
    pub by_file: Vec<u64>,
    /// The number of documents removed because their text is already in the index, by input file.
    pub seen_by_file: Vec<u64>,
    /// The counts of removed documents by script and length.
    pub parts: Parts,
    /// The number of bytes of text in removed exact copies.
    pub copied_bytes: u64,
}

/// Holds a row that was read from the temporary file.
struct ReadBack {
    doc: u64,
    kept: u64,
    algorithm: Option<usize>,
    similarity: Option<f32>,
    reason: &'static str,
    shares: Option<Shares>,
}

fn read_back(session: &Session<'_>, row: &DecidedRow, decided: &Decided, copies: &Classes) -> ReadBack {
    let (doc, kept, reason) = fate(session, row, copies);
    let algorithm = row.algorithm();
    let looked_at = || Shares { grams: row.grams.get(), numbers: row.numbers.get() };
    // Copies are not compared with each other because their contents are the same.
    let is_copy = algorithm.is_some() && copies.representative(doc) == copies.representative(kept);
    let shares = match is_copy {
        true if decided.looks => Some(Shares::COPY),
        _ => (row.is_compared == 1).then(looked_at),
    };
    ReadBack { doc, kept, algorithm, similarity: algorithm.map(|_| row.similarity.get()), reason, shares }
}

/// Writes the table. Also returns the size of the table in bytes. `part` returns the shape and the length in characters of each document.
pub fn write(
    session: &Session<'_>,
    stage: &Stage,
    decided: &Decided,
    copies: &Classes,
    ids: &Ids<'_>,
    part: impl Fn(u64) -> (u64, u32),
) -> Result<(Removals, u64)> {
    let mut writer = TableWriter::create(&stage.path().join("removed/part-00000.parquet"), removal_schema(ids.kind()))?;
    let mut builder = RemovalBuilder::new(ids.kind());
    let keep_rule = session.options.removal.keep.to_string();
    let of_files = vec![0; session.source.files.len()];
    let mut removals = Removals { by_file: of_files.clone(), seen_by_file: of_files, ..Removals::default() };
    let mut file = 0;
    for partition in 0..decided.rows.partitions() {
        let records = decided.rows.load(partition, session.engine.budget.a_thread)?;
        for at in 0..records.len() {
            session.engine.go_on()?;
            let ReadBack { doc, kept, algorithm, similarity, reason, shares } =
                read_back(session, records.row(at), decided, copies);
            builder.push(&RemovalRow {
                id: ids.of(doc).as_ref(),
                kept_id: ids.of(kept).as_ref(),
                similarity,
                algorithm: algorithm.map_or("", |number| &decided.algorithms[number]),
                reason,
                keep_rule: &keep_rule,
                doc: session.number(doc),
                kept_doc: session.number(kept),
                contained: shares.map(|shares| shares.grams),
                numbers: shares.map(|shares| shares.numbers),
                kept_in: session.indexed.as_ref().and_then(|indexed| indexed.part_of(kept)),
            })?;
            removals.removed += 1;
            let (shape, length) = part(doc);
            removals.parts.add(shape, length);
            if matches!(reason, "copy" | "seen") {
                removals.copied_bytes += Parts::bytes(shape);
            }
            *removals.reasons.entry(reason.to_string()).or_default() += 1;
            while session.source.files[file].first_doc + session.source.files[file].rows <= doc {
                file += 1;
            }
            removals.by_file[file] += 1;
            removals.seen_by_file[file] += u64::from(reason == "seen");
            if builder.is_full() {
                writer.write(&builder.finish()?)?;
            }
        }
    }
    if !builder.is_empty() {
        writer.write(&builder.finish()?)?;
    }
    let (_, bytes) = writer.close()?;
    Ok((removals, bytes))
}

/// Returns the removal counts for each value of `--source-column` that occurs in at least `--guard-rows` rows, sorted by value.
///
/// # Errors
/// Returns an error if the disk is full.
pub fn by_source(
    session: &Session<'_>,
    sources: Option<&SourceValues>,
    decided: Option<&Decided>,
    copies: &Classes,
    cuts: Option<&TextEdits>,
) -> Result<Vec<SourceReport>> {
    let (Some(sources), Some(decided)) = (sources, decided) else { return Ok(Vec::new()) };
    let bits = |name| AtomicBits::new(session.engine.dir, name, session.documents() as usize);
    let (goes, seen) = (bits("source-goes")?, bits("source-seen")?);
    for partition in 0..decided.rows.partitions() {
        let records = decided.rows.load(partition, session.engine.budget.a_thread)?;
        for at in 0..records.len() {
            let (doc, _, reason) = fate(session, records.row(at), copies);
            goes.set(doc as usize);
            if reason == "seen" {
                seen.set(doc as usize);
            }
        }
    }
    let shuffle = session.engine.shuffle("sources", size_of::<SourceRow>(), 8, session.rows())?;
    sources.spread(session, &shuffle, |doc, hash| {
        let fate = match (goes.get(doc as usize), seen.get(doc as usize)) {
            (false, _) => IS_KEPT,
            (true, false) => IS_REMOVED,
            (true, true) => IS_SEEN,
        };
        SourceRow { value: hash.into(), doc: doc.into(), fate }
    })?;
    let (values, least) = (shuffle.finish()?, session.options.guards.guard_rows.max(1));
    let found = Mutex::new(Vec::new());
    session.engine.work(
        values.partitions(),
        || Ok(()),
        |(), partition| {
            let records = values.load(partition, session.engine.budget.a_thread)?;
            for group in records.groups().filter(|group| group.len() as u64 >= least) {
                let row = |at| records.row::<SourceRow>(at);
                let fates = |fate| group.clone().filter(|&at| row(at).fate >= fate).count() as u64;
                let value = sources.of(row(group.start).doc.get()).unwrap_or_default();
                let source = shortened(&String::from_utf8_lossy(value)).into_owned();
                let (rows, removed, seen) = (group.len() as u64, fates(IS_REMOVED), fates(IS_SEEN));
                let mut report = SourceReport { source, rows, removed, seen, ..SourceReport::default() };
                let docs = group.clone().map(|at| row(at).doc.get());
                for passage in docs.filter_map(|doc| cuts?.of(doc)).flat_map(|cuts| cuts.passages()) {
                    report.cut_passages += 1;
                    report.cut_bytes += u64::from(passage.end_byte - passage.start_byte);
                }
                found.lock().unwrap_or_else(PoisonError::into_inner).push(report);
            }
            values.remove(partition)
        },
        Ok,
    )?;
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by(|one, other| one.source.cmp(&other.source));
    Ok(found)
}

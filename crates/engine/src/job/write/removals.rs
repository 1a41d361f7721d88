//! Records the rows of `removed/` while decisions are made, and writes them as a table.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::engine::evidence::Evidence;
use crate::job::cut::{Cuts, Emptied};
use crate::job::pair::classes::Classes;
use crate::job::pair::components::Components;
use crate::job::pair::contents::Shares;
use crate::reading::ids::Ids;
use crate::reading::source_values::{SourceReport, SourceValues};
use crate::session::Session;
use dupsift_algorithms::steps::parts::Parts;
use dupsift_algorithms::steps::survive::Removal;
use dupsift_core::error::Result;
use dupsift_core::shown::shortened;
use dupsift_publish::{Stage, TableWriter};
use dupsift_spill::shuffle::{AtomicBits, Sorted, Writer};
use dupsift_tables::{EMPTIED, REPRESENTATIVE, RemovalBuilder, RemovalRow, removal_schema};
use zerocopy::big_endian::{F32, U16, U64};
use zerocopy::{FromBytes, FromZeros as _, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The number of bytes in a [`Row`].
pub const ROW: usize = size_of::<Row>();

/// Holds a recorded removal. Rows are sorted by document number.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Row {
    doc: U64,
    kept: U64,
    /// The position of the algorithm plus one, 0 for a chain, or one of the codes below.
    code: U16,
    similarity: F32,
    /// Whether the two documents were compared; the shares are 0 otherwise.
    is_compared: u8,
    grams: F32,
    numbers: F32,
}

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

/// Records a removal.
pub fn push_row(writer: &mut Writer<'_>, removal: &Removal) -> Result<()> {
    let (algorithm, similarity) =
        removal.found.map_or((0, 0.0), |(number, similarity)| (number as u16 + 1, similarity));
    let shares = removal.contained.map(Shares::of);
    let Shares { grams, numbers } = shares.unwrap_or(Shares { grams: 0.0, numbers: 0.0 });
    let row = Row {
        doc: removal.doc.into(),
        kept: removal.kept.into(),
        code: algorithm.into(),
        similarity: similarity.into(),
        is_compared: shares.is_some().into(),
        grams: grams.into(),
        numbers: numbers.into(),
    };
    writer.push(row.as_bytes())
}

/// The code for a document that forms no pair with the document kept instead, but with another document that is removed itself.
const CHAIN_CODE: u16 = 0;
/// The code for a document that is removed because too little text remains.
const EMPTIED_CODE: u16 = u16::MAX;
/// The code for a preferred document, which `--keep none` also removes.
const REPRESENTATIVE_CODE: u16 = u16::MAX - 1;

/// Records a removal that was not caused by a pair.
fn push_coded(writer: &mut Writer<'_>, (doc, kept): (u64, u64), code: u16) -> Result<()> {
    let row = Row { doc: doc.into(), kept: kept.into(), code: code.into(), ..Row::new_zeroed() };
    writer.push(row.as_bytes())
}

/// Records the removal of a preferred document, which `--keep none` also removes.
pub fn push_representative(writer: &mut Writer<'_>, doc: u64) -> Result<()> {
    push_coded(writer, (doc, doc), REPRESENTATIVE_CODE)
}

/// Adds the removals of documents in which too little text remains. Each of these documents is removed in favor of the kept document that
/// contains the first copy of the removed document's largest passage. If others were removed in favor of the removed document, such a
/// document takes its place, if possible one for which `compares` returns true. If there is no such document, for example because the first
/// copies are cut too, the row of a removed document names the document itself.
///
/// # Errors
/// Returns an error if the disk is full.
pub fn add_emptied(
    session: &Session<'_>,
    decided: &mut Decided,
    emptied: &Emptied,
    compares: &dyn Fn(u64, u64) -> bool,
) -> Result<()> {
    if emptied.count() == 0 {
        return Ok(());
    }
    let rows = decided.rows.rows() + emptied.count();
    let all = session.engine.ordered(session.documents(), "removed-and-emptied", ROW, 8, 8, rows)?;
    let mut writer = all.writer();
    for partition in 0..decided.rows.partitions() {
        let records = decided.rows.load(partition, session.engine.budget.a_thread)?;
        for at in 0..records.len() {
            let row: &Row = records.row(at);
            let (doc, kept) = (row.doc.get(), row.kept.get());
            if doc != kept && emptied.has(kept) {
                let instead = emptied.instead_for(doc, kept, compares).or_else(|| emptied.instead(kept));
                push_coded(&mut writer, (doc, instead.unwrap_or(doc)), CHAIN_CODE)?;
            } else {
                writer.push(records.record(at))?;
            }
        }
    }
    for doc in emptied.documents() {
        push_coded(&mut writer, (doc, emptied.instead(doc).unwrap_or(doc)), EMPTIED_CODE)?;
    }
    writer.flush()?;
    drop(writer);
    Ok(decided.rows = all.finish()?)
}

/// Holds the removal decisions.
pub struct Decided {
    /// The removals, as written by [`push_row`].
    pub rows: Sorted,
    /// The labels of the algorithms whose pairs decided which documents were removed.
    pub algorithms: Vec<String>,
    /// Whether the contents of documents were compared with the contents of kept documents.
    pub looks: bool,
    /// The number of near-duplicates: removed documents that are not copies of the kept document.
    pub near_duplicates: u64,
    /// The number of removed near-duplicates that look like pages from the same template.
    pub of_templates: u64,
    /// The number of comparisons that were skipped.
    pub left_out: u64,
    /// The number of documents that are kept although they form a pair with another kept document, by reason.
    pub stays: BTreeMap<String, u64>,
    /// The number of kept documents that form a pair with a document in `stays` but were not compared with it.
    pub not_looked_at: u64,
    /// The kept documents with which each document was compared.
    pub looked_at: Option<Evidence>,
    /// The clusters formed by the pairs that decided which documents were removed, if the output contains clusters.
    pub components: Option<Components>,
}

/// Returns the decisions of a finished run. `rows` yields the document, kept document and reason of each row in the `removed/` table.
///
/// # Errors
/// Returns any error from `rows`, and an error if the disk is full.
pub fn decided_again(
    session: &Session<'_>,
    rows: impl Iterator<Item = Result<(u64, u64, &'static str)>>,
    components: Option<Components>,
) -> Result<Decided> {
    let all = session.engine.ordered(session.documents(), "removed", ROW, 8, 8, 0)?;
    let mut writer = all.writer();
    for found in rows {
        let (doc, kept, reason) = found?;
        let code = match reason {
            EMPTIED => EMPTIED_CODE,
            REPRESENTATIVE => REPRESENTATIVE_CODE,
            "chain" => CHAIN_CODE,
            _ => 1,
        };
        push_coded(&mut writer, (doc, kept), code)?;
    }
    writer.flush()?;
    drop(writer);
    Ok(Decided {
        rows: all.finish()?,
        algorithms: Vec::new(),
        looks: false,
        near_duplicates: 0,
        of_templates: 0,
        left_out: 0,
        stays: BTreeMap::new(),
        not_looked_at: 0,
        looked_at: None,
        components,
    })
}

/// Calls `each` with each removed document and the document kept instead, in document order.
pub fn each(decided: &Decided, memory_bytes: usize, mut each: impl FnMut(u64, u64) -> Result<()>) -> Result<()> {
    for partition in 0..decided.rows.partitions() {
        let records = decided.rows.load(partition, memory_bytes)?;
        for at in 0..records.len() {
            let row: &Row = records.row(at);
            each(row.doc.get(), row.kept.get())?;
        }
    }
    Ok(())
}

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

impl Row {
    /// Returns the position of the algorithm that caused the removal, or `None` if no algorithm did.
    fn algorithm(&self) -> Option<usize> {
        let code = self.code.get();
        usize::from(code).checked_sub(1).filter(|_| !matches!(code, EMPTIED_CODE | REPRESENTATIVE_CODE))
    }
}

/// Returns the removed document of a row, the document kept instead, and the reason.
pub fn fate(session: &Session<'_>, row: &Row, copies: &Classes) -> (u64, u64, &'static str) {
    let (doc, kept) = (row.doc.get(), row.kept.get());
    let text = copies.representative(doc);
    let reason = match row.algorithm() {
        _ if row.code == EMPTIED_CODE => EMPTIED,
        _ if row.code == REPRESENTATIVE_CODE => REPRESENTATIVE,
        // The reason is `seen`, regardless of what happened to the indexed document with this text.
        _ if text < session.base => "seen",
        None => "chain",
        Some(_) if text == copies.representative(kept) => "copy",
        Some(_) => "pair",
    };
    (doc, kept, reason)
}

fn read_back(session: &Session<'_>, row: &Row, decided: &Decided, copies: &Classes) -> ReadBack {
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
    cuts: Option<&Cuts>,
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

//! The rows of `removed/`: taken down while it is decided, and written as a table.

use std::collections::BTreeMap;

use super::classes::{Classes, number};
use super::contents::Shares;
use super::decide::Decided;
use super::ids::Ids;
use super::workers::Job;
use crate::batch::{RemovalBuilder, RemovalRow, removal_schema};
use crate::error::Result;
use crate::io::{Stage, TableWriter};
use crate::shuffle::Writer;
use crate::stage::survive::Removal;

/// Bytes of a row: document, kept document, algorithm (0: a chain), similarity, whether it was looked at how much of the
/// document is contained, and the two shares.
pub const ROW: usize = 31;

/// Takes down a removal.
pub fn push_row(writer: &mut Writer<'_>, removal: &Removal) -> Result<()> {
    let (algorithm, similarity) =
        removal.found.map_or((0, 0.0), |(number, similarity)| (number as u16 + 1, similarity));
    let mut row = [0; ROW];
    row[..8].copy_from_slice(&removal.doc.to_be_bytes());
    row[8..16].copy_from_slice(&removal.kept.to_be_bytes());
    row[16..18].copy_from_slice(&algorithm.to_be_bytes());
    row[18..22].copy_from_slice(&similarity.to_bits().to_be_bytes());
    if let Some(Shares { grams, numbers }) = removal.contained.map(Shares::of) {
        row[22] = 1;
        row[23..27].copy_from_slice(&grams.to_bits().to_be_bytes());
        row[27..].copy_from_slice(&numbers.to_bits().to_be_bytes());
    }
    writer.push(&row)
}

/// What the removals come to.
#[derive(Clone, Debug, Default)]
pub struct Removals {
    /// Documents removed.
    pub removed: u64,
    /// By reason.
    pub reasons: BTreeMap<String, u64>,
    /// By input file.
    pub by_file: Vec<u64>,
}

/// Writes the table; also returns its bytes.
pub fn write(
    job: &Job<'_>,
    stage: &Stage,
    decided: &Decided,
    copies: &Classes,
    ids: &Ids<'_>,
) -> Result<(Removals, u64)> {
    let mut writer = TableWriter::create(&stage.path().join("removed/part-00000.parquet"), removal_schema(ids.kind()))?;
    let mut builder = RemovalBuilder::new(ids.kind());
    let keep_rule = job.options.keep.to_string();
    let mut removals = Removals { by_file: vec![0; job.source.files.len()], ..Removals::default() };
    let mut file = 0;
    for partition in 0..decided.rows.partitions() {
        let records = decided.rows.load(partition, job.budget.a_thread)?;
        for at in 0..records.len() {
            job.go_on()?;
            let record = records.record(at);
            let (doc, kept) = (number(&record[..8]), number(&record[8..16]));
            let algorithm = (number(&record[16..18]) as usize).checked_sub(1);
            let reason = match algorithm {
                None => "chain",
                Some(_) if copies.representative(doc) == copies.representative(kept) => "copy",
                Some(_) => "pair",
            };
            let float = |bytes: &[u8]| f32::from_bits(number(bytes) as u32);
            let looked_at = || Shares { grams: float(&record[23..27]), numbers: float(&record[27..]) };
            // Copies are not held against each other: they say the same.
            let shares = match reason {
                "copy" if decided.looks => Some(Shares::COPY),
                _ => (record[22] == 1).then(looked_at),
            };
            builder.push(&RemovalRow {
                id: ids.of(doc).as_ref(),
                kept_id: ids.of(kept).as_ref(),
                similarity: algorithm.map(|_| f32::from_bits(number(&record[18..22]) as u32)),
                algorithm: algorithm.map_or("", |number| &decided.algorithms[number]),
                reason,
                keep_rule: &keep_rule,
                doc,
                kept_doc: kept,
                contained: shares.map(|shares| shares.grams),
                numbers: shares.map(|shares| shares.numbers),
            })?;
            removals.removed += 1;
            *removals.reasons.entry(reason.to_string()).or_default() += 1;
            while job.source.files[file].first_doc + job.source.files[file].rows <= doc {
                file += 1;
            }
            removals.by_file[file] += 1;
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

//! Exact copies: documents equal byte for byte in every column that the algorithms of the run read, found by a 128-bit hash
//! and folded before all else.
//!
//! One representative, the smallest document number, goes through the algorithms; the copies are added back when pairs are
//! written.

use super::classes::{Classes, Link, number};
use super::document::View;
use super::workers::Job;
use crate::error::Result;
use crate::shuffle::{Shuffle, Sorted, Writer};
use crate::text::Analysis;

use crate::batch::Cell;

/// Bytes of a row: hash and document.
const ROW: usize = 24;

/// A shuffle for the hashes of all documents.
pub fn shuffle(job: &Job<'_>) -> Result<Shuffle> {
    job.shuffle("copies", ROW, 16, job.documents())
}

/// Writes the hash of one text. Texts without a visible character are no copies of each other: nothing may call them so.
pub fn push(writer: &mut Writer<'_>, doc: u64, document: &Analysis<'_>) -> Result<()> {
    if document.raw().trim_start().is_empty() {
        return Ok(());
    }
    let mut row = [0; ROW];
    row[..16].copy_from_slice(&document.copy_hash().to_be_bytes());
    row[16..].copy_from_slice(&doc.to_be_bytes());
    writer.push(&row)
}

/// The classes of equal texts.
pub fn fold(job: &Job<'_>, hashes: &Sorted) -> Result<Classes> {
    let running = job.clock.stage("fold copies");
    let link = Link::new(job);
    let equal = link.shuffle(job, "equal-texts", hashes.rows() / 4)?;
    let bar = job.bar("fold copies", hashes.partitions());
    job.work(
        hashes.partitions(),
        || Ok(equal.writer()),
        |writer, partition| {
            let records = hashes.load(partition, job.budget.a_thread)?;
            for group in records.groups().filter(|group| group.len() > 1) {
                job.go_on()?;
                let doc = |at: usize| number(&records.record(at)[16..]);
                let first = doc(group.start);
                group.into_iter().try_for_each(|at| link.push(writer, first, doc(at)))?;
            }
            hashes.remove(partition)?;
            bar.add(1);
            Ok(())
        },
        |mut writer| writer.flush(),
    )?;
    let equal = equal.finish()?;
    let classes = Classes::build(job, "copies", &equal)?;
    running.end(hashes.rows(), classes.surplus(), hashes.spilled_bytes() + equal.spilled_bytes());
    Ok(classes)
}

/// A reading of its own for the copies: for statistics that count each text once.
pub fn read(job: &Job<'_>) -> Result<Sorted> {
    let running = job.clock.stage("find copies");
    let hashes = shuffle(job)?;
    let view = View::first(job);
    job.read(
        "find copies",
        &view.want(),
        || Ok(hashes.writer()),
        |writer, batch| {
            let columns = view.columns(batch)?;
            for row in 0..batch.len() {
                if let Cell::Text(text) = batch.text(row) {
                    let doc = batch.doc(row);
                    push(writer, doc, &view.document(doc, text, &columns, row))?;
                }
            }
            Ok(())
        },
        |mut writer| writer.flush(),
    )?;
    let sorted = hashes.finish()?;
    running.end(job.documents(), sorted.rows(), sorted.spilled_bytes());
    Ok(sorted)
}

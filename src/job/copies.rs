//! Exact copies (`stage/copies.rs`): the hashes of all texts, a reading of their own for them, and the fold into classes.

use super::classes::{Classes, Link};
use super::document::View;
use super::workers::Job;
use crate::batch::Cell;
use crate::error::Result;
use crate::shuffle::{Shuffle, Sorted, Writer};
use crate::stage::copies;
use crate::text::Analysis;

/// A shuffle for the hashes of all documents.
pub fn shuffle(job: &Job<'_>) -> Result<Shuffle> {
    job.shuffle("copies", copies::ROW, copies::GROUP, job.documents())
}

/// Writes the hash of one text, unless it can have no copies.
pub fn push(writer: &mut Writer<'_>, doc: u64, document: &Analysis<'_>) -> Result<()> {
    copies::row(doc, document).map_or(Ok(()), |row| writer.push(&row))
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
                let rows = &records.bytes()[group.start * copies::ROW..group.end * copies::ROW];
                copies::group(rows, |first, doc| link.push(writer, first, doc))?;
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

//! Finds exact copies (`steps/copies.rs`): records a hash of each document's text (in a separate pass if necessary) and folds the hashes
//! into classes.

use crate::classes::{Classes, Link};
use crate::reading::document::View;
use crate::session::Session;
use dupsift_algorithms::steps::copies;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::{Shuffle, Sorted, Writer};
use dupsift_tables::Cell;
use dupsift_text::Analysis;

/// Returns a shuffle for the hashes of all documents.
pub fn shuffle(session: &Session<'_>) -> Result<Shuffle> {
    session.engine.shuffle("copies", copies::ROW, copies::GROUP, session.documents())
}

/// Writes the hash of a document's text if the document can have copies.
pub fn push(writer: &mut Writer<'_>, doc: u64, document: &Analysis<'_>) -> Result<()> {
    copies::row(doc, document).map_or(Ok(()), |row| writer.push(&row))
}

/// Returns the classes of documents with the same text.
pub fn fold(session: &Session<'_>, hashes: &Sorted) -> Result<Classes> {
    let running = session.engine.clock.stage("group copies");
    let link = Link::new(session);
    let equal = link.shuffle(session, "equal-texts", hashes.rows() / 4)?;
    let bar = session.engine.bar("group copies", hashes.partitions());
    session.engine.work(
        hashes.partitions(),
        || Ok(equal.writer()),
        |writer, partition| {
            let records = hashes.load(partition, session.engine.budget.a_thread)?;
            for group in records.groups().filter(|group| group.len() > 1) {
                session.engine.go_on()?;
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
    let classes = Classes::build(session, "copies", &equal)?;
    running.end(hashes.rows(), classes.extra_copies(), hashes.spilled_bytes() + equal.spilled_bytes());
    Ok(classes)
}

/// Finds copies in a separate pass, for statistics that count exact copies only once.
pub fn read(session: &Session<'_>) -> Result<Sorted> {
    let running = session.engine.clock.stage("find copies");
    let hashes = shuffle(session)?;
    let view = View::first(session);
    session.read(
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
    running.end(session.documents(), sorted.rows(), sorted.spilled_bytes());
    Ok(sorted)
}

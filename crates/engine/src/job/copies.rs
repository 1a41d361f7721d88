//! Exact copies (`stage/copies.rs`): the hashes of all texts, a reading of their own for them, and the fold into classes.

use crate::engine::threads::Engine;
use crate::reading::classes::{Classes, Link};
use crate::reading::document::View;
use crate::reading::reader::Reader;
use dupsift_algorithms::stage::copies;
use dupsift_core::error::Result;
use dupsift_files::tables::Cell;
use dupsift_spill::shuffle::{Shuffle, Sorted, Writer};
use dupsift_text::Analysis;

/// A shuffle for the hashes of all documents.
pub fn shuffle(engine: &Engine<'_>, reader: &Reader<'_>) -> Result<Shuffle> {
    engine.shuffle("copies", copies::ROW, copies::GROUP, reader.documents())
}

/// Writes the hash of one text, unless it can have no copies.
pub fn push(writer: &mut Writer<'_>, doc: u64, document: &Analysis<'_>) -> Result<()> {
    copies::row(doc, document).map_or(Ok(()), |row| writer.push(&row))
}

/// The classes of equal texts.
pub fn fold(engine: &Engine<'_>, reader: &Reader<'_>, hashes: &Sorted) -> Result<Classes> {
    let running = engine.clock.stage("fold copies");
    let link = Link::new(reader);
    let equal = link.shuffle(engine, reader, "equal-texts", hashes.rows() / 4)?;
    let bar = engine.bar("fold copies", hashes.partitions());
    engine.work(
        hashes.partitions(),
        || Ok(equal.writer()),
        |writer, partition| {
            let records = hashes.load(partition, engine.budget.a_thread)?;
            for group in records.groups().filter(|group| group.len() > 1) {
                engine.go_on()?;
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
    let classes = Classes::build(engine, reader, "copies", &equal)?;
    running.end(hashes.rows(), classes.surplus(), hashes.spilled_bytes() + equal.spilled_bytes());
    Ok(classes)
}

/// A reading of its own for the copies: for statistics that count each text once.
pub fn read(engine: &Engine<'_>, reader: &Reader<'_>) -> Result<Sorted> {
    let running = engine.clock.stage("find copies");
    let hashes = shuffle(engine, reader)?;
    let view = View::first(engine, reader);
    reader.read(
        engine,
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
    running.end(reader.documents(), sorted.rows(), sorted.spilled_bytes());
    Ok(sorted)
}

//! Writes the `passages/` table.

use crate::job::text_edits::TextEdits;
use crate::reading::ids::Ids;
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_publish::{Stage, TableWriter};
use dupsift_tables::{PassageBuilder, PassageRow, passage_schema};

/// Writes a row for each passage that is cut, in document order.
///
/// # Errors
/// Returns an error if the disk is full or the run is interrupted.
pub(crate) fn write(session: &Session<'_>, stage: &Stage, cuts: &TextEdits, ids: &Ids<'_>) -> Result<()> {
    let running = session.engine.clock.stage("write passages/");
    let path = stage.path().join("passages/part-00000.parquet");
    let mut writer = TableWriter::create(&path, passage_schema(ids.kind()))?;
    let mut builder = PassageBuilder::new(ids.kind());
    cuts.each(|doc, cuts| {
        let id = ids.of(doc);
        for one in cuts.passages() {
            let first_id = ids.of(one.first_doc);
            let first = (first_id.as_ref(), session.number(one.first_doc), u64::from(one.first_start));
            builder.push(&PassageRow {
                id: id.as_ref(),
                doc: session.number(doc),
                characters: [one.start.into(), one.end.into()],
                bytes: [one.start_byte.into(), one.end_byte.into()],
                copies: one.copies.into(),
                first: (!session.options.cut.first).then_some(first),
            })?;
            if builder.is_full() {
                session.engine.go_on()?;
                writer.write(&builder.finish()?)?;
            }
        }
        Ok(())
    })?;
    if !builder.is_empty() {
        writer.write(&builder.finish()?)?;
    }
    let (rows, bytes) = writer.close()?;
    running.end(rows, rows, bytes);
    Ok(())
}

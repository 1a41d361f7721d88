//! Runs the last pass over a corpus, in which only the documents that appear in the output are read. The pass reads the ids of these
//! documents, and the contents of documents in pairs that are not exact copies.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use crate::job::pair::contents::{Contents, TakingContents};
use crate::reading::document::View;
use crate::reading::ids::{Ids, TakingIds};
use crate::reading::rejected::Rejected;
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_input::{RowFilter, Want};
use dupsift_spill::shuffle::AtomicBits;
use dupsift_tables::IdsSeen;

/// Reads the ids of the documents in `shown`, and records the contents that are still missing in `contents`.
pub fn read<'s>(
    session: &Session<'s>,
    view: &View<'_>,
    seen: &IdsSeen,
    shown: &Arc<AtomicBits>,
    contents: Option<TakingContents>,
) -> Result<(Ids<'s>, Option<Contents>)> {
    let texts = contents.as_ref().filter(|contents| !contents.is_done());
    let running = session.engine.clock.stage(if texts.is_some() { "read ids and pairs" } else { "read ids" });
    let ids = TakingIds::new(session, seen, shown)?;
    if ids.wants_any() || texts.is_some() {
        let filter = shown.clone();
        let want = Want {
            text: texts.is_some(),
            id: ids.wants_any(),
            rows: Some(RowFilter::Where(Arc::new(move |doc| filter.get(doc as usize)))),
            batch_bytes: session.engine.budget.batch,
            ..Want::default()
        };
        session.read(
            "read ids",
            &want,
            || Ok((ids.state(), Vec::new(), 0)),
            |(state, numbers, segmented), batch| {
                ids.take(batch, state)?;
                if let Some(contents) = texts {
                    // The pass also reads documents that are in no pair if `attributes/` is written, passages are cut, or indexed documents
                    // take part.
                    let names_all = session.options.names_all();
                    let is_in_pairs = |doc| !names_all && doc >= session.base || contents.wants(doc);
                    session.kept_texts.offer_batch(session.engine.dir, batch, is_in_pairs)?;
                    *segmented += contents.take_batch(session.engine, view, batch, numbers)?;
                }
                session.kept_texts.name_batch(batch);
                Ok(())
            },
            |(_, _, segmented)| {
                session.segmented.fetch_add(segmented, Relaxed);
                Ok(())
            },
        )?;
    }
    session.kept_texts.has_ids();
    let (ids, contents) = (ids.end()?, contents.map(TakingContents::end).transpose()?);
    let bytes = ids.bytes() + contents.as_ref().map_or(0, Contents::bytes);
    running.end(shown.count(), shown.count(), bytes);
    Ok((ids, contents))
}

/// Reads only the ids of the documents in `shown`.
pub fn ids<'s>(session: &Session<'s>, seen: &IdsSeen, shown: &Arc<AtomicBits>) -> Result<Ids<'s>> {
    read(session, &View::first(session), seen, shown, None).map(|(ids, _)| ids)
}

/// Reads only the ids of the rejected rows.
pub fn ids_of_rejected<'s>(session: &Session<'s>, seen: &IdsSeen, rejected: &Rejected) -> Result<Ids<'s>> {
    let shown = Arc::new(AtomicBits::new(session.engine.dir, "shown", session.documents() as usize)?);
    rejected.each(session.engine, |doc, _, _| {
        shown.set(doc as usize);
        Ok(())
    })?;
    ids(session, seen, &shown)
}

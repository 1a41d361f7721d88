//! The last reading of a corpus, of the documents that stand in the output alone: their ids, and what those say that are in
//! pairs with others than their copies.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::contents::{Contents, TakingContents};
use super::document::View;
use super::ids::{Ids, TakingIds};
use super::workers::Job;
use crate::batch::IdsSeen;
use crate::error::Result;
use crate::io::{RowFilter, Want};
use crate::shuffle::AtomicBits;

/// Reads the ids of the documents in `shown`, and the texts where `contents` are taken.
pub fn read<'s>(
    job: &Job<'s>,
    view: &View<'_>,
    seen: &IdsSeen,
    shown: &Arc<AtomicBits>,
    contents: Option<TakingContents>,
) -> Result<(Ids<'s>, Option<Contents>)> {
    let texts = contents.as_ref().filter(|contents| !contents.is_done());
    let running = job.clock.stage(if texts.is_some() { "read ids and pairs" } else { "read ids" });
    let ids = TakingIds::new(job, seen, shown)?;
    if ids.wants_any() || texts.is_some() {
        let filter = shown.clone();
        let want = Want {
            text: texts.is_some(),
            id: ids.wants_any(),
            rows: Some(RowFilter::Where(Arc::new(move |doc| filter.get(doc as usize)))),
            batch_bytes: job.budget.batch,
            ..Want::default()
        };
        job.read(
            "read ids",
            &want,
            || Ok((ids.state(), Vec::new(), 0)),
            |(state, numbers, segmented), batch| {
                ids.take(batch, state)?;
                if let Some(contents) = texts {
                    *segmented += contents.take_batch(job, view, batch, numbers)?;
                }
                Ok(())
            },
            |(_, _, segmented)| {
                job.segmented.fetch_add(segmented, Relaxed);
                Ok(())
            },
        )?;
    }
    let (ids, contents) = (ids.end()?, contents.map(TakingContents::end).transpose()?);
    let bytes = ids.bytes() + contents.as_ref().map_or(0, Contents::bytes);
    running.end(shown.count(), shown.count(), bytes);
    Ok((ids, contents))
}

/// Reads the ids of the documents in `shown` alone.
pub fn ids<'s>(job: &Job<'s>, seen: &IdsSeen, shown: &Arc<AtomicBits>) -> Result<Ids<'s>> {
    read(job, &View::first(job), seen, shown, None).map(|(ids, _)| ids)
}

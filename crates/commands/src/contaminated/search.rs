//! Runs the pass that finds spans of items in each document of the corpus and counts document frequencies.

use std::sync::{Mutex, PoisonError};

use super::found::{Finding, FoundSpans};
use super::reference::Reference;
use dupsift_contamination::{Search, Weights, wording};
use dupsift_core::error::Result;
use dupsift_engine::pass::{Rejected, Rejecter, Session};
use dupsift_input::Want;
use dupsift_spill::shuffle::Writer;
use dupsift_tables::{IdsSeen, LostValues};

/// Holds the results of the pass.
pub(crate) struct Searched {
    /// The spans that may affect the result.
    pub found: FoundSpans,
    /// The weight of each token.
    pub weights: Weights,
    /// The rejected rows.
    pub rejected: Rejected,
    /// The number of documents that were searched.
    pub documents: u64,
    /// The total size of the text in bytes.
    pub text_bytes: u64,
    /// The kinds of ids that occur in the corpus.
    pub ids_seen: IdsSeen,
    /// The values that count as null.
    pub lost: LostValues,
}

struct Thread<'t> {
    search: Search<'t>,
    found: [Writer<'t>; 2],
    rejected: Writer<'t>,
    text_bytes: u64,
    seen: (IdsSeen, LostValues),
}

/// Searches all documents.
///
/// # Errors
/// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
pub(crate) fn search(session: &Session<'_>, reference: &Reference) -> Result<Searched> {
    let name = "search";
    let running = session.engine.clock.stage(name);
    let (finding, rejecter) = (Finding::new(session)?, Rejecter::new(session)?);
    let items = &reference.items;
    let want = Want { id: true, batch_bytes: session.engine.budget.batch, ..Want::default() };
    let results = session.read(
        name,
        &want,
        || {
            Ok(Thread {
                search: Search::new(items),
                found: finding.writers(),
                rejected: rejecter.writer(),
                text_bytes: 0,
                seen: Default::default(),
            })
        },
        |thread, batch| {
            for row in 0..batch.len() {
                let text = match batch.text(row).text() {
                    Ok(text) => text,
                    Err(why) => {
                        rejecter.push(session, &mut thread.rejected, batch, row, &why)?;
                        continue;
                    }
                };
                let _long = session.engine.long_document(text.len())?;
                thread.text_bytes += text.len() as u64;
                let document = session.pipeline.analyse(text);
                let spans = thread.search.spans(&document);
                let ([rows, texts], doc) = (&mut thread.found, batch.doc(row));
                if !spans.is_empty() {
                    finding.push_text(texts, doc, wording(&document))?;
                }
                for span in spans {
                    finding.push(rows, doc, &span)?;
                }
            }
            thread.seen.0.merge(batch.ids_seen());
            thread.seen.1.merge(&batch.lost_values());
            Ok(())
        },
        |mut thread| {
            thread.found.iter_mut().try_for_each(Writer::flush)?;
            thread.rejected.flush()?;
            Ok(Mutex::new((thread.search.frequencies(), thread.text_bytes, thread.seen)))
        },
    )?;
    let mut frequencies = vec![0u64; items.vocabulary()];
    let (mut documents, mut text_bytes) = (0, 0);
    let (mut ids_seen, mut lost) = (IdsSeen::default(), LostValues::default());
    for result in results {
        let ((texts, counts), bytes, seen) = result.into_inner().unwrap_or_else(PoisonError::into_inner);
        (documents, text_bytes) = (documents + texts, text_bytes + bytes);
        frequencies.iter_mut().zip(counts).for_each(|(all, count)| *all += u64::from(count));
        ids_seen.merge(&seen.0);
        lost.merge(&seen.1);
    }
    let (found, rejected) = (finding.finish()?, rejecter.finish()?);
    running.end(session.documents(), found.rows(), found.bytes());
    let weights = Weights::new(documents, &frequencies);
    Ok(Searched { found, weights, rejected, documents, text_bytes, ids_seen, lost })
}

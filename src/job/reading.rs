//! A reading of the whole corpus, and all that is done with each document in it.

use std::sync::atomic::Ordering::Relaxed;

use super::classes::Classes;
use super::count::{Counted, Counting};
use super::document::View;
use super::intake::{Intake, Taken, Took};
use super::sign::{SignTally, SignedRows, Signing, rows, spilled};
use super::workers::Job;
use crate::batch::Cell;
use crate::error::Result;
use crate::stage::bound::Bound;
use crate::stage::sift::Sieve;

/// What is done with each document.
#[derive(Clone, Copy, Default)]
pub struct Asked<'a> {
    /// Its row is taken down.
    pub intake: Option<&'a Intake<'a>>,
    /// It is counted.
    pub counting: Option<&'a Counting<'a>>,
    /// It is signed.
    pub signing: Option<&'a Signing<'a>>,
    /// Where copies are known: surplus ones are only taken down.
    pub copies: Option<&'a Classes>,
}

/// What one thread has done.
#[derive(Default)]
pub struct Share {
    /// Rows that were taken down.
    pub took: Option<Took>,
    /// Documents and words that were counted.
    pub counted: Option<(u64, u64)>,
    /// What was signed, by algorithm.
    pub signed: Option<Vec<SignTally>>,
}

/// Reads all documents once.
pub fn read(job: &Job<'_>, name: &str, view: &View<'_>, asked: Asked<'_>) -> Result<Vec<Share>> {
    let Asked { intake, counting, signing, copies } = asked;
    let want = intake.map_or_else(|| view.want(), |intake| intake.want(view.want()));
    job.read(
        name,
        &want,
        || Ok((intake.map(Intake::taker), counting.map(Counting::thread), signing.map(Signing::thread), 0)),
        |(taker, counter, signer, segmented), batch| {
            let columns = view.columns(batch)?;
            let mut taking = intake.zip(taker.as_mut());
            for row in 0..batch.len() {
                let text = match &mut taking {
                    Some((intake, taker)) => intake.row(taker, batch, row)?,
                    None => match batch.text(row) {
                        Cell::Text(text) => Some(text),
                        _ => None,
                    },
                };
                let (doc, Some(text)) = (batch.doc(row), text) else { continue };
                let _long = job.long_document(View::bytes(text, &columns, row))?;
                let document = view.document(doc, text, &columns, row);
                if let Some((intake, taker)) = &mut taking {
                    intake.text(taker, doc, &document)?;
                }
                if copies.is_some_and(|copies| copies.is_surplus(doc)) {
                    continue;
                }
                if let Some((counting, thread)) = counting.zip(counter.as_mut()) {
                    counting.count(thread, doc, &document)?;
                }
                if let Some((signing, thread)) = signing.zip(signer.as_mut()) {
                    signing.sign(thread, doc, &document, text.len() as u64)?;
                }
                *segmented += document.segmented();
            }
            taking.map_or(Ok(()), |(intake, taker)| intake.batch(taker, batch))
        },
        |(taker, counter, signer, segmented)| {
            job.segmented.fetch_add(segmented, Relaxed);
            Ok(Share {
                took: taker.map(Intake::close).transpose()?,
                counted: counter.map(Counting::close).transpose()?,
                signed: signer.map(Signing::close).transpose()?,
            })
        },
    )
}

/// What came of the first reading.
pub struct First {
    /// What was taken down of the rows, where that was asked for.
    pub taken: Option<Taken>,
    /// What was counted, where something was.
    pub counted: Option<Counted>,
    /// What was signed, by algorithm.
    pub signed: Vec<SignedRows>,
}

/// The first reading, for which copies and a sieve may be known already: rows are taken down where `takes` says so, documents
/// counted, and algorithms that need no counts sign.
pub fn first(
    job: &Job<'_>,
    bound: &[Bound<'_>],
    takes: bool,
    counting: Option<Counting<'_>>,
    copies: Option<&Classes>,
    sieve: Option<&Sieve>,
) -> Result<First> {
    let name = if counting.is_some() { "count" } else { "sign" };
    let running = job.clock.stage(name);
    let intake = takes.then(|| Intake::new(job, copies.is_none())).transpose()?;
    let signing = Signing::new(job, bound, copies, sieve)?;
    let asked = Asked { intake: intake.as_ref(), counting: counting.as_ref(), signing: Some(&signing), copies };
    let (mut took, mut counts, mut tallies) = (Vec::new(), Vec::new(), Vec::new());
    for share in read(job, name, &View::first(job), asked)? {
        took.extend(share.took);
        counts.extend(share.counted);
        tallies.extend(share.signed);
    }
    let signed = signing.finish(tallies)?;
    let taken = intake.map(|intake| intake.finish(took)).transpose()?;
    let counted = counting.map(|counting| counting.finish(counts)).transpose()?;
    let words = counted.as_ref().map_or(0, |counted| counted.stats.words.len() as u64);
    let taken_bytes = taken.as_ref().map_or(0, |taken| taken.spilled_bytes);
    let spilled_bytes = spilled(&signed) + taken_bytes + counted.as_ref().map_or(0, |one| one.spilled_bytes);
    running.end(job.documents(), rows(&signed) + words, spilled_bytes);
    Ok(First { taken, counted, signed })
}

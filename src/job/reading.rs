//! A reading of the whole corpus, and all that is done with each document in it.

use std::sync::atomic::Ordering::Relaxed;

use super::count::{Counted, Counting};
use super::intake::{Intake, Taken, Took};
use super::sign::{SignTally, SignedRows, Signing, rows, spilled};
use crate::batch::Cell;
use crate::engine::threads::Engine;
use crate::error::Result;
use crate::reading::classes::Classes;
use crate::reading::document::View;
use crate::reading::meeting::{Meeting, MeetingKeys};
use crate::reading::reader::Reader;
use crate::shuffle::Sorted;
use crate::stage::bound::Bound;
use crate::stage::sift::Sieve;

/// What is done with each document.
#[derive(Clone, Copy, Default)]
pub struct Asked<'a> {
    /// Its row is recorded.
    pub intake: Option<&'a Intake<'a>>,
    /// It is counted.
    pub counting: Option<&'a Counting<'a>>,
    /// It is signed.
    pub signing: Option<&'a Signing<'a>>,
    /// Where copies are known: surplus ones are only recorded.
    pub copies: Option<&'a Classes>,
    /// Where the documents are guests: what they are checked by.
    pub guests: Option<&'a dyn Meeting>,
}

/// What one thread has done.
#[derive(Default)]
pub struct Share {
    /// Rows that were recorded.
    pub took: Option<Took>,
    /// Documents and words that were counted.
    pub counted: Option<(u64, u64)>,
    /// What was signed, by algorithm.
    pub signed: Option<Vec<SignTally>>,
}

/// Reads all documents once.
pub fn read(
    engine: &Engine<'_>,
    reader: &Reader<'_>,
    name: &str,
    view: &View<'_>,
    asked: Asked<'_>,
) -> Result<Vec<Share>> {
    let Asked { intake, counting, signing, copies, guests } = asked;
    let recorder =
        |intake| if guests.is_some() { Intake::recorder_of_guests(intake) } else { Intake::recorder(intake) };
    let want = intake.map_or_else(|| view.want(), |intake| intake.want(view.want()));
    reader.read(
        engine,
        name,
        &want,
        || Ok((intake.map(recorder), counting.map(Counting::thread), signing.map(Signing::thread), 0)),
        |(recorder, counter, signer, segmented), batch| {
            let columns = view.columns(batch)?;
            let mut taking = intake.zip(recorder.as_mut());
            for row in 0..batch.len() {
                let text = match &mut taking {
                    Some((intake, recorder)) => intake.row(recorder, batch, row)?,
                    None => match batch.text(row) {
                        Cell::Text(text) => Some(text),
                        _ => None,
                    },
                };
                let (doc, Some(text)) = (batch.doc(row), text) else { continue };
                let _long = engine.long_document(View::bytes(text, &columns, row))?;
                let document = view.document(doc, text, &columns, row);
                guests.map_or(Ok(()), |guests| guests.check(doc, &document))?;
                if let Some((intake, recorder)) = &mut taking {
                    intake.text(recorder, doc, &document)?;
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
            taking.map_or(Ok(()), |(intake, recorder)| intake.batch(recorder, batch))
        },
        |(recorder, counter, signer, segmented)| {
            reader.segmented.fetch_add(segmented, Relaxed);
            Ok(Share {
                took: recorder.map(Intake::close).transpose()?,
                counted: counter.map(Counting::close).transpose()?,
                signed: signer.map(Signing::close).transpose()?,
            })
        },
    )
}

/// What came of the first reading.
pub struct First {
    /// What was recorded of the rows, where that was asked for.
    pub taken: Option<Taken>,
    /// What was counted, where something was.
    pub counted: Option<Counted>,
    /// What was signed, by algorithm.
    pub signed: Vec<SignedRows>,
    /// By what documents meet their copies in an index, where there is one.
    pub copy_keys: Option<Sorted>,
}

/// The first reading, for which copies and a sieve may be known already: rows are recorded where `takes` says so, documents
/// counted, and algorithms that need no counts sign.
pub fn first(
    engine: &Engine<'_>,
    reader: &Reader<'_>,
    view: &View<'_>,
    bound: &[Bound<'_>],
    takes: bool,
    counting: Option<Counting<'_>>,
    copies: Option<&Classes>,
    sieve: Option<&Sieve>,
    joining: Option<&dyn Meeting>,
) -> Result<First> {
    let name = if counting.is_some() { "count" } else { "sign" };
    let running = engine.clock.stage(name);
    let intake = takes.then(|| Intake::new(engine, reader, copies.is_none())).transpose()?;
    let copy_keys =
        joining.map(|joining| MeetingKeys::of_copies(engine, joining.numbered(), reader.rows())).transpose()?;
    let signing = Signing::new(engine, reader, bound, copies, sieve, joining.map(|joining| joining.numbered()))?;
    let mut signing = signing.with_copy_keys(copy_keys);
    let asked =
        Asked { intake: intake.as_ref(), counting: counting.as_ref(), signing: Some(&signing), copies, guests: None };
    let (mut took, mut counts, mut tallies) = (Vec::new(), Vec::new(), Vec::new());
    for share in read(engine, reader, name, view, asked)? {
        took.extend(share.took);
        counts.extend(share.counted);
        tallies.extend(share.signed);
    }
    let (copy_keys, keys) = signing.close_keys()?;
    let guests = joining.map(|joining| joining.meet(engine, bound, &keys, copy_keys.as_ref())).transpose()?.flatten();
    if let (Some(source), Some(joining)) = (guests, joining) {
        let guests = reader.of_guests(source);
        let asked =
            Asked { intake: intake.as_ref(), signing: Some(&signing), guests: Some(joining), ..Asked::default() };
        let shares = read(engine, &guests, "read guests", &view.over(&guests), asked)?;
        took.extend(shares.into_iter().filter_map(|share| share.took));
    }
    let signed = signing.finish_with(tallies, keys)?;
    let taken = intake.map(|intake| intake.finish(took)).transpose()?;
    let counted = counting.map(|counting| counting.finish(counts)).transpose()?;
    let words = counted.as_ref().map_or(0, |counted| counted.stats.words.len() as u64);
    let taken_bytes = taken.as_ref().map_or(0, |taken| taken.spilled_bytes);
    let spilled_bytes = spilled(&signed) + taken_bytes + counted.as_ref().map_or(0, |one| one.spilled_bytes);
    running.end(reader.documents(), rows(&signed) + words, spilled_bytes);
    Ok(First { taken, counted, signed, copy_keys })
}

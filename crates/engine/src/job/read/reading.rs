//! A reading of the whole corpus, and all that is done with each document in it.

use std::ops::Range;
use std::slice::from_ref;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::count::{Counted, Counting};
use super::intake::{Intake, Taken, Took};
use super::sign::{SignTally, SignedRows, Signing, rows, spilled};
use crate::engine::products::PortionReader;
use crate::job::pair::classes::Classes;
use crate::job::products::{Portions, Stock};
use crate::matching::meeting::{Keys, Meeting, MeetingKeys};
use crate::reading::document::View;
use crate::reading::purify_report::PurifyReport;
use crate::reading::read::{PagesSoFar, Restless, Rests};
use crate::session::Session;
use dupsift_algorithms::stage::bound::Bound;
use dupsift_algorithms::stage::sift::Sieve;
use dupsift_core::error::Result;
use dupsift_files::tables::Cell;

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
    /// Where what is known of the documents so far is put down now and then, and taken up.
    pub portions: Option<(&'a Stock<'a>, &'a Portions)>,
}

/// What one thread has done.
#[derive(Default, Deserialize, Serialize)]
pub struct Share {
    /// Rows that were recorded.
    pub took: Option<Took>,
    /// Documents and words that were counted.
    pub counted: Option<(u64, u64)>,
    /// What was signed, by algorithm.
    pub signed: Option<Vec<SignTally>>,
}

/// Reads all documents once.
pub fn read(session: &Session<'_>, name: &str, view: &View<'_>, asked: Asked<'_>) -> Result<Vec<Share>> {
    let Asked { intake, counting, signing, copies, guests, portions } = asked;
    let resting = portions.map(|(stock, portions)| Resting::new(session, asked, stock, portions));
    let rests: &dyn Rests<Share> = resting.as_ref().map_or(&Restless, |resting| resting);
    let recorder =
        |intake| if guests.is_some() { Intake::recorder_of_guests(intake) } else { Intake::recorder(intake) };
    let want = intake.map_or_else(|| view.want(), |intake| intake.want(view.want()));
    let mut shares = session.read_and_rest(
        name,
        &want,
        rests,
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
                let _long = session.engine.long_document(View::bytes(text, &columns, row))?;
                let document = view.document(doc, text, &columns, row);
                guests.map_or(Ok(()), |guests| guests.check(doc, &document))?;
                if let Some((intake, recorder)) = &mut taking {
                    intake.text(recorder, (batch, row), &document)?;
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
            session.segmented.fetch_add(segmented, Relaxed);
            let (took, counted) = (recorder.map(Intake::close), counter.map(Counting::close));
            let signed = signer.map(Signing::close).transpose()?;
            Ok(Share { took: took.transpose()?, counted: counted.transpose()?, signed })
        },
    )?;
    shares.extend(resting.map(Resting::taken_up).unwrap_or_default());
    Ok(shares)
}

/// A reading that puts down what it knows of the documents since the last rest, a portion, and that begins behind the portions of an
/// earlier process.
struct Resting<'r> {
    session: &'r Session<'r>,
    asked: Asked<'r>,
    stock: &'r Stock<'r>,
    portions: &'r Portions,
    so_far: Mutex<SoFar>,
}

/// How far a reading is.
#[derive(Default)]
struct SoFar {
    /// The number of the next portion.
    portion: u64,
    /// The first document of it.
    doc: u64,
    /// Whether the disk had no room for one: those behind it would be of no use.
    is_full: bool,
    /// What threads of earlier processes have done.
    shares: Vec<Share>,
}

/// What is plain of a portion.
#[derive(Deserialize, Serialize)]
struct Heading {
    docs: Range<u64>,
    segmented: u64,
    report: Option<PurifyReport>,
}

impl<'r> Resting<'r> {
    fn new(session: &'r Session<'r>, asked: Asked<'r>, stock: &'r Stock<'r>, portions: &'r Portions) -> Resting<'r> {
        Resting { session, asked, stock, portions, so_far: Mutex::default() }
    }

    fn so_far(&self) -> MutexGuard<'_, SoFar> {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn taken_up(self) -> Vec<Share> {
        self.so_far.into_inner().unwrap_or_else(PoisonError::into_inner).shares
    }

    fn take(&self, from: &mut PortionReader<'_>, pages: Option<&PagesSoFar<'_>>, so_far: &mut SoFar) -> Result<bool> {
        let Heading { docs, segmented, report } = from.plain()?;
        so_far.shares.extend(from.plain::<Vec<Share>>()?);
        let Asked { intake, counting, signing, .. } = self.asked;
        intake.map_or(Ok(()), |intake| intake.take_portion(&docs, from))?;
        self.session.scopes.take_portion(&docs, from)?;
        counting.map_or(Ok(()), |counting| counting.take_portion(&docs, from))?;
        signing.map_or(Ok(()), |signing| signing.take_portion(self.session.engine, from_ref(&docs), from))?;
        pages.zip(report).map_or(Ok(()), |(pages, report)| pages.take_portion(&docs, report, from))?;
        self.session.segmented.store(segmented, Relaxed);
        (so_far.portion, so_far.doc) = (so_far.portion + 1, docs.end);
        Ok(true)
    }
}

impl Rests<Share> for Resting<'_> {
    fn begin(&self, pages: Option<PagesSoFar<'_>>) -> Result<u64> {
        let mut so_far = self.so_far();
        loop {
            let at = so_far.portion;
            if !self.stock.take_portion(self.portions, at, |from| self.take(from, pages.as_ref(), &mut so_far))? {
                // What is behind a damaged one does not join on to what is read now.
                self.stock.forget_portions(self.portions, at)?;
                return Ok(so_far.doc);
            }
        }
    }

    fn is_due(&self) -> bool {
        self.stock.due() && !self.so_far().is_full
    }

    fn rest(&self, end: u64, shares: &[Share], pages: Option<PagesSoFar<'_>>) -> Result<()> {
        let mut so_far = self.so_far();
        let docs = so_far.doc..end;
        let Asked { intake, counting, signing, .. } = self.asked;
        let fits = self.stock.put_portion(self.portions, so_far.portion, |to| {
            let (segmented, report) = (self.session.segmented.load(Relaxed), pages.as_ref().map(PagesSoFar::report));
            to.plain(&Heading { docs: docs.clone(), segmented, report })?;
            to.plain(&shares)?;
            intake.map_or(Ok(()), |intake| intake.put_portion(&docs, to))?;
            self.session.scopes.put_portion(&docs, to)?;
            counting.map_or(Ok(()), |counting| counting.put_portion(&docs, to))?;
            signing.map_or(Ok(()), |signing| signing.put_portion(from_ref(&docs), to))?;
            pages.as_ref().map_or(Ok(()), |pages| pages.put_portion(&docs, to))
        })?;
        (so_far.portion, so_far.doc, so_far.is_full) = (so_far.portion + 1, end, !fits);
        Ok(())
    }
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
    pub copy_keys: Option<Keys>,
}

/// The first reading, for which copies and a sieve may be known already: rows are recorded where `takes` says so, documents
/// counted, and algorithms that need no counts sign.
pub fn first(
    session: &Session<'_>,
    view: &View<'_>,
    bound: &[Bound<'_>],
    takes: bool,
    counting: Option<Counting<'_>>,
    copies: Option<&Classes>,
    sieve: Option<&Sieve>,
    joining: Option<&dyn Meeting>,
    portions: Option<(&Stock<'_>, &Portions)>,
) -> Result<First> {
    let name = if counting.is_some() { "count" } else { "sign" };
    let running = session.engine.clock.stage(name);
    let intake = takes.then(|| Intake::new(session, copies.is_none())).transpose()?;
    let copy_keys = joining
        .map(|joining| MeetingKeys::of_copies(session.engine, joining.numbered(), session.rows()))
        .transpose()?;
    let signing = Signing::new(session, bound, copies, sieve, joining.map(|joining| joining.numbered()))?;
    let mut signing = signing.with_copy_keys(copy_keys);
    let (intake_of, counting_of) = (intake.as_ref(), counting.as_ref());
    let asked = Asked {
        intake: intake_of,
        counting: counting_of,
        signing: Some(&signing),
        copies,
        guests: None,
        portions: portions.filter(|_| joining.is_none()),
    };
    let (mut took, mut counts, mut tallies) = (Vec::new(), Vec::new(), Vec::new());
    for share in read(session, name, view, asked)? {
        took.extend(share.took);
        counts.extend(share.counted);
        tallies.extend(share.signed);
    }
    let (copy_keys, keys) = signing.close_keys()?;
    let guests =
        joining.map(|joining| joining.meet(session.engine, bound, &keys, copy_keys.as_ref())).transpose()?.flatten();
    if let (Some(source), Some(joining)) = (guests, joining) {
        let guests = session.of_guests(source);
        let asked =
            Asked { intake: intake.as_ref(), signing: Some(&signing), guests: Some(joining), ..Asked::default() };
        let shares = read(&guests, "read guests", &view.over(&guests), asked)?;
        took.extend(shares.into_iter().filter_map(|share| share.took));
    }
    let signed = signing.finish_with(tallies, keys)?;
    let taken = intake.map(|intake| intake.finish(took)).transpose()?;
    let counted = counting.map(|counting| counting.finish(counts)).transpose()?;
    let words = counted.as_ref().map_or(0, |counted| counted.stats.words.len() as u64);
    let taken_bytes = taken.as_ref().map_or(0, |taken| taken.spilled_bytes);
    let spilled_bytes = spilled(&signed) + taken_bytes + counted.as_ref().map_or(0, |one| one.spilled_bytes);
    running.end(session.documents(), rows(&signed) + words, spilled_bytes);
    Ok(First { taken, counted, signed, copy_keys })
}

//! Runs one pass over the whole corpus. Processes each document, and saves partial checkpoints at intervals.

use std::ops::Range;
use std::slice::from_ref;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::copies;
use super::count::{Counted, Counting, Totals};
use super::intake::{Intake, Taken, Took};
use super::sign::{SignTallies, SignedRows, Signing, rows, spilled};
use crate::classes::Classes;
use crate::engine::checkpoints::{Merge, PartialReader, Recorder};
use crate::job::saved::{Partials, SavedState};
use crate::matching::meeting::{Meeting, MeetingKeys, RecordedKeys};
use crate::reading::document::View;
use crate::reading::read::{PagesSoFar, Restless, Rests};
use crate::session::Session;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_algorithms::steps::prefilter::Prefilter;
use dupsift_core::error::{Error, Result};
use dupsift_tables::Cell;

/// Selects how each document is processed.
#[derive(Clone, Copy, Default)]
pub struct Asked<'a> {
    /// The recorder for the rows of documents, if rows are recorded.
    pub intake: Option<&'a Intake<'a>>,
    /// The state for counting documents, if documents are counted.
    pub counting: Option<&'a Counting<'a>>,
    /// The state for signing documents, if documents are signed.
    pub signing: Option<&'a Signing<'a>>,
    /// The exact copies, if they are known. Extra copies are recorded but not processed further.
    pub copies: Option<&'a Classes>,
    /// The object that checks indexed documents, if the pass reads indexed documents.
    pub indexed: Option<&'a dyn Meeting>,
    /// The saved state for partial checkpoints, if partial checkpoints are saved.
    pub partials: Option<(&'a SavedState<'a>, &'a Partials)>,
}

/// Holds the results of one thread.
#[derive(Default, Deserialize, Serialize)]
pub struct Share {
    /// The results of recording rows.
    pub took: Took,
    /// The results of counting.
    pub counted: Totals,
    /// The results of signing.
    pub signed: SignTallies,
}

impl Merge for Share {
    fn merge(&mut self, other: Share) {
        self.took.merge(other.took);
        self.counted.merge(other.counted);
        self.signed.merge(other.signed);
    }
}

/// Reads all documents once.
///
/// # Errors
/// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
pub fn read(session: &Session<'_>, name: &str, view: &View<'_>, asked: Asked<'_>) -> Result<Share> {
    let Asked { intake, counting, signing, copies, indexed, partials } = asked;
    let resting = partials.map(|(saved, partials)| Resting::new(session, asked, saved, partials));
    let rests: &dyn Rests<Share> = resting.as_ref().map_or(&Restless, |resting| resting);
    let recorder =
        |intake| if indexed.is_some() { Intake::recorder_of_indexed(intake) } else { Intake::recorder(intake) };
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
                indexed.map_or(Ok(()), |indexed| indexed.check(doc, &document))?;
                if let Some((intake, recorder)) = &mut taking {
                    intake.text(recorder, (batch, row), &document)?;
                }
                if copies.is_some_and(|copies| copies.is_extra_copy(doc)) {
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
            Ok(Share {
                took: recorder.map(Intake::close).transpose()?.unwrap_or_default(),
                counted: counter.map(Counting::close).transpose()?.unwrap_or_default(),
                signed: signer.map(Signing::close).transpose()?.unwrap_or_default(),
            })
        },
    )?;
    shares.extend(resting.map(Resting::restored));
    Ok(Share::of_all(shares))
}

/// Records all rows of a finished run's corpus in the same way as the run's first pass. Also returns the exact copies.
///
/// # Errors
/// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
pub fn note_again(session: &Session<'_>) -> Result<(Taken, Classes)> {
    let running = session.engine.clock.stage("read documents");
    session.scopes.begin(session.engine, &session.options.recipe, session.documents())?;
    let intake = Intake::new(session, true)?;
    let view = View::first(session);
    let asked = Asked { intake: Some(&intake), ..Asked::default() };
    let Share { took, .. } = read(session, "read documents", &view, asked)?;
    let mut taken = intake.finish(took)?;
    running.end(session.documents(), taken.used, taken.spilled_bytes);
    let hashes = taken.hashes.take().ok_or_else(|| Error::Internal("no text hashes were recorded".into()))?;
    Ok((taken, copies::fold(session, &hashes)?))
}

/// Describes a pass with partial checkpoints. Each partial checkpoint holds the data recorded since the previous partial checkpoint. The
/// pass starts where the partial checkpoints of an earlier process end.
struct Resting<'r> {
    session: &'r Session<'r>,
    asked: Asked<'r>,
    saved: &'r SavedState<'r>,
    partials: &'r Partials,
    so_far: Mutex<SoFar>,
}

/// Holds the progress of a pass.
#[derive(Default)]
struct SoFar {
    /// The number of the next partial checkpoint.
    partial: u64,
    /// The first document of the next partial checkpoint.
    doc: u64,
    /// Whether the disk had no room for a partial checkpoint. In that case, later partial checkpoints would be useless.
    is_full: bool,
    /// The results of earlier processes.
    restored: Share,
}

impl Recorder for Resting<'_> {
    fn parts(&self) -> Vec<&dyn Recorder> {
        let Asked { intake, counting, signing, .. } = &self.asked;
        vec![intake, &self.session.scopes, counting, signing, &self.session.segmented]
    }
}

impl<'r> Resting<'r> {
    fn new(
        session: &'r Session<'r>,
        asked: Asked<'r>,
        saved: &'r SavedState<'r>,
        partials: &'r Partials,
    ) -> Resting<'r> {
        let so_far = SoFar { doc: session.base, ..SoFar::default() };
        Resting { session, asked, saved, partials, so_far: Mutex::new(so_far) }
    }

    fn so_far(&self) -> MutexGuard<'_, SoFar> {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn restored(self) -> Share {
        self.so_far.into_inner().unwrap_or_else(PoisonError::into_inner).restored
    }

    fn restore(
        &self,
        from: &mut PartialReader<'_>,
        pages: Option<&PagesSoFar<'_>>,
        so_far: &mut SoFar,
    ) -> Result<bool> {
        let docs: Range<u64> = from.plain()?;
        from.plain::<Vec<Share>>()?.into_iter().for_each(|share| so_far.restored.merge(share));
        self.restore_partial(self.session.engine, from_ref(&docs), from)?;
        pages.restore_partial(self.session.engine, from_ref(&docs), from)?;
        (so_far.partial, so_far.doc) = (so_far.partial + 1, docs.end);
        Ok(true)
    }
}

impl Rests<Share> for Resting<'_> {
    fn begin(&self, pages: Option<PagesSoFar<'_>>) -> Result<u64> {
        let mut so_far = self.so_far();
        loop {
            let at = so_far.partial;
            let restore = |from: &mut PartialReader<'_>| self.restore(from, pages.as_ref(), &mut so_far);
            if !self.saved.restore_partial(self.partials, at, restore)? {
                // The partial checkpoints after a damaged partial checkpoint cannot be used to continue this pass.
                self.saved.forget_partials(self.partials, at)?;
                return Ok(so_far.doc);
            }
        }
    }

    fn is_due(&self) -> bool {
        self.saved.due() && !self.so_far().is_full
    }

    fn rest(&self, end: u64, shares: &[Share], pages: Option<PagesSoFar<'_>>) -> Result<()> {
        let mut so_far = self.so_far();
        let docs = so_far.doc..end;
        let fits = self.saved.save_partial(self.partials, so_far.partial, |to| {
            to.plain(&docs)?;
            to.plain(&shares)?;
            self.save_partial(from_ref(&docs), to)?;
            pages.save_partial(from_ref(&docs), to)
        })?;
        (so_far.partial, so_far.doc, so_far.is_full) = (so_far.partial + 1, end, !fits);
        Ok(())
    }
}

/// Holds the settings of the first pass. Copies may already be known, and a prefilter may already have been built.
pub(crate) struct FirstPass<'a> {
    /// The view through which documents are read.
    pub view: &'a View<'a>,
    /// The algorithms that sign in the pass.
    pub bound: &'a [Bound<'a>],
    /// Whether rows are recorded.
    pub takes: bool,
    /// The state for counting documents, if documents are counted.
    pub counting: Option<Counting<'a>>,
    /// The exact copies, if they are known.
    pub copies: Option<&'a Classes>,
    /// The prefilter, which drops rows that match no other row.
    pub prefilter: Option<&'a Prefilter>,
    /// The object that matches documents from earlier runs, if the run uses an index.
    pub meeting: Option<&'a dyn Meeting>,
    /// The saved state for partial checkpoints.
    pub partials: (&'a SavedState<'a>, &'a Partials),
}

/// Holds the results of the first pass.
pub(crate) struct FirstResult {
    /// The recorded rows, if they were requested.
    pub taken: Option<Taken>,
    /// The counts, if anything was counted.
    pub counted: Option<Counted>,
    /// The signature rows of each algorithm.
    pub signed: Vec<SignedRows>,
    /// The keys that match documents with their copies in the index, if the run uses an index.
    pub copy_keys: Option<RecordedKeys>,
}

impl FirstPass<'_> {
    /// Runs the first pass.
    ///
    /// # Errors
    /// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
    pub(crate) fn run(self, session: &Session<'_>) -> Result<FirstResult> {
        let FirstPass { view, bound, takes, counting, copies, prefilter, meeting, partials } = self;
        let name = if counting.is_some() { "count" } else { "sign" };
        let running = session.engine.clock.stage(name);
        let intake = takes.then(|| Intake::new(session, copies.is_none())).transpose()?;
        let copy_keys = meeting
            .map(|meeting| MeetingKeys::of_copies(session.engine, meeting.numbered(), session.rows()))
            .transpose()?;
        let signing = Signing::new(session, bound, copies, prefilter, meeting.map(|meeting| meeting.numbered()))?;
        let mut signing = signing.with_copy_keys(copy_keys);
        let asked = Asked {
            intake: intake.as_ref(),
            counting: counting.as_ref(),
            signing: Some(&signing),
            copies,
            indexed: None,
            partials: Some(partials),
        };
        let Share { mut took, counted, signed } = read(session, name, view, asked)?;
        let (copy_keys, keys) = signing.close_keys()?;
        let indexed = meeting
            .map(|meeting| meeting.meet(session.engine, bound, &keys, copy_keys.as_ref()))
            .transpose()?
            .flatten();
        if let (Some(source), Some(meeting)) = (indexed, meeting) {
            let indexed = session.of_indexed(source);
            let asked =
                Asked { intake: intake.as_ref(), signing: Some(&signing), indexed: Some(meeting), ..Asked::default() };
            // The signatures of indexed documents were counted when the documents were added to the index.
            took.merge(read(&indexed, "read indexed documents", &view.over(&indexed), asked)?.took);
        }
        let signed = signing.finish_with(signed, keys)?;
        let taken = intake.map(|intake| intake.finish(took)).transpose()?;
        let counted = counting.map(|counting| counting.finish(counted)).transpose()?;
        let words = counted.as_ref().map_or(0, |counted| counted.stats.words.len() as u64);
        let taken_bytes = taken.as_ref().map_or(0, |taken| taken.spilled_bytes);
        let spilled_bytes = spilled(&signed) + taken_bytes + counted.as_ref().map_or(0, |one| one.spilled_bytes);
        running.end(session.documents(), rows(&signed) + words, spilled_bytes);
        Ok(FirstResult { taken, counted, signed, copy_keys })
    }
}

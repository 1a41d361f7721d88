//! Runs the planned passes over the documents: the first pass, and then a pass for the algorithms whose signatures require the counts of
//! the first pass. Results that an earlier process saved are restored, not recomputed.

use std::sync::Arc;

use super::algorithm_state::AlgorithmState;
use super::pair::step::{Step, is_noted};
use super::read::copies;
use super::read::count::{Counted, Counting};
use super::read::intake::Taken;
use super::read::one_pass::{Asked, FirstPass, FirstResult, read};
use super::read::prefilter;
use super::read::recall;
use super::read::saved_counts::SavedCounts;
use super::read::saved_rows::SavedRows;
use super::read::sign::{SignedRows, Signing, rows, spilled};
use super::read_back::{Frozen, digest};
use super::saved::{FIRST, Made, Partials, RECALL, SECOND, SavedState};
use crate::classes::Classes;
use crate::matching::indexed::IndexedNumbers;
use crate::matching::meeting::{Meeting, Numbered, RecordedKeys};
use crate::reading::document::View;
use crate::reading::forward::Forward;
use crate::session::Session;
use crate::session::purified_store::KeptPages;
use dupsift_algorithms::algorithm::Corpus;
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_algorithms::steps::plan::Signs;
use dupsift_algorithms::steps::prefilter::Prefilter;
use dupsift_core::error::{Error, Result};
use dupsift_spill::shuffle::Sorted;

/// An algorithm with its position in the recipe.
type Placed<'c> = (usize, AlgorithmState<'c, Step>);

/// An algorithm that has not signed any documents yet.
type Unsigned<'c> = (usize, Bound<'c>);

/// The part of an algorithm's index entry that is known once all documents have signatures.
pub(crate) struct Stored {
    /// The label of the algorithm.
    pub label: String,
    /// The keys by which the algorithm matches documents.
    pub keys: RecordedKeys,
    /// The pairs that an earlier process recorded, if the pairs of the algorithm are already final.
    pub noted: Option<Sorted>,
}

/// Holds the algorithms with a known state, the algorithms that have not signed any documents yet, and the index entries of the algorithms
/// with a known state.
type Known<'c> = (Vec<Placed<'c>>, Vec<Unsigned<'c>>, Vec<Stored>);

/// Holds the results of the first pass.
pub(crate) struct First<'n> {
    /// The data recorded about the rows.
    pub taken: Taken,
    /// The exact copies.
    pub copies: Arc<Classes>,
    /// The counts, if anything was counted.
    pub counts: Option<SavedCounts>,
    /// The words of all documents, if words were saved.
    pub words: Option<Forward>,
    /// The algorithms that do not require counts.
    pub algorithms: Vec<Placed<'n>>,
    /// The index entries of the algorithms, if the run uses an index.
    pub stored: Vec<Stored>,
    /// The keys that match documents with their copies in the index, if the run uses an index.
    pub copy_keys: Option<RecordedKeys>,
}

/// Holds the inputs that are available before the first pass.
pub(crate) struct Before<'n> {
    /// The view through which the first pass reads documents.
    pub view: View<'n>,
    corpus: Corpus<'n>,
    models: &'n [Vec<u64>],
}

impl<'n> Before<'n> {
    /// Returns the inputs of the first pass, including the frozen statistics and models of another run if there are any. Otherwise, the
    /// statistics are `none`, which no algorithm uses, and table schemes are chosen for the number of documents in `documents_planned`.
    pub(crate) fn new(
        session: &'n Session<'n>,
        frozen: Option<&'n Frozen>,
        none: &'n CorpusStats,
        documents_planned: u64,
    ) -> Before<'n> {
        match frozen {
            None => Before { view: View::first(session), corpus: Corpus::new(documents_planned, none), models: &[] },
            Some(Frozen { stats, models, report, .. }) => Before {
                view: View::after_count(session, None, stats),
                corpus: Corpus::new(report.documents_planned, stats),
                models,
            },
        }
    }
}

/// Holds the inputs for algorithms that sign only after the first pass.
pub(crate) struct Waiting<'c> {
    /// The view through which documents are read.
    pub view: &'c View<'c>,
    /// The counts.
    pub stats: &'c CorpusStats,
    /// The exact copies.
    pub copies: &'c Arc<Classes>,
    /// The words of all documents, if words were saved.
    pub words: Option<Forward>,
    /// The learned model of each algorithm. The model is empty for an algorithm that learns nothing.
    pub models: &'c [Vec<u64>],
    /// The total size of the text in bytes.
    pub text_bytes: u64,
    /// The number of documents for which table schemes are chosen.
    pub documents_planned: u64,
    /// The numbering of documents in the index, if the run uses an index.
    pub numbered: Option<Numbered>,
}

/// Runs the passes over the documents.
#[derive(Clone, Copy)]
pub(crate) struct Passes<'p> {
    /// The session.
    pub session: &'p Session<'p>,
    /// The state that earlier processes saved.
    pub saved: &'p SavedState<'p>,
}

/// Holds the states that the first pass produces. States that are not known yet are absent.
struct FirstStates<'n> {
    notes: Option<Taken>,
    copies: Option<Classes>,
    counts: Option<SavedCounts>,
    words: Option<Forward>,
    algorithms: Vec<Placed<'n>>,
    unsigned: Vec<Unsigned<'n>>,
    stored: Vec<Stored>,
    copy_keys: Option<RecordedKeys>,
}

impl<'n> FirstStates<'n> {
    /// Restores the results that earlier processes saved.
    ///
    /// All algorithms together determine which indexed documents take part, and the rows of each algorithm include these documents.
    /// Therefore, if the run uses an index, the pass is either restored or repeated as a whole.
    fn restore(passes: Passes<'_>, before: &Before<'n>, meeting: Option<&dyn Meeting>) -> Result<FirstStates<'n>> {
        let states = FirstStates::restore_each(passes, before, meeting.is_some())?;
        let Some(meeting) = meeting else { return Ok(states) };
        let Passes { session, saved } = passes;
        let copy_keys = saved.restore::<RecordedKeys>(|keys| &keys.copy_keys)?;
        let indexed = saved.restore::<IndexedNumbers>(|keys| &keys.indexed)?;
        match (copy_keys, indexed) {
            (Some(copy_keys), Some(IndexedNumbers(numbers))) if states.missing(passes).is_nothing() => {
                numbers.map_or(Ok(()), |numbers| meeting.meet_again(session.engine, numbers))?;
                Ok(FirstStates { copy_keys: Some(copy_keys), ..states })
            }
            _ => {
                saved.restored_nothing();
                let unsigned = passes.first_bound(before)?;
                let copies = states.copies.filter(|_| saved.plan().copies_first);
                let (algorithms, stored) = (Vec::new(), Vec::new());
                Ok(FirstStates {
                    notes: None,
                    copies,
                    counts: None,
                    words: None,
                    algorithms,
                    unsigned,
                    stored,
                    copy_keys: None,
                })
            }
        }
    }

    /// Restores each state that earlier processes saved.
    fn restore_each(passes: Passes<'_>, before: &Before<'n>, is_indexed: bool) -> Result<FirstStates<'n>> {
        let Passes { session, saved } = passes;
        let plan = saved.plan();
        if let Some(pages) = saved.restore::<KeptPages>(|keys| &keys.pages)? {
            session.pages.know(pages);
        }
        let (algorithms, unsigned, stored) = passes.restore_algorithms(passes.first_bound(before)?, is_indexed)?;
        let notes = saved.restore::<Taken>(|keys| &keys.notes)?;
        match notes.as_ref().and_then(|notes| notes.columns.scopes.clone()) {
            Some(noted) => session.scopes.know(noted),
            None => session.scopes.begin(session.engine, &session.options.recipe, session.documents())?,
        }
        // If statistics and models count exact copies only once, the copies must be known before counting.
        let copies = if plan.copies_first {
            Some(saved.step(|keys| &keys.copies, || copies::fold(session, &copies::read(session)?))?)
        } else {
            saved.restore(|keys| &keys.copies)?
        };
        let (counts, words) = passes.restore_counts()?;
        Ok(FirstStates { notes, copies, counts, words, algorithms, unsigned, stored, copy_keys: None })
    }

    /// Returns the results that the first pass must still produce.
    fn missing(&self, passes: Passes<'_>) -> Made {
        Made {
            notes: self.notes.is_none() || self.copies.is_none(),
            copies: self.copies.is_none(),
            counts: passes.saved.plan().counts.is_some() && self.counts.is_none(),
            algorithms: self.unsigned.iter().map(|(at, _)| *at).collect(),
            knows_pages: passes.session.pages.stored().is_some(),
        }
    }

    fn complete(self) -> Result<First<'n>> {
        let FirstStates { notes, copies, counts, words, algorithms, stored, copy_keys, .. } = self;
        match (notes, copies) {
            (Some(taken), Some(copies)) => {
                Ok(First { taken, copies: Arc::new(copies), counts, words, algorithms, stored, copy_keys })
            }
            _ => Err(Error::Internal("the first pass has recorded no rows".into())),
        }
    }
}

impl Passes<'_> {
    /// Runs the first pass, or the parts of it that were not saved.
    ///
    /// # Errors
    /// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
    pub(crate) fn first<'n>(self, before: &Before<'n>, meeting: Option<&dyn Meeting>) -> Result<First<'n>> {
        let mut states = FirstStates::restore(self, before, meeting)?;
        let missing = states.missing(self);
        if !missing.is_nothing() {
            self.make_first(&mut states, missing, before, meeting)?;
        }
        states.complete()
    }

    /// Binds the algorithms that sign in the first pass.
    fn first_bound<'n>(self, before: &Before<'n>) -> Result<Vec<Unsigned<'n>>> {
        let plan = self.saved.plan();
        let recipe = &self.session.options.recipe;
        let bound = recipe.bind_where(&before.corpus, before.models, |at| plan.signs_first(at))?;
        Ok((0..plan.signs.len()).filter(|&at| plan.signs_first(at)).zip(bound).collect())
    }

    fn make_first<'n>(
        self,
        states: &mut FirstStates<'n>,
        missing: Made,
        before: &Before<'n>,
        meeting: Option<&dyn Meeting>,
    ) -> Result<()> {
        let Passes { session, saved } = self;
        let plan = saved.plan();
        let (places, bound): (Vec<usize>, Vec<Bound<'n>>) = std::mem::take(&mut states.unsigned).into_iter().unzip();
        let prefilter = if plan.prefilters_first() {
            Some(prefilter::prefilter(session, &bound, None, &before.view)?)
        } else {
            None
        };
        let prefilter = prefilter.as_ref();
        let takes = missing.notes;
        let counting = plan.counts.filter(|_| missing.counts);
        let counting = counting.map(|counts| Counting::new(session, counts.needs, counts.keeps)).transpose()?;
        let partials = Partials::new(FIRST, missing);
        let copies = states.copies.as_ref().filter(|_| plan.copies_first);
        let (view, bound_now, partials_now) = (&before.view, &bound[..], (saved, &partials));
        let pass =
            FirstPass { view, bound: bound_now, takes, counting, copies, prefilter, meeting, partials: partials_now };
        let FirstResult { taken, counted, signed, copy_keys } = pass.run(session)?;

        let due = saved.due() || saved.has_partials(&partials)?;
        if let Some(meeting) = meeting {
            saved.offer(due, |keys| &keys.indexed, IndexedNumbers(meeting.met()))?;
        }
        states.copy_keys = copy_keys.map(|copies| saved.offer(due, |keys| &keys.copy_keys, copies)).transpose()?;
        if let Some(pages) = session.pages.kept() {
            saved.offer(due, |keys| &keys.pages, pages)?;
        }
        if let Some(mut taken) = taken {
            if let Some(hashes) = taken.hashes.take() {
                states.copies = Some(saved.offer(due, |keys| &keys.copies, copies::fold(session, &hashes)?)?);
            }
            states.notes = Some(saved.offer(due, |keys| &keys.notes, taken)?);
        }
        if let Some(Counted { stats, cuts, forward, .. }) = counted {
            states.counts = Some(saved.offer(due, |keys| &keys.counts, SavedCounts { stats, cuts })?);
            states.words = forward.map(|words| saved.offer(due, |keys| &keys.words, words)).transpose()?;
        }
        let text_bytes = states.notes.as_ref().map_or(0, |notes| notes.text_bytes);
        let signed = places.into_iter().zip(bound).zip(signed);
        let signed = Signed { signed, models: before.models, text_bytes, prefilter };
        let (algorithms, stored) = self.save_rows(due, signed)?;
        states.algorithms.extend(algorithms);
        states.stored.extend(stored);
        if due { saved.forget_partials(&partials, 0) } else { Ok(()) }
    }

    /// Computes the signatures of the algorithms that had to wait, from the saved words or in another pass. Returns all algorithms, in
    /// recipe order, and the index entries of the algorithms that had to wait.
    ///
    /// # Errors
    /// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
    pub(crate) fn second<'c>(
        self,
        first: Vec<Placed<'c>>,
        waiting: Waiting<'c>,
    ) -> Result<(Vec<AlgorithmState<'c, Step>>, Vec<Stored>)> {
        let Passes { session, saved } = self;
        let plan = saved.plan();
        let corpus = Corpus::new(waiting.documents_planned, waiting.stats);
        let bound = session.options.recipe.bind_where(&corpus, waiting.models, |at| !plan.signs_first(at))?;
        let places = (0..plan.signs.len()).filter(|&at| !plan.signs_first(at));
        let is_indexed = waiting.numbered.is_some();
        let (mut algorithms, unsigned, mut stored) =
            self.restore_algorithms(places.zip(bound).collect(), is_indexed)?;
        algorithms.extend(first);
        if !unsigned.is_empty() {
            let (places, bound): (Vec<usize>, Vec<Bound<'c>>) = unsigned.into_iter().unzip();
            let Waiting { copies, models, text_bytes, .. } = waiting;
            let view = waiting.view.with_copies(Some(copies));
            let prefilter =
                if plan.prefilters { Some(prefilter::prefilter(session, &bound, Some(copies), &view)?) } else { None };
            let prefilter = prefilter.as_ref();
            let knows_pages = session.pages.stored().is_some();
            let made = Made { algorithms: places.clone(), knows_pages, ..Made::default() };
            let partials = Partials::new(if waiting.words.is_some() { RECALL } else { SECOND }, made);
            let signed = self.sign_again(&bound, prefilter, &view, waiting, &partials)?;
            let due = saved.due();
            let signed = places.into_iter().zip(bound).zip(signed);
            let (signed, keys) = self.save_rows(due, Signed { signed, models, text_bytes, prefilter })?;
            algorithms.extend(signed);
            stored.extend(keys);
            if due {
                saved.forget(|keys| &keys.words)?;
                saved.forget_partials(&partials, 0)?;
            }
        }
        algorithms.sort_by_key(|(at, _)| *at);
        Ok((algorithms.into_iter().map(|(_, algorithm)| algorithm).collect(), stored))
    }

    fn sign_again(
        self,
        bound: &[Bound<'_>],
        prefilter: Option<&Prefilter>,
        view: &View<'_>,
        waiting: Waiting<'_>,
        partials: &Partials,
    ) -> Result<Vec<SignedRows>> {
        let (session, saved) = (self.session, self.saved);
        let Waiting { stats, copies, words, numbered, .. } = waiting;
        let running = session.engine.clock.stage(if words.is_some() { "read saved words" } else { "sign" });
        let signing = Signing::new(session, bound, Some(copies), prefilter, numbered)?;
        let partials = Some((saved, partials));
        let tallies = match words {
            Some(words) => {
                // A resumed run can use partial checkpoints only if the words were also saved.
                let partials = if saved.has(|keys| &keys.words)? { partials } else { None };
                recall::sign(&words, session.engine, view, stats, &signing, partials)?
            }
            None => {
                let asked = Asked { signing: Some(&signing), copies: Some(copies), partials, ..Asked::default() };
                read(session, "sign", view, asked)?.signed
            }
        };
        let signed = signing.finish(tallies)?;
        running.end(session.documents(), rows(&signed), spilled(&signed));
        Ok(signed)
    }

    /// Restores the statistics and any words that are still needed.
    fn restore_counts(self) -> Result<(Option<SavedCounts>, Option<Forward>)> {
        let (saved, plan) = (self.saved, self.saved.plan());
        if plan.counts.is_none() {
            return Ok((None, None));
        }
        let mut asks_words = false;
        for at in (0..plan.signs.len()).filter(|&at| plan.signs[at] == Signs::Kept) {
            let later = saved.has(|keys| &keys.algorithms[at].near)? || saved.has(|keys| &keys.algorithms[at].pairs)?;
            asks_words |= !later && !saved.has(|keys| &keys.algorithms[at].rows)?;
        }
        // Words are useless without the counts. Whenever words are counted again, they are also recorded again.
        if asks_words && !saved.has(|keys| &keys.words)? {
            return Ok((None, None));
        }
        let Some(counts) = saved.restore::<SavedCounts>(|keys| &keys.counts)? else { return Ok((None, None)) };
        let words = if asks_words { saved.restore::<Forward>(|keys| &keys.words)? } else { None };
        Ok((Some(counts), words))
    }

    /// Restores the latest state of each of these algorithms, and returns the remaining algorithms separately. If the run uses an index, a
    /// state is restored only together with the algorithm's index entry.
    fn restore_algorithms<'c>(self, bound: Vec<Unsigned<'c>>, is_indexed: bool) -> Result<Known<'c>> {
        let (mut algorithms, mut unsigned, mut stored) = (Vec::new(), Vec::new(), Vec::new());
        for (at, bound) in bound {
            let latest = Step::latest(self.session, self.saved, &bound, at)?;
            let latest = match latest {
                Some((report, now)) if is_indexed => match self.restore_stored(at, &bound, &now)? {
                    Some(one) => {
                        stored.push(one);
                        Some((report, now))
                    }
                    None => None,
                },
                latest => latest,
            };
            match latest {
                Some((report, now)) => {
                    let chosen = &self.session.options.recipe.algorithms[at];
                    algorithms.push((at, AlgorithmState::restored(bound, chosen, report, now)));
                }
                None => unsigned.push((at, bound)),
            }
        }
        Ok((algorithms, unsigned, stored))
    }

    /// Restores the index entry of an algorithm in this state. Returns `None` if part of the entry was not saved.
    fn restore_stored(self, at: usize, bound: &Bound<'_>, now: &Step) -> Result<Option<Stored>> {
        let Some(keys) = self.saved.restore::<RecordedKeys>(|keys| &keys.algorithms[at].keys)? else { return Ok(None) };
        let asks = matches!(now, Step::Near(_)) && is_noted(bound);
        let noted = if asks { self.saved.restore::<Sorted>(|keys| &keys.algorithms[at].noted)? } else { None };
        let is_whole = noted.is_some() == asks;
        Ok(is_whole.then(|| Stored { label: bound.label.clone(), keys, noted }))
    }

    /// Saves the rows of algorithms that have signed the documents, if a checkpoint is due. Also returns their index entries.
    fn save_rows<'c>(
        self,
        due: bool,
        Signed { signed, models, text_bytes, prefilter }: Signed<'_, impl Iterator<Item = (Unsigned<'c>, SignedRows)>>,
    ) -> Result<(Vec<Placed<'c>>, Vec<Stored>)> {
        let mut stored = Vec::new();
        let save = |((at, bound), rows): (Unsigned<'c>, SignedRows)| {
            let chosen = &self.session.options.recipe.algorithms[at];
            let mut algorithm = AlgorithmState::signed(bound, chosen, rows, text_bytes);
            algorithm.report.model = models.get(at).filter(|model| !model.is_empty()).map(|model| digest(model));
            algorithm.prefiltered(at, prefilter);
            let algorithm = algorithm.then(|_, signed, report| {
                let SignedRows { layout, rows, tally, evidence, sketches, keys } = signed;
                if let Some(keys) = keys {
                    // The rows are useless without the keys.
                    let keys = self.saved.offer(due, |keys| &keys.algorithms[at].keys, *keys)?;
                    stored.push(Stored { label: report.label.clone(), keys, noted: None });
                }
                let rows = SavedRows { report: report.clone(), rows, evidence, sketches };
                let SavedRows { rows, evidence, sketches, .. } =
                    self.saved.offer(due, |keys| &keys.algorithms[at].rows, rows)?;
                Ok(Step::Rows(SignedRows { layout, rows, tally, evidence, sketches, keys: None }))
            })?;
            Ok((at, algorithm))
        };
        let algorithms = signed.map(save).collect::<Result<_>>()?;
        Ok((algorithms, stored))
    }
}

/// Holds algorithms that have signed the documents, and the data for the records of these algorithms.
struct Signed<'s, I> {
    signed: I,
    models: &'s [Vec<u64>],
    text_bytes: u64,
    prefilter: Option<&'s Prefilter>,
}

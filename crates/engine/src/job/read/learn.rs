//! Trains the models of algorithms before any signatures are computed. A single pass samples documents for all algorithms, and then each
//! algorithm trains its model.
//!
//! Notes on the sampled documents are stored in a memory-mapped temporary file. The notes are ordered by a hash of each document's text so
//! that a model does not depend on document order. A note counts once for each exact copy of its document, unless copies are excluded from
//! the statistics.

use std::sync::atomic::Ordering::Relaxed;

use crate::classes::Classes;
use crate::job::saved::SavedState;
use crate::reading::document::View;
use crate::session::Session;
use dupsift_algorithms::algorithm::{Corpus, Learner, Notes};
use dupsift_algorithms::steps::learn;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::{FrozenHeap, Heap, Mapped, Shuffle, Writer};
use dupsift_tables::Cell;

/// A run may use 150 MB in addition to the memory limit. The program and its dictionary leave this many bytes of these 150 MB free.
const BESIDES: usize = 80 << 20;

/// Holds the notes of one algorithm while they are written.
struct Pad {
    numbers: Heap,
    order: Shuffle,
}

/// Holds the notes of one algorithm, in order.
struct Pages<'p> {
    session: &'p Session<'p>,
    numbers: FrozenHeap,
    begins: Mapped<u64>,
}

impl Pages<'_> {
    fn len(&self) -> usize {
        self.begins.len()
    }

    fn get(&self, at: usize) -> &[u64] {
        let words = |from: u64, count: usize| bytemuck::try_cast_slice(self.numbers.get(from, count * 8));
        // Every entry is a whole number of words in a mapped file, so the bytes are aligned.
        let length = words(self.begins[at], 1).map_or(0, |length: &[u64]| length[0] as usize);
        words(self.begins[at] + 8, length).unwrap_or(&[])
    }

    /// Returns the notes in the form that a learner reads.
    fn notes(&self) -> Notes<'_> {
        // No other large data is in memory at this point, so learning may use part of the memory that is allowed in addition to the limit.
        let memory_bytes = self.session.options.resources.memory as usize + BESIDES;
        Notes::new(self.len(), memory_bytes, |at| self.get(at), || self.session.engine.go_on())
    }
}

/// Returns the model of each algorithm. The model is empty for algorithms that learn nothing.
pub fn learn(
    session: &Session<'_>,
    saved: &SavedState<'_>,
    view: &View<'_>,
    corpus: &Corpus<'_>,
    copies: Option<&Classes>,
) -> Result<Vec<Vec<u64>>> {
    let recipe = &session.options.recipe;
    let mut models = vec![Vec::new(); recipe.algorithms.len()];
    let mut learners = Vec::new();
    for (at, learner) in recipe.learners(corpus)? {
        match saved.restore::<Vec<u64>>(|keys| &keys.algorithms[at].model)? {
            Some(model) => models[at] = model,
            None => learners.push((at, learner)),
        }
    }
    if learners.is_empty() {
        return Ok(models);
    }
    let pages = take_notes(session, &view.with_copies(copies), &learners, copies)?;
    for ((at, learner), pages) in learners.iter().zip(&pages) {
        let running = session.engine.clock.stage(format!("learn {}", recipe.algorithms[*at].label));
        let model = learner.learn(&pages.notes())?;
        running.end(pages.len() as u64, model.len() as u64, 0);
        models[*at] = saved.offer(saved.due(), |keys| &keys.algorithms[*at].model, model)?;
    }
    Ok(models)
}

/// Collects the notes of all learners in one pass.
fn take_notes<'p>(
    session: &'p Session<'p>,
    view: &View<'_>,
    learners: &[(usize, Box<dyn Learner + '_>)],
    copies: Option<&Classes>,
) -> Result<Vec<Pages<'p>>> {
    let running = session.engine.clock.stage("collect training data");
    let pads = learners.iter().map(|(at, _)| Pad::new(session, &session.options.recipe.algorithms[*at].label));
    let pads = pads.collect::<Result<Vec<Pad>>>()?;
    each_note(
        session,
        view,
        (learners, copies),
        || pads.iter().map(|pad| pad.order.writer()).collect(),
        |writers: &mut Vec<Writer<'_>>, place, key, note, times| {
            pads[place].push(&mut writers[place], key, note, times)
        },
        |writers| writers.into_iter().try_for_each(|mut writer| writer.flush()),
    )?;
    let pages = pads.into_iter().map(|pad| in_order(session, pad)).collect::<Result<Vec<_>>>()?;
    let bytes = pages.iter().map(|pages| pages.numbers.bytes().len() as u64).sum();
    running.end(session.documents(), pages.iter().map(|pages| pages.len() as u64).sum(), bytes);
    Ok(pages)
}

/// The learners with their positions in the recipe.
type Learners<'l, 'c> = &'l [(usize, Box<dyn Learner + 'c>)];

/// Passes every non-empty note to `each`, together with the position of the learner, the row that orders the note, and the number of times
/// that the note counts.
pub fn each_note<S>(
    session: &Session<'_>,
    view: &View<'_>,
    (learners, copies): (Learners<'_, '_>, Option<&Classes>),
    init: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, usize, [u8; learn::ROW], &[u64], u64) -> Result<()> + Sync,
    end: impl Fn(S) -> Result<()> + Sync,
) -> Result<()> {
    let read = session.read(
        "collect training data",
        &view.want(),
        || Ok((init(), Vec::new(), 0u64)),
        |(state, note, segmented), batch| {
            let columns = view.columns(batch)?;
            for row in 0..batch.len() {
                let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
                if copies.is_some_and(|copies| copies.is_extra_copy(doc)) {
                    continue;
                }
                let _long = session.engine.long_document(View::bytes(text, &columns, row))?;
                let document = view.document(doc, text, &columns, row);
                for (place, (_, learner)) in learners.iter().enumerate() {
                    note.clear();
                    learner.note(&document, note);
                    if !note.is_empty() {
                        each(state, place, learn::row(&document, 0), note, view.times(doc))?;
                    }
                }
                *segmented += document.segmented();
            }
            Ok(())
        },
        |(state, _, segmented)| {
            session.segmented.fetch_add(segmented, Relaxed);
            end(state)
        },
    );
    read.map(drop)
}

impl Pad {
    fn new(session: &Session<'_>, label: &str) -> Result<Pad> {
        let order =
            session.engine.by_hash(&format!("{label}-note-order"), learn::ROW, learn::GROUP, session.documents())?;
        Ok(Pad { numbers: Heap::new(session.engine.dir, &format!("{label}-notes"))?, order })
    }

    /// Writes one note, preceded by its length. `times` is the number of times that the note counts.
    fn push(&self, writer: &mut Writer<'_>, mut row: [u8; learn::ROW], note: &[u64], times: u64) -> Result<()> {
        let length = [note.len() as u64];
        let begin = self.numbers.append_both(bytemuck::cast_slice(&length), bytemuck::cast_slice(note))?;
        learn::put_place(&mut row, begin);
        (0..times).try_for_each(|_| writer.push(&row))
    }
}

/// Learns from notes that other processes collected. `bring` passes on each note, together with the algorithm's position in the recipe, the
/// row that orders the note, and the number of times that the note counts.
pub fn learn_from(
    session: &Session<'_>,
    learners: Learners<'_, '_>,
    bring: impl FnOnce(&mut dyn FnMut(usize, [u8; learn::ROW], &[u64], u64) -> Result<()>) -> Result<()>,
) -> Result<Vec<(usize, Vec<u64>)>> {
    let label = |at: usize| &*session.options.recipe.algorithms[at].label;
    let pads = learners.iter().map(|(at, _)| Pad::new(session, label(*at))).collect::<Result<Vec<Pad>>>()?;
    let mut writers: Vec<Writer<'_>> = pads.iter().map(|pad| pad.order.writer()).collect();
    bring(&mut |at, row, note, times| {
        let place = learners.iter().position(|(place, _)| *place == at);
        place.map_or(Ok(()), |place| pads[place].push(&mut writers[place], row, note, times))
    })?;
    writers.into_iter().try_for_each(|mut writer| writer.flush())?;
    let learn = |((at, learner), pad): (&(usize, Box<dyn Learner + '_>), Pad)| {
        let running = session.engine.clock.stage(format!("learn {}", label(*at)));
        let pages = in_order(session, pad)?;
        let model = learner.learn(&pages.notes())?;
        running.end(pages.len() as u64, model.len() as u64, 0);
        Ok((*at, model))
    };
    learners.iter().zip(pads).map(learn).collect()
}

/// Returns the notes, ordered by the hash of the document's text.
fn in_order<'p>(session: &'p Session<'p>, pad: Pad) -> Result<Pages<'p>> {
    let sorted = pad.order.finish()?;
    let mut begins: Mapped<u64> = Mapped::new(session.engine.dir, "note-begins", sorted.rows() as usize)?;
    let mut at = 0;
    for partition in 0..sorted.partitions() {
        let records = sorted.load(partition, session.engine.budget.a_thread)?;
        for record in 0..records.len() {
            begins[at] = learn::place(records.record(record));
            at += 1;
        }
        sorted.remove(partition)?;
    }
    Ok(Pages { session, numbers: pad.numbers.freeze()?, begins })
}

//! Computes signatures from the words that the counting pass saved. The words are processed in parts, block by block, on all threads.
//!
//! At intervals, the work pauses between two blocks, and the signatures computed since the previous pause are saved as a partial
//! checkpoint. A block is not a range of documents, so each partial checkpoint lists the documents that it covers.

use std::mem::take;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::sign::{SignTallies, Signing, SigningThread};
use crate::engine::checkpoints::{Merge, PartialReader, Recorder as _};
use crate::engine::progress::Unit;
use crate::engine::threads::Engine;
use crate::job::saved::{Partials, SavedState};
use crate::reading::document::View;
use crate::reading::forward::{Forward, ForwardPart, Place, damaged};
use crate::reading::read::in_turns;
use dupsift_algorithms::corpus::{CorpusStats, Words};
use dupsift_core::error::Result;
use dupsift_text::free_pooled_lists;

/// Signs all documents except extra copies. The number of parts that are processed at a time never exceeds the number of threads, because
/// each thread holds the words of one part. If `partials` is given, the work starts where the partial checkpoints of an earlier process
/// end.
pub(crate) fn sign(
    from: &Forward,
    engine: &Engine<'_>,
    view: &View<'_>,
    stats: &CorpusStats,
    signing: &Signing<'_>,
    partials: Option<(&SavedState<'_>, &Partials)>,
) -> Result<SignTallies> {
    let documents = from.parts().iter().map(|part| part.documents).sum();
    let bar = engine.progress.stage("read saved words", documents, Unit::Documents);
    let blocks: usize = from.parts().iter().map(|part| part.blocks.len()).sum();
    let rests = Rests { signing, partials, name: from.name(), blocks, so_far: Mutex::default() };
    let (begin, known) = rests.begin(engine)?;
    bar.add(known);
    let sign = Recalling { from, engine, view, signing, notes: partials.is_some() };
    let most = engine.budget.a_thread * engine.pool.current_num_threads();
    let mut tallies = SignTallies::default();
    let mut first = 0;
    for parts in together(from.parts(), engine.pool.current_num_threads(), most) {
        let many: usize = parts.iter().map(|part| part.blocks.len()).sum();
        let (begin, before) = (begin.saturating_sub(first), first);
        first += many;
        if begin >= many {
            continue;
        }
        let words = words(from, engine, parts, stats)?;
        let blocks: Vec<(&Words<'_>, Place)> =
            words.iter().flat_map(|(at, words)| parts[*at].blocks.iter().map(move |&block| (words, block))).collect();
        let goes_on = || !rests.is_due();
        let work = |from: usize| {
            let each =
                |thread: &mut Thread<'_>, at: usize| sign.block(thread, blocks[at]).map(|documents| bar.add(documents));
            engine.work_while(from..many, &goes_on, || Ok((signing.thread(), Vec::new())), each, Recalling::close)
        };
        let shares = in_turns(begin..many, work, |next, some| rests.rest(before + next, some))?;
        shares.into_iter().for_each(|share| tallies.merge(share.tallies));
    }
    tallies.merge(rests.restored());
    Ok(tallies)
}

/// Returns the words of each of these parts, with the position of the part.
fn words<'w>(
    from: &'w Forward,
    engine: &Engine<'_>,
    parts: &[ForwardPart],
    stats: &'w CorpusStats,
) -> Result<Vec<(usize, Words<'w>)>> {
    let words = engine.work(
        parts.len(),
        || Ok(Vec::new()),
        |words, at| {
            words.push((at, from.words(&parts[at], stats)?));
            Ok(())
        },
        Ok,
    )?;
    let mut words: Vec<(usize, Words<'w>)> = words.into_iter().flatten().collect();
    words.sort_unstable_by_key(|(at, _)| *at);
    Ok(words)
}

/// Holds a thread's signing state and, if they are recorded, the documents that the thread has signed.
type Thread<'s> = (SigningThread<'s>, Vec<Range<u64>>);

/// Signs the documents of a block.
struct Recalling<'r> {
    from: &'r Forward,
    engine: &'r Engine<'r>,
    view: &'r View<'r>,
    signing: &'r Signing<'r>,
    notes: bool,
}

impl Recalling<'_> {
    /// Signs the documents of a block, and returns their number.
    fn block(&self, (thread, signed): &mut Thread<'_>, (words, block): (&Words<'_>, Place)) -> Result<u64> {
        let mut records = self.from.records(block);
        let mut documents = 0;
        while !records.is_empty() {
            self.engine.go_on()?;
            let text_bytes = records.text_bytes().ok_or_else(damaged)?;
            let _long = self.engine.long_document(text_bytes.try_into().unwrap_or(usize::MAX))?;
            let record = records.next(words).ok_or_else(damaged)?;
            documents += 1;
            if self.notes {
                note(signed, record.doc);
            }
            if !self.signing.leaves_out(record.doc) {
                let document = self.view.read_back(record.doc, record.words);
                self.signing.sign(thread, record.doc, &document, record.text_bytes)?;
            }
        }
        Ok(documents)
    }

    fn close((thread, documents): Thread<'_>) -> Result<Signed> {
        free_pooled_lists();
        Ok(Signed { tallies: Signing::close(thread)?, documents })
    }
}

/// Adds a document to a list of ranges of consecutive documents.
fn note(runs: &mut Vec<Range<u64>>, doc: u64) {
    match runs.last_mut() {
        Some(run) if run.end == doc => run.end += 1,
        _ => runs.push(doc..doc + 1),
    }
}

/// Holds the signatures of one thread.
#[derive(Clone, Deserialize, Serialize)]
struct Signed {
    tallies: SignTallies,
    documents: Vec<Range<u64>>,
}

/// Saves partial checkpoints when signing pauses.
struct Rests<'r> {
    signing: &'r Signing<'r>,
    partials: Option<(&'r SavedState<'r>, &'r Partials)>,
    name: u64,
    blocks: usize,
    so_far: Mutex<SoFar>,
}

/// Holds the progress of the signing.
#[derive(Default)]
struct SoFar {
    /// The number of the next partial checkpoint.
    partial: u64,
    /// The first block that earlier processes did not save.
    block: usize,
    /// The signatures computed since the last partial checkpoint.
    signed: Vec<Signed>,
    /// The results of earlier processes.
    restored: SignTallies,
    /// The number of documents that earlier processes signed.
    documents: u64,
    /// Whether the disk had no room for a partial checkpoint.
    is_full: bool,
}

impl Rests<'_> {
    fn so_far(&self) -> MutexGuard<'_, SoFar> {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Restores the saved state. Returns the first block to read, and the number of documents that precede this block.
    fn begin(&self, engine: &Engine<'_>) -> Result<(usize, u64)> {
        let mut so_far = self.so_far();
        if let Some((saved, partials)) = self.partials {
            while saved.restore_partial(partials, so_far.partial, |from| self.restore(engine, from, &mut so_far))? {}
            saved.forget_partials(partials, so_far.partial)?;
        }
        Ok((so_far.block, so_far.documents))
    }

    /// Restores a partial checkpoint if it was computed from the same recording of words.
    fn restore(&self, engine: &Engine<'_>, from: &mut PartialReader<'_>, so_far: &mut SoFar) -> Result<bool> {
        let (name, block): (u64, usize) = from.plain()?;
        if name != self.name {
            return Ok(false);
        }
        let signed: Vec<Signed> = from.plain()?;
        self.signing.restore_partial(engine, &documents(&signed), from)?;
        so_far.documents += documents(&signed).iter().map(|run| run.end - run.start).sum::<u64>();
        signed.into_iter().for_each(|signed| so_far.restored.merge(signed.tallies));
        (so_far.partial, so_far.block) = (so_far.partial + 1, block);
        Ok(true)
    }

    fn is_due(&self) -> bool {
        self.partials.is_some_and(|(saved, _)| saved.due()) && !self.so_far().is_full
    }

    /// Records that all blocks before `end` were signed. `some` holds the most recent signatures. Saves a partial checkpoint if one is due.
    fn rest(&self, end: usize, some: &[Signed]) -> Result<()> {
        let Some((saved, partials)) = self.partials else { return Ok(()) };
        let is_due = self.is_due() && end < self.blocks;
        let mut so_far = self.so_far();
        so_far.signed.extend_from_slice(some);
        if !is_due {
            return Ok(());
        }
        let signed = take(&mut so_far.signed);
        let fits = saved.save_partial(partials, so_far.partial, |to| {
            to.plain(&(self.name, end))?;
            to.plain(&signed)?;
            self.signing.save_partial(&documents(&signed), to)
        })?;
        (so_far.partial, so_far.is_full) = (so_far.partial + 1, !fits);
        Ok(())
    }

    /// Returns the results of earlier processes.
    fn restored(self) -> SignTallies {
        self.so_far.into_inner().unwrap_or_else(PoisonError::into_inner).restored
    }
}

fn documents(signed: &[Signed]) -> Vec<Range<u64>> {
    signed.iter().flat_map(|signed| signed.documents.iter().cloned()).collect()
}

/// Groups parts so that the words of one group can be held in memory together. `many` limits the number of parts in a group, and `bytes`
/// limits the size of a group. A single part may exceed this size.
fn together(parts: &[ForwardPart], many: usize, bytes: usize) -> Vec<&[ForwardPart]> {
    let mut all = Vec::new();
    let mut rest = parts;
    while !rest.is_empty() {
        let mut held = 0;
        let fits = rest.iter().take(many.max(1)).take_while(|part| {
            held += part.bytes_of_words();
            held <= bytes
        });
        let (now, later) = rest.split_at(fits.count().max(1));
        all.push(now);
        rest = later;
    }
    all
}

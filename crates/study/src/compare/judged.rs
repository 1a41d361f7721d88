//! Judges pairs: reads the documents of the chosen pairs once, then compares the documents of each pair, using all threads.
//!
//! Documents with the same canonical text (or with the same bytes, if the text has no words) count as the same document and are never
//! aligned with each other. The same two texts are usually aligned only once, because a table keeps recently judged pairs. A pair that is
//! no longer in the table is judged again, with the same result.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::found_pairs::FoundList;
use dupsift_algorithms::judge::Judge;
use dupsift_algorithms::measure::Undecided;
use dupsift_core::error::Result;
use dupsift_core::hash::{combine, hash64};
use dupsift_engine::engine::evidence::{Evidence, Taking};
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::session::Session;
use dupsift_input::{RowFilter, Want};
use dupsift_spill::shuffle::{AtomicBits, AtomicCells};
use dupsift_tables::Cell;

/// The number of pairs that a thread judges at a time.
const PIECE: usize = 256;
/// The maximum number of pairs in the table of recently judged pairs, a temporary file with 8 bytes per pair.
const MOST_KNOWN: usize = 1 << 22;

/// Holds the texts of documents in the form that a judge compares.
pub(crate) struct Texts {
    evidence: Evidence,
    /// The number of documents read.
    pub read: u64,
}

/// Holds one text.
pub(crate) struct Text<'t>(std::borrow::Cow<'t, [u64]>);

impl Text<'_> {
    /// Returns the input for the judge; empty for a text without words.
    pub(crate) fn evidence(&self) -> &[u64] {
        self.0.get(1..).unwrap_or_default()
    }

    /// Returns whether the text was read and contains more than white space.
    pub(crate) fn is_visible(&self) -> bool {
        !self.0.is_empty()
    }

    /// Returns whether two texts are equal, and thus duplicates according to any judge. Canonical texts are compared, or bytes if the texts
    /// have no words.
    pub(crate) fn is_same(&self, other: &Text<'_>) -> bool {
        self.is_visible() && self.0 == other.0
    }

    fn hash(&self) -> u64 {
        self.0.first().copied().unwrap_or_default()
    }
}

impl Texts {
    /// Reads the documents whose bits are set in `met`.
    ///
    /// # Errors
    /// Returns an error if a file is damaged. The caller then skips the file and starts over.
    pub(crate) fn read(session: &Session<'_>, judge: &Judge, met: &Arc<AtomicBits>) -> Result<Texts> {
        let running = session.engine.clock.stage("read sampled documents");
        let taking = Taking::new(session.engine.dir, "judged", met)?;
        let filter = met.clone();
        let filter = RowFilter::Where(Arc::new(move |doc| filter.get(doc as usize)));
        let want = Want { rows: Some(filter), batch_bytes: session.engine.budget.batch, ..Want::default() };
        let counts = session.read(
            "read sampled documents",
            &want,
            || Ok((Vec::new(), 0u64)),
            |(numbers, count), batch| {
                for row in 0..batch.len() {
                    let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
                    *count += 1;
                    let _long = session.engine.long_document(text.len())?;
                    taking.take(doc, numbers, |numbers| {
                        let at = numbers.len();
                        numbers.push(0);
                        judge.evidence(&session.pipeline.analyse(text), numbers);
                        let evidence = &numbers[at + 1..];
                        match (evidence.is_empty(), text.trim_start().is_empty()) {
                            (false, _) => numbers[at] = hash64(bytemuck::cast_slice(evidence)),
                            (true, false) => numbers[at] = hash64(text.as_bytes()),
                            (true, true) => numbers.truncate(at),
                        }
                    })?;
                }
                Ok(())
            },
            |(_, count)| Ok(count),
        )?;
        let (evidence, read) = (taking.end()?, counts.iter().sum());
        running.end(read, read, evidence.bytes());
        Ok(Texts { evidence, read })
    }

    /// Returns the text of a document; empty if it was not read.
    pub(crate) fn of(&self, doc: u64) -> Text<'_> {
        Text(self.evidence.of(doc))
    }
}

/// Holds the verdict on each pair in a list.
pub(crate) struct Verdicts {
    /// The verdict on each pair: [`OPEN`], [`NO`], or the bits of the similarity.
    cells: AtomicCells<u32>,
    /// The number of pairs that were judged by words because a text was too long.
    pub by_words: u64,
    /// The number of pairs whose texts were too long to be judged. The documents of these pairs do not count as duplicates.
    pub undecided: u64,
}

/// The verdict on a pair that has not been judged yet.
const OPEN: u32 = 0;
/// The verdict on a pair whose documents are not duplicates. As a similarity, this value would be 1e-45, which is too low for any two
/// texts that fit in memory.
const NO: u32 = 1;
/// The verdict on a pair that is too expensive to judge.
const UNDECIDED: u32 = 2;

impl Verdicts {
    /// Returns the similarity of the pair at this position; `None` if its documents are not duplicates.
    pub(crate) fn of(&self, at: usize) -> Option<f32> {
        let cell = self.cells.load(at);
        (cell > UNDECIDED).then(|| f32::from_bits(cell))
    }
}

/// Judges all pairs in a list.
pub(crate) fn judge(engine: &Engine<'_>, judge: &Judge, texts: &Texts, pairs: &FoundList) -> Result<Verdicts> {
    let running = engine.clock.stage("judge");
    let slots = pairs.len().next_power_of_two().min(MOST_KNOWN);
    let judging = Judging {
        judge,
        texts,
        pairs,
        cells: AtomicCells::new(engine.dir, "verdicts", pairs.len())?,
        known: AtomicCells::new(engine.dir, "known", slots)?,
        by_words: AtomicU64::new(0),
    };
    let bar = engine.bar("judge", pairs.len().div_ceil(PIECE));
    engine.work(
        pairs.len().div_ceil(PIECE),
        || Ok(()),
        |(), piece| {
            for at in piece * PIECE..pairs.len().min((piece + 1) * PIECE) {
                engine.go_on()?;
                judging.judge(at);
            }
            bar.add(1);
            Ok(())
        },
        |()| Ok(()),
    )?;
    let verdicts = Verdicts { cells: judging.cells, by_words: judging.by_words.into_inner(), undecided: 0 };
    let undecided = (0..pairs.len()).filter(|&at| verdicts.cells.load(at) == UNDECIDED).count() as u64;
    let verdicts = Verdicts { undecided, ..verdicts };
    let duplicates = (0..pairs.len()).filter(|&at| verdicts.of(at).is_some()).count();
    running.end(pairs.len() as u64, duplicates as u64, 0);
    Ok(verdicts)
}

struct Judging<'j> {
    judge: &'j Judge,
    texts: &'j Texts,
    pairs: &'j FoundList,
    cells: AtomicCells<u32>,
    /// `known[slot]` is the position of a judged pair, plus one; the slot is computed from the hashes of the two texts.
    known: AtomicCells<u64>,
    by_words: AtomicU64,
}

impl Judging<'_> {
    fn judge(&self, at: usize) {
        let (a, b) = self.texts_of(at);
        if self.judge.by_words(a.evidence(), b.evidence()) {
            self.by_words.fetch_add(1, Relaxed);
        }
        self.cells.store(at, self.verdict(at, &a, &b));
    }

    fn verdict(&self, at: usize, a: &Text<'_>, b: &Text<'_>) -> u32 {
        if a.is_same(b) {
            return 1f32.to_bits();
        }
        if !self.judge.may(a.evidence(), b.evidence()) {
            return NO;
        }
        let (low, high) = (a.hash().min(b.hash()), a.hash().max(b.hash()));
        let slot = combine(low, high) as usize & (self.known.len() - 1);
        if let Some(before) = self.known.load(slot).checked_sub(1) {
            // If another thread judged that pair, its verdict may not be visible to this thread yet.
            let verdict = self.cells.load(before as usize);
            let (x, y) = self.texts_of(before as usize);
            if verdict != OPEN && (a.0 == x.0 && b.0 == y.0 || a.0 == y.0 && b.0 == x.0) {
                return verdict;
            }
        }
        let verdict = match self.judge.judge(a.evidence(), b.evidence()) {
            Ok(similarity) => similarity.map_or(NO, f32::to_bits),
            Err(Undecided) => UNDECIDED,
        };
        self.cells.store(at, verdict);
        self.known.store(slot, at as u64 + 1);
        verdict
    }

    fn texts_of(&self, at: usize) -> (Text<'_>, Text<'_>) {
        let pair = self.pairs.get(at);
        (self.texts.of(pair.a), self.texts.of(pair.b))
    }
}

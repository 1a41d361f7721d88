//! Counts words and features over all documents in the first pass, and keeps data for computing signatures later.

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::{Deserialize, Serialize};

use crate::engine::checkpoints::{Merge, Recorder};
use crate::engine::evidence;
use crate::engine::threads::Engine;
use crate::reading::cuts::{Cuts, CutsWriter};
use crate::reading::forward::{Forward, ForwardThread, ForwardWriter};
use crate::session::Session;
use dupsift_algorithms::algorithm::{FeatureKind, Stats};
use dupsift_algorithms::corpus::{COUNT_GROUP, COUNT_WIDTH, CorpusStats, Counts, TermTable, TermTableParts};
use dupsift_algorithms::corpus::{encode_count, snapshot};
use dupsift_algorithms::steps::count::{LEAST_FEATURES, LEAST_WORDS, WordCounts, sum};
use dupsift_core::error::Result;
use dupsift_core::hash::hash64;
use dupsift_spill::shuffle::{Order, Shuffle, Sorted, Spec, Writer};
use dupsift_text::Analysis;

/// Holds the results of the first pass.
pub struct Counted {
    /// The statistics.
    pub stats: CorpusStats,
    /// The word boundaries of Chinese text.
    pub cuts: Option<Cuts>,
    /// The words of each document, if the second pass can use them instead of the text.
    pub forward: Option<Forward>,
    /// The number of bytes spilled to disk.
    pub spilled_bytes: u64,
}

/// Holds totals over the counted documents.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Totals {
    /// The number of documents that are included in the statistics.
    pub documents: u64,
    /// The number of words in these documents.
    pub tokens: u64,
}

impl Merge for Totals {
    fn merge(&mut self, other: Totals) {
        self.documents += other.documents;
        self.tokens += other.tokens;
    }
}

/// Holds the counting state of all threads.
pub struct Counting<'j> {
    session: &'j Session<'j>,
    stats: Stats,
    kinds: Vec<Box<dyn FeatureKind>>,
    words: Option<Shuffle>,
    features: Option<Shuffle>,
    cuts: Option<CutsWriter>,
    forward: Option<ForwardWriter>,
}

/// Holds the counting state of one thread.
pub struct CountingThread<'w> {
    tally: WordCounts<'w>,
    words: Option<Writer<'w>>,
    features: Option<Writer<'w>>,
    forward: Option<ForwardThread<'w>>,
    scratch: Vec<u8>,
}

impl Recorder for Counting<'_> {
    fn parts(&self) -> Vec<&dyn Recorder> {
        vec![&self.words, &self.features, &self.cuts, &self.forward]
    }
}

impl<'j> Counting<'j> {
    /// Starts counting. `first_lines` specifies whether the saved words include the words of first lines. If `first_lines` is `None`, no
    /// words are saved.
    pub fn new(session: &'j Session<'j>, stats: Stats, first_lines: Option<bool>) -> Result<Counting<'j>> {
        Ok(Counting {
            cuts: CutsWriter::new(session)?,
            forward: first_lines.map(|first_lines| ForwardWriter::new(session.engine, first_lines)).transpose()?,
            ..Counting::of_part(session, stats)?
        })
    }

    /// Returns the state for one thread.
    pub fn thread(&self) -> CountingThread<'_> {
        // If words are saved, the rest of the thread's memory holds their spellings.
        let memory = self.session.engine.budget.a_thread / 4 * if self.forward.is_some() { 3 } else { 4 };
        CountingThread {
            tally: WordCounts::new(self.stats, &self.kinds, memory),
            words: self.words.as_ref().map(Shuffle::writer),
            features: self.features.as_ref().map(Shuffle::writer),
            forward: self.forward.as_ref().map(ForwardWriter::thread),
            scratch: Vec::new(),
        }
    }

    /// Adds a document to the counts.
    pub fn count(&self, thread: &mut CountingThread<'_>, doc: u64, document: &Analysis<'_>) -> Result<()> {
        let CountingThread { tally, words, features, forward, scratch } = thread;
        scratch.clear();
        if let Some(cuts) = &self.cuts {
            cuts.push(doc, document, scratch)?;
        }
        let limit = tally.words.as_ref().map_or(usize::MAX, Counts::limit);
        if document.word_count() > limit && document.counted().len() > limit {
            // The document has more words than fit in the table. The table is drained, and the words of this document bypass it.
            drain(&mut tally.words, words)?;
            tally.add_but_words(document);
            if let Some(writer) = words {
                let rows = document.counted().iter().map(|one| encode_count(one.word.hash, 1, one.tf));
                rows.into_iter().try_for_each(|row| writer.push(&row))?;
            }
            if let Some(forward) = forward {
                forward.drain()?;
                let known = self.cuts.is_some().then(|| CutsWriter::bits(scratch));
                forward.push_alone(doc, document, known)?;
            }
            evidence::let_go(scratch);
            return self.drain_features(tally, features);
        }
        tally.add(document);
        let mut full = false;
        if let (Some(forward), Some(counts)) = (forward.as_mut(), &mut tally.words) {
            let known = self.cuts.is_some().then(|| CutsWriter::bits(scratch));
            forward.push(doc, document, known, counts)?;
            full = forward.is_full();
        }
        if full || tally.words.as_ref().is_some_and(Counts::is_full) {
            drain(&mut tally.words, words)?;
            forward.as_mut().map_or(Ok(()), ForwardThread::drain)?;
        }
        evidence::let_go(scratch);
        self.drain_features(tally, features)
    }

    fn drain_features(&self, tally: &mut WordCounts<'_>, features: &mut Option<Writer<'_>>) -> Result<()> {
        if tally.features.as_ref().is_some_and(Counts::is_full) {
            drain(&mut tally.features, features)?;
        }
        Ok(())
    }

    /// Ends a thread's work.
    pub fn close(mut thread: CountingThread<'_>) -> Result<Totals> {
        drain(&mut thread.tally.words, &mut thread.words)?;
        drain(&mut thread.tally.features, &mut thread.features)?;
        thread.forward.as_mut().map_or(Ok(()), ForwardThread::drain)?;
        for mut writer in [thread.words, thread.features].into_iter().flatten() {
            writer.flush()?;
        }
        Ok(Totals { documents: thread.tally.documents, tokens: thread.tally.tokens })
    }

    /// Starts counting for one part of the corpus. The counts of this part are later added to the counts of other parts. Neither word
    /// boundaries nor words are saved.
    pub fn of_part(session: &'j Session<'j>, stats: Stats) -> Result<Counting<'j>> {
        Ok(Counting {
            session,
            stats,
            kinds: session.options.recipe.features(),
            words: stats.words.then(|| terms(session, "words")).transpose()?,
            features: stats.features.then(|| terms(session, "features")).transpose()?,
            cuts: None,
            forward: None,
        })
    }

    /// Returns the partial counts of words and features for a part.
    pub fn end(self) -> Result<[Option<Sorted>; 2]> {
        let finish = |counts: Option<Shuffle>| counts.map(Shuffle::finish).transpose();
        Ok([finish(self.words)?, finish(self.features)?])
    }

    /// Returns the statistics for counts that have already been summed. No term may appear twice.
    pub fn summed(
        session: &Session<'_>,
        Totals { documents, tokens }: Totals,
        words: TermTable,
        features: TermTable,
    ) -> CorpusStats {
        let identity = hash64(session.pipeline.identity().as_bytes());
        let id = snapshot(identity, documents, tokens, &words, &features);
        CorpusStats::new(documents, tokens, id, words, features)
    }

    /// Returns the statistics.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub fn finish(self, totals: Totals) -> Result<Counted> {
        let (words, words_spilled) = table(self.session.engine, "words", self.words, LEAST_WORDS)?;
        let (features, features_spilled) = table(self.session.engine, "features", self.features, LEAST_FEATURES)?;
        let stats = Counting::summed(self.session, totals, words, features);
        let cuts = self.cuts.map(CutsWriter::finish).transpose()?;
        let forward = self.forward.map(ForwardWriter::finish).transpose()?;
        let spilled_bytes = words_spilled
            + features_spilled
            + cuts.as_ref().map_or(0, Cuts::bytes)
            + forward.as_ref().map_or(0, Forward::bytes);
        Ok(Counted { stats, cuts, forward, spilled_bytes })
    }
}

/// Returns a shuffle for partial counts. The partitions of the shuffle are in term order.
fn terms(session: &Session<'_>, name: &str) -> Result<Shuffle> {
    // One distinct term per 40 bytes of text is by far the highest rate observed.
    let bytes: u64 = session.source.files.iter().map(|file| file.text_bytes).sum();
    let spec = Spec {
        name: name.to_string(),
        width: COUNT_WIDTH,
        group_width: COUNT_GROUP,
        order: Order::Range { below: u64::MAX },
        range_width: COUNT_GROUP,
        partitions: session
            .engine
            .budget
            .partitions(bytes / 40 * COUNT_WIDTH as u64)
            .max(session.engine.pool.current_num_threads()),
    };
    Shuffle::new(spec, session.engine.dir, &session.engine.memory)
}

fn drain(counts: &mut Option<Counts>, writer: &mut Option<Writer<'_>>) -> Result<()> {
    match (counts, writer) {
        (Some(counts), Some(writer)) => counts.drain(|term, df, cf| writer.push(&encode_count(term, df, cf))),
        _ => Ok(()),
    }
}

/// Sums the partial counts to create the term table. Terms that occur in too few documents (fewer than `least`) are excluded.
fn table(engine: &Engine<'_>, name: &str, partial: Option<Shuffle>, least: u64) -> Result<(TermTable, u64)> {
    let Some(partial) = partial else { return Ok((TermTable::empty(), 0)) };
    let partial = partial.finish()?;
    let parts = TermTableParts::create(&engine.dir.join(format!("{name}.terms")))?;
    let keeps = (engine.budget.a_thread / 8).clamp(1 << 20, 64 << 20);
    let go_on = || engine.go_on();
    let each = |(): &mut (), partition: usize| {
        let records = partial.load(partition, engine.budget.a_thread)?;
        let mut part = parts.part(partition, keeps, &go_on);
        for group in records.groups() {
            let rows = &records.bytes()[group.start * COUNT_WIDTH..group.end * COUNT_WIDTH];
            if let Some((term, df, cf)) = sum(rows, least) {
                part.push(term, df, cf)?;
            }
        }
        part.end()?;
        partial.remove(partition)
    };
    engine.work(partial.partitions(), || Ok(()), each, Ok)?;
    let spread = |count: usize, each: &(dyn Fn(usize) + Sync)| {
        engine.pool.install(|| (0..count).into_par_iter().for_each(each));
    };
    Ok((parts.finish(&spread)?, partial.spilled_bytes()))
}

//! Saves and restores data about the corpus: row records, copies, statistics, words, models, the contents of documents that occur in pairs,
//! and the indexed documents that take part in the run.

use std::sync::Arc;

use crate::engine::checkpoints::{Checkpoint, CheckpointReader, CheckpointWriter};
use crate::engine::evidence::Evidence;
use crate::engine::threads::Engine;
use crate::job::pair::classes::Classes;
use crate::job::read::document_columns::DocumentColumns;
use crate::job::read::intake::Taken;
use crate::reading::cuts::Cuts;
use crate::reading::forward::Forward;
use crate::reading::rejected::Rejected;
use dupsift_algorithms::corpus::{CorpusStats, TERM_WIDTH, TermTable, TermTableWriter, decode_term, encode_term};
use dupsift_core::error::Result;
use dupsift_spill::shuffle::Mapped;

/// Holds the counts of the corpus.
pub struct Counts {
    /// The statistics.
    pub stats: CorpusStats,
    /// The word boundaries of Chinese text.
    pub cuts: Option<Cuts>,
}

/// Holds the contents of documents that occur in pairs, with one entry for each pass that recorded contents.
pub struct Said(pub Vec<Evidence>);

impl Checkpoint for Said {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&self.0.len())?;
        self.0.iter().try_for_each(|one| one.save(to))
    }

    fn restore(_: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Said> {
        let count = from.plain()?;
        (0..count).map(|_: usize| Evidence::restore(from)).collect::<Result<_>>().map(Said)
    }
}

impl Checkpoint for Taken {
    fn save(&mut self, engine: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&self.ids_seen)?;
        to.plain(&(self.duplicate_ids, self.used, self.text_bytes, &self.lost))?;
        to.plain(&(self.with_unread_parts, self.without_words))?;
        to.plain(&self.parts)?;
        to.plain(&self.contents)?;
        self.columns.save(to)?;
        self.rejected.save(engine, to)
    }

    fn restore(engine: &Engine<'_>, documents: u64, from: &mut CheckpointReader<'_>) -> Result<Taken> {
        let ids_seen = from.plain()?;
        let (duplicate_ids, used, text_bytes, lost) = from.plain()?;
        let (with_unread_parts, without_words) = from.plain()?;
        let (parts, contents) = (from.plain()?, from.plain()?);
        Ok(Taken {
            ids_seen,
            duplicate_ids,
            lost,
            used,
            text_bytes,
            with_unread_parts,
            without_words,
            parts,
            columns: DocumentColumns::restore(from)?,
            rejected: Rejected::restore(engine, documents, from)?,
            hashes: None,
            spilled_bytes: 0,
            contents,
        })
    }
}

impl Checkpoint for Classes {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        Classes::save(self, to)
    }

    fn restore(_: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Classes> {
        Classes::restore(from)
    }
}

impl Checkpoint for Counts {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&(self.stats.documents(), self.stats.tokens(), self.stats.snapshot()))?;
        for table in [&self.stats.words, &self.stats.features] {
            to.stream(|writer| (0..table.len()).try_for_each(|at| writer.append(&encode_term(table.entry(at)))))?;
        }
        to.optional(self.cuts.as_ref(), Cuts::save)
    }

    fn restore(engine: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Counts> {
        let (documents, tokens, snapshot) = from.plain()?;
        let words = table(engine, "words", from)?;
        let features = table(engine, "features", from)?;
        let stats = CorpusStats::new(documents, tokens, snapshot, words, features);
        Ok(Counts { stats, cuts: from.optional(Cuts::restore)? })
    }
}

fn table(engine: &Engine<'_>, name: &str, from: &mut CheckpointReader<'_>) -> Result<TermTable> {
    let bytes = from.bytes()?;
    if bytes.is_empty() {
        return Ok(TermTable::empty());
    }
    let mut writer = TermTableWriter::create(&engine.dir.join(format!("{name}.terms")))?;
    for row in bytes.chunks_exact(TERM_WIDTH) {
        let (term, df, cf) = decode_term(row);
        writer.push(term, df, cf)?;
    }
    writer.finish()
}

impl Checkpoint for Forward {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        Forward::save(self, to)
    }

    fn restore(_: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Forward> {
        Forward::restore(from)
    }
}

/// Holds the numbers of the indexed documents that take part in the run, in ascending order; `None` if there are none.
pub(crate) struct IndexedNumbers(pub Option<Arc<Mapped<u64>>>);

impl Checkpoint for IndexedNumbers {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.optional(self.0.as_ref(), |numbers, to| to.array(numbers))
    }

    fn restore(_: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<IndexedNumbers> {
        from.optional(|from| Ok(Arc::new(from.array()?))).map(IndexedNumbers)
    }
}

/// Saves and restores the learned model of an algorithm.
impl Checkpoint for Vec<u64> {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.bytes(bytemuck::cast_slice(self))
    }

    fn restore(_: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Vec<u64>> {
        Ok(bytemuck::allocation::pod_collect_to_vec(&from.bytes()?))
    }
}

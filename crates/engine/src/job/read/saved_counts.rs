//! Saves and restores the counts of the corpus: its statistics and the word boundaries of Chinese text.

use crate::engine::checkpoints::{Checkpoint, CheckpointReader, CheckpointWriter};
use crate::engine::threads::Engine;
use crate::reading::cuts::Cuts;
use dupsift_algorithms::corpus::{CorpusStats, TERM_WIDTH, TermTable, TermTableWriter, decode_term, encode_term};
use dupsift_core::error::Result;

/// Holds the counts of the corpus.
pub struct SavedCounts {
    /// The statistics.
    pub stats: CorpusStats,
    /// The word boundaries of Chinese text.
    pub cuts: Option<Cuts>,
}

impl Checkpoint for SavedCounts {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&(self.stats.documents(), self.stats.tokens(), self.stats.snapshot()))?;
        for table in [&self.stats.words, &self.stats.features] {
            to.stream(|writer| (0..table.len()).try_for_each(|at| writer.append(&encode_term(table.entry(at)))))?;
        }
        to.optional(self.cuts.as_ref(), Cuts::save)
    }

    fn restore(engine: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<SavedCounts> {
        let (documents, tokens, snapshot) = from.plain()?;
        let words = table(engine, "words", from)?;
        let features = table(engine, "features", from)?;
        let stats = CorpusStats::new(documents, tokens, snapshot, words, features);
        Ok(SavedCounts { stats, cuts: from.optional(Cuts::restore)? })
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

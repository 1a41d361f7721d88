//! Saves and restores data about the corpus: row records, copies, statistics, words, models, contents of documents in pairs, and
//! participating indexed documents.

use std::sync::Arc;

use crate::engine::checkpoints::{Checkpoint, CheckpointReader, CheckpointWriter};
use crate::engine::evidence::Evidence;
use crate::engine::threads::Engine;
use crate::job::pair::classes::Classes;
use crate::job::read::headings::Headings;
use crate::job::read::intake::Taken;
use crate::job::read::keep::KeepOrder;
use crate::reading::cuts::Cuts;
use crate::reading::forward::Forward;
use crate::reading::rejected::Rejected;
use crate::reading::scopes::Noted;
use crate::reading::source_values::SourceValues;
use dupsift_algorithms::corpus::{CorpusStats, TermTable, TermTableWriter};
use dupsift_core::error::Result;
use dupsift_core::row::number;
use dupsift_spill::shuffle::Mapped;

/// The number of bytes in a term with its counts.
const TERM: usize = 24;

/// Holds the counts of the corpus.
pub struct Counts {
    /// The statistics.
    pub stats: CorpusStats,
    /// The word boundaries of Chinese text.
    pub cuts: Option<Cuts>,
}

/// Holds the contents of documents in pairs, with one entry for each pass that recorded contents.
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
        to.plain(&self.parts)?;
        to.plain(&self.contents)?;
        to.cells(&self.shapes)?;
        self.keep.save(to)?;
        to.plain(&self.scopes.is_some())?;
        self.scopes.as_ref().map_or(Ok(()), |Noted(scopes)| to.cells(scopes))?;
        to.plain(&self.sources.is_some())?;
        self.sources.as_ref().map_or(Ok(()), |sources| sources.save(to))?;
        self.rejected.save(engine, to)?;
        to.plain(&self.headings.is_some())?;
        self.headings.as_ref().map_or(Ok(()), |headings| headings.save(to))
    }

    fn restore(engine: &Engine<'_>, documents: u64, from: &mut CheckpointReader<'_>) -> Result<Taken> {
        let ids_seen = from.plain()?;
        let (duplicate_ids, used, text_bytes, lost) = from.plain()?;
        let (parts, contents, shapes) = (from.plain()?, from.plain()?, from.cells()?);
        Ok(Taken {
            ids_seen,
            duplicate_ids,
            lost,
            used,
            text_bytes,
            parts,
            shapes,
            keep: KeepOrder::restore(from)?,
            scopes: if from.plain()? { Some(Noted(Arc::new(from.cells()?))) } else { None },
            sources: if from.plain()? { Some(SourceValues::restore(from)?) } else { None },
            rejected: Rejected::restore(engine, documents, from)?,
            headings: if from.plain()? { Some(Headings::restore(from)?) } else { None },
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
            to.stream(|writer| {
                (0..table.len()).try_for_each(|at| {
                    let (term, df, cf) = table.entry(at);
                    let mut bytes = [0; TERM];
                    bytes[..8].copy_from_slice(&term.to_be_bytes());
                    bytes[8..16].copy_from_slice(&df.to_be_bytes());
                    bytes[16..].copy_from_slice(&cf.to_be_bytes());
                    writer.append(&bytes)
                })
            })?;
        }
        to.plain(&self.cuts.is_some())?;
        self.cuts.as_ref().map_or(Ok(()), |cuts| cuts.save(to))
    }

    fn restore(engine: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Counts> {
        let (documents, tokens, snapshot) = from.plain()?;
        let words = table(engine, "words", from)?;
        let features = table(engine, "features", from)?;
        let cuts = if from.plain()? { Some(Cuts::restore(from)?) } else { None };
        Ok(Counts { stats: CorpusStats::new(documents, tokens, snapshot, words, features), cuts })
    }
}

fn table(engine: &Engine<'_>, name: &str, from: &mut CheckpointReader<'_>) -> Result<TermTable> {
    let bytes = from.bytes()?;
    if bytes.is_empty() {
        return Ok(TermTable::empty());
    }
    let mut writer = TermTableWriter::create(&engine.dir.join(format!("{name}.terms")))?;
    for term in bytes.chunks_exact(TERM) {
        writer.push(number(&term[..8]), number(&term[8..16]), number(&term[16..]))?;
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

/// Holds the numbers of participating indexed documents, in ascending order; `None` if no indexed documents take part.
pub struct IndexedNumbers(pub Option<Arc<Mapped<u64>>>);

impl Checkpoint for IndexedNumbers {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&self.0.is_some())?;
        self.0.as_ref().map_or(Ok(()), |numbers| to.array(numbers))
    }

    fn restore(_: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<IndexedNumbers> {
        Ok(IndexedNumbers(if from.plain()? { Some(Arc::new(from.array()?)) } else { None }))
    }
}

/// Saves a model.
impl Checkpoint for Vec<u64> {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.bytes(bytemuck::cast_slice(self))
    }

    fn restore(_: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Vec<u64>> {
        Ok(bytemuck::allocation::pod_collect_to_vec(&from.bytes()?))
    }
}

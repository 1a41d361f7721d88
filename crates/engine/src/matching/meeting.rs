//! Records the keys by which documents are matched with indexed documents. A key is the group of a row (or of a second-round row, if the
//! algorithm emits such rows), together with the document's number in the index. The keys of a batch are first matched with the index and
//! then stored in the index.

use std::ops::Range;
use std::sync::Arc;

use crate::engine::checkpoints::{
    Checkpoint, CheckpointReader, CheckpointWriter, PartialReader, PartialWriter, Recorder,
};
use crate::engine::sketches::SketchFile;
use crate::engine::threads::Engine;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_algorithms::steps::copies;
use dupsift_core::doc::IndexDoc;
use dupsift_core::error::Result;
use dupsift_core::row::{Row, RowLayout, RowShape, Signatures, doc_width};
use dupsift_input::Source;
use dupsift_spill::shuffle::{Mapped, Shuffle, Sorted, Writer};
use dupsift_text::Analysis;

/// Describes how documents are numbered in an index.
#[derive(Clone, Copy, Debug)]
pub struct Numbered {
    /// The number of the first document of the corpus in this run.
    pub base: u64,
    /// The index number of the first document of the corpus.
    pub next_doc: IndexDoc,
    /// The number of documents for which the row layout is planned.
    pub documents_planned: u64,
}

impl Numbered {
    /// Returns the maximum number of documents that the row layout supports.
    pub fn capacity(self) -> u64 {
        if self.documents_planned <= 1 << 32 { 1 << 32 } else { u64::MAX }
    }

    /// Returns the index number of a document in the corpus.
    pub fn number(self, doc: u64) -> IndexDoc {
        IndexDoc(doc - self.base + self.next_doc.0)
    }

    /// Returns the number that a document of the corpus has in this run.
    pub fn doc(self, number: IndexDoc) -> u64 {
        number.0 - self.next_doc.0 + self.base
    }

    /// Returns the row layout of exact copies, whose key is a hash of everything that algorithms read.
    pub fn copies(self) -> RowLayout {
        RowLayout::new(RowShape { key_bits: 128, ..RowShape::KEY64 }, self.capacity())
    }

    /// Returns the row layout of an algorithm.
    pub fn rows(self, bound: &Bound<'_>) -> RowLayout {
        let shape = bound.scheme.probe_shape().unwrap_or(bound.scheme.shape);
        RowLayout::new(RowShape { ordered: bound.scheme.nearest, sketch: 0, ..shape }, self.capacity())
    }

    /// Returns the offset of the document number in a row of `width` bytes. The number is at the end of the row, both for algorithms and
    /// for copies.
    pub fn doc_at(self, width: usize) -> usize {
        width - doc_width(self.capacity())
    }
}

/// Matches a corpus with documents in an index during the first pass.
pub trait Meeting: Sync {
    /// Returns how documents are numbered in the index.
    fn numbered(&self) -> Numbered;

    /// Returns the indexed documents that share a key with the corpus, or `None` if no document matches. In this run, these documents are
    /// numbered before the documents of the corpus. `keys` holds the keys of each algorithm, and `copies` holds the keys of exact copies.
    ///
    /// # Errors
    /// Returns an error if the stored data is damaged or the disk is full.
    fn meet(
        &self,
        engine: &Engine<'_>,
        bound: &[Bound<'_>],
        keys: &[Option<RecordedKeys>],
        copies: Option<&RecordedKeys>,
    ) -> Result<Option<&Source>>;

    /// Returns the index numbers of the documents that [`Meeting::meet`] returned, in ascending order, or `None` if there were none.
    fn met(&self) -> Option<Arc<Mapped<u64>>>;

    /// Uses the documents in `numbers`, which an earlier process found, instead of the documents that [`Meeting::meet`] would return.
    ///
    /// # Errors
    /// Returns an error if the stored data is damaged or the disk is full.
    fn meet_again(&self, engine: &Engine<'_>, numbers: Arc<Mapped<u64>>) -> Result<()>;

    /// Checks that a matched document still has the text that was matched.
    ///
    /// # Errors
    /// Returns an error if the text is different.
    fn check(&self, doc: u64, document: &Analysis<'_>) -> Result<()>;
}

/// Records the keys of one algorithm, or of exact copies.
pub(crate) struct MeetingKeys {
    numbered: Numbered,
    layout: RowLayout,
    rows: Shuffle,
    sketches: Option<SketchFile>,
}

impl Recorder for MeetingKeys {
    fn save_partial(&self, docs: &[Range<u64>], to: &mut PartialWriter<'_>) -> Result<()> {
        self.rows.save_partial(docs, to)?;
        self.sketches.save_partial(&self.positions(docs), to)
    }

    fn restore_partial(&self, engine: &Engine<'_>, docs: &[Range<u64>], from: &mut PartialReader<'_>) -> Result<()> {
        self.rows.restore_partial(engine, docs, from)?;
        self.sketches.restore_partial(engine, &self.positions(docs), from)
    }
}

/// Holds the recorded keys.
pub struct RecordedKeys {
    /// The rows, each of which holds a group and the index number of a document.
    pub rows: Sorted,
    /// The sketch that the index stores for each document, by position in the corpus, if the algorithm uses sketches to judge pairs.
    pub sketches: Option<SketchFile>,
}

impl MeetingKeys {
    /// Returns the positions of these documents in the corpus. Sketches are stored by these positions.
    fn positions(&self, docs: &[Range<u64>]) -> Vec<Range<u64>> {
        docs.iter().map(|docs| docs.start - self.numbered.base..docs.end - self.numbered.base).collect()
    }

    /// Starts recording for an algorithm that signs approximately this number of documents.
    pub(crate) fn of(
        engine: &Engine<'_>,
        numbered: Numbered,
        bound: &Bound<'_>,
        documents: u64,
    ) -> Result<MeetingKeys> {
        let layout = numbered.rows(bound);
        let rows = documents * u64::from(layout.shape().positions);
        let name = format!("{}-keys", bound.label);
        let rows = engine.shuffle(&name, layout.width(), layout.group_width(), rows)?;
        let words = bound.scheme.index_words;
        let sketches = (words > 0).then(|| SketchFile::new(engine.dir, &name, documents, words));
        Ok(MeetingKeys { numbered, layout, rows, sketches: sketches.transpose()? })
    }

    /// Starts recording for exact copies.
    pub(crate) fn of_copies(engine: &Engine<'_>, numbered: Numbered, documents: u64) -> Result<MeetingKeys> {
        let layout = numbered.copies();
        let rows = engine.shuffle("copy-keys", layout.width(), layout.group_width(), documents)?;
        Ok(MeetingKeys { numbered, layout, rows, sketches: None })
    }

    /// Returns a writer for one thread.
    pub(crate) fn writer(&self) -> Writer<'_> {
        self.rows.writer()
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub(crate) fn finish(self) -> Result<RecordedKeys> {
        Ok(RecordedKeys { rows: self.rows.finish()?, sketches: self.sketches })
    }

    /// Records the keys of a document.
    pub(crate) fn push(
        &self,
        bound: &Bound<'_>,
        out: &Signatures,
        doc: u64,
        (probes, record, words): (&mut Signatures, &mut Vec<u8>, &mut Vec<u64>),
        writer: &mut Writer<'_>,
    ) -> Result<()> {
        let number = self.numbered.number(doc).0;
        if let Some(sketches) = &self.sketches {
            words.clear();
            bound.signer.index_sketch(out, words);
            sketches.put(doc - self.numbered.base, words);
        }
        let mut push = |row: Row<'_>| {
            record.clear();
            self.layout.encode(&Row { sketch: &[], ..row }, record);
            writer.push(record)
        };
        if bound.scheme.probe_shape().is_none() {
            return out.rows(number).try_for_each(push);
        }
        for row in out.rows(number) {
            probes.clear();
            bound.signer.probes(&row, probes);
            probes.rows(number).try_for_each(&mut push)?;
        }
        Ok(())
    }

    /// Records the hash of a document if the document can have copies.
    pub(crate) fn push_copy(
        &self,
        doc: u64,
        document: &Analysis<'_>,
        record: &mut Vec<u8>,
        writer: &mut Writer<'_>,
    ) -> Result<()> {
        if copies::row(doc, document).is_none() {
            return Ok(());
        }
        let row =
            Row { position: 0, key: document.copy_hash(), order: 0, doc: self.numbered.number(doc).0, sketch: &[] };
        record.clear();
        self.layout.encode(&row, record);
        writer.push(record)
    }
}

impl Checkpoint for RecordedKeys {
    fn save(&mut self, engine: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.optional(self.sketches.as_ref(), SketchFile::save)?;
        to.rows(engine, &mut self.rows)
    }

    fn restore(engine: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<RecordedKeys> {
        Ok(RecordedKeys { sketches: from.optional(SketchFile::restore)?, rows: from.rows(engine)? })
    }
}

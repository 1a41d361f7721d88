//! By what documents meet those of an index: the groups of their rows, or of the rows of the second round where a method sends some, each
//! with the number that the document gets in the index. It is both what a night is matched by and what the index keeps of it.

use crate::engine::sketches::SketchFile;
use crate::engine::threads::Engine;
use dupsift_algorithms::stage::bound::Bound;
use dupsift_algorithms::stage::copies;
use dupsift_core::doc::IndexDoc;
use dupsift_core::error::Result;
use dupsift_core::row::{Row, RowLayout, RowShape, Signatures, doc_width};
use dupsift_files::io::Source;
use dupsift_spill::shuffle::{Shuffle, Sorted, Writer};
use dupsift_text::Analysis;

/// How documents are numbered in an index.
#[derive(Clone, Copy, Debug)]
pub struct Numbered {
    /// The number of the first document of the corpus, here.
    pub base: u64,
    /// The same in the index.
    pub next_doc: IndexDoc,
    /// What its rows have room for.
    pub documents_planned: u64,
}

impl Numbered {
    /// How many documents rows have room for.
    pub fn room(self) -> u64 {
        if self.documents_planned <= 1 << 32 { 1 << 32 } else { u64::MAX }
    }

    /// The number in the index of a document of the corpus.
    pub fn number(self, doc: u64) -> IndexDoc {
        IndexDoc(doc - self.base + self.next_doc.0)
    }

    /// The number here of a document of the corpus.
    pub fn doc(self, number: IndexDoc) -> u64 {
        number.0 - self.next_doc.0 + self.base
    }

    /// The rows of exact copies: the hash of all that algorithms read is the key.
    pub fn copies(self) -> RowLayout {
        RowLayout::new(RowShape { key_bits: 128, ..RowShape::KEY64 }, self.room())
    }

    /// The rows of an algorithm.
    pub fn rows(self, bound: &Bound<'_>) -> RowLayout {
        let shape = bound.scheme.probe_shape().unwrap_or(bound.scheme.shape);
        RowLayout::new(RowShape { ordered: bound.scheme.nearest, sketch: 0, ..shape }, self.room())
    }

    /// Where the number of the document is in a row of so many bytes, of an algorithm or of copies: at the end.
    pub fn doc_at(self, width: usize) -> usize {
        width - doc_width(self.room())
    }
}

/// A corpus that meets documents from elsewhere in its first reading.
pub trait Meeting: Sync {
    /// How its documents are numbered there.
    fn numbered(&self) -> Numbered;

    /// Who has a key of the corpus: a corpus of these documents, whose numbers are before those of this one; none where nothing was
    /// met. Keys are those of each algorithm, and those of exact copies.
    ///
    /// # Errors
    /// What is there is damaged; a full disk.
    fn meet(
        &self,
        engine: &Engine<'_>,
        bound: &[Bound<'_>],
        keys: &[Option<Keys>],
        copies: Option<&Keys>,
    ) -> Result<Option<&Source>>;

    /// Checks that the text of such a document is the one that was met.
    ///
    /// # Errors
    /// It is another one.
    fn check(&self, doc: u64, document: &Analysis<'_>) -> Result<()>;
}

/// The groups of one algorithm, or of exact copies, while they are taken.
pub struct MeetingKeys {
    numbered: Numbered,
    layout: RowLayout,
    rows: Shuffle,
    sketches: Option<SketchFile>,
}

/// The same when all are there.
pub struct Keys {
    /// The groups, each with a number in the index.
    pub rows: Sorted,
    /// What an index keeps of each document, by its place in the corpus, where the method judges by it.
    pub sketches: Option<SketchFile>,
}

impl MeetingKeys {
    /// Of an algorithm that signs about so many documents.
    pub fn of(engine: &Engine<'_>, numbered: Numbered, bound: &Bound<'_>, documents: u64) -> Result<MeetingKeys> {
        let layout = numbered.rows(bound);
        let rows = documents * u64::from(layout.shape().positions);
        let name = format!("{}-keys", bound.label);
        let rows = engine.shuffle(&name, layout.width(), layout.group_width(), rows)?;
        let words = bound.scheme.index_words;
        let sketches = (words > 0).then(|| SketchFile::new(engine.dir, &name, documents, words));
        Ok(MeetingKeys { numbered, layout, rows, sketches: sketches.transpose()? })
    }

    /// Of exact copies.
    pub fn of_copies(engine: &Engine<'_>, numbered: Numbered, documents: u64) -> Result<MeetingKeys> {
        let layout = numbered.copies();
        let rows = engine.shuffle("copy-keys", layout.width(), layout.group_width(), documents)?;
        Ok(MeetingKeys { numbered, layout, rows, sketches: None })
    }

    /// Where a thread writes.
    pub fn writer(&self) -> Writer<'_> {
        self.rows.writer()
    }

    /// All are taken.
    ///
    /// # Errors
    /// A full disk.
    pub fn finish(self) -> Result<Keys> {
        Ok(Keys { rows: self.rows.finish()?, sketches: self.sketches })
    }

    /// Takes those of a document.
    pub fn push(
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

    /// Takes the hash of a document, unless it can have no copies.
    pub fn push_copy(
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

//! Stores the results of the search in temporary files: one row for each span, with the question's tokens that the span contains.

use dupsift_contamination::Item;
use dupsift_core::error::Result;
use dupsift_core::row::number;
use dupsift_engine::pass::Session;
use dupsift_spill::shuffle::{AtomicBits, FrozenHeap, Heap, Shuffle, Sorted, Writer};
use zerocopy::big_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The row that records a span. Rows are grouped by document and item, and sorted by position.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Row {
    doc: U64,
    item: U32,
    /// The position of the first token.
    start: U32,
    /// The offset of the span's other data.
    begin: U64,
    /// The length of the span's other data in bytes.
    length: U32,
}

/// The row that records the wording of a document with spans. Rows are grouped by wording.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct TextRow {
    hash: U64,
    doc: U64,
}

/// Stands for an item without an answer.
const UNKNOWN: u8 = 2;
/// The number of leading bytes in a row that identify the document and the item.
const GROUP: usize = 12;
/// The size in bytes of the numbers and flags at the start of the span's other data.
const NUMBERS: usize = 10;

/// Describes a span that the search found in a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// The position of the first token, and the position after the last token.
    pub tokens: [u32; 2],
    /// The number of n-grams that the question and the span share.
    pub grams: u32,
    /// Whether the span has other numbers than the question.
    pub is_variant: bool,
    /// Whether the item's answer is in the span or near it; `None` if the item has no answer.
    pub answer_found: Option<bool>,
    /// The tokens of the question that the span contains.
    pub covered: Vec<u64>,
    /// The numbers of the question that may be written in words in the span.
    pub unread: Vec<u64>,
}

/// Collects spans from many threads.
pub(crate) struct Finding {
    rows: Shuffle,
    texts: Shuffle,
    rest: Heap,
}

impl Finding {
    /// Returns an empty collection.
    pub(crate) fn new(session: &Session<'_>) -> Result<Finding> {
        let engine = session.engine;
        Ok(Finding {
            rows: engine.ordered(session.documents(), "spans", size_of::<Row>(), GROUP, 8, 0)?,
            texts: engine.shuffle("texts-found", size_of::<TextRow>(), size_of::<U64>(), 0)?,
            rest: Heap::new(engine.dir, "covered")?,
        })
    }

    /// Returns the writers for one thread: for spans, and for texts.
    pub(crate) fn writers(&self) -> [Writer<'_>; 2] {
        [self.rows.writer(), self.texts.writer()]
    }

    /// Adds the wording of a document with spans, by its hash.
    pub(crate) fn push_text(&self, writer: &mut Writer<'_>, doc: u64, hash: u64) -> Result<()> {
        writer.push(TextRow { hash: hash.into(), doc: doc.into() }.as_bytes())
    }

    /// Adds a span.
    pub(crate) fn push(&self, writer: &mut Writer<'_>, doc: u64, span: &dupsift_contamination::Span) -> Result<()> {
        let mut rest = Vec::with_capacity(NUMBERS + 16 * span.covered.len());
        [span.end, span.grams].iter().for_each(|number| rest.extend_from_slice(&number.to_be_bytes()));
        rest.extend([u8::from(span.is_variant), span.answer_found.map_or(UNKNOWN, u8::from)]);
        span.covered.iter().chain(&span.unread).for_each(|word| rest.extend_from_slice(&word.to_be_bytes()));
        let row = Row {
            doc: doc.into(),
            item: span.item.into(),
            start: span.start.into(),
            begin: self.rest.append(&rest)?.into(),
            length: (rest.len() as u32).into(),
        };
        writer.push(row.as_bytes())
    }

    /// Finishes the collection and returns all spans.
    pub(crate) fn finish(self) -> Result<FoundSpans> {
        Ok(FoundSpans { rows: self.rows.finish()?, texts: self.texts.finish()?, rest: self.rest.freeze()? })
    }
}

/// Holds all spans, grouped by document and item.
pub(crate) struct FoundSpans {
    rows: Sorted,
    texts: Sorted,
    rest: FrozenHeap,
}

impl FoundSpans {
    /// Returns the number of spans.
    pub(crate) fn rows(&self) -> u64 {
        self.rows.rows()
    }

    /// Returns the size of the temporary files in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.rows.spilled_bytes() + self.rest.bytes().len() as u64
    }

    /// Returns the documents with spans whose words, except numbers, are those of an earlier document.
    ///
    /// # Errors
    /// Returns an error if the disk is full or the run is interrupted.
    pub(crate) fn copies(&self, session: &Session<'_>) -> Result<AtomicBits> {
        let copies = AtomicBits::new(session.engine.dir, "copies-found", session.documents() as usize)?;
        for partition in 0..self.texts.partitions() {
            session.engine.go_on()?;
            let records = self.texts.load(partition, session.engine.budget.a_thread)?;
            for group in records.groups() {
                for at in group.skip(1) {
                    copies.set(records.row::<TextRow>(at).doc.get() as usize);
                }
            }
        }
        Ok(copies)
    }

    /// Calls `each` with the spans of each document and item, ordered by document, then item, then position.
    ///
    /// # Errors
    /// Returns any error from `each`, or an error if the run is interrupted.
    pub(crate) fn each(
        &self,
        session: &Session<'_>,
        mut each: impl FnMut(u64, Item, &[Span]) -> Result<()>,
    ) -> Result<()> {
        for partition in 0..self.rows.partitions() {
            session.engine.go_on()?;
            let records = self.rows.load(partition, session.engine.budget.a_thread)?;
            for group in records.groups() {
                let first = records.row::<Row>(group.start);
                let spans: Vec<Span> = group.map(|at| self.span(records.row(at))).collect();
                each(first.doc.get(), first.item.get(), &spans)?;
            }
        }
        Ok(())
    }

    fn span(&self, row: &Row) -> Span {
        let rest = self.rest.get(row.begin.get(), row.length.get() as usize);
        let bits: Vec<u64> = rest[NUMBERS..].chunks_exact(8).map(number).collect();
        let (covered, unread) = bits.split_at(bits.len() / 2);
        Span {
            tokens: [row.start.get(), number(&rest[..4]) as u32],
            grams: number(&rest[4..8]) as u32,
            is_variant: rest[8] == 1,
            answer_found: Some(rest[9]).filter(|found| *found != UNKNOWN).map(|found| found == 1),
            covered: covered.to_vec(),
            unread: unread.to_vec(),
        }
    }
}

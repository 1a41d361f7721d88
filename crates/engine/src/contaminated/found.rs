//! Stores the results of the search in temporary files: one row for each span, with the item's tokens that the span covers.

use crate::session::Session;
use dupsift_contamination::Item;
use dupsift_core::error::Result;
use dupsift_core::row::number;
use dupsift_spill::shuffle::{FrozenHeap, Heap, Shuffle, Sorted, Writer};
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

/// The number of leading bytes in a row that identify the document and the item.
const GROUP: usize = 12;
/// The size in bytes of the numbers at the start of the span's other data.
const NUMBERS: usize = 8;

/// Describes a span that the search found in a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The position of the first token, and the position after the last token.
    pub tokens: [u32; 2],
    /// The number of n-grams that the item and the span share.
    pub grams: u32,
    /// The tokens of the item that the span covers.
    pub covered: Vec<u64>,
}

/// Collects spans from many threads.
pub struct Finding {
    rows: Shuffle,
    rest: Heap,
}

impl Finding {
    /// Returns an empty collection.
    pub fn new(session: &Session<'_>) -> Result<Finding> {
        let engine = session.engine;
        Ok(Finding {
            rows: engine.ordered(session.documents(), "spans", size_of::<Row>(), GROUP, 8, 0)?,
            rest: Heap::new(engine.dir, "covered")?,
        })
    }

    /// Returns a writer for one thread.
    pub fn writer(&self) -> Writer<'_> {
        self.rows.writer()
    }

    /// Adds a span.
    pub fn push(&self, writer: &mut Writer<'_>, doc: u64, span: &dupsift_contamination::Span) -> Result<()> {
        let mut rest = Vec::with_capacity(NUMBERS + 8 * span.covered.len());
        [span.end, span.grams].iter().for_each(|number| rest.extend_from_slice(&number.to_be_bytes()));
        span.covered.iter().for_each(|word| rest.extend_from_slice(&word.to_be_bytes()));
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
    pub fn finish(self) -> Result<Found> {
        Ok(Found { rows: self.rows.finish()?, rest: self.rest.freeze()? })
    }
}

/// Holds all spans, grouped by document and item.
pub struct Found {
    rows: Sorted,
    rest: FrozenHeap,
}

impl Found {
    /// Returns the number of spans.
    pub fn rows(&self) -> u64 {
        self.rows.rows()
    }

    /// Returns the size of the temporary files in bytes.
    pub fn bytes(&self) -> u64 {
        self.rows.spilled_bytes() + self.rest.bytes().len() as u64
    }

    /// Calls `each` with the spans of each document and item, ordered by document, then item, then position.
    ///
    /// # Errors
    /// Returns any error from `each`, or an error if the run is interrupted.
    pub fn each(&self, session: &Session<'_>, mut each: impl FnMut(u64, Item, &[Span]) -> Result<()>) -> Result<()> {
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
        Span {
            tokens: [row.start.get(), number(&rest[..4]) as u32],
            grams: number(&rest[4..NUMBERS]) as u32,
            covered: rest[NUMBERS..].chunks_exact(8).map(number).collect(),
        }
    }
}

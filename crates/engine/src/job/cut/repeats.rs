//! Holds the repeats of each document, that is, the units that repeat an earlier unit.

use crate::engine::checkpoints::{Checkpoint, CheckpointReader, CheckpointWriter};
use crate::engine::threads::Engine;
use dupsift_core::error::Result;
use dupsift_core::row::number;
use dupsift_passages::Repeat;
use dupsift_spill::shuffle::{AtomicCells, FrozenHeap};
use serde::{Deserialize, Serialize};
use zerocopy::big_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Holds a saved [`Repeat`].
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Saved {
    position: U32,
    count: U32,
    first_doc: U64,
    first_start: U32,
    copies: U32,
}

impl From<&Repeat> for Saved {
    fn from(repeat: &Repeat) -> Saved {
        Saved {
            position: repeat.position.into(),
            count: repeat.count.into(),
            first_doc: repeat.first_doc.into(),
            first_start: repeat.first_start.into(),
            copies: repeat.copies.into(),
        }
    }
}

impl From<&Saved> for Repeat {
    fn from(saved: &Saved) -> Repeat {
        Repeat {
            position: saved.position.get(),
            count: saved.count.get(),
            first_doc: saved.first_doc.get(),
            first_start: saved.first_start.get(),
            copies: saved.copies.get(),
        }
    }
}

/// Counts what is reported about the search for repeats.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(crate) struct RepeatCounts {
    /// See [`CutReport::undecided`](crate::job::run_report::CutReport).
    pub undecided: u64,
    /// See [`CutReport::without_blank_lines`](crate::job::run_report::CutReport).
    pub without_blank_lines: u64,
}

/// Holds the repeats of each document.
pub(crate) struct Repeats {
    /// The counts for the record.
    pub counts: RepeatCounts,
    /// The offset of each document's repeats, plus one; 0 for a document without repeats.
    begins: AtomicCells<u64>,
    heap: FrozenHeap,
}

impl Checkpoint for Repeats {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&self.counts)?;
        to.heap(&self.heap).and_then(|()| to.cells(&self.begins))
    }

    fn restore(_: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Repeats> {
        let (counts, heap) = (from.plain()?, from.heap()?);
        Ok(Repeats { counts, begins: from.cells()?, heap })
    }
}

/// Encodes the repeats of a document in the form that the heap of [`Repeats`] holds.
pub(crate) fn encode(repeats: &[Repeat], bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.extend_from_slice(&(repeats.len() as u32).to_be_bytes());
    repeats.iter().for_each(|one| bytes.extend_from_slice(Saved::from(one).as_bytes()));
}

impl Repeats {
    /// Holds the repeats that [`encode`] has encoded into `heap`.
    pub(crate) fn new(begins: AtomicCells<u64>, heap: FrozenHeap) -> Repeats {
        Repeats { counts: RepeatCounts::default(), begins, heap }
    }

    /// Returns whether a document has repeats.
    pub(crate) fn has(&self, doc: u64) -> bool {
        self.begins.load(doc as usize) != 0
    }

    /// Writes a document's repeats to `out`, in order.
    pub(crate) fn of(&self, doc: u64, out: &mut Vec<Repeat>) {
        out.clear();
        let Some(begin) = self.begins.load(doc as usize).checked_sub(1) else { return };
        let count = number(self.heap.get(begin, 4)) as usize;
        let saved = <[Saved]>::ref_from_bytes(self.heap.get(begin + 4, count * size_of::<Saved>())).unwrap_or_default();
        out.extend(saved.iter().map(Repeat::from));
    }
}

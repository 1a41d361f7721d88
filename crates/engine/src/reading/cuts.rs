//! What the first pass learnt of Chinese words, for the passes after it: where they begin, a bit for each Han character.
//!
//! Cutting by dictionary costs ten times what all else on a text does, and the bits a twenty-fourth of the text in a
//! memory-mapped work file, so a corpus that is counted is segmented once for the whole job.

use crate::engine::checkpoints::{CheckpointReader, CheckpointWriter, Recorder};
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::{AtomicCells, FrozenHeap, Heap};
use dupsift_text::Analysis;

/// Takes the cuts down, from many threads at once.
pub struct CutsWriter {
    bits: Heap,
    begins: AtomicCells<u64>,
}

impl Recorder for CutsWriter {
    fn parts(&self) -> Vec<&dyn Recorder> {
        vec![&self.bits, &self.begins]
    }
}

impl CutsWriter {
    /// An empty store for all documents; none where words do not come from a dictionary.
    pub fn new(session: &Session<'_>) -> Result<Option<CutsWriter>> {
        if !session.pipeline.has_dictionary() {
            return Ok(None);
        }
        let begins = AtomicCells::new(session.engine.dir, "cut-begins", session.documents() as usize)?;
        Ok(Some(CutsWriter { bits: Heap::new(session.engine.dir, "cuts")?, begins }))
    }

    /// Notes the cuts of one document; `scratch` is reused.
    pub fn push(&self, doc: u64, document: &Analysis<'_>, scratch: &mut Vec<u8>) -> Result<()> {
        scratch.clear();
        scratch.extend([0; LENGTH]);
        document.write_han_starts(scratch);
        let length = scratch.len() - LENGTH;
        if length > 0 {
            scratch[..LENGTH].copy_from_slice(&(length as u32).to_le_bytes());
            self.begins.store(doc as usize, self.bits.append(scratch)? + 1);
        }
        Ok(())
    }

    /// The bits of the document that was noted last, by what was its `scratch`.
    pub fn bits(scratch: &[u8]) -> &[u8] {
        scratch.get(LENGTH..).unwrap_or_default()
    }

    /// Ends the writing.
    pub fn finish(self) -> Result<Cuts> {
        Ok(Cuts { bits: self.bits.freeze()?, begins: self.begins })
    }
}

/// Bytes in front of the bits that say how many bytes they are.
const LENGTH: usize = 4;

/// The cuts of all documents that were counted.
pub struct Cuts {
    bits: FrozenHeap,
    /// Where the bits of a document begin, plus one; 0: it has none.
    begins: AtomicCells<u64>,
}

impl Cuts {
    /// Bytes in the work file.
    pub fn bytes(&self) -> u64 {
        self.bits.bytes().len() as u64
    }

    /// Puts them down.
    pub fn save(&self, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.heap(&self.bits)?;
        to.cells(&self.begins)
    }

    /// Takes them up.
    pub fn restore(from: &mut CheckpointReader<'_>) -> Result<Cuts> {
        Ok(Cuts { bits: from.heap()?, begins: from.cells()? })
    }

    /// The cuts of one document, for [`Pipeline::analyse_again`](dupsift_text::Pipeline::analyse_again).
    pub fn of(&self, doc: u64) -> Option<&[u8]> {
        let begin = self.begins.load(doc as usize).checked_sub(1)?;
        let mut length = [0; LENGTH];
        length.copy_from_slice(self.bits.get(begin, LENGTH));
        Some(self.bits.get(begin + LENGTH as u64, u32::from_le_bytes(length) as usize))
    }
}

//! Records the word boundaries of Chinese text during the first pass, for use in later passes. The boundaries take one bit per Han
//! character.
//!
//! Segmentation with a dictionary takes ten times as long as all other text processing. The bits are stored in a memory-mapped temporary
//! file whose size is one twenty-fourth of the size of the text. Thanks to these bits, a corpus whose words are counted is segmented only
//! once per job.

use crate::engine::checkpoints::{CheckpointReader, CheckpointWriter, Recorder};
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::{AtomicCells, FrozenHeap, Heap};
use dupsift_text::Analysis;

/// Records the word boundaries (cuts) that many threads find.
pub(crate) struct CutsWriter {
    bits: Heap,
    begins: AtomicCells<u64>,
}

impl Recorder for CutsWriter {
    fn parts(&self) -> Vec<&dyn Recorder> {
        vec![&self.bits, &self.begins]
    }
}

impl CutsWriter {
    /// Returns an empty recorder for all documents, or `None` if text is not segmented with a dictionary.
    pub(crate) fn new(session: &Session<'_>) -> Result<Option<CutsWriter>> {
        if !session.pipeline.has_dictionary() {
            return Ok(None);
        }
        let begins = AtomicCells::new(session.engine.dir, "cut-begins", session.documents() as usize)?;
        Ok(Some(CutsWriter { bits: Heap::new(session.engine.dir, "cuts")?, begins }))
    }

    /// Records the cuts of one document. `scratch` is a buffer that the thread reuses.
    pub(crate) fn push(&self, doc: u64, document: &Analysis<'_>, scratch: &mut Vec<u8>) -> Result<()> {
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

    /// Returns the bits of the document that was recorded last, from `scratch`.
    pub(crate) fn bits(scratch: &[u8]) -> &[u8] {
        scratch.get(LENGTH..).unwrap_or_default()
    }

    /// Ends the recording.
    pub(crate) fn finish(self) -> Result<Cuts> {
        Ok(Cuts { bits: self.bits.freeze()?, begins: self.begins })
    }
}

/// The number of bytes in the length field before the bits.
const LENGTH: usize = 4;

/// Holds the cuts of all documents that were counted.
pub struct Cuts {
    bits: FrozenHeap,
    /// The offset of each document's bits, plus one; 0 for a document without bits.
    begins: AtomicCells<u64>,
}

impl Cuts {
    /// Returns the size of the temporary file in bytes.
    pub fn bytes(&self) -> u64 {
        self.bits.bytes().len() as u64
    }

    /// Saves the cuts to a checkpoint.
    pub fn save(&self, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.heap(&self.bits)?;
        to.cells(&self.begins)
    }

    /// Restores the cuts from a checkpoint.
    pub fn restore(from: &mut CheckpointReader<'_>) -> Result<Cuts> {
        Ok(Cuts { bits: from.heap()?, begins: from.cells()? })
    }

    /// Returns the cuts of one document, for [`Pipeline::analyse_again`](dupsift_text::Pipeline::analyse_again).
    pub fn of(&self, doc: u64) -> Option<&[u8]> {
        let begin = self.begins.load(doc as usize).checked_sub(1)?;
        let mut length = [0; LENGTH];
        length.copy_from_slice(self.bits.get(begin, LENGTH));
        Some(self.bits.get(begin + LENGTH as u64, u32::from_le_bytes(length) as usize))
    }
}

//! Stores evidence, that is, the document data that comparisons use, in a memory-mapped temporary file. Even a document that occurs in a
//! thousand pairs is read and split into words only once, and memory use does not grow with the number of pairs.

use std::borrow::Cow;
use std::path::Path;

use super::checkpoints::{CheckpointReader, CheckpointWriter, Recorder};
use dupsift_core::error::Result;
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, FrozenHeap, Heap, Ranks};

/// Records evidence from many threads.
pub struct Taking {
    heap: Heap,
    met: Option<Ranks>,
    begins: AtomicCells<u64>,
}

/// Partial checkpoints are saved only if evidence is recorded for every document.
impl Recorder for Taking {
    fn parts(&self) -> Vec<&dyn Recorder> {
        vec![&self.heap, &self.begins]
    }
}

impl Taking {
    /// Starts recording evidence for every document of a corpus with this many documents.
    pub fn of_all(dir: &Path, name: &str, documents: u64) -> Result<Taking> {
        let begins = AtomicCells::new(dir, &format!("{name}-begins"), documents as usize)?;
        Ok(Taking { heap: Heap::new(dir, &format!("{name}-evidence"))?, met: None, begins })
    }

    /// Starts recording evidence, in files in the folder `dir`, for the documents whose bits are set in `met`. Messages refer to these
    /// files as `name`.
    pub fn new(dir: &Path, name: &str, met: &AtomicBits) -> Result<Taking> {
        let met = Ranks::new(dir, &format!("{name}-ranks"), met)?;
        let begins = AtomicCells::new(dir, &format!("{name}-begins"), met.count() as usize)?;
        Ok(Taking { heap: Heap::new(dir, &format!("{name}-evidence"))?, met: Some(met), begins })
    }

    /// Stores the numbers that `write` appends for a participating document. `numbers` is a buffer that the thread reuses.
    pub fn take(&self, doc: u64, numbers: &mut Vec<u64>, write: impl FnOnce(&mut Vec<u64>)) -> Result<()> {
        let Some(rank) = place(&self.met, doc) else { return Ok(()) };
        numbers.clear();
        numbers.push(0);
        write(numbers);
        numbers[0] = numbers.len() as u64 - 1;
        self.begins.store(rank, self.heap.append(bytemuck::cast_slice(numbers))? + 1);
        let_go(numbers);
        Ok(())
    }

    /// Stores the numbers of a participating document.
    pub fn take_all(&self, doc: u64, numbers: &[u64]) -> Result<()> {
        let Some(rank) = place(&self.met, doc) else { return Ok(()) };
        let length = [numbers.len() as u64];
        let begin = self.heap.append_both(bytemuck::cast_slice(&length), bytemuck::cast_slice(numbers))?;
        self.begins.store(rank, begin + 1);
        Ok(())
    }

    /// Ends the recording.
    pub fn end(self) -> Result<Evidence> {
        Ok(Evidence { numbers: self.heap.freeze()?, met: self.met, begins: self.begins })
    }
}

/// The maximum size in bytes of a list that is kept for the next document.
const KEPT_BYTES: usize = 1 << 20;

/// Frees a list that a long document has enlarged.
pub(crate) fn let_go<T>(list: &mut Vec<T>) {
    if list.capacity() * size_of::<T>() > KEPT_BYTES {
        *list = Vec::new();
    }
}

/// Returns a document's position among the documents that take part.
fn place(met: &Option<Ranks>, doc: u64) -> Option<usize> {
    met.as_ref().map_or(Some(doc as usize), |met| met.rank(doc as usize))
}

/// Holds the evidence for one check.
pub struct Evidence {
    numbers: FrozenHeap,
    met: Option<Ranks>,
    /// The offset of each document's evidence, plus one. If `met` is `Some`, only the documents in `met` have an entry.
    begins: AtomicCells<u64>,
}

impl Evidence {
    /// Returns the numbers of a document, or no numbers if the document was not read. Every entry takes a whole number of words, so nothing
    /// is copied.
    pub fn of(&self, doc: u64) -> Cow<'_, [u64]> {
        let begin = place(&self.met, doc).and_then(|rank| self.begins.load(rank).checked_sub(1));
        let Some(begin) = begin else { return Cow::Borrowed(&[]) };
        let words = |at: u64, count: usize| -> Cow<'_, [u64]> {
            let bytes = self.numbers.get(at, count * 8);
            match bytemuck::try_cast_slice(bytes) {
                Ok(words) => Cow::Borrowed(words),
                Err(_) => Cow::Owned(bytemuck::allocation::pod_collect_to_vec(bytes)),
            }
        };
        let length = words(begin, 1)[0] as usize;
        words(begin + 8, length)
    }

    /// Saves the evidence to a checkpoint.
    pub fn save(&self, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.optional(self.met.as_ref(), |met, to| to.ranks(met))?;
        to.heap(&self.numbers)?;
        to.cells(&self.begins)
    }

    /// Restores the evidence from a checkpoint.
    pub fn restore(from: &mut CheckpointReader<'_>) -> Result<Evidence> {
        Ok(Evidence { met: from.optional(CheckpointReader::ranks)?, numbers: from.heap()?, begins: from.cells()? })
    }

    /// Returns the size of the temporary file in bytes.
    pub fn bytes(&self) -> u64 {
        self.numbers.bytes().len() as u64
    }
}

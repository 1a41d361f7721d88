//! Saves the words of each document in a temporary file while words are counted (see `corpus/forward.rs`). An algorithm that uses only
//! words and counts then computes its signatures from this file, so the corpus is read only once.
//!
//! Each thread numbers the words that it counts until its counts are drained. The spellings of these words and the documents that contain
//! them form a part. The words of each part are looked up separately, so they take no more memory than the counts.

use std::hash::{BuildHasher as _, RandomState};
use std::mem::take;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::engine::checkpoints::{
    Checkpoint, CheckpointReader, CheckpointWriter, PartialReader, PartialWriter, Recorder,
};
use crate::engine::threads::Engine;
use dupsift_algorithms::corpus::{CorpusStats, Counts, Records, Vocabulary, Words, write_document, write_first_line};
use dupsift_core::error::{Error, Result};
use dupsift_spill::shuffle::{FrozenHeap, Heap};
use dupsift_text::Analysis;

/// The number of bytes of document data that are written and read at a time.
const BLOCK: usize = 128 << 10;

/// Holds a range of bytes in the temporary file.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Place {
    begin: u64,
    bytes: usize,
}

/// Describes where a part is stored. A part consists of the words of one thread between two drains and the documents that contain these
/// words.
#[derive(Debug, Deserialize, Serialize)]
pub struct ForwardPart {
    lengths: Place,
    letters: Place,
    /// The locations of the part's blocks.
    pub blocks: Vec<Place>,
    /// The number of documents in these blocks.
    pub documents: u64,
}

/// Records the words of documents from many threads at once.
pub(crate) struct ForwardWriter {
    heap: Heap,
    parts: Mutex<Vec<ForwardPart>>,
    /// The number of parts that partial checkpoints contain.
    given: AtomicUsize,
    first_lines: bool,
    /// The maximum number of bytes of words per thread.
    limit: usize,
}

/// Holds the recording state of one thread.
pub(crate) struct ForwardThread<'w> {
    to: &'w ForwardWriter,
    vocabulary: Vocabulary,
    records: Vec<u8>,
    blocks: Vec<Place>,
    documents: u64,
}

impl ForwardPart {
    /// Returns the maximum amount of memory that the part's words may occupy, in bytes.
    pub(crate) fn bytes_of_words(&self) -> usize {
        // The length of a word takes 4 bytes in the file, and the data of a word takes up to 64 bytes in memory.
        16 * self.lengths.bytes
    }
}

/// A partial checkpoint is saved only after all threads have ended their parts.
impl Recorder for ForwardWriter {
    fn save_partial(&self, docs: &[Range<u64>], to: &mut PartialWriter<'_>) -> Result<()> {
        self.heap.save_partial(docs, to)?;
        let parts = self.locked_parts();
        to.plain(&&parts[self.given.load(Relaxed)..])?;
        self.given.store(parts.len(), Relaxed);
        Ok(())
    }

    fn restore_partial(&self, engine: &Engine<'_>, docs: &[Range<u64>], from: &mut PartialReader<'_>) -> Result<()> {
        self.heap.restore_partial(engine, docs, from)?;
        let mut parts = self.locked_parts();
        parts.extend(from.plain::<Vec<ForwardPart>>()?);
        self.given.store(parts.len(), Relaxed);
        Ok(())
    }
}

impl ForwardWriter {
    /// Starts recording; `first_lines` specifies whether the words in the first line of each document are recorded separately.
    pub(crate) fn new(engine: &Engine<'_>, first_lines: bool) -> Result<ForwardWriter> {
        // The ends of words are stored as 32-bit offsets.
        let limit = (engine.budget.a_thread / 4).min(1 << 31);
        let heap = Heap::new(engine.dir, "forward-index")?;
        Ok(ForwardWriter { heap, parts: Mutex::default(), given: AtomicUsize::new(0), first_lines, limit })
    }

    /// Returns the state for one thread.
    pub(crate) fn thread(&self) -> ForwardThread<'_> {
        ForwardThread {
            to: self,
            vocabulary: Vocabulary::default(),
            records: Vec::new(),
            blocks: Vec::new(),
            documents: 0,
        }
    }

    fn append(&self, bytes: &[u8]) -> Result<Place> {
        Ok(Place { begin: self.heap.append(bytes)?, bytes: bytes.len() })
    }

    fn locked_parts(&self) -> MutexGuard<'_, Vec<ForwardPart>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the recording.
    pub(crate) fn finish(self) -> Result<Forward> {
        let parts = self.parts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let name = RandomState::new().hash_one(parts.len());
        Ok(Forward { heap: self.heap.freeze_in_order()?, parts, first_lines: self.first_lines, name })
    }
}

impl ForwardThread<'_> {
    /// Records a document whose words were just counted. `known` holds the word boundaries of the document's Han characters.
    pub(crate) fn push(
        &mut self,
        doc: u64,
        document: &Analysis<'_>,
        known: Option<&[u8]>,
        counts: &mut Counts,
    ) -> Result<()> {
        // A document without words was not counted, so the counts still hold the numbers of the previous document.
        if document.counted().is_empty() {
            counts.number(std::iter::empty());
        }
        self.documents += 1;
        self.fresh(document, counts);
        write_document(doc, document, counts.numbers(), &mut self.records);
        if self.to.first_lines {
            let line = document.first_line_by(known);
            if let Some(line) = &line {
                counts.number(line.counted().iter().map(|counted| counted.word.hash));
                self.fresh(line, counts);
            }
            write_first_line(line.as_ref(), counts.numbers(), &mut self.records);
        }
        if self.records.len() >= BLOCK { self.end_block() } else { Ok(()) }
    }

    /// Records a document as a separate part. The words of this document are not in the counts and are numbered consecutively.
    pub(crate) fn push_alone(&mut self, doc: u64, document: &Analysis<'_>, known: Option<&[u8]>) -> Result<()> {
        self.documents += 1;
        let mut next = 0;
        let numbers = self.all(document, &mut next);
        write_document(doc, document, &numbers, &mut self.records);
        if self.to.first_lines {
            let line = document.first_line_by(known);
            let numbers = line.as_ref().map_or_else(Vec::new, |line| self.all(line, &mut next));
            write_first_line(line.as_ref(), &numbers, &mut self.records);
        }
        self.drain()
    }

    /// Assigns consecutive numbers to the words of a document.
    fn all(&mut self, document: &Analysis<'_>, next: &mut u32) -> Vec<u32> {
        let counted = document.counted();
        counted.iter().for_each(|one| self.vocabulary.push(document, &one.word));
        let begin = std::mem::replace(next, *next + counted.len() as u32);
        (begin..*next).collect()
    }

    fn fresh(&mut self, document: &Analysis<'_>, counts: &Counts) {
        for &place in counts.fresh() {
            self.vocabulary.push(document, &document.counted()[place as usize].word);
        }
    }

    fn end_block(&mut self) -> Result<()> {
        self.blocks.push(self.to.append(&self.records)?);
        self.records.clear();
        if self.records.capacity() > 4 * BLOCK {
            self.records = Vec::new();
        }
        Ok(())
    }

    /// Returns whether the words of this thread have reached their memory limit.
    pub(crate) fn is_full(&self) -> bool {
        self.vocabulary.bytes() >= self.to.limit
    }

    /// Ends the current part. Word numbers start over in the next part.
    pub(crate) fn drain(&mut self) -> Result<()> {
        if self.documents == 0 {
            return Ok(());
        }
        self.end_block()?;
        let (lengths, letters) = self.vocabulary.drain();
        let lengths = self.to.append(bytemuck::cast_slice(&lengths))?;
        let letters = self.to.append(letters.as_bytes())?;
        let part =
            ForwardPart { lengths, letters, blocks: take(&mut self.blocks), documents: take(&mut self.documents) };
        self.to.locked_parts().push(part);
        Ok(())
    }
}

/// Holds the words of all documents that were counted.
pub struct Forward {
    heap: FrozenHeap,
    parts: Vec<ForwardPart>,
    first_lines: bool,
    /// A number that identifies this recording, because two recordings of the same documents may differ in block order.
    name: u64,
}

impl Forward {
    /// Returns the size of the temporary file in bytes.
    pub fn bytes(&self) -> u64 {
        self.heap.bytes().len() as u64
    }

    /// Saves the words to a checkpoint.
    pub fn save(&self, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&(&self.parts, self.first_lines, self.name))?;
        to.heap(&self.heap)
    }

    /// Restores the words from a checkpoint.
    pub fn restore(from: &mut CheckpointReader<'_>) -> Result<Forward> {
        let (parts, first_lines, name) = from.plain()?;
        Ok(Forward { heap: from.heap()?, parts, first_lines, name })
    }

    /// Returns the parts, in file order.
    pub fn parts(&self) -> &[ForwardPart] {
        &self.parts
    }

    /// Returns the number that distinguishes this recording from other recordings of the same documents.
    pub fn name(&self) -> u64 {
        self.name
    }

    /// Returns the words of a part, together with their counts.
    pub fn words<'w>(&'w self, part: &ForwardPart, stats: &'w CorpusStats) -> Result<Words<'w>> {
        Words::look_up(self.get(part.lengths), self.get(part.letters), stats).ok_or_else(damaged)
    }

    /// Returns the records in a block.
    pub fn records(&self, block: Place) -> Records<'_> {
        Records::new(self.get(block), self.first_lines)
    }

    fn get(&self, place: Place) -> &[u8] {
        self.heap.get(place.begin, place.bytes)
    }
}

/// Returns the error for a temporary file with unexpected contents. Only this process uses the file, so the cause can only be a defective
/// disk.
pub(crate) fn damaged() -> Error {
    Error::Damaged { path: "forward-index".into(), why: "its contents differ from what was written".into() }
}

impl Checkpoint for Forward {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        Forward::save(self, to)
    }

    fn restore(_: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Forward> {
        Forward::restore(from)
    }
}

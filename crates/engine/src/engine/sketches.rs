//! Stores one algorithm's sketches of all documents in a memory-mapped temporary file: a few words per document, in order of document
//! number.

use std::ops::Range;
use std::path::Path;

use super::checkpoints::{CheckpointReader, CheckpointWriter, PartialReader, PartialWriter, Recorder};
use super::threads::Engine;
use dupsift_core::error::Result;
use dupsift_core::row::Sketches;
use dupsift_spill::shuffle::AtomicCells;

/// Holds the sketches. Several threads may write, each for different documents.
pub struct SketchFile {
    words: usize,
    cells: AtomicCells<u64>,
}

impl SketchFile {
    /// Creates a file with room for this many words per document. Messages refer to the file as `name`.
    pub fn new(dir: &Path, name: &str, documents: u64, words: usize) -> Result<SketchFile> {
        let cells = AtomicCells::new(dir, &format!("{name}-sketches"), documents as usize * words)?;
        Ok(SketchFile { words, cells })
    }

    /// Stores the sketch of a document.
    pub fn put(&self, doc: u64, sketch: &[u64]) {
        let begin = doc as usize * self.words;
        sketch.iter().take(self.words).enumerate().for_each(|(at, &word)| self.cells.store(begin + at, word));
    }

    /// Saves the sketches to a checkpoint.
    pub fn save(&self, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&self.words)?;
        to.cells(&self.cells)
    }

    /// Restores the sketches from a checkpoint.
    pub fn restore(from: &mut CheckpointReader<'_>) -> Result<SketchFile> {
        Ok(SketchFile { words: from.plain()?, cells: from.cells()? })
    }

    /// Returns the number of words per document.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Returns the number of documents for which the file has room.
    pub fn documents(&self) -> u64 {
        (self.cells.len() / self.words.max(1)) as u64
    }

    /// Returns the size of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.cells.len() as u64 * 8
    }
}

impl Recorder for SketchFile {
    fn save_partial(&self, docs: &[Range<u64>], to: &mut PartialWriter<'_>) -> Result<()> {
        let place = |doc: u64| doc as usize * self.words;
        docs.iter().try_for_each(|docs| to.cells(&self.cells, place(docs.start)..place(docs.end)))
    }

    fn restore_partial(&self, _: &Engine<'_>, docs: &[Range<u64>], from: &mut PartialReader<'_>) -> Result<()> {
        docs.iter().try_for_each(|docs| from.cells(&self.cells, docs.start as usize * self.words))
    }
}

impl Sketches for SketchFile {
    fn copy(&self, doc: u64, to: &mut [u64]) {
        self.cells.load_all(doc as usize * self.words, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sketch_comes_back_whole_or_in_part() {
        let folder = tempfile::tempdir().unwrap();
        let file = SketchFile::new(folder.path(), "cosine", 3, 5).unwrap();
        file.put(2, &[1, 2, 3, 4, 5]);
        file.put(1, &[6, 7]);
        let copy = |doc: u64| {
            let mut words = [9; 5];
            file.copy(doc, &mut words);
            words
        };
        assert_eq!([copy(0), copy(1), copy(2)], [[0; 5], [6, 7, 0, 0, 0], [1, 2, 3, 4, 5]]);
        let mut beginning = [0; 2];
        file.copy(2, &mut beginning);
        assert_eq!((beginning, file.bytes()), ([1, 2], 3 * 5 * 8));
    }
}

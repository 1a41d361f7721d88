//! Defines recorders and partial checkpoints. A partial checkpoint saves the data of the recorders while a pass is still running.
//!
//! A partial checkpoint is a sequence of parts: plain values, document cells, bytes appended to a heap, rows sent to a shuffle. The parts
//! are restored in the order in which they were saved. Each part is a list of frames. A frame consists of a four-byte length and that many
//! bytes. A frame of length 0 ends the part.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine::threads::Engine;
use dupsift_core::error::{Error, Result};
use dupsift_spill::shuffle::mapped::CellValue;
use dupsift_spill::shuffle::saved_file::SavedFileWriter;
use dupsift_spill::shuffle::{AtomicCells, Heap, Shuffle};

/// The maximum number of bytes in a frame of cells.
const FRAME: usize = 64 << 10;

/// Records data about documents from many threads at once. A recorder can be saved while the pass is running.
///
/// A recorder that consists of several recorders returns them from [`Recorder::parts`]. Only a recorder with data of its own implements the
/// remaining methods.
pub(crate) trait Recorder {
    /// Returns the recorders that make up this recorder, always in the same order.
    fn parts(&self) -> Vec<&dyn Recorder> {
        Vec::new()
    }

    /// Saves the data recorded for these ranges of documents, which were read since the previous partial checkpoint.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    fn save_partial(&self, docs: &[Range<u64>], to: &mut PartialWriter<'_>) -> Result<()> {
        self.parts().into_iter().try_for_each(|part| part.save_partial(docs, to))
    }

    /// Restores the data that [`Recorder::save_partial`] saved in another process.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    fn restore_partial(&self, engine: &Engine<'_>, docs: &[Range<u64>], from: &mut PartialReader<'_>) -> Result<()> {
        self.parts().into_iter().try_for_each(|part| part.restore_partial(engine, docs, from))
    }
}

impl<R: Recorder> Recorder for Option<R> {
    fn parts(&self) -> Vec<&dyn Recorder> {
        self.iter().map(|part| part as &dyn Recorder).collect()
    }
}

impl<R: Recorder> Recorder for &R {
    fn parts(&self) -> Vec<&dyn Recorder> {
        vec![*self]
    }
}

/// Saves one cell per document.
impl<T: CellValue> Recorder for AtomicCells<T> {
    fn save_partial(&self, docs: &[Range<u64>], to: &mut PartialWriter<'_>) -> Result<()> {
        docs.iter().try_for_each(|docs| to.cells(self, docs.start as usize..docs.end as usize))
    }

    fn restore_partial(&self, _: &Engine<'_>, docs: &[Range<u64>], from: &mut PartialReader<'_>) -> Result<()> {
        docs.iter().try_for_each(|docs| from.cells(self, docs.start as usize))
    }
}

/// Saves the rows sent since the previous partial checkpoint.
impl Recorder for Shuffle {
    fn save_partial(&self, _: &[Range<u64>], to: &mut PartialWriter<'_>) -> Result<()> {
        to.rows(self)
    }

    fn restore_partial(&self, engine: &Engine<'_>, _: &[Range<u64>], from: &mut PartialReader<'_>) -> Result<()> {
        from.rows(engine, self)
    }
}

/// Saves the bytes appended since the previous partial checkpoint.
impl Recorder for Heap {
    fn save_partial(&self, _: &[Range<u64>], to: &mut PartialWriter<'_>) -> Result<()> {
        to.heap(self)
    }

    fn restore_partial(&self, _: &Engine<'_>, _: &[Range<u64>], from: &mut PartialReader<'_>) -> Result<()> {
        from.heap(self)
    }
}

/// Saves the count over all documents so far.
impl Recorder for AtomicU64 {
    fn save_partial(&self, _: &[Range<u64>], to: &mut PartialWriter<'_>) -> Result<()> {
        to.plain(&self.load(Relaxed))
    }

    fn restore_partial(&self, _: &Engine<'_>, _: &[Range<u64>], from: &mut PartialReader<'_>) -> Result<()> {
        self.store(from.plain()?, Relaxed);
        Ok(())
    }
}

/// Holds the results of one thread in a pass. The results of several threads or processes can be merged in any order.
pub trait Merge: Default {
    /// Adds the results of another thread.
    fn merge(&mut self, other: Self);

    /// Merges all results.
    fn of_all(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self::default(), |mut sum, one| {
            sum.merge(one);
            sum
        })
    }
}

/// Writes a partial checkpoint.
pub(crate) struct PartialWriter<'w>(&'w mut SavedFileWriter);

impl<'w> PartialWriter<'w> {
    /// Creates a writer for the partial checkpoint in a file.
    pub(crate) fn new(to: &'w mut SavedFileWriter) -> PartialWriter<'w> {
        PartialWriter(to)
    }

    fn frame(&mut self, bytes: &[u8]) -> Result<()> {
        // The length of a frame must fit in four bytes.
        for bytes in bytes.chunks(1 << 30) {
            self.0.append(&(bytes.len() as u32).to_le_bytes())?;
            self.0.append(bytes)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.0.append(&[0; 4])
    }

    /// Writes a value.
    pub(crate) fn plain(&mut self, value: &impl Serialize) -> Result<()> {
        self.frame(&serde_json::to_vec(value).map_err(Error::table("save a partial checkpoint"))?)?;
        self.end()
    }

    /// Writes part of an array of cells. No thread may change these cells during the call.
    pub(crate) fn cells<T: CellValue>(&mut self, cells: &AtomicCells<T>, range: Range<usize>) -> Result<()> {
        let step = FRAME / size_of::<T>();
        let mut values = vec![T::zeroed(); step.min(range.len())];
        for begin in range.clone().step_by(step) {
            values.truncate(range.end - begin);
            cells.load_all(begin, &mut values);
            self.frame(bytemuck::cast_slice(&values))?;
        }
        self.end()
    }

    /// Writes the bytes appended to a heap since the previous partial checkpoint.
    pub(crate) fn heap(&mut self, heap: &Heap) -> Result<()> {
        heap.fresh(&mut |bytes| self.frame(bytes))?;
        self.end()
    }

    /// Writes the rows sent to a shuffle since the previous partial checkpoint.
    pub(crate) fn rows(&mut self, rows: &Shuffle) -> Result<()> {
        rows.fresh(&mut |rows| self.frame(rows))?;
        self.end()
    }
}

/// Reads a partial checkpoint.
pub(crate) struct PartialReader<'r>(&'r [u8]);

impl<'r> PartialReader<'r> {
    /// Returns a reader for the bytes of a file.
    pub(crate) fn new(bytes: &'r [u8]) -> PartialReader<'r> {
        PartialReader(bytes)
    }

    /// Returns the next frame, or `None` at the end of a part.
    fn frame(&mut self) -> Result<Option<&'r [u8]>> {
        let next = self.0.split_first_chunk::<4>();
        let next = next.and_then(|(length, rest)| rest.split_at_checked(u32::from_le_bytes(*length) as usize));
        // The checksums are correct, so either this is a bug or a different build wrote the file.
        let (frame, rest) = next.ok_or_else(|| Error::Internal("a partial checkpoint is truncated".into()))?;
        self.0 = rest;
        Ok((!frame.is_empty()).then_some(frame))
    }

    fn each(&mut self, mut each: impl FnMut(&'r [u8]) -> Result<()>) -> Result<()> {
        while let Some(frame) = self.frame()? {
            each(frame)?;
        }
        Ok(())
    }

    /// Reads a value.
    pub(crate) fn plain<T: DeserializeOwned>(&mut self) -> Result<T> {
        let mut bytes = Vec::new();
        self.each(|frame| {
            bytes.extend_from_slice(frame);
            Ok(())
        })?;
        serde_json::from_slice(&bytes).map_err(Error::table("restore a partial checkpoint"))
    }

    /// Reads cells and stores them, starting at position `begin`.
    pub(crate) fn cells<T: CellValue>(&mut self, cells: &AtomicCells<T>, begin: usize) -> Result<()> {
        let mut at = begin;
        self.each(|frame| {
            for bytes in frame.chunks_exact(size_of::<T>()) {
                if at >= cells.len() {
                    return Err(Error::Internal("a partial checkpoint has more values than documents".into()));
                }
                cells.store(at, bytemuck::pod_read_unaligned(bytes));
                at += 1;
            }
            Ok(())
        })
    }

    /// Reads the bytes of a heap and appends them in the original order, which preserves their offsets.
    pub(crate) fn heap(&mut self, heap: &Heap) -> Result<()> {
        self.each(|bytes| heap.append(bytes).map(drop))?;
        // The partial checkpoint that is being read already contains this data.
        heap.fresh(&mut |_| Ok(()))
    }

    /// Reads the rows of a shuffle and sends them to `rows`, using all threads.
    pub(crate) fn rows(&mut self, engine: &Engine<'_>, rows: &Shuffle) -> Result<()> {
        let mut frames = Vec::new();
        self.each(|frame| {
            frames.push(frame);
            Ok(())
        })?;
        engine.work(
            frames.len(),
            || Ok(rows.writer()),
            |writer, at| frames[at].chunks_exact(rows.width()).try_for_each(|row| writer.push(row)),
            |mut writer| writer.flush(),
        )?;
        // The partial checkpoint that is being read already contains this data.
        rows.fresh(&mut |_| Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::engine::progress::Progress;
    use crate::engine::resources::Resources;

    /// Records a length and a note for each document, and the number of documents.
    struct Notes {
        lengths: AtomicCells<u32>,
        notes: Option<Heap>,
        count: AtomicU64,
    }

    impl Recorder for Notes {
        fn parts(&self) -> Vec<&dyn Recorder> {
            vec![&self.lengths, &self.notes, &self.count]
        }
    }

    impl Notes {
        fn new(dir: &std::path::Path, name: &str) -> Notes {
            let lengths = AtomicCells::new(dir, &format!("{name}-lengths"), 5).unwrap();
            Notes { lengths, notes: Some(Heap::new(dir, name).unwrap()), count: AtomicU64::new(0) }
        }

        fn record(&self, doc: usize, note: &str) {
            self.lengths.store(doc, note.len() as u32);
            self.notes.as_ref().unwrap().append(note.as_bytes()).unwrap();
            self.count.fetch_add(1, Relaxed);
        }

        fn all(self) -> (Vec<u32>, Vec<u8>, u64) {
            let lengths = (0..5).map(|doc| self.lengths.load(doc)).collect();
            (lengths, self.notes.unwrap().freeze_in_order().unwrap().bytes().to_vec(), self.count.into_inner())
        }
    }

    #[test]
    fn partial_checkpoints_add_up() {
        let folder = tempfile::tempdir().unwrap();
        let (resources, progress, cancel) =
            (Resources::new(64 << 20, 2).unwrap(), Progress::hidden(), AtomicBool::new(false));
        let engine = resources.engine(false, false, folder.path(), &progress, &cancel);
        let (first, second) = (Notes::new(folder.path(), "first"), Notes::new(folder.path(), "second"));
        for (place, docs) in [0..2, 2..5].into_iter().enumerate() {
            docs.clone().for_each(|doc| first.record(doc as usize, &"x".repeat(1 + doc as usize)));
            let name = format!("{place}.saved");
            let mut writer = SavedFileWriter::create(folder.path(), &name).unwrap();
            first.save_partial(std::slice::from_ref(&docs), &mut PartialWriter::new(&mut writer)).unwrap();
            writer.finish().unwrap();
            let bytes = std::fs::read(folder.path().join(&name)).unwrap();
            second.restore_partial(&engine, &[docs], &mut PartialReader::new(&bytes)).unwrap();
        }
        let expected = (vec![1, 2, 3, 4, 5], vec![b'x'; 15], 5);
        assert_eq!((first.all(), second.all()), (expected.clone(), expected));
    }

    #[test]
    fn a_truncated_partial_checkpoint_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (resources, progress, cancel) =
            (Resources::new(64 << 20, 2).unwrap(), Progress::hidden(), AtomicBool::new(false));
        let engine = resources.engine(false, false, folder.path(), &progress, &cancel);
        let count = AtomicU64::new(7);
        for bytes in [&[][..], &[1, 0, 0], &[2, 0, 0, 0, b'1'], &[1, 0, 0, 0, b'1']] {
            assert!(count.restore_partial(&engine, &[], &mut PartialReader::new(bytes)).is_err(), "{bytes:?}");
        }
        assert_eq!(count.into_inner(), 7);
    }
}

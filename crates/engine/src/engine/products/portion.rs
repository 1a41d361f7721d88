//! What a reading knows of documents that follow each other, as bytes one behind the other: values, cells of these documents, bytes that
//! heaps have grown by, rows that came to shuffles. It comes back in the order in which it was put down.
//!
//! Each part is frames, a length of four bytes and so many bytes, up to a frame of none.

use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine::threads::Engine;
use dupsift_core::error::{Error, Result};
use dupsift_spill::shuffle::mapped::CellValue;
use dupsift_spill::shuffle::product::ProductWriter;
use dupsift_spill::shuffle::{AtomicCells, Heap, Shuffle};

/// Bytes of a frame of cells.
const FRAME: usize = 64 << 10;

/// Takes a portion.
pub struct PortionWriter<'w>(&'w mut ProductWriter);

impl<'w> PortionWriter<'w> {
    /// Into a file.
    pub fn new(to: &'w mut ProductWriter) -> PortionWriter<'w> {
        PortionWriter(to)
    }

    fn frame(&mut self, bytes: &[u8]) -> Result<()> {
        // What is longer than a frame can say is several.
        for bytes in bytes.chunks(1 << 30) {
            self.0.append(&(bytes.len() as u32).to_le_bytes())?;
            self.0.append(bytes)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.0.append(&[0; 4])
    }

    /// A value.
    pub fn plain(&mut self, value: &impl Serialize) -> Result<()> {
        self.frame(&serde_json::to_vec(value).map_err(Error::table("put a portion down"))?)?;
        self.end()
    }

    /// Some of an array of cells, which no thread changes meanwhile.
    pub fn cells<T: CellValue>(&mut self, cells: &AtomicCells<T>, range: Range<usize>) -> Result<()> {
        let step = FRAME / size_of::<T>();
        let mut values = vec![T::zeroed(); step.min(range.len())];
        for begin in range.clone().step_by(step) {
            values.truncate(range.end - begin);
            cells.load_all(begin, &mut values);
            self.frame(bytemuck::cast_slice(&values))?;
        }
        self.end()
    }

    /// What a heap has grown by since the portion before.
    pub fn heap(&mut self, heap: &Heap) -> Result<()> {
        heap.fresh(&mut |bytes| self.frame(bytes))?;
        self.end()
    }

    /// The rows that came to a shuffle since the portion before.
    pub fn rows(&mut self, rows: &Shuffle) -> Result<()> {
        rows.fresh(&mut |rows| self.frame(rows))?;
        self.end()
    }
}

/// Gives a portion back.
pub struct PortionReader<'r>(&'r [u8]);

impl<'r> PortionReader<'r> {
    /// From the bytes of a file.
    pub fn new(bytes: &'r [u8]) -> PortionReader<'r> {
        PortionReader(bytes)
    }

    /// The next frame; none at the end of a part.
    fn frame(&mut self) -> Result<Option<&'r [u8]>> {
        let next = self.0.split_first_chunk::<4>();
        let next = next.and_then(|(length, rest)| rest.split_at_checked(u32::from_le_bytes(*length) as usize));
        // Its checksums are right: it is of another build, or a defect of this one.
        let (frame, rest) = next.ok_or_else(|| Error::Internal("a portion of a reading is cut off".into()))?;
        self.0 = rest;
        Ok((!frame.is_empty()).then_some(frame))
    }

    fn each(&mut self, mut each: impl FnMut(&'r [u8]) -> Result<()>) -> Result<()> {
        while let Some(frame) = self.frame()? {
            each(frame)?;
        }
        Ok(())
    }

    /// A value.
    pub fn plain<T: DeserializeOwned>(&mut self) -> Result<T> {
        let mut bytes = Vec::new();
        self.each(|frame| {
            bytes.extend_from_slice(frame);
            Ok(())
        })?;
        serde_json::from_slice(&bytes).map_err(Error::table("take a portion up"))
    }

    /// Cells, which are stored from `begin` on.
    pub fn cells<T: CellValue>(&mut self, cells: &AtomicCells<T>, begin: usize) -> Result<()> {
        let mut at = begin;
        self.each(|frame| {
            for bytes in frame.chunks_exact(size_of::<T>()) {
                if at >= cells.len() {
                    return Err(Error::Internal("a portion of a pass has more values than documents".into()));
                }
                cells.store(at, bytemuck::pod_read_unaligned(bytes));
                at += 1;
            }
            Ok(())
        })
    }

    /// Bytes of a heap: they come to lie where they lay.
    pub fn heap(&mut self, heap: &Heap) -> Result<()> {
        self.each(|bytes| heap.append(bytes).map(drop))?;
        // They stand in this portion.
        heap.fresh(&mut |_| Ok(()))
    }

    /// Rows of a shuffle, sent by all threads.
    pub fn rows(&mut self, engine: &Engine<'_>, rows: &Shuffle) -> Result<()> {
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
        // They stand in this portion.
        rows.fresh(&mut |_| Ok(()))
    }
}

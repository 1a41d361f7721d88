//! Saves and restores the parts of a checkpoint in order: plain values, bytes, cells, rows.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Checkpoint;
use super::ledger::{self, Data, Entry};
use crate::engine::threads::Engine;
use dupsift_core::error::{Error, Result};
use dupsift_spill::shuffle::mapped::CellValue;
use dupsift_spill::shuffle::run::{RUN, Run, RunWriter};
use dupsift_spill::shuffle::saved_file::{LoadedFile, SAVED, SavedFile, SavedFileWriter, save_file};
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, FrozenHeap, Mapped, Ranks, Sorted};

/// Writes a checkpoint.
pub struct CheckpointWriter<'p> {
    dir: &'p Path,
    stem: &'p str,
    entry: Entry,
}

impl<'p> CheckpointWriter<'p> {
    pub(super) fn new(dir: &'p Path, stem: &'p str) -> CheckpointWriter<'p> {
        CheckpointWriter { dir, stem, entry: Entry::default() }
    }

    pub(super) fn entry(self, what: &str, cpu_seconds: f64) -> Entry {
        let data = Data { cpu_seconds, ..self.entry.data };
        Entry { what: what.to_string(), data, ..self.entry }
    }

    /// Removes the files of a checkpoint that cannot be saved completely.
    pub(super) fn drop_files(self) {
        ledger::remove(self.dir, &self.entry.files);
    }

    fn name(&self, ending: &str) -> String {
        format!("{}-{}{ending}", self.stem, self.entry.files.len())
    }

    /// Saves a value in the ledger.
    pub fn plain(&mut self, value: &impl Serialize) -> Result<()> {
        let value = serde_json::to_value(value).map_err(Error::table("write the ledger"))?;
        self.entry.data.plain.push(value);
        Ok(())
    }

    /// Saves whether a value is present, and the value if it is present.
    pub fn optional<T>(&mut self, value: Option<T>, save: impl FnOnce(T, &mut Self) -> Result<()>) -> Result<()> {
        self.plain(&value.is_some())?;
        value.map_or(Ok(()), |value| save(value, self))
    }

    /// Saves bytes in a file.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let file = save_file(self.dir, &self.name(SAVED), bytes)?;
        self.entry.files.push(file);
        Ok(())
    }

    /// Saves bytes in a file as they are produced.
    pub fn stream(&mut self, write: impl FnOnce(&mut SavedFileWriter) -> Result<()>) -> Result<()> {
        let mut writer = SavedFileWriter::create(self.dir, &self.name(SAVED))?;
        write(&mut writer)?;
        self.entry.files.push(writer.finish()?);
        Ok(())
    }

    /// Saves an array in a file.
    pub fn array<T: bytemuck::Pod>(&mut self, array: &Mapped<T>) -> Result<()> {
        let file = array.save_file(self.dir, &self.name(SAVED))?;
        self.entry.files.push(file);
        Ok(())
    }

    /// Saves cells in a file.
    pub fn cells<T: CellValue>(&mut self, cells: &AtomicCells<T>) -> Result<()> {
        let file = cells.save_file(self.dir, &self.name(SAVED))?;
        self.entry.files.push(file);
        Ok(())
    }

    /// Saves bits in a file.
    pub fn bits(&mut self, bits: &AtomicBits) -> Result<()> {
        self.plain(&bits.len())?;
        let file = bits.save_file(self.dir, &self.name(SAVED))?;
        self.entry.files.push(file);
        Ok(())
    }

    /// Saves the ranks of set bits in a file.
    pub fn ranks(&mut self, ranks: &Ranks) -> Result<()> {
        self.plain(&ranks.len())?;
        let file = ranks.save_file(self.dir, &self.name(SAVED))?;
        self.entry.files.push(file);
        Ok(())
    }

    /// Saves a heap in a file.
    pub fn heap(&mut self, heap: &FrozenHeap) -> Result<()> {
        let file = heap.save_file(self.dir, &self.name(SAVED))?;
        self.entry.files.push(file);
        Ok(())
    }

    /// Saves the rows of a hash-ordered shuffle to a file. Later reads of the rows use this file.
    pub fn rows(&mut self, engine: &Engine<'_>, rows: &mut Sorted) -> Result<()> {
        let (width, group_width) = rows.widths();
        let counts: Vec<u64> = (0..rows.partitions()).map(|partition| rows.rows_of(partition)).collect();
        let writer = RunWriter::create(self.dir, &self.name(RUN), width, group_width, &counts, false)?;
        let memory = engine.budget.a_thread / 2;
        engine.work(
            rows.partitions(),
            || Ok(()),
            |(), partition| {
                engine.go_on()?;
                writer.write(partition, &rows.load(partition, memory)?, memory)
            },
            Ok,
        )?;
        let file = writer.finish()?;
        let run = Run::load_file(self.dir, &file)?;
        self.entry.files.push(file);
        *rows = Sorted::of_run(run, rows.partitions());
        Ok(())
    }
}

/// Reads a checkpoint. The parts must be read in the order in which they were saved.
pub struct CheckpointReader<'p> {
    dir: &'p Path,
    plain: std::slice::Iter<'p, serde_json::Value>,
    files: std::slice::Iter<'p, SavedFile>,
}

impl<'p> CheckpointReader<'p> {
    pub(super) fn new(dir: &'p Path, entry: &'p Entry) -> CheckpointReader<'p> {
        CheckpointReader { dir, plain: entry.data.plain.iter(), files: entry.files.iter() }
    }

    fn damaged(&self, why: impl Into<String>) -> Error {
        Error::Damaged { path: self.dir.join("ledger.json"), why: why.into() }
    }

    /// Restores a value from the ledger.
    pub fn plain<T: DeserializeOwned>(&mut self) -> Result<T> {
        let value = self.plain.next().ok_or_else(|| self.damaged("a value is missing"))?;
        T::deserialize(value).map_err(|error| self.damaged(format!("a value cannot be read: {error}")))
    }

    /// Restores a value saved by [`CheckpointWriter::optional`].
    pub fn optional<T>(&mut self, restore: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<T>> {
        if self.plain()? { restore(self).map(Some) } else { Ok(None) }
    }

    fn file(&mut self) -> Result<&'p SavedFile> {
        self.files.next().ok_or_else(|| self.damaged("a file is missing"))
    }

    /// Restores bytes from a file.
    pub fn bytes(&mut self) -> Result<LoadedFile> {
        LoadedFile::load_file(self.dir, self.file()?)
    }

    /// Restores an array from a file.
    pub fn array<T: bytemuck::Pod>(&mut self) -> Result<Mapped<T>> {
        Mapped::load_file(self.dir, self.file()?)
    }

    /// Restores cells from a file.
    pub fn cells<T: CellValue>(&mut self) -> Result<AtomicCells<T>> {
        AtomicCells::load_file(self.dir, self.file()?)
    }

    /// Restores bits from a file.
    pub fn bits(&mut self) -> Result<AtomicBits> {
        let len = self.plain()?;
        AtomicBits::load_file(self.dir, self.file()?, len)
    }

    /// Restores the ranks of set bits from a file.
    pub fn ranks(&mut self) -> Result<Ranks> {
        let len = self.plain()?;
        Ranks::load_file(self.dir, self.file()?, len)
    }

    /// Restores a heap from a file.
    pub fn heap(&mut self) -> Result<FrozenHeap> {
        FrozenHeap::load_file(self.dir, self.file()?)
    }

    /// Restores rows from a file.
    pub fn rows(&mut self, engine: &Engine<'_>) -> Result<Sorted> {
        let run = Run::load_file(self.dir, self.file()?)?;
        let bytes = run.rows() * run.width() as u64;
        let partitions = engine.budget.partitions(bytes).max(engine.pool.current_num_threads());
        // All rows are checked immediately; otherwise, damage would be discovered only in the middle of a later stage.
        let memory = engine.budget.a_thread;
        let sorted = Sorted::of_run(run, partitions);
        engine.work(sorted.partitions(), || Ok(()), |(), partition| sorted.load(partition, memory).map(drop), Ok)?;
        Ok(sorted)
    }
}

/// Saves the rows that an index stores.
impl Checkpoint for Sorted {
    fn save(&mut self, engine: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.rows(engine, self)
    }

    fn restore(engine: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Sorted> {
        from.rows(engine)
    }
}

/// Saves and restores the learned model of an algorithm.
impl Checkpoint for Vec<u64> {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.bytes(bytemuck::cast_slice(self))
    }

    fn restore(_: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Vec<u64>> {
        Ok(bytemuck::allocation::pod_collect_to_vec(&from.bytes()?))
    }
}

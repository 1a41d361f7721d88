//! Sorts more records than fit in memory: writes sorted runs to disk and merges them.
//!
//! A run fills the memory allowance. The merge uses a loser tree and reads all runs at the same time, each through its own buffer. If the
//! buffers would be shorter than [`LEAST_BUFFER`], as many runs as necessary are first merged into longer runs. A hot key needs no special
//! treatment: its records are merged like all other records.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::block::{Block, BlockReader, SpillFile};
use super::space::{self, WRITE};
use super::store::Rows;
use super::{sort, tournament::Tournament};
use dupsift_core::error::{Error, Result};

/// The minimum buffer size per run, in bytes, if the allowance is sufficient for three buffers.
const LEAST_BUFFER: usize = 16 << 10;

/// The maximum buffer size per run, in bytes. Larger buffers would not be faster.
const MOST_BUFFER: usize = 1 << 20;

/// Sorted runs in a temporary file.
pub(super) struct Runs {
    file: SpillFile,
    runs: VecDeque<Vec<Block>>,
    width: usize,
    dir: PathBuf,
    name: String,
}

/// Reads all rows and writes them as sorted runs of this many records.
pub(super) fn sort_runs(
    mut rows: Rows<'_>,
    width: usize,
    records_in_memory: usize,
    dir: &Path,
    name: &str,
) -> Result<Runs> {
    let file = SpillFile::new(dir, &format!("{name}.runs"));
    let mut runs = VecDeque::new();
    let run_bytes = records_in_memory * width;
    let (mut run, mut scratch) = (vec![0; run_bytes], vec![0; run_bytes]);
    loop {
        let filled = rows.read(&mut run)?;
        if filled == 0 {
            return Ok(Runs { file, runs, width, dir: dir.to_path_buf(), name: format!("{name}.sorted") });
        }
        sort::sort(&mut run[..filled], &mut scratch[..filled], width);
        runs.push_back(run[..filled].chunks(MOST_BUFFER).map(|piece| file.append(&[piece])).collect::<Result<_>>()?);
    }
}

impl Runs {
    /// Merges the runs into one mapped file, with buffers of `allowed` bytes in total. Returns the map and the number of bytes written to
    /// disk, including the runs.
    pub(super) fn merge(mut self, allowed: usize) -> Result<(Mmap, u64)> {
        let most_at_once = (allowed / LEAST_BUFFER).saturating_sub(1).max(2);
        while self.runs.len() > most_at_once {
            // The first round merges only as many runs as are needed for all later rounds to merge the maximum number of runs.
            let take = (self.runs.len() - most_at_once + 1).min(most_at_once);
            let taken: Vec<Vec<Block>> = self.runs.drain(..take).collect();
            let mut longer = Vec::new();
            self.merge_some(&taken, allowed, |bytes| {
                longer.push(self.file.append(&[bytes])?);
                Ok(())
            })?;
            taken.iter().for_each(|run| self.file.give_back(run));
            self.runs.push_back(longer);
        }
        self.runs.make_contiguous();
        let (file, path) = space::work_file(&self.dir, &self.name)?;
        let mut end = 0;
        self.merge_some(self.runs.as_slices().0, allowed, |bytes| {
            file.write_all_at(bytes, end).map_err(Error::io(WRITE, &path))?;
            end += bytes.len() as u64;
            Ok(())
        })?;
        let map = map_sequential(&file, &path)?;
        Ok((map, self.file.written() + end))
    }

    fn merge_some(&self, runs: &[Vec<Block>], allowed: usize, mut out: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let records = (allowed / (runs.len() + 1)).min(MOST_BUFFER) / self.width;
        let buffer_bytes = records.max(1) * self.width;
        let mut readers = Vec::with_capacity(runs.len());
        for run in runs {
            readers.push(RunReader::new(self.file.read(run), buffer_bytes, self.width)?);
        }
        let mut buffer = Vec::with_capacity(buffer_bytes);
        let mut tournament = Tournament::new(readers.len(), |a, b| readers[a].beats(&readers[b]));
        while let Some(record) = readers.get(tournament.winner()).and_then(RunReader::head) {
            buffer.extend_from_slice(record);
            if buffer.len() == buffer_bytes {
                out(&buffer)?;
                buffer.clear();
            }
            readers[tournament.winner()].advance()?;
            tournament.replay(|a, b| readers[a].beats(&readers[b]));
        }
        if buffer.is_empty() { Ok(()) } else { out(&buffer) }
    }
}

fn map_sequential(file: &File, path: &Path) -> Result<Mmap> {
    let map = space::map_to_read(file, path)?;
    // The system may reject the advice, which is harmless.
    let _ = map.advise(memmap2::Advice::Sequential);
    Ok(map)
}

/// Reads one run, record by record.
struct RunReader<'f> {
    source: BlockReader<'f>,
    buffer: Vec<u8>,
    width: usize,
    at: usize,
    filled: usize,
    /// The prefix of the record at `at`, so that most comparisons do not require reading the record.
    prefix: u64,
}

impl<'f> RunReader<'f> {
    fn new(source: BlockReader<'f>, buffer_bytes: usize, width: usize) -> Result<RunReader<'f>> {
        let mut reader = RunReader { source, buffer: vec![0; buffer_bytes], width, at: 0, filled: 0, prefix: 0 };
        reader.refill()?;
        Ok(reader)
    }

    /// Returns the current record; `None` after the last record.
    #[inline]
    fn head(&self) -> Option<&[u8]> {
        (self.at < self.filled).then(|| &self.buffer[self.at..self.at + self.width])
    }

    #[inline]
    fn advance(&mut self) -> Result<()> {
        self.at += self.width;
        if self.at >= self.filled {
            return self.refill();
        }
        self.prefix = sort::prefix(&self.buffer[self.at..self.at + self.width]);
        Ok(())
    }

    fn refill(&mut self) -> Result<()> {
        self.at = 0;
        self.filled = self.source.read(&mut self.buffer)?;
        self.prefix = self.head().map_or(u64::MAX, sort::prefix);
        Ok(())
    }

    /// Returns whether the current record of this run sorts before the current record of the other run. A finished run sorts last.
    #[inline]
    fn beats(&self, other: &RunReader<'_>) -> bool {
        if self.prefix != other.prefix {
            return self.prefix < other.prefix;
        }
        match (self.head(), other.head()) {
            (Some(one), Some(two)) => one < two,
            (one, _) => one.is_some(),
        }
    }
}

//! Writes the term table on many threads: each thread sums the counts of a range of terms, and the ranges are
//! consecutive in the file.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::stretches::Spread;
use super::table::{TermTable, check_counts, record};
use super::term_file::nameless;
use dupsift_core::error::{Error, Result};

/// The interval at which a waiting thread checks whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Writes a term table in parts. Parts with lower numbers contain lower terms.
pub struct TermTableParts {
    file: File,
    path: PathBuf,
    turn: Mutex<Turn>,
    moved: Condvar,
}

/// Holds the state of the part whose position in the file is determined next.
#[derive(Default)]
struct Turn {
    next: usize,
    end: u64,
    last: Option<u64>,
    /// The number of the first part that failed.
    failed: Option<usize>,
}

impl TermTableParts {
    /// Creates a new file at `path`.
    pub fn create(path: &Path) -> Result<TermTableParts> {
        let (turn, moved) = (Mutex::default(), Condvar::new());
        Ok(TermTableParts { file: nameless(path)?, path: path.to_path_buf(), turn, moved })
    }

    /// Returns the part with this number, counted from 0. Each part must be written by one thread, and parts must be started in order.
    /// Until a part gets its position in the file, it keeps its data in memory (at most `keeps` bytes), and calls `go_on` while it waits.
    pub fn part<'p>(&'p self, at: usize, keeps: usize, go_on: &'p dyn Fn() -> Result<()>) -> TermTablePart<'p> {
        TermTablePart {
            of: self,
            at,
            keeps,
            go_on,
            bytes: Vec::new(),
            first: None,
            last: None,
            place: None,
            ended: false,
        }
    }

    /// Finishes the file and opens it for lookups, on the threads of `spread`.
    pub fn finish(self, spread: Spread<'_>) -> Result<TermTable> {
        TermTable::open(&self.file, &self.path, spread)
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until all previous parts have their positions.
    fn wait(&self, at: usize, go_on: &dyn Fn() -> Result<()>) -> Result<MutexGuard<'_, Turn>> {
        let mut turn = self.turn();
        while turn.next < at {
            go_on()?;
            // The thread that writes the failed part reports the error.
            if turn.failed.is_some_and(|failed| failed < at) {
                return Err(Error::Interrupted);
            }
            turn = self.moved.wait_timeout(turn, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(turn)
    }

    fn disorder(&self) -> Error {
        Error::Damaged { path: self.path.clone(), why: "terms out of order".into() }
    }
}

/// Writes one part of a table.
pub struct TermTablePart<'p> {
    of: &'p TermTableParts,
    at: usize,
    keeps: usize,
    go_on: &'p dyn Fn() -> Result<()>,
    bytes: Vec<u8>,
    first: Option<u64>,
    last: Option<u64>,
    /// The position of the next bytes in the file; `None` until the position of this part is known.
    place: Option<u64>,
    ended: bool,
}

impl TermTablePart<'_> {
    /// Appends a term; terms must be in strictly ascending order.
    pub fn push(&mut self, term: u64, df: u64, cf: u64) -> Result<()> {
        if self.last.is_some_and(|last| last >= term) {
            return Err(self.of.disorder());
        }
        check_counts(&self.of.path, df, cf)?;
        self.first.get_or_insert(term);
        self.last = Some(term);
        self.bytes.extend_from_slice(&record(term, df, cf));
        if self.bytes.len() < self.keeps {
            return Ok(());
        }
        let place = match self.place {
            Some(place) => place,
            None => self.of.wait(self.at, self.go_on)?.end,
        };
        self.write(place)?;
        self.place = Some(place + self.bytes.len() as u64);
        Ok(self.bytes.clear())
    }

    /// Finishes the part.
    pub fn end(mut self) -> Result<()> {
        let place = {
            let mut turn = self.of.wait(self.at, self.go_on)?;
            if turn.last.zip(self.first).is_some_and(|(last, first)| last >= first) {
                return Err(self.of.disorder());
            }
            let place = self.place.unwrap_or(turn.end);
            turn.end = place + self.bytes.len() as u64;
            turn.last = self.last.or(turn.last);
            turn.next += 1;
            self.ended = true;
            place
        };
        self.of.moved.notify_all();
        self.write(place)
    }

    fn write(&self, place: u64) -> Result<()> {
        self.of.file.write_all_at(&self.bytes, place).map_err(Error::io("write the term table", &self.of.path))
    }
}

impl Drop for TermTablePart<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let mut turn = self.of.turn();
            turn.failed = Some(turn.failed.map_or(self.at, |first| first.min(self.at)));
            drop(turn);
            self.of.moved.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::TermTableWriter;
    use dupsift_core::hash::splitmix64;
    use rayon::iter::{IntoParallelIterator, ParallelIterator};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Writes parts on several threads. `keeps` is the maximum number of bytes that each part keeps in memory, and `fails` lists the
    /// numbers of the parts that fail.
    fn write(terms: &[Vec<u64>], threads: usize, keeps: usize, fails: &[usize]) -> (TermTable, Vec<Result<()>>) {
        let folder = tempfile::tempdir().unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let parts = TermTableParts::create(&folder.path().join("terms")).unwrap();
        let next = AtomicUsize::new(0);
        let results = pool.broadcast(|_| {
            let mut results = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(terms) = terms.get(at) else { return results };
                let mut part = parts.part(at, keeps, &|| Ok(()));
                let pushed = terms.iter().try_for_each(|&term| part.push(term, 1 + term % 9, 1 + term % 11));
                results.push(if fails.contains(&at) {
                    Err(parts.disorder())
                } else {
                    pushed.and_then(|()| part.end())
                });
            }
        });
        (
            parts.finish(&|count, each| pool.install(|| (0..count).into_par_iter().for_each(each))).unwrap(),
            results.into_iter().flatten().collect(),
        )
    }

    #[test]
    fn the_table_is_that_of_one_thread() {
        let mut all: Vec<u64> = (0..5000).map(|n| splitmix64(3, n)).collect();
        all.sort_unstable();
        // The parts differ in size, and some are empty.
        let parts: Vec<Vec<u64>> = [0, 1, 0, 2000, 7, 2900, 92, 0]
            .iter()
            .scan(0, |from, &size| {
                *from += size;
                Some(all[*from - size..*from].to_vec())
            })
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let mut writer = TermTableWriter::create(&folder.path().join("terms")).unwrap();
        all.iter().for_each(|&term| writer.push(term, 1 + term % 9, 1 + term % 11).unwrap());
        let alone = writer.finish().unwrap();
        for (threads, keeps) in [(1, usize::MAX), (3, 100), (8, 1 << 20), (8, 1)] {
            let (table, results) = write(&parts, threads, keeps, &[]);
            assert!(results.iter().all(Result::is_ok));
            assert_eq!(table.len(), alone.len());
            assert!((0..table.len()).all(|at| table.entry(at) == alone.entry(at)));
            assert!(all.iter().all(|&term| table.get(term) == alone.get(term) && table.get(term ^ 1).is_none()));
        }
    }

    #[test]
    fn a_part_that_fails_lets_no_other_wait() {
        let parts: Vec<Vec<u64>> = (0..20).map(|at| (at * 100..at * 100 + 50).collect()).collect();
        let (_, results) = write(&parts, 4, 64, &[3]);
        // All parts before the failed part are written, and no later part has a position.
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 3);
        assert_eq!(results.len(), 20);
    }

    #[test]
    fn parts_out_of_order_are_refused() {
        let (_, results) = write(&[vec![5, 6], vec![6, 9]], 2, 64, &[]);
        assert_eq!(results.iter().filter(|result| result.is_err()).count(), 1);
    }
}

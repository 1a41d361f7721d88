//! How `--memory` is divided, the least that would do, and what a run will take.
//!
//! The promise (design.md 5): anonymous memory stays under the budget + 150 MB (code, dictionary) + 30 times the longest
//! document. Half of the budget holds rows before they go to disk, the rest is shared by the threads for sorting and
//! counting. Arrays that grow with the number of documents live in memory-mapped work files and are not anonymous.

use bytesize::ByteSize;

use crate::error::{Error, Result};
use crate::shuffle::MAX_PARTITIONS;

/// What each thread needs at the least: a batch of documents, staging of writers, a sort.
const LEAST_A_THREAD: u64 = 16 << 20;
/// What the process needs at the least besides.
const LEAST: u64 = 16 << 20;

/// A partition of so many bytes is sorted without many trips to memory.
const CACHED: u64 = 2 << 20;

/// The shares of the budget.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Rows waiting in memory, for all shuffles of the job together.
    pub rows: usize,
    /// Sorting or counting, for each thread.
    pub a_thread: usize,
    /// About how many bytes of text a thread decodes at a time.
    pub batch: usize,
}

impl Budget {
    /// Divides the budget.
    ///
    /// # Errors
    /// [`Error::Memory`] with the least that would do.
    pub fn new(memory: u64, threads: usize) -> Result<Budget> {
        let least = least(threads);
        if memory < least {
            return Err(Error::Memory { asked: ByteSize(memory).to_string(), least: ByteSize(least).to_string() });
        }
        let a_thread = (memory as f64 * 0.4) as usize / threads;
        Ok(Budget { rows: (memory / 2) as usize, a_thread, batch: (a_thread / 4).clamp(1 << 20, 4 << 20) })
    }

    /// Partitions for about so many bytes of rows: each is sorted in memory by one thread, and where few partitions do
    /// for that, in its cache.
    pub fn partitions(&self, bytes: u64) -> usize {
        let cached = bytes.div_ceil(CACHED).clamp(1, 256);
        // Half of a thread's share is for the records, half of that for those that came in larger numbers than expected.
        let in_memory = bytes.div_ceil((self.a_thread / 4).max(1) as u64).min(MAX_PARTITIONS as u64);
        cached.max(in_memory) as usize
    }
}

/// The least budget that is accepted.
pub fn least(threads: usize) -> u64 {
    LEAST + threads as u64 * LEAST_A_THREAD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_says_what_would_do() {
        let message = Budget::new(1 << 20, 2).unwrap_err().to_string();
        assert_eq!(message, "--memory 1.0 MiB is too small for this work; the least that would do is 48.0 MiB");
        let budget = Budget::new(64 << 20, 2).unwrap();
        assert!(budget.rows + 2 * budget.a_thread <= 64 << 20);
    }

    #[test]
    fn partitions_fit_their_sorter() {
        let budget = Budget::new(1 << 30, 4).unwrap();
        assert_eq!((budget.partitions(0), budget.partitions(5 << 20)), (1, 3));
        for many in [10 << 30, 25 << 30] {
            assert!(2 * many / budget.partitions(many) as u64 <= budget.a_thread as u64);
        }
    }
}

//! Divides the `--memory` budget, and computes a run's minimum and expected memory use.
//!
//! Anonymous memory is guaranteed to stay below the sum of three amounts, regardless of the number of threads: the budget, 150 MB (for the
//! program itself and the memory that the allocator keeps), and 30 times the size of the longest document. Half of the budget holds rows
//! before they spill to disk. The threads share the other half for sorting and counting. Parquet pages that are being read may use another
//! 32 MiB and the half of the budget that holds rows; rows are then spilled to make room. Arrays that grow with the number of documents are
//! in memory-mapped temporary files and are not anonymous.

use bytesize::ByteSize;

use dupsift_core::error::{Error, Result};
use dupsift_spill::shuffle::MAX_PARTITIONS;

/// The minimum memory per thread in bytes, for a batch of documents, write buffers and a sort.
const LEAST_A_THREAD: u64 = 16 << 20;
/// The minimum memory of the process in bytes, in addition to the memory of its threads.
const LEAST: u64 = 16 << 20;

/// The size in bytes of a partition that is sorted mostly within the CPU cache.
const CACHED: u64 = 2 << 20;

/// The maximum size, in bytes, of the pages that readers may hold before rows are spilled to make room.
const PAGES: u64 = 32 << 20;

/// The part of the fixed 150 MB, in bytes, that a page may use if no other page is being read. The rest is for the program itself.
const OF_THE_CONSTANT: u64 = 110_000_000;

/// The memory, in bytes, that is used while a table of pages is written: an unfinished row group, rows not yet encoded, a batch, and the
/// tree of a page.
const A_TABLE_OF_PAGES: u64 = 32 << 20;

/// The number of copies of a long value that a table holds while it is written: in a batch, among the distinct values, in a page, as the
/// minimum, and as the maximum.
const A_VALUE_IN_A_TABLE: u64 = 5;

/// The number of copies of a very long value that exist while its row is read (in the line, in the unescaped form, in the batch) or written
/// (in the batch, in a page, in the compressed page).
const A_LONG_VALUE_IN_A_TABLE: u64 = 3;

/// The guaranteed maximum number of bytes of memory used per byte of the longest document.
const A_DOCUMENT: u64 = 30;

/// Holds the shares of the budget.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The total budget in bytes.
    pub memory: u64,
    /// The number of threads that share the budget.
    pub threads: usize,
    /// The maximum memory, in bytes, for the rows of all shuffles in the job.
    pub rows: usize,
    /// The number of bytes per thread for sorting or counting.
    pub a_thread: usize,
    /// The approximate number of bytes of text that a thread decodes at a time.
    pub batch: usize,
}

impl Budget {
    /// Divides the budget.
    ///
    /// # Errors
    /// Returns [`Error::Memory`] with the smallest sufficient budget.
    pub fn new(memory: u64, threads: usize) -> Result<Budget> {
        let least = least(threads);
        if memory < least {
            return Err(Error::Memory { asked: ByteSize(memory).to_string(), least: ByteSize(least).to_string() });
        }
        let a_thread = (memory as f64 * 0.4) as usize / threads;
        let (rows, batch) = ((memory / 2) as usize, (a_thread / 4).clamp(1 << 20, 4 << 20));
        Ok(Budget { memory, threads, rows, a_thread, batch })
    }

    /// Returns the maximum total size, in bytes, of the pages that all readers hold. A page that exceeds this size is read while no other
    /// page is held.
    pub fn pages(&self) -> u64 {
        self.rows as u64 + PAGES
    }

    /// Returns the maximum size, in bytes, of the pages that a reader holds without taking memory from the rows.
    pub fn free_pages(&self) -> u64 {
        PAGES / self.threads as u64
    }

    /// Returns the maximum size of a piece whose pages need not be checked one by one.
    pub(crate) fn small_piece(&self) -> u64 {
        self.pages() / (2 * self.threads as u64)
    }

    /// Returns whether a page of this many bytes that contains a value of at least `longest` bytes can be read. The page may use the memory
    /// for rows and part of the remaining guaranteed memory. The longest document in the page is processed after the compressed bytes are
    /// freed.
    pub fn fits(&self, bytes: u64, longest: u64) -> bool {
        bytes <= self.room_for_page(longest)
    }

    /// Returns the maximum size of a page that contains a value of at least `longest` bytes.
    pub(crate) fn room_for_page(&self, longest: u64) -> u64 {
        OF_THE_CONSTANT.saturating_add(longest.saturating_mul(A_DOCUMENT)).saturating_add(self.memory / 10 * 6)
    }

    /// Returns the smallest budget that is sufficient for a page of this size.
    pub(crate) fn least_for(&self, bytes: u64, longest: u64) -> u64 {
        let besides = OF_THE_CONSTANT.saturating_add(longest.saturating_mul(A_DOCUMENT));
        let needed = bytes.saturating_sub(besides).div_ceil(6).saturating_mul(10) + 10;
        // The result is rounded up to whole MiB, because it is displayed in MiB.
        needed.div_ceil(1 << 20).saturating_mul(1 << 20).max(least(self.threads))
    }

    /// Returns the number of tables of pages that are written at the same time if a reader holds at most `a_reader` bytes of its file and
    /// values are `a_value` bytes long. The tables share the part of the budget that the readers leave free.
    pub fn tables_of_pages(&self, a_reader: u64, a_value: u64) -> usize {
        let a_table = A_TABLE_OF_PAGES.saturating_add(a_value.saturating_mul(A_VALUE_IN_A_TABLE));
        let fit = |tables: u64| {
            let readers = self.pages().max(a_reader).min(a_reader.saturating_mul(tables));
            a_table.saturating_mul(tables).saturating_add(readers.saturating_sub(OF_THE_CONSTANT)) <= self.memory
        };
        (2..=self.threads as u64).take_while(|&tables| fit(tables)).last().unwrap_or(1) as usize
    }

    /// Returns the additional memory that is guaranteed for a document of this many bytes.
    pub fn promised_for(&self, longest: u64) -> u64 {
        longest.saturating_mul(A_DOCUMENT)
    }

    /// Returns whether a row can be written to a table of pages. `bytes` is the total size of the row's columns except the page, and `held`
    /// is the number of bytes of its file that a reader holds. The check assumes that only one table is written at a time.
    pub fn fits_row(&self, bytes: u64, held: u64) -> bool {
        row_in_a_table(bytes, held) <= self.memory
    }

    /// Returns the smallest budget that is sufficient for a row of this size.
    pub fn least_for_row(&self, bytes: u64, held: u64) -> u64 {
        let needed = row_in_a_table(bytes, held);
        // The result is rounded up to whole MiB, because it is displayed in MiB.
        needed.div_ceil(1 << 20).saturating_mul(1 << 20).max(least(self.threads))
    }

    /// Returns the size above which a document counts as long. Processing a document takes about twenty times its size in memory, so
    /// [`Budget::long_documents`] limits the number of long documents that are processed at a time.
    pub(crate) fn short_document(&self) -> u64 {
        (self.a_thread as u64 / 64).clamp(16 << 10, 1 << 20)
    }

    /// Returns the maximum number of bytes of long documents that are processed at a time. A document that exceeds this limit is processed
    /// alone.
    pub fn long_documents(&self) -> u64 {
        (self.memory / 128).max(self.short_document())
    }

    /// Returns the number of partitions for approximately this many bytes of rows. One thread sorts each partition in memory. If a few
    /// partitions suffice, each partition also fits in the CPU cache of the thread.
    pub fn partitions(&self, bytes: u64) -> usize {
        let cached = bytes.div_ceil(CACHED).clamp(1, 256);
        // Half of a thread's share is for the records; half of this amount is reserved in case there are more records than expected.
        let in_memory = bytes.div_ceil((self.a_thread / 4).max(1) as u64).min(MAX_PARTITIONS as u64);
        cached.max(in_memory) as usize
    }
}

/// Returns the part of the budget, in bytes, that a long row takes while it is written. A reader holds one of the row's values, either
/// alone or in a page with values of other rows.
fn row_in_a_table(bytes: u64, held: u64) -> u64 {
    let written = bytes.saturating_mul(A_LONG_VALUE_IN_A_TABLE - 1);
    written.saturating_add(held.max(bytes)).saturating_sub(OF_THE_CONSTANT)
}

/// Returns the smallest accepted budget.
pub(crate) fn least(threads: usize) -> u64 {
    LEAST + threads as u64 * LEAST_A_THREAD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_says_what_would_do() {
        let message = Budget::new(1 << 20, 2).unwrap_err().to_string();
        assert_eq!(message, "`memory=1.0 MiB` is too small for this run; the minimum is 48.0 MiB");
        let budget = Budget::new(64 << 20, 2).unwrap();
        assert!(budget.rows + 2 * budget.a_thread <= 64 << 20);
    }

    #[test]
    fn a_page_that_is_too_large_says_what_would_do() {
        let budget = Budget::new(160 << 20, 8).unwrap();
        assert!(budget.fits(200_000_000, 0) && !budget.fits(211_000_000, 0) && budget.fits(500_000_000, 10_000_000));
        for (bytes, longest) in [(300_000_000, 0), (3_000_000_000, 1000), (u64::MAX / 40, 7)] {
            let least = budget.least_for(bytes, longest);
            assert!(!budget.fits(bytes, longest) && Budget::new(least, 8).unwrap().fits(bytes, longest), "{bytes}");
        }
        assert_eq!(budget.least_for(211_000_000, 0), 161 << 20);
        assert!(budget.pages() < 128 << 20 && budget.short_document() < budget.long_documents());
    }

    #[test]
    fn tables_of_pages_have_what_readers_leave() {
        let budget = |mebibytes: u64, threads| Budget::new(mebibytes << 20, threads).unwrap();
        let tables = |mebibytes, threads, a_reader| budget(mebibytes, threads).tables_of_pages(a_reader, 0);
        assert_eq!([tables(32, 1, 0), tables(160, 8, 4 << 20), tables(2048, 8, 4 << 20)], [1, 5, 8]);
        // The page takes 100 MB in addition to its bytes in the file: 168 MB - (205 - 110) leaves room for two tables.
        assert_eq!([tables(160, 8, 205_000_000), tables(160, 8, 500_000_000), tables(2048, 8, 205_000_000)], [2, 1, 8]);
        // Two tables of 16 MB lines would hold ten lines in addition to the fixed size of the tables.
        let long = |mebibytes| budget(mebibytes, 8).tables_of_pages(64_000_000, 16_000_000);
        assert_eq!([long(144), long(2048)], [1, 8]);
    }

    #[test]
    fn a_row_that_is_too_long_says_what_would_do() {
        let budget = Budget::new(144 << 20, 8).unwrap();
        assert!(budget.fits_row(86_000_000, 0) && !budget.fits_row(99_000_000, 0));
        for bytes in [99_000_000, 135_000_000, u64::MAX / 3] {
            let least = budget.least_for_row(bytes, 0);
            assert!(least <= 144 << 20 || Budget::new(least, 8).unwrap().fits_row(bytes, 0), "{bytes}");
        }
        assert_eq!(budget.least_for_row(99_000_000, 0), 179 << 20);
        // The page contains ten 30 MB values. Memory holds the page and two copies of one value.
        assert!(!budget.fits_row(30_000_000, 300_000_000) && budget.fits_row(30_000_000, 190_000_000));
        assert_eq!(budget.least_for_row(30_000_000, 300_000_000), 239 << 20);
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

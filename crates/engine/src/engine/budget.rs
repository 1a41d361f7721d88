//! How `--memory` is divided, the least that would do, and what a run will take.
//!
//! The promise: anonymous memory stays under the budget + 150 MB (what the program is, and what the allocator keeps) + 30
//! times the longest document, once, for any number of threads. Half of the budget holds rows before they go to disk, the rest is
//! shared by the threads for sorting and counting. Pages of files that are read take of the half of the rows, which
//! go to disk for them, and of 32 MiB besides. Arrays that grow with the number of documents live in memory-mapped work files
//! and are not anonymous.

use bytesize::ByteSize;

use dupsift_core::error::{Error, Result};
use dupsift_spill::shuffle::MAX_PARTITIONS;

/// What each thread needs at the least: a batch of documents, staging of writers, a sort.
const LEAST_A_THREAD: u64 = 16 << 20;
/// What the process needs at the least besides.
const LEAST: u64 = 16 << 20;

/// A partition of so many bytes is sorted without many trips to memory.
const CACHED: u64 = 2 << 20;

/// What readers may hold of pages before rows have to make way for them.
const PAGES: u64 = 32 << 20;

/// What a page that is read alone may have of the 150 MB: the rest is the program's own.
const OF_THE_CONSTANT: u64 = 110_000_000;

/// What a table of pages takes while it is made: an unfinished row group, rows not yet encoded, a batch, the tree of a page.
const A_TABLE_OF_PAGES: u64 = 32 << 20;

/// How often a table holds a long value while it is made: in a batch, among the different values, in a page, as the least and
/// the greatest.
const A_VALUE_IN_A_TABLE: u64 = 5;

/// How often a very long value is held while its row is read and written: in its line, while it is unescaped, in the batch; then
/// in the batch, in a page, and as it is packed.
const A_LONG_VALUE_IN_A_TABLE: u64 = 3;

/// What is promised for each byte of the longest document.
const A_DOCUMENT: u64 = 30;

/// The shares of the budget.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// All of it.
    pub memory: u64,
    /// The threads that share it.
    pub threads: usize,
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
        let (rows, batch) = ((memory / 2) as usize, (a_thread / 4).clamp(1 << 20, 4 << 20));
        Ok(Budget { memory, threads, rows, a_thread, batch })
    }

    /// What all readers together may hold of pages; a larger page is read while no other is.
    pub fn pages(&self) -> u64 {
        self.rows as u64 + PAGES
    }

    /// What a reader may hold of pages without taking it from the rows.
    pub fn free_pages(&self) -> u64 {
        PAGES / self.threads as u64
    }

    /// What a piece may have of pages without a look at each.
    pub fn small_piece(&self) -> u64 {
        self.pages() / (2 * self.threads as u64)
    }

    /// Whether a page of so many bytes can be read at all, a value of that many bytes or more being in it. It has what is
    /// the rows' and a part of what is promised besides; its longest document is worked on when its packed bytes are
    /// gone.
    pub fn fits(&self, bytes: u64, longest: u64) -> bool {
        bytes <= self.room_for_page(longest)
    }

    /// The bytes that a page may take in which a value of that many bytes or more is.
    pub fn room_for_page(&self, longest: u64) -> u64 {
        OF_THE_CONSTANT.saturating_add(longest.saturating_mul(A_DOCUMENT)).saturating_add(self.memory / 10 * 6)
    }

    /// The least budget that would do for such a page.
    pub fn least_for(&self, bytes: u64, longest: u64) -> u64 {
        let besides = OF_THE_CONSTANT.saturating_add(longest.saturating_mul(A_DOCUMENT));
        let needed = bytes.saturating_sub(besides).div_ceil(6).saturating_mul(10) + 10;
        // As it is written: in whole MiB.
        needed.div_ceil(1 << 20).saturating_mul(1 << 20).max(least(self.threads))
    }

    /// How many tables of pages are made at a time where a reader holds so many bytes of its file at the most, with values as
    /// long as that: they have what the readers together leave of the budget.
    pub fn tables_of_pages(&self, a_reader: u64, a_value: u64) -> usize {
        let a_table = A_TABLE_OF_PAGES.saturating_add(a_value.saturating_mul(A_VALUE_IN_A_TABLE));
        let fit = |tables: u64| {
            let readers = self.pages().max(a_reader).min(a_reader.saturating_mul(tables));
            a_table.saturating_mul(tables).saturating_add(readers.saturating_sub(OF_THE_CONSTANT)) <= self.memory
        };
        (2..=self.threads as u64).take_while(|&tables| fit(tables)).last().unwrap_or(1) as usize
    }

    /// What is promised besides for a document of so many bytes.
    pub fn promised_for(&self, longest: u64) -> u64 {
        longest.saturating_mul(A_DOCUMENT)
    }

    /// Whether a row with so many bytes in the columns beside its page can be written to a table of pages, a reader holding `held`
    /// bytes of its file besides: then no more than one table is made.
    pub fn fits_row(&self, bytes: u64, held: u64) -> bool {
        row_in_a_table(bytes, held) <= self.memory
    }

    /// The least budget that would do for such a row.
    pub fn least_for_row(&self, bytes: u64, held: u64) -> u64 {
        let needed = row_in_a_table(bytes, held);
        // As it is written: in whole MiB.
        needed.div_ceil(1 << 20).saturating_mul(1 << 20).max(least(self.threads))
    }

    /// Documents of more bytes than these are long: each takes some twenty times its bytes while it is worked on, and
    /// only as many of them are at a time as [`Budget::long_documents`] says.
    pub fn short_document(&self) -> u64 {
        (self.a_thread as u64 / 64).clamp(16 << 10, 1 << 20)
    }

    /// Bytes of long documents that are worked on at a time; a longer one alone.
    pub fn long_documents(&self) -> u64 {
        (self.memory / 128).max(self.short_document())
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

/// What a long row takes of the budget while it is written. One of its values is in the reader's hands, alone or in a page of more
/// rows.
fn row_in_a_table(bytes: u64, held: u64) -> u64 {
    let written = bytes.saturating_mul(A_LONG_VALUE_IN_A_TABLE - 1);
    written.saturating_add(held.max(bytes)).saturating_sub(OF_THE_CONSTANT)
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
        assert_eq!(message, "`memory=1.0 MiB` is too small for this work; the least that would do is 48.0 MiB");
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
        // A page of 100 MB, beside its bytes in the file: 168 MB - (205 - 110) are two tables.
        assert_eq!([tables(160, 8, 205_000_000), tables(160, 8, 500_000_000), tables(2048, 8, 205_000_000)], [2, 1, 8]);
        // Lines of 16 MB: two tables would hold ten of them beside what they always hold.
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
        // Ten of 30 MB in a page: the page, and one of them twice.
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

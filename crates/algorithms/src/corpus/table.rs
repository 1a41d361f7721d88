//! The term table: (term, df, cf) sorted by term in a memory-mapped file, so that the table uses no anonymous memory.
//!
//! Terms are well-mixed 64-bit hashes, so ranges of equal size contain about the same number of terms. An index in a second file stores
//! where each range of about [`BUCKET`] terms begins, so a lookup accesses memory twice, far less often than a binary search would. A
//! record is three little-endian 64-bit numbers, and an index entry is one such number. A third file contains the ranks (`ranks.rs`).

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use super::ranks::{Dfs, Ranks};
use super::stretches::{Spread, by_stretches};
use super::term_file::{map, nameless};
use dupsift_core::cpu::ask_for;
use dupsift_core::error::{Error, Result};
use dupsift_text::Frequency;

const RECORD: usize = 24;

/// The number of slots for the most common terms (2 MiB).
const COMMON: usize = 1 << 16;

/// The number of terms that are looked up together.
const AT_ONCE: usize = 32;

/// The average number of terms in a range of the index.
const BUCKET: usize = 4;

/// Writes a term table in ascending order of terms.
pub struct TermTableWriter {
    file: BufWriter<File>,
    path: PathBuf,
    last: Option<u64>,
    len: usize,
}

impl TermTableWriter {
    /// Creates a new file at `path`.
    pub fn create(path: &Path) -> Result<TermTableWriter> {
        let file = BufWriter::new(nameless(path)?);
        Ok(TermTableWriter { file, path: path.to_path_buf(), last: None, len: 0 })
    }

    /// Appends a term; terms must be in strictly ascending order.
    pub fn push(&mut self, term: u64, df: u64, cf: u64) -> Result<()> {
        if self.last.is_some_and(|last| last >= term) {
            let why = format!("terms out of order at entry {}", self.len);
            return Err(Error::Damaged { path: self.path.clone(), why });
        }
        check_counts(&self.path, df, cf)?;
        self.last = Some(term);
        self.len += 1;
        self.file.write_all(&record(term, df, cf)).map_err(Error::io("write the term table", &self.path))
    }

    /// Finishes the file and opens it for lookups.
    pub fn finish(self) -> Result<TermTable> {
        let file = self.file.into_inner().map_err(|error| error.into_error());
        TermTable::open(&file.map_err(Error::io("write the term table", &self.path))?, &self.path, &|count, each| {
            (0..count).for_each(each)
        })
    }
}

/// Rejects counts that do not fit in a [`Frequency`].
pub(super) fn check_counts(path: &Path, df: u64, cf: u64) -> Result<()> {
    let (most_df, most_cf) = Frequency::MOST;
    if df > most_df || cf > most_cf {
        let why = format!(
            "a term occurs {cf} times in {df} documents; at most {most_cf} occurrences and {most_df} documents can be counted"
        );
        return Err(Error::Damaged { path: path.to_path_buf(), why });
    }
    Ok(())
}

/// Encodes a term with its counts.
pub(super) fn record(term: u64, df: u64, cf: u64) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    record[..8].copy_from_slice(&term.to_le_bytes());
    record[8..16].copy_from_slice(&df.to_le_bytes());
    record[16..].copy_from_slice(&cf.to_le_bytes());
    record
}

/// Holds an entry of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermCounts {
    /// The number of documents that contain the term.
    pub df: u64,
    /// The total number of occurrences in these documents.
    pub cf: u64,
    /// The position of the term in the table.
    pub at: usize,
}

/// Holds the sorted terms with their counts.
pub struct TermTable {
    terms: Option<Mmap>,
    index: Option<Mmap>,
    ranks: Ranks,
    /// The most common terms, each in the slot given by its highest bits or in one of the following slots. Most lookups end in these slots,
    /// which stay in the processor's cache. A df of 0 marks a free slot.
    common: Vec<(u64, TermCounts)>,
}

impl TermTable {
    /// Returns a table without terms.
    pub fn empty() -> TermTable {
        TermTable { terms: None, index: None, ranks: Ranks::none(), common: Vec::new() }
    }

    /// Opens the table in a file. The ranks and the index are created next to `path`, and error messages contain this path.
    pub(super) fn open(file: &File, path: &Path, spread: Spread<'_>) -> Result<TermTable> {
        let mut table = TermTable { terms: map(file, path)?, ..TermTable::empty() };
        if !table.is_empty() {
            let df = |at| table.entry(at).1;
            table.ranks = Ranks::write(&path.with_extension("ranks"), table.len(), spread, df)?;
            table.index = table.write_index(&path.with_extension("index"), spread)?;
            table.choose_common(spread);
        }
        Ok(table)
    }

    /// Writes the position at which the terms of each range begin, followed by the number of terms.
    fn write_index(&self, path: &Path, spread: Spread<'_>) -> Result<Option<Mmap>> {
        let file = nameless(path)?;
        let (len, ranges) = (self.len(), self.len().div_ceil(BUCKET));
        // Each stretch writes the ranges that begin in it; the last stretch also writes the ranges after all terms.
        let write = |stretch: Range<usize>| {
            let first = stretch.start.checked_sub(1).map_or(0, |before| range_of(self.term(before), ranges) + 1);
            let (mut begins, ends) = (Vec::new(), stretch.end == len);
            for at in stretch {
                let range = range_of(self.term(at), ranges);
                begins.resize(begins.len().max((range + 1).saturating_sub(first)), (at as u64).to_le_bytes());
            }
            if ends {
                begins.resize(ranges + 1 - first, (len as u64).to_le_bytes());
            }
            file.write_all_at(begins.as_flattened(), first as u64 * 8)
        };
        let written = by_stretches(len, spread, write).into_iter().collect::<std::io::Result<()>>();
        written.map_err(Error::io("write the term table", path))?;
        map(&file, path)
    }

    /// Returns the number of terms.
    pub fn len(&self) -> usize {
        self.bytes().len() / RECORD
    }

    /// Returns whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the term, df and cf at position `at`, which must be below [`TermTable::len`].
    pub fn entry(&self, at: usize) -> (u64, u64, u64) {
        let record = &self.bytes()[at * RECORD..(at + 1) * RECORD];
        let part = |from: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&record[from..from + 8]);
            u64::from_le_bytes(bytes)
        };
        (part(0), part(8), part(16))
    }

    /// Fills at most half of the common slots with the terms that have the highest df.
    fn choose_common(&mut self, spread: Spread<'_>) {
        let width = |df: u64| (u64::BITS - df.leading_zeros()) as usize;
        let widths = by_stretches(self.len(), spread, |stretch| {
            let mut by_width = [0usize; 65];
            stretch.for_each(|at| by_width[width(self.entry(at).1)] += 1);
            by_width
        });
        // Terms whose df has the same number of bits are chosen together, because the exact number of chosen terms does not matter.
        let (mut least, mut count) = (65, 0);
        while least > 1 {
            count += widths.iter().map(|by_width| by_width[least - 1]).sum::<usize>();
            if count > COMMON / 2 {
                break;
            }
            least -= 1;
        }
        let entries = by_stretches(self.len(), spread, |stretch| {
            let found = stretch.map(|at| (self.term(at), self.found(at)));
            found.filter(|(_, found)| found.df > 0 && width(found.df) >= least).collect::<Vec<_>>()
        });
        let mut common = vec![(0, TermCounts { df: 0, cf: 0, at: 0 }); COMMON];
        for (term, found) in entries.into_iter().flatten() {
            let mut slot = range_of(term, COMMON);
            while common[slot].1.df > 0 {
                slot = (slot + 1) % COMMON;
            }
            common[slot] = (term, found);
        }
        self.common = common;
    }

    /// Looks up a term among the common terms.
    #[inline]
    fn common(&self, term: u64) -> Option<TermCounts> {
        let mut slot = range_of(term, COMMON);
        loop {
            let (held, found) = *self.common.get(slot)?;
            if found.df == 0 {
                return None;
            }
            if held == term {
                return Some(found);
            }
            slot = (slot + 1) % COMMON;
        }
    }

    /// Returns the rank of the term at position `at` in the table, that is, its position in a list sorted by df, then by hash.
    #[inline]
    pub fn rank(&self, at: usize) -> u64 {
        self.ranks.get(at)
    }

    /// Returns a lookup that finds the df of terms in ascending order of rank.
    pub(crate) fn dfs(&self) -> Dfs<'_> {
        self.ranks.dfs()
    }

    /// Looks up a term. Returns `None` if the term is not in the table.
    pub fn get(&self, term: u64) -> Option<TermCounts> {
        self.common(term).or_else(|| self.find(term, self.range(term)?))
    }

    /// Like [`TermTable::get`], but for many terms, in the given order, and faster: each step prefetches the memory that the next step
    /// reads, so that the waits for memory overlap. In a large table, these waits are nearly the whole cost of a lookup.
    pub fn get_many(&self, terms: impl Iterator<Item = u64> + Clone, mut each: impl FnMut(Option<TermCounts>)) {
        let mut places = [const { Place::Nowhere }; AT_ONCE];
        let index = self.index();
        let mut rest = terms;
        loop {
            let now = rest.clone().take(AT_ONCE);
            let mut count = 0;
            for term in now.clone() {
                ask_for(&self.common, range_of(term, COMMON));
                ask_for(index, range_of(term, index.len().saturating_sub(1)));
                count += 1;
            }
            for (place, term) in places.iter_mut().zip(now.clone()) {
                *place = match self.common(term) {
                    Some(found) => Place::Common(found),
                    None => self.range(term).map_or(Place::Nowhere, Place::Range),
                };
                if let Place::Range(range) = place {
                    ask_for(self.bytes(), range.start * RECORD);
                    ask_for(self.bytes(), range.end * RECORD);
                }
            }
            for (place, term) in places[..count].iter_mut().zip(now) {
                each(match std::mem::replace(place, Place::Nowhere) {
                    Place::Common(found) => Some(found),
                    Place::Range(range) => self.find(term, range),
                    Place::Nowhere => None,
                });
            }
            if count < AT_ONCE {
                return;
            }
            rest.nth(AT_ONCE - 1);
        }
    }

    /// Returns the position at which each range begins, followed by the end of the last range.
    #[inline]
    fn index(&self) -> &[[u8; 8]] {
        self.index.as_deref().map_or(&[], |index| index.as_chunks::<8>().0)
    }

    /// Returns the range of positions at which the table may contain a term.
    #[inline]
    fn range(&self, term: u64) -> Option<Range<usize>> {
        let index = self.index();
        let at = range_of(term, index.len().checked_sub(1)?);
        Some(u64::from_le_bytes(index[at]) as usize..u64::from_le_bytes(index[at + 1]) as usize)
    }

    #[inline]
    fn find(&self, term: u64, Range { start, end }: Range<usize>) -> Option<TermCounts> {
        // A range has a few terms; a binary search pays off only if terms are badly distributed.
        let at = if end - start <= 4 * BUCKET {
            (start..end).find(|&at| self.term(at) >= term)?
        } else {
            let (mut low, mut high) = (start, end);
            while low < high {
                let middle = low + (high - low) / 2;
                if self.term(middle) < term { low = middle + 1 } else { high = middle }
            }
            low
        };
        (at < end && self.term(at) == term).then(|| self.found(at))
    }

    #[inline]
    fn found(&self, at: usize) -> TermCounts {
        let (_, df, cf) = self.entry(at);
        TermCounts { df, cf, at }
    }

    #[inline]
    fn term(&self, at: usize) -> u64 {
        self.entry(at).0
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        self.terms.as_deref().unwrap_or(&[])
    }
}

/// Describes where a term is stored.
enum Place {
    Nowhere,
    Common(TermCounts),
    Range(Range<usize>),
}

/// Returns the number of the range that contains a term if the space of all possible terms is divided into this many equal ranges.
#[inline]
fn range_of(term: u64, ranges: usize) -> usize {
    ((u128::from(term) * ranges as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::hash::splitmix64;

    #[test]
    fn every_term_is_found_and_no_other() {
        for count in [0u64, 1, 2, 3, 1000] {
            let folder = tempfile::tempdir().unwrap();
            let mut terms: Vec<u64> = (0..count).map(|n| splitmix64(7, n)).collect();
            // Badly distributed terms and the lowest and highest possible terms must be found, too.
            terms.extend([0, 1, 2, 3, u64::MAX, u64::MAX - 1]);
            terms.sort_unstable();
            let mut writer = TermTableWriter::create(&folder.path().join("terms")).unwrap();
            terms.iter().for_each(|&term| writer.push(term, 1 + term % 7, term % 11).unwrap());
            let table = writer.finish().unwrap();
            assert_eq!(table.len(), terms.len());
            for &term in &terms {
                let at = terms.binary_search(&term).unwrap();
                assert_eq!(table.get(term), Some(TermCounts { df: 1 + term % 7, cf: term % 11, at }));
                let before = |other: &u64| (1 + other % 7, *other) < (1 + term % 7, term);
                assert_eq!(table.rank(at), terms.iter().filter(|other| before(other)).count() as u64);
                let absent = term ^ (1 << 40);
                assert_eq!(table.get(absent).is_some(), terms.binary_search(&absent).is_ok());
            }
            let asked: Vec<u64> = terms.iter().flat_map(|&term| [term, term ^ (1 << 40)]).collect();
            for count in [0, 1, 31, 32, 33, 64, asked.len()] {
                let asked = &asked[..count.min(asked.len())];
                let mut found = Vec::new();
                table.get_many(asked.iter().copied(), |one| found.push(one));
                assert_eq!(found, asked.iter().map(|&term| table.get(term)).collect::<Vec<_>>());
            }
        }
        assert_eq!(TermTable::empty().get(5), None);
    }

    #[test]
    fn disorder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = TermTableWriter::create(&folder.path().join("terms")).unwrap();
        writer.push(5, 1, 1).unwrap();
        assert!(writer.push(5, 1, 1).is_err());
        for (df, cf) in [(1 << 40, 1 << 40), (1, 1 << 48)] {
            assert!(writer.push(6, df, cf).is_err_and(|error| error.to_string().contains("can be counted")));
        }
        writer.push(6, (1 << 40) - 1, (1 << 48) - 1).unwrap();
    }
}

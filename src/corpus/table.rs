//! The term table: (term, df, cf) sorted by term in a file, memory-mapped, so that it costs no anonymous memory.
//!
//! Terms are well-mixed 64-bit hashes, so a look-up guesses the place by proportion and searches outwards from there:
//! the guess is off by about the square root of the number of terms. One record is three little-endian 64-bit numbers.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use memmap2::Mmap;

use crate::error::{Error, Result};

const RECORD: usize = 24;

/// Writes a term table in ascending order of terms.
pub struct TermTableWriter {
    file: BufWriter<File>,
    path: PathBuf,
    last: Option<u64>,
    len: usize,
}

impl TermTableWriter {
    /// Starts a new file at `path`.
    pub fn create(path: &Path) -> Result<TermTableWriter> {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(path);
        let file = BufWriter::new(file.map_err(Error::io("create the term table", path))?);
        Ok(TermTableWriter { file, path: path.to_path_buf(), last: None, len: 0 })
    }

    /// Appends a term; terms must come in strictly ascending order.
    pub fn push(&mut self, term: u64, df: u64, cf: u64) -> Result<()> {
        if self.last.is_some_and(|last| last >= term) {
            let why = format!("terms out of order at entry {}", self.len);
            return Err(Error::Damaged { path: self.path.clone(), why });
        }
        self.last = Some(term);
        self.len += 1;
        let mut record = [0; RECORD];
        record[..8].copy_from_slice(&term.to_le_bytes());
        record[8..16].copy_from_slice(&df.to_le_bytes());
        record[16..].copy_from_slice(&cf.to_le_bytes());
        self.file.write_all(&record).map_err(Error::io("write the term table", &self.path))
    }

    /// Ends the file and opens it for look-ups.
    pub fn finish(self) -> Result<TermTable> {
        let file = self.file.into_inner().map_err(|error| error.into_error());
        let file = file.map_err(Error::io("write the term table", &self.path))?;
        TermTable::map(&file, &self.path)
    }
}

/// The sorted terms with their counts.
pub struct TermTable {
    map: Option<Mmap>,
}

impl TermTable {
    /// A table without terms.
    pub fn empty() -> TermTable {
        TermTable { map: None }
    }

    #[allow(unsafe_code)]
    fn map(file: &File, path: &Path) -> Result<TermTable> {
        let bytes = file.metadata().map_err(Error::io("read the size of", path))?.len();
        if bytes == 0 {
            return Ok(TermTable::empty());
        }
        // SAFETY: the file lies in the job's own work folder, which nothing else writes to while the job runs.
        let map = unsafe { Mmap::map(file) }.map_err(Error::io("map the term table", path))?;
        Ok(TermTable { map: Some(map) })
    }

    /// How many terms.
    pub fn len(&self) -> usize {
        self.bytes().len() / RECORD
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The term, df and cf at `at`, below [`TermTable::len`].
    pub fn entry(&self, at: usize) -> (u64, u64, u64) {
        let record = &self.bytes()[at * RECORD..(at + 1) * RECORD];
        let part = |from: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&record[from..from + 8]);
            u64::from_le_bytes(bytes)
        };
        (part(0), part(8), part(16))
    }

    /// The df and cf of a term, where it is in the table.
    pub fn get(&self, term: u64) -> Option<(u64, u64)> {
        let len = self.len();
        let guess = ((u128::from(term) * len as u128) >> 64) as usize;
        let (mut low, mut high) = (guess, guess);
        let mut step = 8;
        while low > 0 && self.term(low) > term {
            low = low.saturating_sub(step);
            step *= 2;
        }
        step = 8;
        while high < len && self.term(high) < term {
            high = (high + step).min(len);
            step *= 2;
        }
        // The term, if it is there, is at or above `low` and at or below `high`.
        let mut end = (high + 1).min(len);
        while low < end {
            let middle = low + (end - low) / 2;
            match self.term(middle).cmp(&term) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => end = middle,
                std::cmp::Ordering::Equal => {
                    let (_, df, cf) = self.entry(middle);
                    return Some((df, cf));
                }
            }
        }
        None
    }

    fn term(&self, at: usize) -> u64 {
        self.entry(at).0
    }

    fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::splitmix64;

    #[test]
    fn every_term_is_found_and_no_other() {
        for count in [0u64, 1, 2, 3, 1000] {
            let folder = tempfile::tempdir().unwrap();
            let mut terms: Vec<u64> = (0..count).map(|n| splitmix64(7, n)).collect();
            // Badly spread terms and both ends must be found as well.
            terms.extend([0, 1, 2, 3, u64::MAX, u64::MAX - 1]);
            terms.sort_unstable();
            let mut writer = TermTableWriter::create(&folder.path().join("terms")).unwrap();
            terms.iter().for_each(|&term| writer.push(term, term % 7, term % 11).unwrap());
            let table = writer.finish().unwrap();
            assert_eq!(table.len(), terms.len());
            for &term in &terms {
                assert_eq!(table.get(term), Some((term % 7, term % 11)));
                let absent = term ^ (1 << 40);
                assert_eq!(table.get(absent).is_some(), terms.binary_search(&absent).is_ok());
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
    }
}

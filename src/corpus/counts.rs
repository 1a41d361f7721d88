//! Document and collection frequencies, gathered by one worker in bounded memory and drained when they fill it.
//!
//! A partial count is a row of fixed width, (term, df, cf); rows of one term from all workers are added up after a sort.
//! Sums of integers do not depend on the order, so neither threads nor the memory budget can show in a statistic.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// Bytes of a partial count.
pub const COUNT_WIDTH: usize = 16;
/// Bytes at its front that name the term.
pub const COUNT_GROUP: usize = 8;

/// A row's bytes: term, df, cf, big-endian, so that rows sort by term.
pub fn encode_count(term: u64, df: u32, cf: u32) -> [u8; COUNT_WIDTH] {
    let mut out = [0; COUNT_WIDTH];
    out[..8].copy_from_slice(&term.to_be_bytes());
    out[8..12].copy_from_slice(&df.to_be_bytes());
    out[12..].copy_from_slice(&cf.to_be_bytes());
    out
}

/// The term, df and cf of a row; `bytes` are [`COUNT_WIDTH`] long.
pub fn decode_count(bytes: &[u8]) -> (u64, u32, u32) {
    let part = |range: std::ops::Range<usize>| bytes[range].iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
    (part(0..8), part(8..12) as u32, part(12..16) as u32)
}

/// Slots for early terms: 512 KiB.
const EARLY: usize = 1 << 15;

/// The counts of one worker. Terms are 64-bit hashes, which need no second hashing.
pub struct Counts {
    /// Terms that came early, each in the slot of its lowest bits: the commonest ones nearly always are among them, and
    /// the slots stay in the processor's cache, which the table of all terms does not. A df of 0 marks a free slot.
    early: Vec<(u64, u32, u32)>,
    terms: HashTable<(u64, u32, u32)>,
    limit: usize,
    occurrences: u64,
    scratch: Vec<u64>,
}

impl Counts {
    /// Counts within about that many bytes.
    pub fn new(memory_bytes: usize) -> Counts {
        // A table entry takes 16 bytes and a control byte, at a load of 7/8 at best and 7/16 just after growing.
        let limit = (memory_bytes / 40).max(1024);
        Counts { early: vec![(0, 0, 0); EARLY], terms: HashTable::new(), limit, occurrences: 0, scratch: Vec::new() }
    }

    /// Adds one document's terms, repeated as often as they occur.
    pub fn add_document(&mut self, terms: impl Iterator<Item = u64>) {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.extend(terms);
        scratch.sort_unstable();
        self.add_counted(scratch.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)));
        self.scratch = scratch;
    }

    /// Adds one document's different terms, each with how often it occurs.
    pub fn add_counted(&mut self, terms: impl Iterator<Item = (u64, u32)>) {
        for (term, times) in terms {
            self.occurrences += u64::from(times);
            let slot = &mut self.early[term as usize % EARLY];
            if slot.0 == term || slot.1 == 0 {
                *slot = (term, slot.1 + 1, slot.2 + times);
                continue;
            }
            match self.terms.entry(term, |entry| entry.0 == term, |entry| entry.0) {
                Entry::Occupied(mut entry) => {
                    let (_, df, cf) = entry.get_mut();
                    *df += 1;
                    *cf += times;
                }
                Entry::Vacant(entry) => {
                    entry.insert((term, 1, times));
                }
            }
        }
    }

    /// Whether the memory is used up, or a 32-bit partial count could be, so that the counts must be drained.
    pub fn is_full(&self) -> bool {
        self.terms.len() >= self.limit || self.occurrences >= 1 << 31
    }

    /// Hands over every partial count and starts again.
    pub fn drain<E>(&mut self, mut each: impl FnMut(u64, u32, u32) -> Result<(), E>) -> Result<(), E> {
        self.occurrences = 0;
        let early = self.early.iter_mut().map(std::mem::take).filter(|slot| slot.1 > 0);
        early.chain(self.terms.drain()).try_for_each(|(term, df, cf)| each(term, df, cf))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_whatever_the_drains() {
        let documents = [vec![1u64, 1, 2], vec![2, 3], vec![], vec![1]];
        for drain_each in [false, true] {
            let mut counts = Counts::new(0);
            let mut rows = Vec::new();
            for document in &documents {
                counts.add_document(document.iter().copied());
                if drain_each {
                    counts.drain(|t, d, c| Ok::<_, ()>(rows.push((t, d, c)))).unwrap();
                }
            }
            counts.drain(|t, d, c| Ok::<_, ()>(rows.push((t, d, c)))).unwrap();
            let sum =
                |term| rows.iter().filter(|row| row.0 == term).fold((0, 0), |sum, row| (sum.0 + row.1, sum.1 + row.2));
            assert_eq!([sum(1), sum(2), sum(3)], [(2, 3), (2, 2), (1, 1)]);
        }
    }

    #[test]
    fn rows_survive_the_trip() {
        let row = encode_count(u64::MAX - 5, 7, u32::MAX);
        assert_eq!(decode_count(&row), (u64::MAX - 5, 7, u32::MAX));
        assert!(encode_count(1, 9, 9) < encode_count(2, 0, 0));
    }

    #[test]
    fn a_full_table_says_so() {
        let mut counts = Counts::new(0);
        counts.add_document(0..EARLY as u64 + 1023);
        assert!(!counts.is_full());
        counts.add_document(u64::MAX - 1..u64::MAX);
        assert!(counts.is_full());
    }
}

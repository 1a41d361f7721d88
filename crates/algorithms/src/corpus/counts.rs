//! Document and collection frequencies, counted by one worker in bounded memory and drained when the memory is full.
//!
//! A partial count is a fixed-width row, (term, df, cf). After sorting, the rows for each term are summed over all workers. Integer sums do
//! not depend on the order of addition, so neither the number of threads nor the memory limit affects the statistics.

use dupsift_core::cpu::ask_for;
use dupsift_core::row::number;

/// The number of bytes in a partial count.
pub const COUNT_WIDTH: usize = 16;
/// The number of leading bytes that identify the term.
pub const COUNT_GROUP: usize = 8;

/// Encodes a row: term, df, cf, big-endian, so that rows sort by term.
pub fn encode_count(term: u64, df: u32, cf: u32) -> [u8; COUNT_WIDTH] {
    let mut out = [0; COUNT_WIDTH];
    out[..8].copy_from_slice(&term.to_be_bytes());
    out[8..12].copy_from_slice(&df.to_be_bytes());
    out[12..].copy_from_slice(&cf.to_be_bytes());
    out
}

/// Returns the term, df and cf of a row; `bytes` must be [`COUNT_WIDTH`] bytes long.
pub fn decode_count(bytes: &[u8]) -> (u64, u32, u32) {
    (number(&bytes[..8]), number(&bytes[8..12]) as u32, number(&bytes[12..COUNT_WIDTH]) as u32)
}

/// The number of bytes in the record of a term and its total counts.
pub const TERM_WIDTH: usize = 24;

/// Encodes a row: term, df, cf over the whole corpus, big-endian, so that rows sort by term.
pub fn encode_term((term, df, cf): (u64, u64, u64)) -> [u8; TERM_WIDTH] {
    let mut out = [0; TERM_WIDTH];
    for (to, number) in out.chunks_exact_mut(8).zip([term, df, cf]) {
        to.copy_from_slice(&number.to_be_bytes());
    }
    out
}

/// Returns the term, df and cf of a row; `bytes` must be [`TERM_WIDTH`] bytes long.
pub fn decode_term(bytes: &[u8]) -> (u64, u64, u64) {
    (number(&bytes[..8]), number(&bytes[8..16]), number(&bytes[16..TERM_WIDTH]))
}

/// The number of slots for early terms (768 KiB in total).
const EARLY: usize = 1 << 15;

/// The initial number of slots for all terms that have no early slot.
const FIRST: usize = 1 << 10;
/// The number of terms whose slots are prefetched together.
const AT_ONCE: usize = 64;

/// Holds a term with its counts.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    term: u64,
    /// The document frequency; 0 for a term that was numbered but not counted.
    df: u32,
    cf: u32,
    /// The number of the term, counted from 1 in order of first occurrence; 0 marks a free slot.
    number: u32,
}

/// Describes a term that occurs in the current document but has no early slot: the term, its position in the document, and its count.
type Late = (u64, u32, u32);

/// Holds the counts of one worker. Terms are 64-bit hashes and are not hashed a second time.
pub struct Counts {
    /// Terms that occurred early, each in the slot given by its lowest bits. They nearly always include the most common terms, and their
    /// slots stay in the processor's cache, unlike the table of all terms.
    early: Vec<Slot>,
    /// The terms without an early slot, each in the slot given by its upper bits or in one of the following slots. At least half of the
    /// slots are free.
    slots: Vec<Slot>,
    /// The number of terms in `slots`.
    terms: usize,
    limit: usize,
    occurrences: u64,
    scratch: Vec<u64>,
    late: Vec<Late>,
    /// The number of terms that have been numbered.
    numbered: u32,
    numbers: Vec<u32>,
    fresh: Vec<u32>,
}

impl Counts {
    /// Creates an empty table of counts; `memory_bytes` is approximately the maximum size to which the table may grow.
    pub fn new(memory_bytes: usize) -> Counts {
        // A slot takes 24 bytes; there are two to four slots per term. While the table grows, the old slots, half as many as the new ones,
        // also take memory.
        let limit = (memory_bytes / 96).clamp(FIRST, 1 << 31);
        Counts {
            early: vec![Slot::default(); EARLY],
            slots: vec![Slot::default(); FIRST],
            terms: 0,
            limit,
            occurrences: 0,
            scratch: Vec::new(),
            late: Vec::new(),
            numbered: 0,
            numbers: Vec::new(),
            fresh: Vec::new(),
        }
    }

    /// Counts all terms of one document, including repetitions.
    pub(crate) fn add_document(&mut self, terms: impl Iterator<Item = u64>) {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.extend(terms);
        scratch.sort_unstable();
        self.add_counted(scratch.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)));
        self.scratch = scratch;
    }

    /// Counts the distinct terms of one document, each with the number of its occurrences.
    pub(crate) fn add_counted(&mut self, terms: impl Iterator<Item = (u64, u32)>) {
        self.add(terms, 1);
    }

    /// Assigns numbers to terms without counting them.
    pub fn number(&mut self, terms: impl Iterator<Item = u64>) {
        self.add(terms.map(|term| (term, 0)), 0);
    }

    /// Returns the numbers of the most recently added terms, in the order in which they were added. Numbers start at 0 after each drain.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    /// Returns the positions of the new terms among the most recently added terms, in the order of their numbers.
    pub fn fresh(&self) -> &[u32] {
        &self.fresh
    }

    fn add(&mut self, terms: impl Iterator<Item = (u64, u32)>, documents: u32) {
        self.numbers.clear();
        self.fresh.clear();
        for (place, (term, times)) in terms.enumerate() {
            let place = place as u32;
            self.occurrences += u64::from(times);
            let slot = &mut self.early[term as usize % EARLY];
            if slot.number == 0 {
                self.numbered += 1;
                slot.number = self.numbered;
                self.fresh.push(place);
            } else if slot.term != term {
                // In a large table, nearly all of the time is spent waiting for memory, so slots are prefetched.
                ask_for(&self.slots, slot_of(term, self.slots.len()));
                self.late.push((term, place, times));
                self.numbers.push(0);
                if self.late.len() == AT_ONCE {
                    self.add_late(documents);
                }
                continue;
            }
            *slot = Slot { term, df: slot.df + documents, cf: slot.cf + times, ..*slot };
            self.numbers.push(slot.number - 1);
        }
        self.add_late(documents);
    }

    fn add_late(&mut self, documents: u32) {
        for at in 0..self.late.len() {
            let (term, place, times) = self.late[at];
            if 2 * self.terms >= self.slots.len() {
                self.grow();
            }
            let slot = place_of(&self.slots, term);
            let slot = &mut self.slots[slot];
            if slot.number == 0 {
                self.terms += 1;
                self.numbered += 1;
                slot.number = self.numbered;
                self.fresh.push(place);
            }
            *slot = Slot { term, df: slot.df + documents, cf: slot.cf + times, ..*slot };
            self.numbers[place as usize] = slot.number - 1;
        }
        self.late.clear();
    }

    /// Doubles the number of slots.
    fn grow(&mut self) {
        let mut slots = vec![Slot::default(); 2 * self.slots.len()];
        for slot in self.slots.iter().filter(|slot| slot.number > 0) {
            let at = place_of(&slots, slot.term);
            slots[at] = *slot;
        }
        self.slots = slots;
    }

    /// Returns the number of terms that may be counted between two drains. A document with more terms must be counted separately.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns whether the memory is full, or a 32-bit partial count could overflow, so that the counts must be drained.
    pub fn is_full(&self) -> bool {
        self.terms >= self.limit || self.occurrences >= 1 << 31
    }

    /// Passes every partial count to `each` and starts over.
    pub fn drain<E>(&mut self, mut each: impl FnMut(u64, u32, u32) -> Result<(), E>) -> Result<(), E> {
        (self.occurrences, self.terms, self.numbered) = (0, 0, 0);
        let slots = self.early.iter_mut().chain(&mut self.slots).map(std::mem::take);
        slots.filter(|slot| slot.df > 0).try_for_each(|slot| each(slot.term, slot.df, slot.cf))?;
        // A document with more words than the limit has made these buffers larger than other documents need.
        if self.slots.len() / 4 > self.limit {
            self.slots = vec![Slot::default(); FIRST];
            (self.numbers, self.fresh) = Default::default();
        }
        Ok(())
    }
}

/// Returns the slot that a term takes in an empty table; `slots` is the number of slots, a power of two.
#[inline]
fn slot_of(term: u64, slots: usize) -> usize {
    (term >> 32) as usize & (slots - 1)
}

/// Returns the slot of a term, or the free slot that it would take.
#[inline]
fn place_of(slots: &[Slot], term: u64) -> usize {
    let mut at = slot_of(term, slots.len());
    while slots[at].number > 0 && slots[at].term != term {
        at = (at + 1) & (slots.len() - 1);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

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
    fn terms_are_numbered_as_they_come() {
        let mut counts = Counts::new(0);
        let mut numbers = BTreeMap::new();
        let mut list = |counts: &Counts, terms: &[u64]| {
            for (&place, number) in counts.fresh().iter().zip(numbers.len() as u32..) {
                assert_eq!(counts.numbers()[place as usize], number);
            }
            for (&term, &number) in terms.iter().zip(counts.numbers()) {
                assert_eq!(*numbers.entry(term).or_insert(number), number);
            }
            assert_eq!(counts.numbers().len(), terms.len());
        };
        // These terms share early slots, so both tables are used and grow.
        let terms = |from: u64| (from..from + 900).map(|n| n % 700 * (EARLY as u64 / 2 + 1)).collect::<BTreeSet<_>>();
        for from in [0, 100, 650, 0] {
            let terms: Vec<u64> = terms(from).into_iter().collect();
            counts.add_counted(terms.iter().map(|&term| (term, 2)));
            list(&counts, &terms);
        }
        // Terms that were only numbered are not counted.
        let only = [7, 1 << 50, 0];
        counts.number(only.into_iter());
        list(&counts, &only);
        assert_eq!(counts.fresh().len(), 2);
        counts.add_counted([(9, 1), (1 << 50, 1)].into_iter());
        list(&counts, &[9, 1 << 50]);
        assert_eq!(numbers.values().copied().collect::<BTreeSet<u32>>(), (0..numbers.len() as u32).collect());
        let mut drained = BTreeMap::new();
        counts.drain(|term, df, cf| Ok::<_, ()>(_ = drained.insert(term, (df, cf)))).unwrap();
        assert!(!drained.contains_key(&7) && drained[&(1 << 50)] == (1, 1) && drained[&0] == (4, 8));
        assert_eq!(drained.len(), numbers.len() - 1);
        counts.add_counted([(5, 1)].into_iter());
        assert_eq!((counts.numbers(), counts.fresh()), (&[0][..], &[0][..]));
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

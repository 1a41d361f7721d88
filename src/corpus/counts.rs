//! Document and collection frequencies, gathered by one worker in bounded memory and drained when they fill it.
//!
//! A partial count is a row of fixed width, (term, df, cf); rows of one term from all workers are added up after a sort.
//! Sums of integers do not depend on the order, so neither threads nor the memory budget can show in a statistic.

use crate::cpu::ask_for;

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

/// Slots of the table of the other terms at first.
const FIRST: usize = 1 << 10;
/// Terms that are asked for before the first of them is counted.
const AT_ONCE: usize = 64;

/// A term with its df and cf; a df of 0 marks a free slot.
type Slot = (u64, u32, u32);

/// The counts of one worker. Terms are 64-bit hashes, which need no second hashing.
pub struct Counts {
    /// Terms that came early, each in the slot of its lowest bits: the commonest ones nearly always are among them, and
    /// the slots stay in the processor's cache, which the table of all terms does not.
    early: Vec<Slot>,
    /// The others, each in the slot of its upper bits or one of the next; half of the slots are free.
    slots: Vec<Slot>,
    terms: usize,
    limit: usize,
    occurrences: u64,
    scratch: Vec<u64>,
    /// Terms of the document at hand that are not among the early ones.
    late: Vec<(u64, u32)>,
}

impl Counts {
    /// Counts within about that many bytes.
    pub fn new(memory_bytes: usize) -> Counts {
        // A slot takes 16 bytes, of which there are two to four a term, and half as many more while the table grows.
        let limit = (memory_bytes / 64).max(FIRST);
        Counts {
            early: vec![(0, 0, 0); EARLY],
            slots: vec![(0, 0, 0); FIRST],
            terms: 0,
            limit,
            occurrences: 0,
            scratch: Vec::new(),
            late: Vec::new(),
        }
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
        self.late.clear();
        for (term, times) in terms {
            self.occurrences += u64::from(times);
            let slot = &mut self.early[term as usize % EARLY];
            if slot.0 == term || slot.1 == 0 {
                *slot = (term, slot.1 + 1, slot.2 + times);
            } else {
                self.late.push((term, times));
            }
        }
        let late = std::mem::take(&mut self.late);
        for late in late.chunks(AT_ONCE) {
            // Waiting for memory is nearly all of the work in a large table: so it is waited for once.
            for &(term, _) in late {
                ask_for(&self.slots, slot_of(term, self.slots.len()));
            }
            for &(term, times) in late {
                if 2 * self.terms >= self.slots.len() {
                    self.grow();
                }
                let at = place(&self.slots, term);
                let (known, df, cf) = &mut self.slots[at];
                self.terms += usize::from(*df == 0);
                (*known, *df, *cf) = (term, *df + 1, *cf + times);
            }
        }
        self.late = late;
    }

    /// Makes twice as many slots.
    fn grow(&mut self) {
        let mut slots = vec![(0, 0, 0); 2 * self.slots.len()];
        for slot in self.slots.iter().filter(|slot| slot.1 > 0) {
            let at = place(&slots, slot.0);
            slots[at] = *slot;
        }
        self.slots = slots;
    }

    /// Whether the memory is used up, or a 32-bit partial count could be, so that the counts must be drained.
    pub fn is_full(&self) -> bool {
        self.terms >= self.limit || self.occurrences >= 1 << 31
    }

    /// Hands over every partial count and starts again.
    pub fn drain<E>(&mut self, mut each: impl FnMut(u64, u32, u32) -> Result<(), E>) -> Result<(), E> {
        (self.occurrences, self.terms) = (0, 0);
        let slots = self.early.iter_mut().chain(&mut self.slots).map(std::mem::take);
        slots.filter(|slot| slot.1 > 0).try_for_each(|(term, df, cf)| each(term, df, cf))
    }
}

/// The slot in which a term would stand if all were free; there are a power of two of them.
#[inline]
fn slot_of(term: u64, slots: usize) -> usize {
    (term >> 32) as usize & (slots - 1)
}

/// The slot of a term, or the free one that it would take.
#[inline]
fn place(slots: &[Slot], term: u64) -> usize {
    let mut at = slot_of(term, slots.len());
    while slots[at].1 > 0 && slots[at].0 != term {
        at = (at + 1) & (slots.len() - 1);
    }
    at
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

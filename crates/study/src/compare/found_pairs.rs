//! Stores pooled pairs in a temporary file, in order, each with the algorithms that found it.

use std::path::Path;

use crate::finished::pool::Pooled;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::{FrozenHeap, Heap};

/// The number of values per pair: two documents, and the algorithms that found it.
const WIDTH: usize = 3;
/// The number of values that are collected before they are appended to the temporary file.
const GATHERED: usize = 8192;

/// Writes a list of pairs from one thread.
pub(crate) struct FoundWriter {
    heap: Heap,
    gathered: Vec<u64>,
}

impl FoundWriter {
    /// Creates an empty list in a file in the folder; `name` is used in messages.
    pub(crate) fn new(dir: &Path, name: &str) -> Result<FoundWriter> {
        Ok(FoundWriter { heap: Heap::new(dir, name)?, gathered: Vec::new() })
    }

    /// Appends a pair; pairs must be given in order.
    pub(crate) fn push(&mut self, pair: &Pooled) -> Result<()> {
        self.gathered.extend([pair.a, pair.b, pair.found]);
        if self.gathered.len() >= GATHERED { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<()> {
        self.heap.append(bytemuck::cast_slice(&self.gathered))?;
        self.gathered.clear();
        Ok(())
    }

    /// Finishes the list.
    pub(crate) fn end(mut self) -> Result<FoundList> {
        self.send()?;
        Ok(FoundList { numbers: self.heap.freeze_in_order()? })
    }
}

/// Reads a complete list of pairs.
pub(crate) struct FoundList {
    numbers: FrozenHeap,
}

impl FoundList {
    /// Returns the number of pairs.
    pub(crate) fn len(&self) -> usize {
        self.numbers.bytes().len() / (8 * WIDTH)
    }

    /// Returns the pair at this position in the list.
    ///
    /// # Panics
    /// Panics if the position is out of range.
    pub(crate) fn get(&self, at: usize) -> Pooled {
        let bytes = self.numbers.get((at * 8 * WIDTH) as u64, 8 * WIDTH);
        let number = |at: usize| bytemuck::pod_read_unaligned(&bytes[8 * at..8 * at + 8]);
        Pooled { a: number(0), b: number(1), found: number(2) }
    }

    /// Returns the algorithms that found a pair, as bits; 0 if the pair is not in the list.
    pub(crate) fn finders(&self, a: u64, b: u64) -> u64 {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from + (to - from) / 2;
            let pair = self.get(middle);
            match (pair.a, pair.b).cmp(&(a, b)) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Greater => to = middle,
                std::cmp::Ordering::Equal => return pair.found,
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_by_place_and_by_pair() {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = FoundWriter::new(dir.path(), "found").unwrap();
        let pair = |n: u64| Pooled { a: n / 7, b: n / 7 + 1 + n % 7, found: n + 1 };
        (0..10_000).for_each(|n| writer.push(&pair(n)).unwrap());
        let list = writer.end().unwrap();
        assert_eq!(list.len(), 10_000);
        for n in [0, 1, 2_729, 2_731, 9_999] {
            assert_eq!(list.get(n as usize), pair(n));
            assert_eq!(list.finders(pair(n).a, pair(n).b), n + 1);
        }
        assert_eq!((list.finders(0, 9), list.finders(5_000, 5_001)), (0, 0));
        let empty = FoundWriter::new(dir.path(), "empty").unwrap().end().unwrap();
        assert_eq!((empty.len(), empty.finders(0, 1)), (0, 0));
    }
}

//! Manages the memory budget shared by all shuffles of a run, and decides which shuffle must spill to disk.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use dupsift_core::error::Result;

/// An object that holds memory from a budget and can release it.
pub(super) trait Holder: std::fmt::Debug + Send + Sync {
    /// Returns the number of bytes that can be spilled from the fullest partition, and the index of that partition.
    fn fullest(&self) -> (usize, usize);

    /// Spills all or part of a partition to disk.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written.
    fn spill(&self, partition: usize) -> Result<()>;
}

/// The budget for the write buffers of all shuffles in a run; clones share it.
///
/// The limit is strict, except for the staging areas of open writers (usually 128 KiB each). Staging areas are charged unconditionally, so
/// a limit below their size leads to more spilling, not to a failure. The memory of a finished shuffle stays charged until its partitions
/// are removed or the shuffle is dropped, but the rows are spilled as soon as another shuffle needs the memory. The allowances of
/// [`super::Sorted::load`] are not included.
#[derive(Clone, Debug)]
pub struct Memory {
    ledger: Arc<Ledger>,
}

/// Reserves part of a budget for something other than rows until this value is dropped.
#[derive(Debug)]
pub struct Loan {
    memory: Memory,
    bytes: usize,
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.memory.release(self.bytes);
    }
}

#[derive(Debug)]
struct Ledger {
    limit: usize,
    used: AtomicUsize,
    holders: Mutex<Vec<Weak<dyn Holder>>>,
}

impl Memory {
    /// Creates a budget of this many bytes. If the limit is 0, everything is spilled to disk.
    pub fn new(limit_bytes: usize) -> Memory {
        let ledger = Ledger { limit: limit_bytes, used: AtomicUsize::new(0), holders: Mutex::default() };
        Memory { ledger: Arc::new(ledger) }
    }

    /// Returns the limit in bytes.
    pub fn limit(&self) -> usize {
        self.ledger.limit
    }

    /// Returns the number of bytes currently in use.
    pub fn used(&self) -> usize {
        self.ledger.used.load(Relaxed)
    }

    /// Registers a holder that can release memory on request.
    pub(super) fn register(&self, holder: Weak<dyn Holder>) {
        let mut holders = self.ledger.holders.lock().unwrap_or_else(PoisonError::into_inner);
        holders.retain(|holder| holder.strong_count() > 0);
        holders.push(holder);
    }

    /// Reserves bytes if the limit allows it.
    pub(super) fn try_reserve(&self, bytes: usize) -> bool {
        let within = |used: usize| used.checked_add(bytes).filter(|&sum| sum <= self.ledger.limit);
        self.ledger.used.fetch_update(Relaxed, Relaxed, within).is_ok()
    }

    /// Reserves bytes, even if this exceeds the limit.
    pub(super) fn charge(&self, bytes: usize) {
        self.ledger.used.fetch_add(bytes, Relaxed);
    }

    /// Returns bytes to the budget.
    pub(super) fn release(&self, bytes: usize) {
        self.ledger.used.fetch_sub(bytes, Relaxed);
    }

    /// Reserves bytes for something other than rows, even if this exceeds the limit. Rows are then spilled until memory use is within the
    /// limit.
    ///
    /// # Errors
    /// Returns an error if a temporary file cannot be written.
    pub fn lend(&self, bytes: usize) -> Result<Loan> {
        self.charge(bytes);
        let loan = Loan { memory: self.clone(), bytes };
        while self.used() > self.limit() && self.spill_fullest()? {}
        Ok(loan)
    }

    /// Spills all or part of the fullest partition of any shuffle to disk. Returns `false` if no shuffle has anything to spill.
    ///
    /// Because the fullest partition is chosen, blocks are about twice as long as the average partition, and partitions with few rows are
    /// never spilled.
    pub(super) fn spill_fullest(&self) -> Result<bool> {
        let mut fullest: Option<(usize, Arc<dyn Holder>, usize)> = None;
        {
            let holders = self.ledger.holders.lock().unwrap_or_else(PoisonError::into_inner);
            for holder in holders.iter().filter_map(Weak::upgrade) {
                let (held, partition) = holder.fullest();
                if held > fullest.as_ref().map_or(0, |best| best.0) {
                    fullest = Some((held, holder, partition));
                }
            }
        }
        match fullest {
            Some((_, holder, partition)) => holder.spill(partition).map(|()| true),
            None => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_kept_and_clones_share_it() {
        let memory = Memory::new(100);
        let clone = memory.clone();
        assert!(memory.try_reserve(60) && !clone.try_reserve(41) && clone.try_reserve(40));
        assert!(!memory.try_reserve(1) && !memory.try_reserve(usize::MAX));
        clone.release(60);
        memory.charge(70);
        assert_eq!((memory.used(), clone.limit()), (110, 100));
        assert!(!memory.spill_fullest().expect("nothing to write"));
        let loan = memory.lend(1000).expect("nothing to write");
        assert_eq!(memory.used(), 1110);
        drop(loan);
        assert_eq!(memory.used(), 110);
    }
}

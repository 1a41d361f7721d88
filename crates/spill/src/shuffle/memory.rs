//! The bytes that all shuffles of a job may hold together, and who must give some back.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use dupsift_core::error::Result;

/// Something that holds bytes of a ledger and can give them back.
pub(super) trait Holder: std::fmt::Debug + Send + Sync {
    /// The most bytes that one of its partitions could send to disk, and which.
    fn fullest(&self) -> (usize, usize);

    /// Sends (a part of) a partition to disk.
    ///
    /// # Errors
    /// A work file that cannot be written.
    fn spill(&self, partition: usize) -> Result<()>;
}

/// A ledger of the bytes that all shuffles of a job may hold in write buffers; clones share it.
///
/// The limit holds strictly but for the staging of open writers (128 KiB each as a rule): it is charged without asking, so
/// that a limit below it leads to more spilling and not to a failure. What a finished shuffle holds stays charged until its
/// partitions are removed or it is dropped, but goes to disk as soon as another shuffle needs the room. The allowances of
/// [`super::Sorted::load`] come on top.
#[derive(Clone, Debug)]
pub struct Memory {
    ledger: Arc<Ledger>,
}

/// Bytes of a ledger that something else than rows takes, until it is dropped.
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
    /// A ledger of that many bytes; 0 works, and sends everything to disk.
    pub fn new(limit_bytes: usize) -> Memory {
        let ledger = Ledger { limit: limit_bytes, used: AtomicUsize::new(0), holders: Mutex::default() };
        Memory { ledger: Arc::new(ledger) }
    }

    /// The bytes that may be held.
    pub fn limit(&self) -> usize {
        self.ledger.limit
    }

    /// The bytes that are held now.
    pub fn used(&self) -> usize {
        self.ledger.used.load(Relaxed)
    }

    /// Makes a holder one of those that can be asked to give memory back.
    pub(super) fn register(&self, holder: Weak<dyn Holder>) {
        let mut holders = self.ledger.holders.lock().unwrap_or_else(PoisonError::into_inner);
        holders.retain(|holder| holder.strong_count() > 0);
        holders.push(holder);
    }

    /// Takes bytes if the limit allows.
    pub(super) fn try_reserve(&self, bytes: usize) -> bool {
        let within = |used: usize| used.checked_add(bytes).filter(|&sum| sum <= self.ledger.limit);
        self.ledger.used.fetch_update(Relaxed, Relaxed, within).is_ok()
    }

    /// Takes bytes, above the limit if need be.
    pub(super) fn charge(&self, bytes: usize) {
        self.ledger.used.fetch_add(bytes, Relaxed);
    }

    /// Gives bytes back.
    pub(super) fn release(&self, bytes: usize) {
        self.ledger.used.fetch_sub(bytes, Relaxed);
    }

    /// Takes bytes for something else than rows, above the limit if need be: rows go to disk until the limit holds.
    ///
    /// # Errors
    /// A work file that cannot be written.
    pub fn lend(&self, bytes: usize) -> Result<Loan> {
        self.charge(bytes);
        let loan = Loan { memory: self.clone(), bytes };
        while self.used() > self.limit() && self.spill_fullest()? {}
        Ok(loan)
    }

    /// Sends (a part of) the fullest partition of any shuffle to disk; false if no shuffle holds anything that could go.
    ///
    /// The fullest one, because blocks then come out about twice as long as the mean holding, and partitions with few rows
    /// are never written at all.
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

//! Provides a counting semaphore for bytes in memory. The semaphore limits the number of threads that hold large data at the same time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dupsift_core::error::Result;

/// The interval at which a waiting thread checks whether the run should stop.
pub(crate) const LOOK_UP: Duration = Duration::from_millis(100);

/// Freed memory of at least this many bytes is returned to the system immediately.
const RELEASED: u64 = 2 << 20;

/// Grants permits for a limited number of bytes at a time. A request above the limit is granted only if no other permit is active.
#[derive(Debug)]
pub struct Gate {
    most: u64,
    held: Mutex<u64>,
    freed: Condvar,
}

/// Permits a thread to hold bytes until the permit is dropped.
#[derive(Debug)]
pub struct Permit<'g> {
    gate: &'g Gate,
    bytes: u64,
}

impl Gate {
    /// Returns a gate for this many bytes.
    pub fn new(most: u64) -> Gate {
        Gate { most, held: Mutex::new(0), freed: Condvar::new() }
    }

    /// Waits until these bytes, together with the bytes already held, fit within the limit, or until no bytes are held.
    ///
    /// # Errors
    /// Returns any error from `go_on`, which is called repeatedly.
    pub fn enter(&self, bytes: u64, go_on: impl Fn() -> Result<()>) -> Result<Permit<'_>> {
        let mut held = self.lock();
        while *held > 0 && held.saturating_add(bytes) > self.most {
            go_on()?;
            held = self.freed.wait_timeout(held, LOOK_UP).unwrap_or_else(PoisonError::into_inner).0;
        }
        *held += bytes;
        Ok(Permit { gate: self, bytes })
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        // A long document leaves fragmented memory in the heap of the thread that processed it, and each thread has its own heap.
        if self.bytes >= RELEASED {
            dupsift_core::allocator::release();
        }
        *self.gate.lock() -= self.bytes;
        self.gate.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::error::Error;
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

    #[test]
    fn what_fits_goes_together_and_what_is_too_large_alone() {
        let gate = Gate::new(10);
        let (held, most, alone) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..8u64 {
                let (gate, held, most, alone) = (&gate, &held, &most, &alone);
                scope.spawn(move || {
                    for round in 0..200 {
                        let bytes = if (thread + round) % 20 == 0 { 50 } else { 1 + (thread + round) % 5 };
                        let _leave = gate.enter(bytes, || Ok(())).expect("it waits");
                        let now = held.fetch_add(bytes, SeqCst) + bytes;
                        most.fetch_max(if bytes < 50 { now } else { 0 }, SeqCst);
                        alone.fetch_max(if bytes == 50 { now } else { 0 }, SeqCst);
                        std::thread::yield_now();
                        held.fetch_sub(bytes, SeqCst);
                    }
                });
            }
        });
        assert!(most.into_inner() <= 10 && alone.into_inner() == 50);
    }

    #[test]
    fn a_thread_that_waits_hears_that_the_run_is_to_stop() {
        let gate = Gate::new(10);
        let _all = gate.enter(11, || Ok(())).expect("nothing is held");
        assert!(matches!(gate.enter(1, || Err(Error::Interrupted)), Err(Error::Interrupted)));
    }
}

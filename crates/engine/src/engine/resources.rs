//! Manages the resources of a job: the clock, the memory budget and the threads.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::budget::Budget;
use super::clock::Clock;
use super::gate::Gate;
use super::progress::Progress;
use super::threads::Engine;
use dupsift_core::allocator;
use dupsift_core::error::{Error, Result};
use dupsift_spill::shuffle::Memory;

/// The number of attempts to start a single thread after an attempt to start several threads has failed.
const ATTEMPTS: usize = 3;
/// A delay that gives threads more than enough time to end.
const A_MOMENT: Duration = Duration::from_millis(100);

/// Holds the machine resources that the options request. These resources are created once.
pub struct Resources {
    clock: Clock,
    budget: Budget,
    pool: rayon::ThreadPool,
    long_documents: Gate,
}

impl Resources {
    /// Starts the clock and the threads.
    pub fn new(memory: u64, threads: usize) -> Result<Resources> {
        let clock = Clock::start();
        let budget = Budget::new(memory, threads)?;
        allocator::for_threads(threads);
        let long_documents = Gate::new(budget.long_documents());
        Ok(Resources { clock, budget, pool: pool(threads)?, long_documents })
    }

    /// Returns an engine with temporary files in this folder. If `halves` is set, shuffle rows use only half of their share; the other half
    /// is left for other data.
    pub fn engine<'e>(
        &'e self,
        halves: bool,
        strict: bool,
        dir: &'e Path,
        progress: &'e Progress,
        cancel: &'e AtomicBool,
    ) -> Engine<'e> {
        Engine {
            pool: &self.pool,
            budget: self.budget,
            memory: Memory::new(if halves { self.budget.rows / 2 } else { self.budget.rows }),
            dir,
            progress,
            cancel,
            clock: &self.clock,
            long_documents: &self.long_documents,
            strict,
            bad: Mutex::default(),
        }
    }
}

/// Starts this many threads. If this fails, halves the number and tries again.
fn pool(asked: usize) -> Result<rayon::ThreadPool> {
    let (mut threads, mut alone) = (asked, 0);
    loop {
        match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) if threads < asked => {
                tracing::warn!(
                    "`threads={asked}`: only {threads} can be started; is there a process limit (ulimit -u)?"
                );
                return Ok(pool);
            }
            Ok(pool) => return Ok(pool),
            Err(error) if alone == ATTEMPTS => {
                return Err(Error::table("start a thread (is there a process limit, ulimit -u?)")(error));
            }
            Err(_) => {
                // Waits until the threads that were started have ended.
                std::thread::sleep(A_MOMENT);
                alone += usize::from(threads == 1);
                threads = (threads / 2).max(1);
            }
        }
    }
}

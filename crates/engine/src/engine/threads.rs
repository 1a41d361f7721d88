//! Runs the parallel loop of every pass, with per-thread state and a deterministic order of errors.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::budget::Budget;
use super::clock::Clock;
use super::gate::{Gate, Permit};
use super::progress::{Bar, Progress, Unit};
use super::read_limit::ReadLimit;
use dupsift_core::error::{Error, Result};
use dupsift_spill::shuffle::{Memory, Order, Shuffle, Spec};

/// The `rows` argument of [`Engine::ordered`] for an unknown number of rows, which selects `MANY` partitions.
pub const UNKNOWN: u64 = u64::MAX;
/// The number of partitions for an unknown number of rows. An empty partition costs almost nothing, but with too few partitions, a hundred
/// million rows would be sorted on disk.
const MANY: usize = 256;
/// The minimum number of partitions per thread.
const A_THREAD: usize = 4;

/// Holds the resources that all work uses.
pub struct Engine<'e> {
    /// The thread pool.
    pub pool: &'e rayon::ThreadPool,
    /// The shares of the memory budget.
    pub budget: Budget,
    /// The memory that rows use.
    pub memory: Memory,
    /// The folder for temporary files.
    pub dir: &'e Path,
    /// The receiver of progress reports.
    pub progress: &'e Progress,
    /// The flag that is set when the work should stop.
    pub cancel: &'e AtomicBool,
    /// The clock, which records the stages.
    pub clock: &'e Clock,
    /// The gate that limits work on long documents.
    pub long_documents: &'e Gate,
    /// Whether a damaged input file stops the work immediately.
    pub strict: bool,
    /// The files that turned out to be damaged while they were read.
    pub bad: Mutex<BTreeMap<PathBuf, String>>,
}

/// Holds the error of the earliest piece that failed. After an error, no thread begins another piece.
#[derive(Default)]
struct Failed {
    stops: AtomicBool,
    first: Mutex<Option<(usize, Error)>>,
}

impl Failed {
    fn note(&self, piece: usize, error: Error) {
        self.stops.store(true, Ordering::Relaxed);
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(earlier, _)| piece < *earlier) {
            *first = Some((piece, error));
        }
    }
}

impl Engine<'_> {
    /// Returns a shuffle for approximately `rows` rows, which are distributed by group.
    pub fn shuffle(&self, name: &str, width: usize, group_width: usize, rows: u64) -> Result<Shuffle> {
        self.spread(name, width, group_width, rows, Order::Hash, 0)
    }

    /// Returns a shuffle whose partitions are ordered by the big-endian number in the first `number_width` bytes of each row. The number
    /// must be less than `documents`.
    pub fn ordered(
        &self,
        documents: u64,
        name: &str,
        width: usize,
        group_width: usize,
        number_width: usize,
        rows: u64,
    ) -> Result<Shuffle> {
        let order = Order::Range { below: documents.max(1) };
        self.spread(name, width, group_width, rows, order, number_width)
    }

    /// Returns a shuffle whose partitions are ordered by the first 63 bits of each row (big-endian). The number of partitions, which
    /// depends on memory and threads, does not affect this order.
    pub(crate) fn by_hash(&self, name: &str, width: usize, group_width: usize, rows: u64) -> Result<Shuffle> {
        self.spread(name, width, group_width, rows, Order::Range { below: 1 << 63 }, 8)
    }

    fn spread(
        &self,
        name: &str,
        width: usize,
        group_width: usize,
        rows: u64,
        order: Order,
        number: usize,
    ) -> Result<Shuffle> {
        let expected = || self.budget.partitions(rows.saturating_mul(width as u64));
        let partitions = if rows == UNKNOWN { MANY } else { expected().max(self.least_partitions()) };
        let spec = Spec { name: name.to_string(), width, group_width, order, range_width: number, partitions };
        Shuffle::new(spec, self.dir, &self.memory)
    }

    /// Returns the minimum number of partitions. There are several partitions per thread, because partitions differ in size.
    fn least_partitions(&self) -> usize {
        let threads = self.pool.current_num_threads();
        (A_THREAD * threads).min(MANY).max(threads)
    }

    /// Performs `count` pieces of work on all threads. `init` creates the state of a thread, `each` processes one piece, and `end` closes
    /// the state. Returns the error of the earliest failing piece. Damaged input files are only recorded (except with `--strict`), so that
    /// a single pass finds all damaged files.
    pub fn work<S, T: Send>(
        &self,
        count: usize,
        init: impl Fn() -> Result<S> + Sync,
        each: impl Fn(&mut S, usize) -> Result<()> + Sync,
        end: impl Fn(S) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        self.work_on(usize::MAX, count, init, each, end)
    }

    /// Works like [`Engine::work`], but starts with a given piece and stops when `may_begin` returns false. Also returns the number of the
    /// first piece that was not started.
    pub(crate) fn work_while<S, T: Send>(
        &self,
        pieces: Range<usize>,
        may_begin: &(dyn Fn() -> bool + Sync),
        init: impl Fn() -> Result<S> + Sync,
        each: impl Fn(&mut S, usize) -> Result<()> + Sync,
        end: impl Fn(S) -> Result<T> + Sync,
    ) -> Result<(usize, Vec<T>)> {
        self.spread_out(usize::MAX, pieces, may_begin, init, each, end)
    }

    /// Works like [`Engine::work`], but on at most this many threads.
    pub fn work_on<S, T: Send>(
        &self,
        threads: usize,
        count: usize,
        init: impl Fn() -> Result<S> + Sync,
        each: impl Fn(&mut S, usize) -> Result<()> + Sync,
        end: impl Fn(S) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        Ok(self.spread_out(threads, 0..count, &|| true, init, each, end)?.1)
    }

    fn spread_out<S, T: Send>(
        &self,
        threads: usize,
        pieces: Range<usize>,
        may_begin: &(dyn Fn() -> bool + Sync),
        init: impl Fn() -> Result<S> + Sync,
        each: impl Fn(&mut S, usize) -> Result<()> + Sync,
        end: impl Fn(S) -> Result<T> + Sync,
    ) -> Result<(usize, Vec<T>)> {
        let (next, count) = (AtomicUsize::new(pieces.start), pieces.end);
        let failed = Failed::default();
        let results = self.pool.broadcast(|thread| {
            if thread.index() >= threads {
                return None;
            }
            let mut state = match init() {
                Ok(state) => state,
                Err(error) => {
                    failed.note(0, error);
                    return None;
                }
            };
            // `may_begin` is called only after a piece is done, so each call of this function makes progress.
            let mut begins = true;
            while !failed.stops.load(Ordering::Relaxed) && begins {
                let piece = next.fetch_add(1, Ordering::Relaxed);
                if piece >= count {
                    break;
                }
                if self.cancel.load(Ordering::Relaxed) {
                    failed.note(piece, Error::Interrupted);
                    break;
                }
                match each(&mut state, piece) {
                    Ok(()) => {}
                    Err(Error::BadFile { path, why }) if !self.strict => {
                        self.bad.lock().unwrap_or_else(PoisonError::into_inner).entry(path).or_insert(why);
                    }
                    Err(error) => failed.note(piece, error),
                }
                begins = may_begin();
            }
            match end(state) {
                Ok(result) => Some(result),
                Err(error) => {
                    failed.note(count, error);
                    None
                }
            }
        });
        match failed.first.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok((next.into_inner().min(count), results.into_iter().flatten().collect())),
        }
    }

    /// Returns a permit to work on a document of this many bytes if the document is long. Only one very long document is processed at a
    /// time. A thread may hold only one permit.
    ///
    /// # Errors
    /// Returns [`Error::Interrupted`] if the run should stop.
    pub fn long_document(&self, bytes: usize) -> Result<Option<Permit<'_>>> {
        let bytes = bytes as u64;
        let is_long = bytes > self.budget.short_document();
        is_long.then(|| self.long_documents.enter(bytes, || self.go_on())).transpose()
    }

    /// Checks that no damaged file has been found so far.
    ///
    /// # Errors
    /// Returns an error for the damaged file whose path sorts first.
    pub fn none_bad(&self) -> Result<()> {
        let bad = self.bad.lock().unwrap_or_else(PoisonError::into_inner);
        match bad.iter().next() {
            Some((path, why)) => Err(Error::BadFile { path: path.clone(), why: why.clone() }),
            None => Ok(()),
        }
    }

    /// Checks whether the run may continue. Every step that may take a long time calls this method.
    ///
    /// # Errors
    /// Returns [`Error::Interrupted`] if the run should stop.
    pub fn go_on(&self) -> Result<()> {
        if self.cancel.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Returns a progress bar for a stage that processes partitions.
    pub fn bar(&self, name: &str, total: usize) -> Bar {
        self.progress.stage(name, total as u64, Unit::Items)
    }

    /// Returns the limit, shared by all threads of a pass, on the bytes that readers hold.
    pub fn read_limit<T>(&self) -> ReadLimit<T> {
        ReadLimit::new(self.budget.pages(), self.budget.free_pages(), &self.memory)
    }
}

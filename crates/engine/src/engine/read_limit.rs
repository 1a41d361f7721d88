//! Limits the number of bytes of input files that readers hold in memory, and lets waiting readers do other work.
//!
//! A page is decompressed as a whole, so only a few large pages, and often just one, fit in memory at the same time. Waiting threads do not
//! count as idle, because the reading thread hands batches to them. Batches are also handed over at the end of a pass, when fewer pieces
//! than threads remain.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::gate::LOOK_UP;
use dupsift_core::error::{Error, Result};
use dupsift_spill::shuffle::Memory;

/// Freed memory of at least this many bytes is returned to the system immediately.
const RELEASED: u64 = 16 << 20;

/// Freed memory is returned to the system only if it is also at least this fraction (1/8) of the limit. The heaps of the threads then
/// retain no more memory than the limit, and the kernel does not have to clear memory for each page.
const RELEASED_PART: u64 = 8;

/// Limits the bytes that all readers hold together. A request above the limit is granted only if no other reader holds bytes.
pub struct ReadLimit<T> {
    most: u64,
    /// A reader that holds at most this many bytes uses none of the memory for rows.
    free: u64,
    memory: Memory,
    state: Mutex<State<T>>,
    changed: Condvar,
    /// The number of threads that are waiting and could do work.
    idle: AtomicUsize,
}

struct State<T> {
    held: u64,
    /// The number of threads that hold bytes or wait for them.
    readers: usize,
    handed: VecDeque<Handed<T>>,
}

/// Holds a piece of work that was handed over.
struct Handed<T> {
    thing: T,
    number: usize,
    from: Arc<Sent>,
}

/// Holds the state of the work that one reader has handed over.
#[derive(Default)]
struct Sent {
    left: AtomicUsize,
    failed: Mutex<Option<(usize, Error)>>,
}

/// Holds bytes for one reader, and hands over the data that the reader reads.
pub struct Reader<'r, T> {
    read_limit: &'r ReadLimit<T>,
    sent: Arc<Sent>,
    next: usize,
}

impl<T> Reader<'_, T> {
    /// Hands over `thing` to a waiting thread, or returns `thing` if no thread is waiting.
    pub fn offer(&mut self, thing: T) -> Option<T> {
        self.next += 1;
        if self.read_limit.idle.load(Relaxed) == 0 {
            return Some(thing);
        }
        let mut state = self.read_limit.lock();
        if self.read_limit.idle.load(Relaxed) <= state.handed.len() {
            return Some(thing);
        }
        self.sent.left.fetch_add(1, Relaxed);
        state.handed.push_back(Handed { thing, number: self.next, from: self.sent.clone() });
        self.read_limit.changed.notify_one();
        None
    }
}

impl<T> ReadLimit<T> {
    /// Returns a limit of this many bytes. A reader that holds more than `free` bytes uses memory that is otherwise reserved for rows.
    pub fn new(most: u64, free: u64, memory: &Memory) -> ReadLimit<T> {
        let state = Mutex::new(State { held: 0, readers: 0, handed: VecDeque::new() });
        ReadLimit { most, free, memory: memory.clone(), state, changed: Condvar::new(), idle: AtomicUsize::new(0) }
    }

    /// Holds bytes until `read` has returned and all work that it handed over is done. While the thread waits for the bytes, it helps other
    /// threads by calling `each`.
    ///
    /// # Errors
    /// Returns any error from `go_on`, which is called repeatedly. Otherwise, returns the first error from `read` or `each` in hand-over
    /// order.
    pub fn hold<S>(
        &self,
        thread: &mut S,
        bytes: u64,
        go_on: &dyn Fn() -> Result<()>,
        each: &dyn Fn(&mut S, T) -> Result<()>,
        read: impl FnOnce(&mut S, &mut Reader<'_, T>) -> Result<()>,
    ) -> Result<()> {
        self.lock().readers += 1;
        let _reader = OnDrop(|| {
            self.lock().readers -= 1;
            self.changed.notify_all();
        });
        let mut may = Ok(());
        self.help_until(thread, each, |state| {
            may = go_on();
            let fits = may.is_err() || state.held == 0 || state.held.saturating_add(bytes) <= self.most;
            state.held += if fits { bytes } else { 0 };
            fits
        });
        let _held = OnDrop(|| {
            // The memory of a long line remains in the heap of the thread that read the line, and each thread has its own heap.
            if bytes >= RELEASED.max(self.most / RELEASED_PART) {
                dupsift_core::allocator::release();
            }
            self.lock().held -= bytes;
            self.changed.notify_all();
        });
        may?;
        let _loan = if bytes > self.free { Some(self.memory.lend(bytes as usize)?) } else { None };
        let mut reader = Reader { read_limit: self, sent: Arc::default(), next: 0 };
        let read = read(thread, &mut reader);
        let Reader { sent, next, .. } = reader;
        self.help_until(thread, each, |_| sent.left.load(Relaxed) == 0);
        let failed = sent.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        match failed {
            Some((number, error)) if read.is_ok() || number < next => Err(error),
            _ => read,
        }
    }

    /// Helps other threads until no thread is reading.
    pub fn help<S>(&self, thread: &mut S, each: &dyn Fn(&mut S, T) -> Result<()>) {
        self.help_until(thread, each, |state| state.readers == 0);
    }

    /// Processes work that was handed over, until `is_done` returns true. `is_done` is called after each change and at regular intervals.
    fn help_until<S>(
        &self,
        thread: &mut S,
        each: &dyn Fn(&mut S, T) -> Result<()>,
        mut is_done: impl FnMut(&mut State<T>) -> bool,
    ) {
        let mut state = self.lock();
        while !is_done(&mut state) {
            let Some(Handed { thing, number, from }) = state.handed.pop_front() else {
                self.idle.fetch_add(1, Relaxed);
                state = self.changed.wait_timeout(state, LOOK_UP).unwrap_or_else(PoisonError::into_inner).0;
                self.idle.fetch_sub(1, Relaxed);
                continue;
            };
            drop(state);
            // The other thread must not wait forever, even if this thread panics.
            let done = OnDrop(|| {
                let _state = self.lock();
                from.left.fetch_sub(1, Relaxed);
                self.changed.notify_all();
            });
            if let Err(error) = each(thread, thing) {
                let mut failed = from.failed.lock().unwrap_or_else(PoisonError::into_inner);
                if failed.as_ref().is_none_or(|(earlier, _)| number < *earlier) {
                    *failed = Some((number, error));
                }
            }
            drop(done);
            state = self.lock();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        self.0();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

    #[test]
    fn what_does_not_fit_waits_and_the_threads_that_wait_help() {
        let read_limit = ReadLimit::new(10, 100, &Memory::new(0));
        let (held, most) = (AtomicU64::new(0), AtomicU64::new(0));
        let done = Mutex::new(Vec::new());
        let each = |helped: &mut (u64, u64), thing: (u64, u64)| {
            done.lock().unwrap().push(thing);
            helped.1 += u64::from(thing.0 != helped.0);
            std::thread::sleep(std::time::Duration::from_micros(200));
            Ok(())
        };
        let helped: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4u64)
                .map(|number| {
                    let (read_limit, held, most, each) = (&read_limit, &held, &most, &each);
                    scope.spawn(move || {
                        let mut thread = (number, 0);
                        for bytes in [3, 50, 9] {
                            read_limit
                                .hold(&mut thread, bytes, &|| Ok(()), each, |thread, reader| {
                                    most.fetch_max(held.fetch_add(bytes, SeqCst) + bytes, SeqCst);
                                    for thing in 0..20 {
                                        if let Some(thing) = reader.offer((number, 100 * bytes + thing)) {
                                            each(thread, thing)?;
                                        }
                                    }
                                    held.fetch_sub(bytes, SeqCst);
                                    Ok(())
                                })
                                .unwrap();
                        }
                        read_limit.help(&mut thread, each);
                        thread.1
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        let mut done = done.into_inner().unwrap();
        done.sort_unstable();
        let expected = (0..4).flat_map(|number| {
            [3, 9, 50].into_iter().flat_map(move |bytes| (0..20).map(move |thing| (number, 100 * bytes + thing)))
        });
        assert!(done.into_iter().eq(expected));
        assert!(most.into_inner() == 50 && helped > 0);
    }

    #[test]
    fn the_earliest_error_is_reported_by_the_thread_that_read() {
        let read_limit = ReadLimit::new(10, 100, &Memory::new(0));
        let each = |_: &mut (), thing: u64| if thing >= 5 { Err(Error::usage(thing.to_string())) } else { Ok(()) };
        let told = std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                read_limit.hold(&mut (), 1, &|| Ok(()), &each, |thread, reader| {
                    (0..9).try_for_each(|thing| {
                        // Waits until the other thread is waiting.
                        while thing == 0 && read_limit.idle.load(SeqCst) == 0 {
                            std::thread::yield_now();
                        }
                        reader.offer(thing).map_or(Ok(()), |thing| each(thread, thing))
                    })
                })
            });
            while read_limit.lock().readers == 0 && !reading.is_finished() {
                std::thread::yield_now();
            }
            read_limit.help(&mut (), &each);
            reading.join().unwrap()
        });
        assert_eq!(told.unwrap_err().to_string(), "5");
    }

    #[test]
    fn a_thread_that_waits_hears_that_the_run_is_to_stop() {
        let read_limit: ReadLimit<()> = ReadLimit::new(10, 100, &Memory::new(0));
        let none = |_: &mut (), ()| Ok(());
        let inner = |_: &mut (), _: &mut Reader<'_, ()>| {
            let stopped = read_limit.hold(&mut (), 1, &|| Err(Error::Interrupted), &none, |_, _| Ok(()));
            assert!(matches!(stopped, Err(Error::Interrupted)));
            Ok(())
        };
        read_limit.hold(&mut (), 11, &|| Ok(()), &none, inner).unwrap();
        let state = read_limit.lock();
        assert_eq!((state.held, state.readers), (0, 0));
    }
}

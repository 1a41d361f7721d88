//! Opens a list of files on a few threads; the results are in the order of the list.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Calls `work` for every item, on at most this many threads.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], threads: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    map_and_help("columns", items, threads.min(items.len()), work, || ())
}

/// Calls `work` for every item on exactly this many threads. Each thread calls `help` when no items are left. The time that each thread
/// spent is logged under the name `stage`, as for the stages of a run.
pub(crate) fn map_and_help<T: Sync, R: Send>(
    stage: &str,
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    help: impl Fn() + Sync,
) -> Vec<R> {
    if threads <= 1 {
        let results = items.iter().map(work).collect();
        help();
        return results;
    }
    dupsift_core::allocator::for_threads(threads);
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    let times = tracing::enabled!(tracing::Level::DEBUG).then(|| Mutex::new(Vec::new()));
    let take = || {
        let before = times.as_ref().map(|_| cpu_nanoseconds());
        while let Some((at, item)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, items.get(at)?)))
        {
            let result = work(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
        }
        help();
        if let (Some(times), Some(before)) = (&times, before) {
            times.lock().unwrap_or_else(PoisonError::into_inner).push(cpu_nanoseconds().saturating_sub(before));
        }
    };
    std::thread::scope(|scope| {
        for started in 1..threads {
            if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, take) {
                tracing::warn!(
                    "the files are opened with only {started} of {threads} threads, because no more can be started: {error}"
                );
                break;
            }
        }
        // The current thread also processes items.
        take();
    });
    if let Some(times) = times {
        let times = times.into_inner().unwrap_or_else(PoisonError::into_inner);
        let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
        let (busiest, all) = (seconds(times.iter().copied().max().unwrap_or(0)), seconds(times.iter().sum()));
        tracing::debug!(stage, serial = 0.0, busiest, all, "stage by threads");
    }
    // Otherwise, memory for a long line would stay in this thread's heap, which no other thread uses.
    dupsift_core::allocator::release();
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Returns the CPU time of this thread so far; 0 if the system does not report it.
fn cpu_nanoseconds() -> u64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    times.split_whitespace().next().and_then(|time| time.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_come_in_order() {
        let items: Vec<usize> = (0..100).collect();
        for threads in [0, 1, 3, 500] {
            assert_eq!(super::map(&items, threads, |item| item * 2), (0..200).step_by(2).collect::<Vec<_>>());
        }
        assert!(super::map(&[] as &[usize], 4, |item| *item).is_empty());
    }
}

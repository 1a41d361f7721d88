//! A handful of threads over a list of files, for opening them: results come in the order of the list.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// `work` of every item, on at most that many threads.
pub(super) fn map<T: Sync, R: Send>(items: &[T], threads: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = threads.clamp(1, items.len().max(1));
    if threads == 1 {
        return items.iter().map(work).collect();
    }
    crate::allocator::for_threads(threads);
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    let take = || {
        while let Some((at, item)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, items.get(at)?)))
        {
            let result = work(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
        }
    };
    std::thread::scope(|scope| {
        for started in 1..threads {
            if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, take) {
                tracing::warn!("{started} of {threads} threads open the files, no other can be started: {error}");
                break;
            }
        }
        // This thread is one of them.
        take();
    });
    // What a thread took for a long line stays in its heap, which no other thread uses.
    crate::allocator::release();
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
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

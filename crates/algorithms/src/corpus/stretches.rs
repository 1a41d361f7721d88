//! Processes a table of terms in stretches, on any number of threads.

use std::ops::Range;
use std::sync::OnceLock;

/// The number of terms that one thread processes at a time.
pub(crate) const STRETCH: usize = if cfg!(test) { 300 } else { 1 << 18 };

/// Runs a function once for each work item, on any number of threads. The arguments are the number of items and the function, which
/// receives the index of an item.
pub(crate) type Spread<'s> = &'s dyn Fn(usize, &(dyn Fn(usize) + Sync));

/// Splits the positions below `len` into stretches, calls a function for each stretch, and returns the results in order.
pub(crate) fn by_stretches<T: Send + Sync>(
    len: usize,
    spread: Spread<'_>,
    each: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    let made: Vec<OnceLock<T>> = (0..len.div_ceil(STRETCH)).map(|_| OnceLock::new()).collect();
    spread(made.len(), &|at| {
        made[at].get_or_init(|| each(at * STRETCH..((at + 1) * STRETCH).min(len)));
    });
    made.into_iter().filter_map(OnceLock::into_inner).collect()
}

//! Work on a table of terms by stretches, on any threads.

use std::ops::Range;
use std::sync::OnceLock;

/// Terms that one thread goes through at a time.
pub const STRETCH: usize = if cfg!(test) { 300 } else { 1 << 18 };

/// Does so many pieces of work by a function, which takes their numbers, on any threads.
pub type Spread<'s> = &'s dyn Fn(usize, &(dyn Fn(usize) + Sync));

/// What a function makes of stretches of so many terms, in their order.
pub fn by_stretches<T: Send + Sync>(len: usize, spread: Spread<'_>, each: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let made: Vec<OnceLock<T>> = (0..len.div_ceil(STRETCH)).map(|_| OnceLock::new()).collect();
    spread(made.len(), &|at| {
        made[at].get_or_init(|| each(at * STRETCH..((at + 1) * STRETCH).min(len)));
    });
    made.into_iter().filter_map(OnceLock::into_inner).collect()
}

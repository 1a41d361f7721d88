//! Keeps lists for reuse by later documents on the same thread.
//!
//! A document needs half a dozen lists as long as its text. Allocating them for each document would cost more than the work itself: the
//! allocator stores lists of different sizes separately, and the operating system zeroes each of their pages.

use std::cell::RefCell;
use std::ops::Range;

use super::beside::Frequency;
use super::simd::Classes;
use super::word::{Counted, Token, Word};

/// Lists larger than this are freed immediately, so that a thread does not keep the memory of its longest document.
const KEPT_BYTES: usize = 1 << 20;

/// The lists that one document uses, emptied for the next document.
pub(crate) struct Pool {
    /// The normalized text.
    pub text: Vec<u8>,
    /// The ends of the pieces in the normalized text.
    pub ends: Vec<u32>,
    /// The words.
    pub words: Vec<Word>,
    /// The sentences.
    pub sentences: Vec<Range<u32>>,
    /// The distinct words.
    pub counted: Vec<Counted>,
    /// The shingle tokens.
    pub tokens: Vec<Token>,
    /// The byte classes of the normalized text.
    pub classes: Vec<Classes>,
    /// The hash table for counting distinct words.
    pub slots: Vec<u32>,
    /// The corpus frequencies of the distinct words.
    pub frequencies: Vec<Frequency>,
    /// The hashes for looking up frequencies.
    pub hashes: Vec<u64>,
    /// The starts of Han runs.
    pub han_starts: Vec<u32>,
    /// The ends of Han words.
    pub han_ends: Vec<u32>,
}

impl Pool {
    const NONE: Pool = Pool {
        text: Vec::new(),
        ends: Vec::new(),
        words: Vec::new(),
        sentences: Vec::new(),
        counted: Vec::new(),
        tokens: Vec::new(),
        classes: Vec::new(),
        slots: Vec::new(),
        frequencies: Vec::new(),
        hashes: Vec::new(),
        han_starts: Vec::new(),
        han_ends: Vec::new(),
    };
}

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool::NONE) };
}

/// Returns an empty list with at least this capacity: the list that the last document on this thread returned to the pool, or a new list.
pub(crate) fn take<T>(of: fn(&mut Pool) -> &mut Vec<T>, room: usize) -> Vec<T> {
    let list = POOL.with_borrow_mut(|pool| std::mem::take(of(pool)));
    // If the old list is too small, a new list is allocated instead of growing the old list; see `allocator.rs`.
    if list.capacity() < room { Vec::with_capacity(room.max(2 * list.capacity())) } else { list }
}

/// Returns a list to the pool, so that the next document can use it.
pub(crate) fn leave<T>(of: fn(&mut Pool) -> &mut Vec<T>, mut list: Vec<T>) {
    if list.capacity() * size_of::<T>() <= KEPT_BYTES {
        list.clear();
        POOL.with_borrow_mut(|pool| *of(pool) = list);
    }
}

/// Frees the lists in this thread's pool.
pub(crate) fn free() {
    POOL.set(Pool::NONE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_kept_until_it_is_taken_or_freed_and_a_long_one_never() {
        let room = |room| take(|pool| &mut pool.ends, room).capacity();
        leave(|pool| &mut pool.ends, vec![7; 1000]);
        let list = take(|pool| &mut pool.ends, 10);
        assert!(list.is_empty() && list.capacity() >= 1000 && room(0) == 0);
        leave(|pool| &mut pool.ends, list);
        free();
        assert_eq!(room(0), 0);
        leave(|pool| &mut pool.ends, vec![7; KEPT_BYTES / 4 + 1]);
        assert_eq!(room(0), 0);
    }
}

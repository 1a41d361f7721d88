//! Lists that one document leaves for the next on the same thread.
//!
//! A document needs half a dozen lists of the size of its text. Made anew each time they cost more in fresh memory than in
//! work: the allocator keeps lists of a hundred sizes apart, and the system clears each page of them.

use std::cell::RefCell;
use std::ops::Range;

use super::beside::Frequency;
use super::simd::Classes;
use super::tokenizer::dict::best_path::Batch;
use super::word::{Counted, Token, Word};

/// Lists of more bytes than these are given back at once: a thread must not keep the size of its longest document.
const KEPT_BYTES: usize = 1 << 20;

/// The lists of one document, empty.
pub struct Pool {
    /// For the normalised text.
    pub text: Vec<u8>,
    /// For the ends of its pieces.
    pub ends: Vec<u32>,
    /// For its words.
    pub words: Vec<Word>,
    /// For its sentences.
    pub sentences: Vec<Range<u32>>,
    /// For its distinct words.
    pub counted: Vec<Counted>,
    /// For its tokens.
    pub tokens: Vec<Token>,
    /// For the classes of its bytes.
    pub classes: Vec<Classes>,
    /// For the table that counts its words.
    pub slots: Vec<u32>,
    /// For the frequencies of its words.
    pub frequencies: Vec<Frequency>,
    /// For the hashes by which these are looked up.
    pub hashes: Vec<u64>,
    /// For the beginnings of runs of Chinese.
    pub han_starts: Vec<u32>,
    /// For the ends of Chinese words.
    pub han_ends: Vec<u32>,
    /// For runs of Chinese that are cut together. There are never many.
    batch: Batch,
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
        batch: Batch::new(),
    };
}

thread_local! {
    static POOL: RefCell<Pool> = const { RefCell::new(Pool::NONE) };
}

/// An empty list with that much room: the one that the last document of this thread left, or a new one.
pub fn take<T>(of: fn(&mut Pool) -> &mut Vec<T>, room: usize) -> Vec<T> {
    let list = POOL.with_borrow_mut(|pool| std::mem::take(of(pool)));
    // A new list in place of one that grows: see `allocator.rs`.
    if list.capacity() < room { Vec::with_capacity(room.max(2 * list.capacity())) } else { list }
}

/// Leaves a list to the next document.
pub fn leave<T>(of: fn(&mut Pool) -> &mut Vec<T>, mut list: Vec<T>) {
    if list.capacity() * size_of::<T>() <= KEPT_BYTES {
        list.clear();
        POOL.with_borrow_mut(|pool| *of(pool) = list);
    }
}

/// An empty batch of runs of Chinese, with the room that the last of this thread left.
pub fn take_batch() -> Batch {
    POOL.with_borrow_mut(|pool| std::mem::take(&mut pool.batch))
}

/// Leaves the room of a batch to the next.
pub fn leave_batch(batch: Batch) {
    POOL.with_borrow_mut(|pool| pool.batch = batch);
}

/// Frees what the last document of this thread left, once no other follows: the memory of a thread is for something else then.
pub fn free() {
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

//! Lists that one document leaves for the next on the same thread.
//!
//! A document needs half a dozen lists of the size of its text. Made anew each time they cost more in fresh memory than in
//! work: the allocator keeps lists of a hundred sizes apart, and the system clears each page of them.

use std::cell::RefCell;
use std::ops::Range;

use super::analysis::{Counted, Token, Word};

/// Lists of more bytes than these are given back at once: a thread must not keep the size of its longest document.
const KEPT_BYTES: usize = 1 << 20;

/// The lists of one document, empty.
pub struct Spare {
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
}

thread_local! {
    static SPARE: RefCell<Spare> = const {
        RefCell::new(Spare {
            text: Vec::new(),
            ends: Vec::new(),
            words: Vec::new(),
            sentences: Vec::new(),
            counted: Vec::new(),
            tokens: Vec::new(),
        })
    };
}

/// An empty list with that much room: the one that the last document of this thread left, or a new one.
pub fn take<T>(of: fn(&mut Spare) -> &mut Vec<T>, room: usize) -> Vec<T> {
    let mut list = SPARE.with_borrow_mut(|spare| std::mem::take(of(spare)));
    list.reserve(room);
    list
}

/// Leaves a list to the next document.
pub fn leave<T>(of: fn(&mut Spare) -> &mut Vec<T>, mut list: Vec<T>) {
    if list.capacity() * size_of::<T>() <= KEPT_BYTES {
        list.clear();
        SPARE.with_borrow_mut(|spare| *of(spare) = list);
    }
}

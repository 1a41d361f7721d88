//! Chinese that was cut before: the places where words begin, one bit a character.
//!
//! A dictionary takes ten times as long as all other work on a text. A job that reads its corpus twice notes the cuts of the
//! first reading (a bit for each Han character, a twenty-fourth of the text) and replays them in the second.

use std::cell::Cell;
use std::ops::Range;

use super::Tokenizer;

/// Appends bits to bytes, lowest bit first; the rest of the last byte is zeros.
pub struct StartsWriter<'o> {
    out: &'o mut Vec<u8>,
    /// Bits of the last byte in use.
    used: u32,
}

impl<'o> StartsWriter<'o> {
    /// Starts with a new byte.
    pub fn new(out: &'o mut Vec<u8>) -> StartsWriter<'o> {
        StartsWriter { out, used: 8 }
    }

    /// One word of so many characters.
    pub fn word(&mut self, characters: usize) {
        for at in 0..characters {
            if self.used == 8 {
                self.out.push(0);
                self.used = 0;
            }
            if let (0, Some(last)) = (at, self.out.last_mut()) {
                *last |= 1 << self.used;
            }
            self.used += 1;
        }
    }
}

/// A tokenizer that replays what a [`StartsWriter`] noted of the same text.
pub struct Starts<'s> {
    bits: &'s [u8],
    /// The number of the next character.
    next: Cell<usize>,
}

impl<'s> Starts<'s> {
    /// Begins at the first Han character of the text.
    pub fn new(bits: &'s [u8]) -> Starts<'s> {
        Starts { bits, next: Cell::new(0) }
    }
}

impl Tokenizer for Starts<'_> {
    fn cut(&self, run: &str, out: &mut dyn FnMut(Range<usize>)) {
        let mut at = self.next.get();
        let mut start = 0;
        for (place, _) in run.char_indices() {
            let begins = self.bits.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
            if begins && place > start {
                out(start..place);
                start = place;
            }
            at += 1;
        }
        if start < run.len() {
            out(start..run.len());
        }
        self.next.set(at);
    }
}

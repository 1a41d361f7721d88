//! Records where the words of Chinese text begin, one bit per character.
//!
//! Dictionary lookups take ten times as long as all other processing of the text. A job that reads the corpus more than once records the
//! words in the first pass and replays them in later passes. The record has one bit per Han character, which is 1/24 of the size of the
//! text.

use std::cell::Cell;
use std::ops::Range;

use super::Tokenizer;

/// Appends bits to a list of bytes, lowest bit first. The unused bits of the last byte are zeros.
pub(crate) struct StartsWriter<'o> {
    out: &'o mut Vec<u8>,
    /// The number of used bits in the last byte.
    used: u32,
}

impl<'o> StartsWriter<'o> {
    /// Creates a writer that starts with a new byte.
    pub(crate) fn new(out: &'o mut Vec<u8>) -> StartsWriter<'o> {
        StartsWriter { out, used: 8 }
    }

    /// Appends a word that consists of this many characters (at least one).
    pub(crate) fn word(&mut self, characters: usize) {
        if self.used == 8 {
            self.out.push(0);
            self.used = 0;
        }
        if let Some(last) = self.out.last_mut() {
            *last |= 1 << self.used;
        }
        let end = self.used as usize + characters;
        let further = end.div_ceil(8) - 1;
        self.out.resize(self.out.len() + further, 0);
        self.used = (end - 8 * further) as u32;
    }
}

/// A tokenizer that replays the words that a [`StartsWriter`] recorded for the same text.
pub(crate) struct Starts<'s> {
    bits: &'s [u8],
    /// The index of the next Han character in the text.
    next: Cell<usize>,
}

impl<'s> Starts<'s> {
    /// Creates a tokenizer that starts at the first Han character of the text.
    pub(crate) fn new(bits: &'s [u8]) -> Starts<'s> {
        Starts { bits, next: Cell::new(0) }
    }
}

/// The number of bits that are processed together.
const AT_ONCE: usize = 56;

impl Starts<'_> {
    /// Returns at least [`AT_ONCE`] bits, starting at a position, lowest bit first. Bits after the end are zeros.
    #[inline]
    fn bits_from(&self, at: usize) -> u64 {
        let rest = self.bits.get(at / 8..).unwrap_or_default();
        let bytes = match rest.first_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => rest.iter().rev().fold(0, |bytes, &byte| bytes << 8 | u64::from(byte)),
        };
        bytes >> (at % 8)
    }

    /// Splits a run of `count` characters that have three bytes each.
    fn cut_threes(&self, count: usize, out: &mut dyn FnMut(Range<usize>)) {
        let first = self.next.get();
        // A word begins at the start of a run, even if the bits do not mark it.
        let (mut start, mut next) = (0, 1);
        while next < count {
            let here = (count - next).min(AT_ONCE);
            let mut begins = self.bits_from(first + next) & ((1 << here) - 1);
            while begins != 0 {
                let place = next + begins.trailing_zeros() as usize;
                out(3 * start..3 * place);
                start = place;
                begins &= begins - 1;
            }
            next += here;
        }
        out(3 * start..3 * count);
        self.next.set(first + count);
    }
}

impl Tokenizer for Starts<'_> {
    fn cut(&self, run: &str, out: &mut dyn FnMut(Range<usize>)) {
        // In nearly all runs, every character has three bytes; the first byte of a character shows its length.
        let (threes, rest) = run.as_bytes().as_chunks::<3>();
        if rest.is_empty() && !threes.is_empty() && threes.iter().all(|one| one[0] & 0xF0 == 0xE0) {
            return self.cut_threes(threes.len(), out);
        }
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

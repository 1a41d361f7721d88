//! Finds the anchors of a folded text by winnowing.
//!
//! Source: Schleimer, Wilkerson, Aiken 2003, Winnowing. From each window of w consecutive k-byte hashes, the smallest hash is chosen, or
//! the rightmost one if several hashes are equally small. A window covers w + k - 1 bytes, which is never more than the number of
//! characters in a run, so each run contains a window. The windows inside a run depend only on the run, so the same anchors are chosen in
//! identical runs. Consecutive runs whose first windows chose the same anchor form a block, so identical runs are in blocks with the same
//! anchor.

use std::ops::Range;

use crate::fold::{Folded, chars};

/// The maximum number of bytes hashed per anchor.
const MOST_BYTES: usize = 24;
/// The multiplier of the rolling hash.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Describes an anchor and the windows from which it was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The hash of the anchor's bytes.
    pub hash: u64,
    /// The position of the anchor's first byte.
    place: u32,
    /// The start of the first window from which the anchor was chosen.
    first: u32,
    /// The start of the last window from which the anchor was chosen.
    last: u32,
}

impl Anchor {
    /// The number of bytes in a saved anchor.
    pub const SAVED: usize = 16;

    /// Encodes an anchor for [`Anchor::read`].
    pub fn saved(&self) -> [u8; Anchor::SAVED] {
        let mut saved = [0; Anchor::SAVED];
        saved[..8].copy_from_slice(&self.hash.to_le_bytes());
        saved[8..12].copy_from_slice(&self.first.to_le_bytes());
        saved[12..].copy_from_slice(&self.last.to_le_bytes());
        saved
    }

    /// Reads a saved anchor. The position is not saved because it matters only while anchors are chosen.
    pub fn read(saved: &[u8; Anchor::SAVED]) -> Anchor {
        let [hash @ .., _, _, _, _, _, _, _, _] = *saved;
        let [_, _, _, _, _, _, _, _, a, b, c, d, e, f, g, h] = *saved;
        let (first, last) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        Anchor { hash: u64::from_le_bytes(hash), place: first, first, last }
    }
}

/// Describes consecutive runs whose first windows chose the same anchor, and which are consecutive in the original text, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The hash of the anchor.
    pub anchor: u64,
    /// The position of the first run's first byte in the folded text.
    pub start: usize,
    /// The number of runs. Each run begins one character after the previous run.
    pub runs: u32,
    /// The position after the last run's last byte in the folded text.
    pub end: usize,
}

/// Chooses anchors for runs of a given length.
#[derive(Clone, Copy, Debug)]
pub struct Winnow {
    /// The number of characters in a run.
    length: usize,
    /// The number of bytes in an anchor.
    bytes: usize,
    /// The number of hashes in a window.
    window: usize,
}

impl Winnow {
    /// Creates a `Winnow` for runs of `length` characters; `window` is the approximate number of hashes per window. Smaller windows yield
    /// more anchors and fewer candidates that turn out to be unique. The window size does not affect which repeats are found.
    pub fn new(length: u32, window: usize) -> Winnow {
        let length = length as usize;
        let bytes = MOST_BYTES.min(length.div_ceil(2));
        Winnow { length, bytes, window: window.clamp(1, length - bytes + 1) }
    }

    /// Returns the number of characters in a run.
    pub fn length(&self) -> u32 {
        self.length as u32
    }

    /// Returns the approximate number of anchors in this many bytes of text.
    pub fn anchors_of(&self, bytes: u64) -> u64 {
        (bytes as f64 * 2.0 / (self.window as f64 + 1.0)).ceil() as u64
    }

    /// Returns the number of bytes that a window covers.
    fn seen(&self) -> usize {
        self.window + self.bytes - 1
    }

    /// Writes the anchors of a folded text to `out`, in order. `ring` is a buffer that the thread reuses.
    pub fn anchors(&self, text: &str, ring: &mut Vec<u64>, out: &mut Vec<Anchor>) {
        out.clear();
        let text = text.as_bytes();
        let (bytes, window) = (self.bytes, self.window);
        if text.len() < self.length {
            return;
        }
        let mask = window.next_power_of_two() - 1;
        ring.clear();
        ring.resize(mask + 1, 0);
        // The multiplier for the byte that leaves the rolling hash.
        let leaving = (0..bytes).fold(1u64, |power, _| power.wrapping_mul(FACTOR));
        let mut hash =
            text[..bytes].iter().fold(0u64, |hash, &byte| hash.wrapping_mul(FACTOR).wrapping_add(byte.into()));
        let (mut least, mut least_at) = (hash, 0);
        ring[0] = hash;
        // The anchor chosen from the last window, and whether an anchor has been chosen from any window yet.
        let (mut chosen, mut since) = (Anchor { hash, place: 0, first: 0, last: 0 }, window == 1);
        let changes = text.iter().zip(&text[bytes..]);
        let changes = changes.map(|(&gone, &new)| u64::from(new).wrapping_sub(u64::from(gone).wrapping_mul(leaving)));
        for (at, change) in (1..).zip(changes) {
            // The high bits of the hash depend on all hashed bytes, so hashes can be compared without mixing.
            hash = hash.wrapping_mul(FACTOR).wrapping_add(change);
            ring[at & mask] = hash;
            if hash <= least {
                (least, least_at) = (hash, at);
            } else if least_at + window <= at {
                (least, least_at) = (hash, at);
                for before in (at + 1 - window..at).rev() {
                    let hash = ring[before & mask];
                    if hash < least {
                        (least, least_at) = (hash, before);
                    }
                }
            }
            if at + 1 < window || (since && chosen.place == least_at as u32) {
                continue;
            }
            let begin = (at + 1 - window) as u32;
            if since {
                out.push(Anchor { last: begin - 1, ..chosen });
            }
            (chosen, since) = (Anchor { hash: least, place: least_at as u32, first: begin, last: begin }, true);
        }
        if since {
            out.push(Anchor { last: (text.len() - self.seen()) as u32, ..chosen });
        }
    }

    /// Returns whether a folded text of this many bytes may contain recurring runs, that is, whether [`Winnow::stretches`] may return a
    /// stretch.
    pub fn may_recur(&self, bytes: usize, anchors: impl Iterator<Item = Anchor>, recurs: impl Fn(u64) -> bool) -> bool {
        let mut from = 0;
        for anchor in anchors.filter(|anchor| !recurs(anchor.hash)) {
            if anchor.first as usize + self.seen() > from + self.length {
                return true;
            }
            from = anchor.last as usize + 1;
        }
        bytes >= from + self.length
    }

    /// Returns the stretches of a folded text in which runs may recur. Every run whose anchors all recur is in one of these stretches. No
    /// run is in more than one stretch.
    pub fn stretches(&self, text: &str, anchors: &[Anchor], recurs: impl Fn(u64) -> bool) -> Vec<Range<usize>> {
        let (mut stretches, mut from) = (Vec::new(), 0);
        let mut push = |from: usize, to: usize| {
            let from = (from..=to).find(|&at| text.is_char_boundary(at)).unwrap_or(to);
            let to = (from..=to).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(from);
            if to - from >= self.length {
                stretches.push(from..to);
            }
        };
        for anchor in anchors.iter().filter(|anchor| !recurs(anchor.hash)) {
            let to = anchor.first as usize + self.seen() - 1;
            if to > from {
                push(from, to);
            }
            from = anchor.last as usize + 1;
        }
        if text.len() > from {
            push(from, text.len());
        }
        stretches
    }

    /// Calls `each` with the blocks of a stretch, in order. Every run in the stretch is in exactly one block.
    ///
    /// # Errors
    /// Returns any error from `each`.
    pub fn blocks<E>(
        &self,
        folded: &Folded,
        anchors: &[Anchor],
        stretch: Range<usize>,
        mut each: impl FnMut(Block) -> Result<(), E>,
    ) -> Result<(), E> {
        let text = &folded.text[..stretch.end];
        let last = text[stretch.start..].char_indices().rev().nth(self.length - 1);
        let Some(last) = last.map(|(at, _)| stretch.start + at) else { return Ok(()) };
        // Returns the position this many characters ahead.
        let ahead =
            |from: usize, count: usize| text[from..].char_indices().nth(count).map_or(text.len(), |at| from + at.0);
        let (mut start, mut end) = (stretch.start, ahead(stretch.start, self.length));
        let begin = anchors.partition_point(|anchor| (anchor.last as usize) < start);
        for anchor in &anchors[begin..] {
            if start > last {
                break;
            }
            let next = last.min(anchor.last as usize) + 1;
            let next = (next..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
            for part in folded.unshifted(start..next) {
                let runs = chars(&text[part.clone()]);
                end = ahead(end, runs - 1);
                each(Block { anchor: anchor.hash, start: part.start, runs: runs as u32, end })?;
                end = ahead(end, 1);
            }
            start = next;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchors(winnow: Winnow, text: &str) -> Vec<Anchor> {
        let (mut ring, mut out) = (Vec::new(), Vec::new());
        winnow.anchors(text, &mut ring, &mut out);
        out
    }

    /// Computes anchors directly from their definition: the smallest hash of each window, or the rightmost one if several hashes are
    /// equally small.
    fn slow(winnow: Winnow, text: &str) -> Vec<(u64, usize, usize)> {
        let mut out: Vec<(u64, usize, usize)> = Vec::new();
        let mut last = usize::MAX;
        if text.len() < winnow.length {
            return out;
        }
        let hash = |at: usize| {
            let bytes = &text.as_bytes()[at..at + winnow.bytes];
            bytes.iter().fold(0u64, |hash, &byte| hash.wrapping_mul(FACTOR).wrapping_add(byte.into()))
        };
        for begin in 0..=text.len() - winnow.seen() {
            let at = (begin..begin + winnow.window).rev().min_by_key(|&at| hash(at)).expect("a window");
            if at == last {
                out.last_mut().expect("an anchor").2 = begin;
            } else {
                out.push((hash(at), begin, begin));
                last = at;
            }
        }
        out
    }

    proptest::proptest! {
        #[test]
        fn anchors_are_as_they_are_defined(text in "[abc中é ]{0,120}", window in 1..30usize) {
            let winnow = Winnow::new(20, window);
            let fast: Vec<_> = anchors(winnow, &text).iter().map(|a| (a.hash, a.first as usize, a.last as usize)).collect();
            proptest::prop_assert_eq!(fast, slow(winnow, &text));
            for anchor in anchors(winnow, &text) {
                let read = Anchor::read(&anchor.saved());
                proptest::prop_assert_eq!((read.hash, read.first, read.last), (anchor.hash, anchor.first, anchor.last));
            }
        }

        /// Checks that a run that occurs in two texts is within a stretch of each text, regardless of the surrounding text.
        #[test]
        fn no_run_is_lost(run in "[abc中é]{20}", parts in proptest::collection::vec("[abcd中]{0,40}", 4), window in 1..30usize) {
            let winnow = Winnow::new(20, window);
            let texts = [format!("{}{run}{}", parts[0], parts[1]), format!("{}{run}{}", parts[2], parts[3])];
            let all = texts.each_ref().map(|text| anchors(winnow, text));
            let count = |hash: u64| all.iter().flatten().filter(|anchor| anchor.hash == hash).count();
            for ((text, anchors), before) in texts.iter().zip(&all).zip([&parts[0], &parts[2]]) {
                let stretches = winnow.stretches(text, anchors, |hash| count(hash) > 1);
                proptest::prop_assert!(winnow.may_recur(text.len(), anchors.iter().copied(), |hash| count(hash) > 1));
                let (from, to) = (before.len(), before.len() + run.len());
                proptest::prop_assert!(stretches.iter().any(|one| one.start <= from && to <= one.end), "{stretches:?} {from}..{to}");
                // Checks that no run begins in two stretches.
                let starts = |one: &Range<usize>| (one.start..one.end).filter(|&at| {
                    text.is_char_boundary(at) && text[at..one.end].chars().count() >= 20
                }).collect::<Vec<_>>();
                let mut known: Vec<usize> = stretches.iter().flat_map(starts).collect();
                let all = known.len();
                known.dedup();
                proptest::prop_assert_eq!(known.len(), all);
            }
        }

        /// Checks that each run is in one block, and that identical runs are in blocks with the same anchor.
        #[test]
        fn blocks_have_all_runs(text in "[ab中é \n]{0,120}", window in 1..30usize) {
            let winnow = Winnow::new(20, window);
            let folded = Folded::new(&text);
            let anchors = anchors(winnow, &folded.text);
            let (mut found, mut known) = (Vec::new(), std::collections::HashMap::new());
            for stretch in winnow.stretches(&folded.text, &anchors, |_| true) {
                let done = winnow.blocks(&folded, &anchors, stretch, |block| {
                    let text = &folded.text[block.start..block.end];
                    assert_eq!(chars(text), block.runs as usize + 19);
                    for (at, _) in text.char_indices().take(block.runs as usize) {
                        let run: String = text[at..].chars().take(20).collect();
                        assert_eq!(*known.entry(run).or_insert(block.anchor), block.anchor);
                        found.push(block.start + at);
                    }
                    Ok::<_, ()>(())
                });
                done.expect("no error");
            }
            let starts = folded.text.char_indices().map(|(at, _)| at);
            let expected: Vec<usize> = starts.filter(|&at| chars(&folded.text[at..]) >= 20).collect();
            proptest::prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_text_without_recurring_anchors_has_no_stretch() {
        let winnow = Winnow::new(100, 64);
        let text: String = (0..400).map(|number| format!("{number} ")).collect();
        let anchors = anchors(winnow, &text);
        assert!(anchors.len() as u64 * 2 > winnow.anchors_of(text.len() as u64));
        assert!(winnow.stretches(&text, &anchors, |_| false).is_empty());
        assert!(!winnow.may_recur(text.len(), anchors.iter().copied(), |_| false));
        let all = winnow.stretches(&text, &anchors, |_| true);
        assert_eq!((all.len(), all[0].clone()), (1, 0..text.len()));
        assert!(Winnow::new(500, 64).stretches("short", &[], |_| true).is_empty());
    }
}

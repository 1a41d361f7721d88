//! Aligns an item with a stretch of text: finds the tokens that both have, in the same order.

use crate::vocabulary::NO_TOKEN;

/// The maximum number of item tokens that are aligned at a time, which bounds the memory. Longer items are aligned in blocks.
const BLOCK: usize = 4096;

/// The number of text tokens with which a block is aligned, in multiples of the block's length.
const STRETCH: usize = 3;

/// The cost of a token that stands between two aligned tokens of the text, where an aligned token gains 1. Words that follow each other at
/// random in the text before or after an item cost more than they gain.
const GAP: f32 = 0.5;

/// The number of tokens between two aligned tokens above which the cost does not grow, so that a sentence may stand between two parts of an
/// item.
const MOST_GAP: u32 = 10;

/// A pair of equal tokens: their positions in the item and in the text.
pub(crate) type Pair = (u32, u32);

/// Aligns sequences of token numbers. The buffers are reused.
#[derive(Debug, Default)]
pub(crate) struct Aligner {
    /// The distinct tokens of the item with their numbers, in an open-addressing table that is at most half full.
    slots: Vec<(u32, u32)>,
    /// The positions of each distinct token in the item, one bit per position.
    masks: Vec<u64>,
    /// The state after each token of the text that is in the item. A bit is 0 if the longest common subsequence with the item up to this
    /// token is longer than that with the item up to the token before.
    rows: Vec<u64>,
    /// The position in the text of each row.
    places: Vec<u32>,
}

impl Aligner {
    /// Finds the longest sequence of tokens that the item and the text have in the same order, and returns the part of it in which the
    /// tokens are close together in the text.
    pub(crate) fn align(&mut self, item: &[u32], text: &[u32]) -> Vec<Pair> {
        if item.len() <= BLOCK {
            return self.align_block(item, text);
        }
        let (mut all, mut from): (Vec<Pair>, usize) = (Vec::new(), 0);
        for (number, block) in item.chunks(BLOCK).enumerate() {
            let text = &text[from..text.len().min(from + STRETCH * BLOCK)];
            let pairs = self.align_block(block, text);
            all.extend(pairs.iter().map(|&(at, place)| (at + (number * BLOCK) as u32, place + from as u32)));
            from = all.last().map_or(from, |last| last.1 as usize + 1);
        }
        all
    }

    /// Aligns an item of at most [`BLOCK`] tokens. The rows are computed 64 item tokens at a time (H. Hyyrö, "Bit-parallel LCS-length
    /// computation revisited", 2004).
    fn align_block(&mut self, item: &[u32], text: &[u32]) -> Vec<Pair> {
        let Aligner { slots, masks, rows, places } = self;
        let words = item.len().div_ceil(64);
        let bits = (2 * item.len().max(1)).next_power_of_two().ilog2();
        slots.clear();
        slots.resize(1 << bits, (NO_TOKEN, 0));
        masks.clear();
        for (&token, at) in item.iter().zip(0..) {
            let slot = slot(slots, bits, token);
            if slots[slot].0 == NO_TOKEN {
                slots[slot] = (token, (masks.len() / words) as u32);
                masks.resize(masks.len() + words, 0);
            }
            masks[slots[slot].1 as usize * words + at / 64] |= 1 << (at % 64);
        }
        rows.clear();
        rows.resize(words, u64::MAX);
        places.clear();
        for (&token, at) in text.iter().zip(0..) {
            let (known, number) = slots[slot(slots, bits, token)];
            if known == NO_TOKEN {
                continue;
            }
            let number = number as usize;
            let (from, mut carry) = (rows.len() - words, false);
            for word in 0..words {
                let (row, mask) = (rows[from + word], masks[number * words + word]);
                let (sum, first) = row.overflowing_add(row & mask);
                let (sum, second) = sum.overflowing_add(u64::from(carry));
                carry = first | second;
                rows.push(sum | row & !mask);
            }
            places.push(at);
        }
        let is_longer = |row: usize, at: usize| rows[row * words + at / 64] >> (at % 64) & 1 == 0;
        let (mut row, mut at, mut pairs) = (places.len(), item.len(), Vec::new());
        while row > 0 && at > 0 {
            if !is_longer(row, at - 1) {
                at -= 1;
            } else if is_longer(row - 1, at - 1) {
                row -= 1;
            } else {
                (row, at) = (row - 1, at - 1);
                pairs.push((at as u32, places[row]));
            }
        }
        pairs.reverse();
        close_up(&mut pairs, item, text);
        best_part(&pairs)
    }
}

/// Returns the slot of a token, or the empty slot where it belongs.
#[inline]
fn slot(slots: &[(u32, u32)], bits: u32, token: u32) -> usize {
    let mut slot = (token.wrapping_mul(0x9E37_79B1) >> (32 - bits)) as usize;
    while slots[slot].0 != token && slots[slot].0 != NO_TOKEN {
        slot = (slot + 1) & (slots.len() - 1);
    }
    slot
}

/// Moves each pair, except the last one, to the last equal tokens before the next pair, in the item and in the text, so that there are no
/// gaps without need. Otherwise, the first words of an item that are also words of its instruction could be aligned with the instruction.
fn close_up(pairs: &mut [Pair], item: &[u32], text: &[u32]) {
    let last = |tokens: &[u32], at: u32, next: u32| {
        (at + 1..next).rev().find(|&later| tokens[later as usize] == tokens[at as usize]).unwrap_or(at)
    };
    for number in (1..pairs.len()).rev() {
        let (next, (at, place)) = (pairs[number], pairs[number - 1]);
        pairs[number - 1] = (last(item, at, next.0), last(text, place, next.1));
    }
}

/// Returns the part of the pairs with the greatest gain.
fn best_part(pairs: &[Pair]) -> Vec<Pair> {
    let (mut best, mut best_gain, mut start, mut gain) = (0..0, 0.0, 0, 0.0_f32);
    for (number, pair) in pairs.iter().enumerate() {
        if number > 0 {
            gain -= GAP * (pair.1 - pairs[number - 1].1 - 1).min(MOST_GAP) as f32;
        }
        if gain < 0.0 {
            (start, gain) = (number, 0.0);
        }
        gain += 1.0;
        if gain > best_gain {
            (best, best_gain) = (start..number + 1, gain);
        }
    }
    pairs[best].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn align(item: &[u32], text: &[u32]) -> Vec<Pair> {
        Aligner::default().align(item, text)
    }

    #[test]
    fn tokens_are_aligned_in_order_and_close_together() {
        assert_eq!(align(&[1, 2, 3, 4], &[9, 1, 2, 9, 4, 9]), [(0, 1), (1, 2), (3, 4)]);
        assert_eq!(align(&[1, 2, 3], &[3, 2, 1]).len(), 1, "the order counts");
        // The first token is that beside the second one; tokens far away are left out.
        assert_eq!(align(&[1, 2, 3], &[1, 9, 9, 1, 2, 3]), [(0, 3), (1, 4), (2, 5)]);
        assert_eq!(align(&[1, 2, 3, 4, 5], &[1, 9, 9, 9, 2, 3, 4, 9, 9, 9, 5]), [(1, 4), (2, 5), (3, 6)]);
        // The first two words of the item are also in its instruction.
        assert_eq!(align(&[1, 2, 3, 5, 1, 2, 4], &[9, 1, 2, 4]), [(4, 1), (5, 2), (6, 3)]);
        // A sentence may stand between two parts.
        let text = [&[1, 2, 3, 4, 5, 6][..], &[9; 40], &[7, 8, 10, 11, 12, 13]].concat();
        assert_eq!(align(&[1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13], &text).len(), 12);
        assert!(align(&[], &[1]).is_empty());
    }

    #[test]
    fn long_items_are_aligned_in_blocks() {
        let item: Vec<u32> = (0..10_000).collect();
        let text: Vec<u32> = item.iter().map(|&token| if token % 100 == 0 { 1_000_000 } else { token }).collect();
        let pairs = align(&item, &text);
        assert_eq!(pairs.len(), 9_900);
        assert!(pairs.iter().all(|pair| pair.0 == pair.1));
    }

    fn longest(item: &[u32], text: &[u32]) -> usize {
        let mut row = vec![0; text.len() + 1];
        for one in item {
            let mut before = 0;
            for (at, other) in text.iter().enumerate() {
                let here = row[at + 1];
                row[at + 1] = if one == other { before + 1 } else { here.max(row[at]) };
                before = here;
            }
        }
        row[text.len()]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]

        #[test]
        fn the_sequence_is_common_and_the_longest(
            item in proptest::collection::vec(0u32..6, 0..150),
            text in proptest::collection::vec(0u32..8, 0..150),
        ) {
            let mut aligner = Aligner::default();
            let part = aligner.align(&item, &text);
            prop_assert!(part.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
            prop_assert!(part.iter().all(|&(at, place)| item[at as usize] == text[place as usize]));
            prop_assert!(part.len() <= longest(&item, &text));
            if item == text {
                prop_assert_eq!(part.len(), item.len());
            }
            let all = longest(&item, &text);
            prop_assert_eq!(part.is_empty(), all == 0);
        }
    }
}

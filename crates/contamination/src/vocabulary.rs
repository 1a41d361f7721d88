//! Numbers the distinct tokens of an evaluation set.

use crate::by_hash::sorted_by_hash;

/// The number of every token that is in no item.
pub(crate) const NO_TOKEN: u32 = u32::MAX;

/// Maps the token hashes of all items to numbers, most frequent first. The map is an open-addressing table that is at most half full.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    /// The upper half of the token's hash, and the token's number. About one in four billion unrelated tokens is mistaken for a token of an
    /// item, but n-grams are never mistaken for each other.
    slots: Vec<(u32, u32)>,
    /// The number of distinct tokens.
    pub count: u32,
}

impl Vocabulary {
    /// Numbers the tokens with these hashes.
    pub(crate) fn new(hashes: &[u64]) -> Vocabulary {
        let sorted = sorted_by_hash(hashes, |&hash| hash);
        let mut distinct: Vec<(usize, u64)> =
            sorted.chunk_by(|a, b| a == b).map(|same| (same.len(), same[0])).collect();
        // Sorts by frequency, so that frequent tokens are close together in memory.
        distinct.sort_unstable_by_key(|&(count, hash)| (std::cmp::Reverse(count), hash));
        let mut slots = vec![(0, NO_TOKEN); (2 * distinct.len() + 2).next_power_of_two()];
        let mask = slots.len() - 1;
        for (&(_, hash), number) in distinct.iter().zip(0..) {
            let mut at = hash as usize & mask;
            while slots[at].1 != NO_TOKEN {
                at = (at + 1) & mask;
            }
            slots[at] = ((hash >> 32) as u32, number);
        }
        Vocabulary { slots, count: distinct.len() as u32 }
    }

    /// Returns the number that identifies a token, or [`NO_TOKEN`] if the token is in no item.
    #[inline]
    pub(crate) fn number(&self, hash: u64) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let (known, number) = self.slots[at];
            if known == (hash >> 32) as u32 || number == NO_TOKEN {
                return number;
            }
            at = (at + 1) & mask;
        }
    }
}

impl Vocabulary {
    /// Returns the memory of the map, in bytes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * 8
    }
}

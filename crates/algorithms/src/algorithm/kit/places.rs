//! Implements a table that maps each hash in a list to its position. The table is built for one document or for a dictionary of a
//! few thousand words, and each lookup takes a few steps.

/// Holds a table of hashes and their positions. The low bits of the hashes must be well mixed.
pub(crate) struct Places {
    /// The hashes and their positions. Positions count from 1, so 0 marks an empty slot.
    slots: Vec<(u64, u32)>,
}

impl Places {
    /// Returns a table of fewer than 2^32 distinct hashes.
    pub(crate) fn new(hashes: impl ExactSizeIterator<Item = u64>) -> Places {
        let mut places = Places { slots: vec![(0, 0); (hashes.len() * 2).next_power_of_two()] };
        for (place, hash) in hashes.enumerate() {
            let at = places.find(hash);
            places.slots[at] = (hash, place as u32 + 1);
        }
        places
    }

    /// Returns the position of a hash, counted from 0.
    #[inline]
    pub(crate) fn of(&self, hash: u64) -> Option<usize> {
        self.slots[self.find(hash)].1.checked_sub(1).map(|place| place as usize)
    }

    /// Returns the slot of the hash, or the empty slot where it would be inserted. At most half of the slots are occupied; if there is only
    /// one slot, it is empty.
    #[inline]
    fn find(&self, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at].1 != 0 && self.slots[at].0 != hash {
            at = (at + 1) & mask;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::hash::mix64;

    #[test]
    fn each_hash_is_found_and_no_other() {
        for count in [0, 1, 2, 3, 100, 5000] {
            let hashes: Vec<u64> = (0..count).map(mix64).collect();
            let places = Places::new(hashes.iter().copied());
            hashes.iter().enumerate().for_each(|(place, &hash)| assert_eq!(places.of(hash), Some(place)));
            (count..2 * count + 9).for_each(|other| assert_eq!(places.of(mix64(other)), None));
        }
        // All of these hashes map to the same slot.
        let crowded: Vec<u64> = (0..50).map(|n| n << 32).collect();
        let places = Places::new(crowded.iter().copied());
        crowded.iter().enumerate().for_each(|(place, &hash)| assert_eq!(places.of(hash), Some(place)));
        assert_eq!(places.of(50 << 32), None);
    }
}

//! Finds all pairs of bit vectors within a Hamming distance by block tables (Manku, Jain, Das Sarma 2007).
//!
//! f bits are split into b blocks (bounds floor(i f / b)). Two vectors within distance k differ in at most k blocks, so they agree in at
//! least b - k blocks. One table for each choice of b - k blocks, keyed by the bits of these blocks, is enough to find every pair. A pair
//! may agree in several tables, but is reported only in the first of them. More blocks mean longer keys, more tables and fewer chance
//! candidates. The scheme is chosen so that keys have at least log2(number of documents) bits.

use super::bits::Bits;

/// The maximum number of tables in a scheme. Each table costs one row per document.
const MAX_TABLES: u64 = 120;

/// Holds a complete scheme of block tables.
#[derive(Clone, Debug)]
pub(crate) struct Blocks<V> {
    bits: u32,
    distance: u32,
    /// The bits of each block.
    masks: Vec<V>,
    /// The set of blocks in each table.
    tables: Vec<u64>,
    /// The bits covered by the blocks of each table.
    table_masks: Vec<V>,
}

impl<V: Bits> Blocks<V> {
    /// Returns the scheme for approximately `documents` vectors with `bits` bits (at least 64, at most the size of the type) and a
    /// distance of at most `distance`. `blocks` is the number of blocks, which must exceed the distance; if it is 0, the number is
    /// chosen automatically.
    pub(crate) fn new(bits: u32, distance: u32, documents: u64, blocks: u32) -> Blocks<V> {
        let wanted = 64 - documents.max(2).saturating_sub(1).leading_zeros();
        let least = distance + 1;
        let chosen = if blocks > 0 {
            blocks.max(least)
        } else {
            (least..=bits.min(60))
                .take_while(|&b| b == least || choose(b, distance) <= MAX_TABLES)
                .find_or_last(|&b| key_bits(bits, b, distance) >= wanted)
                .unwrap_or(least)
        };
        let bound = |i: u32| i * bits / chosen;
        let masks: Vec<V> = (0..chosen).map(|i| V::span(bound(i), bound(i + 1))).collect();
        let tables = subsets(chosen, chosen - distance);
        let table_masks = tables.iter().map(|&table| union(&masks, table)).collect();
        Blocks { bits, distance, masks, tables, table_masks }
    }

    /// Returns the maximum number of differing bits in a pair.
    pub(crate) fn distance(&self) -> u32 {
        self.distance
    }

    /// Returns the number of tables. Each table adds one row per document.
    pub(crate) fn tables(&self) -> usize {
        self.tables.len()
    }

    /// Describes the scheme for run.json.
    pub(crate) fn describe(&self) -> String {
        let blocks = self.masks.len() as u32;
        format!(
            "{} tables over {blocks} blocks, with keys of at least {} bits, find every pair up to distance {}",
            self.tables.len(),
            key_bits(self.bits, blocks, self.distance),
            self.distance
        )
    }

    /// Returns the well-mixed keys of a vector, one per table.
    pub(crate) fn keys(&self, vector: V) -> impl Iterator<Item = u64> {
        self.table_masks.iter().map(move |&mask| (vector & mask).key(self.bits))
    }

    /// Returns the distance between two vectors with the same key in `table`, or `None` if the distance is too large or the vectors also
    /// share a key in an earlier table.
    pub(crate) fn judge(&self, table: u32, a: V, b: V) -> Option<u32> {
        let differing = a ^ b;
        let distance = differing.ones();
        if distance > self.distance {
            return None;
        }
        let agreeing = self.masks.iter().enumerate().filter(|(_, mask)| differing & **mask == V::NONE);
        let agreeing = agreeing.fold(0u64, |set, (block, _)| set | 1 << block);
        // Tables are in ascending order of their sets of blocks, so the first table in which two vectors agree consists of the lowest
        // blocks in which they agree.
        let blocks = *self.tables.get(table as usize)?;
        let up_to_its_highest = u64::MAX >> blocks.leading_zeros();
        (agreeing & up_to_its_highest == blocks).then_some(distance)
    }
}

/// Returns the bits of a set of blocks.
fn union<V: Bits>(masks: &[V], table: u64) -> V {
    let blocks = masks.iter().enumerate().filter(|(block, _)| table >> block & 1 == 1);
    blocks.fold(V::NONE, |all, (_, mask)| all | *mask)
}

trait FindOrLast: Iterator + Sized {
    /// Returns the first item that passes, or the last item if none passes.
    fn find_or_last(self, mut passes: impl FnMut(&Self::Item) -> bool) -> Option<Self::Item> {
        let mut last = None;
        for item in self {
            if passes(&item) {
                return Some(item);
            }
            last = Some(item);
        }
        last
    }
}

impl<I: Iterator> FindOrLast for I {}

/// Returns the number of bits in the shortest key, which is made up of the b - k smallest blocks.
fn key_bits(bits: u32, blocks: u32, distance: u32) -> u32 {
    let bound = |i: u32| i * bits / blocks;
    let mut widths: Vec<u32> = (0..blocks).map(|i| bound(i + 1) - bound(i)).collect();
    widths.sort_unstable();
    widths[..(blocks - distance) as usize].iter().sum()
}

/// Returns the number of tables in a scheme with this many blocks.
pub(crate) fn table_count(blocks: u32, distance: u32) -> u64 {
    choose(blocks, distance)
}

/// Returns the binomial coefficient of n and k; saturates instead of overflowing.
fn choose(n: u32, k: u32) -> u64 {
    (0..u64::from(k)).fold(1u64, |value, i| value.saturating_mul(u64::from(n) - i) / (i + 1))
}

/// Returns all sets of `size` items chosen from `count` items. The sets are represented as bits and are in ascending order.
fn subsets(count: u32, size: u32) -> Vec<u64> {
    let mut sets = Vec::new();
    let mut set: u64 = (1 << size) - 1;
    while set < 1 << count {
        sets.push(set);
        if set == 0 {
            break;
        }
        // The next larger number with the same number of set bits (Gosper).
        let low = set & set.wrapping_neg();
        let ripple = set + low;
        set = ripple | (((set ^ ripple) >> 2) / low);
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::kit::bits::Wide;
    use dupsift_core::hash::splitmix64;

    #[test]
    fn schemes_are_those_of_the_table_in_algorithms_md() {
        for (documents, tables, bits) in [(50_000, 4, 16), (1_000_000, 10, 25), (1 << 31, 20, 31), (1 << 36, 35, 36)] {
            let blocks = Blocks::<u128>::new(64, 3, documents, 0);
            assert_eq!((blocks.tables(), key_bits(64, blocks.masks.len() as u32, 3)), (tables, bits), "{documents}");
        }
        assert_eq!(Blocks::<u128>::new(64, 0, 1 << 31, 0).tables(), 1);
        // Twelve blocks of 32 bits find all pairs within distance 11 in 384 bits (Henzinger 2006), for a corpus of any size.
        assert_eq!(Blocks::<Wide>::new(384, 11, 1 << 31, 0).tables(), 12);
        assert_eq!([table_count(4, 3), table_count(7, 3), table_count(24, 8)], [4, 35, 735_471]);
    }

    /// Checks, for several widths and distances, that every pair is found exactly once.
    #[test]
    fn finds_exactly_the_near_pairs() {
        for (bits, distance, count) in [(64, 3, 400), (64, 6, 200), (128, 5, 200), (64, 0, 200)] {
            let base = |n| (u128::from(splitmix64(5, n)) << 64 | u128::from(splitmix64(6, n))) >> (128 - bits);
            check(bits, distance, count, base, |bit| 1 << bit);
        }
    }

    #[test]
    fn finds_exactly_the_near_pairs_of_wide_vectors() {
        for (bits, distance) in [(384, 11), (384, 4), (256, 7), (64, 3)] {
            let word = |n, at| if at * 64 < u64::from(bits) { splitmix64(5 + n, at) } else { 0 };
            let base = |n| Wide(std::array::from_fn(|at| word(n, at as u64)));
            check(bits, distance, 200, base, |bit| Wide::span(bit, bit + 1));
        }
    }

    fn check<V: Bits>(bits: u32, distance: u32, count: u64, base: impl Fn(u64) -> V, one: impl Fn(u32) -> V) {
        // The vectors form groups around a few centers, so many distances occur.
        let flip = |n, i| one((splitmix64(9, n * 64 + i) % u64::from(bits)) as u32);
        let flips = |n| splitmix64(8, n) % (u64::from(distance) + 4);
        let vectors: Vec<V> = (0..count).map(|n| (0..flips(n)).fold(base(n % 20), |v, i| v ^ flip(n, i))).collect();
        for blocks in [0, distance + 1, distance + 2] {
            let scheme = Blocks::new(bits, distance, count, blocks);
            let keys: Vec<Vec<u64>> = vectors.iter().map(|&vector| scheme.keys(vector).collect()).collect();
            let mut near_pairs = 0;
            for i in 0..vectors.len() {
                for j in i + 1..vectors.len() {
                    let met = (0..scheme.tables()).filter(|&table| keys[i][table] == keys[j][table]);
                    let found = met.filter_map(|table| scheme.judge(table as u32, vectors[i], vectors[j]));
                    let apart = (vectors[i] ^ vectors[j]).ones();
                    let expected = if apart <= distance { vec![apart] } else { vec![] };
                    assert_eq!(found.collect::<Vec<u32>>(), expected);
                    near_pairs += expected.len();
                }
            }
            assert!(near_pairs > 0);
        }
    }
}

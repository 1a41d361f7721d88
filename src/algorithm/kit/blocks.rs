//! Finding all pairs of bit vectors within a Hamming distance by block tables (Manku, Jain, Das Sarma 2007).
//!
//! f bits are split into b blocks (bounds floor(i f / b)). Two vectors within distance k differ in at most k blocks, so they
//! agree on some b - k blocks: one table for each choice of b - k blocks, keyed by their bits, finds every pair. A pair is
//! reported only in the first table on which it agrees, so it is reported once. More blocks: longer keys, more tables, fewer
//! chance candidates. The scheme is chosen so that keys have at least log2 of the number of documents as bits.

use crate::hash::{hash64, mix64};

/// The most tables that a scheme may have: each costs a row a document.
const MAX_TABLES: u64 = 120;

/// A complete scheme of block tables.
#[derive(Clone, Debug)]
pub struct Blocks {
    bits: u32,
    distance: u32,
    /// The bits of each block.
    masks: Vec<u128>,
    /// For each table the set of its blocks.
    tables: Vec<u64>,
}

impl Blocks {
    /// The scheme for vectors of `bits` bits (64 to 128), distance at most `distance`, about `documents` of them.
    /// `blocks`: their number, above the distance; 0 chooses it.
    pub fn new(bits: u32, distance: u32, documents: u64, blocks: u32) -> Blocks {
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
        let masks = (0..chosen).map(|i| mask(bound(i), bound(i + 1))).collect();
        let tables = subsets(chosen, chosen - distance);
        Blocks { bits, distance, masks, tables }
    }

    /// How many tables, each a row a document.
    pub fn tables(&self) -> usize {
        self.tables.len()
    }

    /// In words, for run.json.
    pub fn describe(&self) -> String {
        let blocks = self.masks.len() as u32;
        format!(
            "{} tables over {blocks} blocks, keys of at least {} bits, complete for distance {}",
            self.tables.len(),
            key_bits(self.bits, blocks, self.distance),
            self.distance
        )
    }

    /// The keys of a vector, one a table, well mixed.
    pub fn keys(&self, vector: u128) -> impl Iterator<Item = u64> {
        self.tables.iter().map(move |&table| {
            let masked = vector & self.table_mask(table);
            if self.bits <= 64 { mix64(masked as u64) } else { hash64(&masked.to_le_bytes()) }
        })
    }

    /// The distance of two vectors that met in `table`: none if it is too large, or if they meet in an earlier table too.
    pub fn judge(&self, table: u32, a: u128, b: u128) -> Option<u32> {
        let differing = a ^ b;
        let distance = differing.count_ones();
        if distance > self.distance {
            return None;
        }
        let agreeing = self.masks.iter().enumerate().filter(|(_, mask)| differing & **mask == 0);
        let agreeing = agreeing.fold(0u64, |set, (block, _)| set | 1 << block);
        let first = self.tables.iter().position(|table| table & agreeing == *table)?;
        (first == table as usize).then_some(distance)
    }

    fn table_mask(&self, table: u64) -> u128 {
        self.masks.iter().enumerate().filter(|(block, _)| table >> block & 1 == 1).fold(0, |all, (_, mask)| all | mask)
    }
}

trait FindOrLast: Iterator + Sized {
    /// The first item that passes, else the last one.
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

fn mask(from: u32, to: u32) -> u128 {
    let below = |bit: u32| if bit >= 128 { u128::MAX } else { (1 << bit) - 1 };
    below(to) & !below(from)
}

/// Bits of the shortest key: the smallest b - k blocks together.
fn key_bits(bits: u32, blocks: u32, distance: u32) -> u32 {
    let bound = |i: u32| i * bits / blocks;
    let mut widths: Vec<u32> = (0..blocks).map(|i| bound(i + 1) - bound(i)).collect();
    widths.sort_unstable();
    widths[..(blocks - distance) as usize].iter().sum()
}

/// How many tables a scheme of so many blocks has.
pub fn table_count(blocks: u32, distance: u32) -> u64 {
    choose(blocks, distance)
}

/// n over k, saturating.
fn choose(n: u32, k: u32) -> u64 {
    (0..u64::from(k)).fold(1u64, |value, i| value.saturating_mul(u64::from(n) - i) / (i + 1))
}

/// All sets of `size` out of `count` things, as bits, in ascending order.
fn subsets(count: u32, size: u32) -> Vec<u64> {
    let mut sets = Vec::new();
    let mut set: u64 = (1 << size) - 1;
    while set < 1 << count {
        sets.push(set);
        if set == 0 {
            break;
        }
        // The next larger number with as many bits (Gosper).
        let low = set & set.wrapping_neg();
        let ripple = set + low;
        set = ripple | (((set ^ ripple) >> 2) / low);
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::splitmix64;
    use std::collections::BTreeMap;

    #[test]
    fn schemes_are_those_of_the_table_in_algorithms_md() {
        for (documents, tables, bits) in [(50_000, 4, 16), (1_000_000, 10, 25), (1 << 31, 20, 31), (1 << 36, 35, 36)] {
            let blocks = Blocks::new(64, 3, documents, 0);
            assert_eq!((blocks.tables(), key_bits(64, blocks.masks.len() as u32, 3)), (tables, bits), "{documents}");
        }
        assert_eq!(Blocks::new(64, 0, 1 << 31, 0).tables(), 1);
        assert_eq!([table_count(4, 3), table_count(7, 3), table_count(24, 8)], [4, 35, 735_471]);
    }

    /// Complete and each pair once, against all pairs, for several widths and distances.
    #[test]
    fn finds_exactly_the_near_pairs() {
        for (bits, distance, count) in [(64, 3, 400), (64, 6, 200), (128, 5, 200), (64, 0, 200)] {
            let base = |n: u64| (u128::from(splitmix64(5, n)) << 64 | u128::from(splitmix64(6, n))) >> (128 - bits);
            // Families of vectors around a few centres, so that many distances occur.
            let vectors: Vec<u128> = (0..count)
                .map(|n| {
                    let flips = splitmix64(8, n) % 8;
                    (0..flips).fold(base(n % 20), |v, i| v ^ 1u128 << (splitmix64(9, n * 8 + i) % u64::from(bits)))
                })
                .collect();
            for blocks in [0, distance + 1, distance + 2] {
                let scheme = Blocks::new(bits, distance, count, blocks);
                let mut found = BTreeMap::new();
                for i in 0..vectors.len() {
                    for j in i + 1..vectors.len() {
                        for (table, (x, y)) in scheme.keys(vectors[i]).zip(scheme.keys(vectors[j])).enumerate() {
                            if x == y && scheme.judge(table as u32, vectors[i], vectors[j]).is_some() {
                                *found.entry((i, j)).or_insert(0) += 1;
                            }
                        }
                        let near = (vectors[i] ^ vectors[j]).count_ones() <= distance;
                        assert_eq!(found.get(&(i, j)).copied().unwrap_or(0), u32::from(near));
                    }
                }
                assert!(!found.is_empty());
            }
        }
    }
}

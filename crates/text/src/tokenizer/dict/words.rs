//! Stores the words of the dictionary as a tree of characters. Words and beginnings of words are looked up in the tree.
//!
//! Each pair of adjacent characters in the text is looked up; nearly half of the pairs begin no word. Most of the cost is memory
//! access, so the tables for the most frequent lookups are compact.
//!
//! * A pair with a frequent second letter is represented by one bit in the row of its first letter; 48 of these bits and the number of
//!   pairs before them form one 64-bit number. Therefore, a single memory access determines whether a pair exists and, if so, what its
//!   number is.
//! * Other pairs, and longer words, are in double arrays (Aoe 1989): the child of a node for a letter is at the node's base plus the
//!   letter. No two nodes have the same base, so the letter in a place identifies the parent.
//! * Each pair has 32 bits: the class of its word, and a set of remainders that represents the possible third letters. This set avoids two
//!   out of three lookups of a third letter.

use std::borrow::Cow;
use std::hint::select_unpredictable;

use super::tables::Reader;
use crate::cpu::ask_for;

/// A node for three or more letters: the last letter, the base of the children, and the frequency class of the word that ends at the node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Node(pub u64);

/// The number of bits in a base. The letter is in the 16 bits below the base, and the frequency class in the 20 bits above it.
const BASE_BITS: u32 = 28;

impl Node {
    /// A value that represents a missing node. Such a node has no word and no children.
    pub(crate) const NONE: Node = Node(0);

    /// Returns a node without children.
    pub(crate) fn new(class: u32, letter: u16) -> Node {
        Node(u64::from(class) << (16 + BASE_BITS) | u64::from(letter))
    }

    /// Sets the base of the node's children, which must not be set yet.
    pub(crate) fn with_base(self, base: usize) -> Node {
        Node(self.0 | (base as u64) << 16)
    }

    /// Returns the base of the node's children, or 0 if it has none.
    #[inline]
    pub(crate) fn base(self) -> u32 {
        (self.0 >> 16) as u32 & ((1 << BASE_BITS) - 1)
    }

    /// Returns whether longer words begin with the letters up to this node.
    #[inline]
    pub(crate) fn has_children(self) -> bool {
        self.base() != 0
    }

    /// Returns the frequency class of the word that ends at this node, or 0 if there is none.
    #[inline]
    pub(crate) fn class(self) -> usize {
        (self.0 >> (16 + BASE_BITS)) as usize
    }
}

/// A pair of letters: the frequency class of the pair as a word in the upper bits, and the set of possible third letters in the lower bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pair(pub u32);

/// The number of bits in the set of third letters. A letter is represented by its remainder after division by this number.
const THIRDS: u16 = 12;

impl Pair {
    /// Returns a pair that is not the beginning of a longer word.
    pub(crate) fn new(class: u32) -> Pair {
        Pair(class << THIRDS)
    }

    /// Adds a letter to the possible third letters.
    pub(crate) fn with_third(self, letter: u16) -> Pair {
        Pair(self.0 | 1 << (letter % THIRDS))
    }

    /// Returns whether a word may begin with the pair followed by this letter.
    #[inline]
    pub(crate) fn may_have(self, letter: u16) -> bool {
        self.0 >> (letter % THIRDS) & 1 == 1
    }

    /// Returns the frequency class of the pair as a word, or 0 if it is not a word.
    #[inline]
    pub(crate) fn class(self) -> usize {
        (self.0 >> THIRDS) as usize
    }
}

/// The number of pair bits in an entry of a row. The pair bits are stored above the number of pairs before the entry. The
/// next constant is the number of entries in a row.
const ROW_BITS: usize = 48;
const ROW: usize = 24;
/// Letters with a number below this limit are frequent, and have bits in the rows.
pub(crate) const FREQUENT: u16 = (ROW_BITS * ROW) as u16;

/// Returns the location of a pair's bit: the entry, and the bit in the entry. A pair whose second letter is not frequent has no bit, and
/// maps to entry 0, which is empty.
#[inline]
fn bit_of_pair(first: u16, second: u16) -> (usize, u32) {
    let entry = first as usize * ROW + second as usize / ROW_BITS;
    let bit = 64 - ROW_BITS + second as usize % ROW_BITS;
    (select_unpredictable(second < FREQUENT, entry, 0), bit as u32)
}

/// The tree of all words except single letters. Pairs are numbered in the order of their first letters; among the pairs with the same first
/// letter, pairs with a frequent second letter come first. Pair 0 does not exist.
pub(crate) struct Words {
    /// The number of the first pair of each first letter.
    pub(super) pairs_of: Cow<'static, [u32]>,
    /// The rows: [`ROW`] entries for each first letter.
    pub(super) rows: Cow<'static, [u64]>,
    /// The base of each first letter, for pairs whose second letter is not frequent.
    pub(super) bases_of: Cow<'static, [u32]>,
    /// The places of pairs whose second letter is not frequent. Each place contains the second letter (16 bits) and, above it, the number
    /// of the pair among the pairs of its first letter.
    pub(super) others: Cow<'static, [u32]>,
    /// The pairs, indexed by number.
    pub(super) pairs: Cow<'static, [u32]>,
    /// The base of each pair's children, indexed by the number of the pair.
    pub(super) bases: Cow<'static, [u32]>,
    /// The places of nodes with three or more letters.
    pub(super) places: Cow<'static, [u64]>,
}

impl Words {
    /// Reads words from the tables.
    pub(crate) fn read(tables: &mut Reader) -> Words {
        Words {
            pairs_of: tables.list(),
            bases_of: tables.list(),
            others: tables.list(),
            pairs: tables.list(),
            bases: tables.list(),
            rows: tables.list(),
            places: tables.list(),
        }
    }

    /// Prefetches the memory that [`Words::frequent_pair`] will read.
    #[inline]
    pub(crate) fn ask_for_pair(&self, first: u16, second: u16) {
        ask_for(&self.rows, bit_of_pair(first, second).0);
    }

    /// Returns the number of a pair with a frequent second letter, or 0 if no word begins with it.
    ///
    /// The processor cannot predict whether the pair exists, and would have to wait after a mispredicted branch. Therefore, no lookup in
    /// this file branches on the result; only the address of the next memory access depends on it.
    #[inline]
    pub(crate) fn frequent_pair(&self, first: u16, second: u16) -> u32 {
        let (entry, bit) = bit_of_pair(first, second);
        let row = self.rows.get(entry).copied().unwrap_or_default();
        let from = self.pairs_of.get(first as usize).copied().unwrap_or_default();
        let below = row & ((1 << bit) - 1);
        let number = from + u32::from(row as u16) + (below >> (64 - ROW_BITS)).count_ones();
        select_unpredictable(row >> bit & 1 == 1, number, 0)
    }

    /// Returns the possible place of a pair whose second letter is not frequent.
    #[inline]
    pub(crate) fn place_of_other(&self, first: u16, second: u16) -> u32 {
        self.bases_of.get(first as usize).copied().unwrap_or_default() + u32::from(second)
    }

    /// Returns the number of a pair from its possible place, or 0 if no word begins with it.
    #[inline]
    pub(crate) fn other_pair(&self, place: u32, first: u16, second: u16) -> u32 {
        let place = self.others.get(place as usize).copied().unwrap_or_default();
        let from = self.pairs_of.get(first as usize).copied().unwrap_or_default();
        select_unpredictable(place as u16 == second, from + (place >> 16), 0)
    }

    /// Returns a pair by its number.
    #[inline]
    pub(crate) fn pair(&self, number: u32) -> Pair {
        Pair(self.pairs.get(number as usize).copied().unwrap_or_default())
    }

    /// Returns the possible place of a pair's child for a letter.
    #[inline]
    pub(crate) fn place_of_third(&self, number: u32, letter: u16) -> u32 {
        self.bases.get(number as usize).copied().unwrap_or_default() + u32::from(letter)
    }

    /// Returns the node at a place, or [`Node::NONE`] if the place belongs to a different letter.
    #[inline]
    pub(crate) fn at_place(&self, place: u32, letter: u16) -> Node {
        let node = self.places.get(place as usize).copied().unwrap_or_default();
        Node(select_unpredictable(node as u16 == letter, node, 0))
    }

    /// Returns the child of a node for a letter, or [`Node::NONE`] if there is none.
    #[inline]
    pub(crate) fn child(&self, node: Node, letter: u16) -> Node {
        self.at_place(node.base() + u32::from(letter), letter)
    }

    /// Prefetches the memory that [`Words::child`] will read.
    #[inline]
    pub(crate) fn ask_for_child(&self, node: Node, letter: u16) {
        ask_for(&self.places, (node.base() + u32::from(letter)) as usize);
    }

    /// Returns the frequency class of a word of two or more letters, or 0 if it is not in the dictionary.
    pub(crate) fn class(&self, letters: &[u16]) -> usize {
        let &[first, second, ref rest @ ..] = letters else { return 0 };
        let number = if second < FREQUENT {
            self.frequent_pair(first, second)
        } else {
            self.other_pair(self.place_of_other(first, second), first, second)
        };
        let pair = self.pair(number);
        let Some((&third, rest)) = rest.split_first() else { return pair.class() };
        let node = self.at_place(self.place_of_third(number, third), third);
        rest.iter().fold(node, |node, &letter| self.child(node, letter)).class()
    }
}

/// The rows of pairs, while they are filled.
pub(crate) struct Rows(Vec<u64>);

impl Rows {
    /// Creates rows without pairs.
    pub(crate) fn new() -> Rows {
        Rows(vec![0; ROW])
    }

    /// Adds the pairs that consist of a first letter and one of these frequent second letters. First letters must be added in ascending
    /// order.
    pub(crate) fn add(&mut self, first: u16, seconds: impl Iterator<Item = u16>) {
        self.0.resize((first as usize + 1) * ROW, 0);
        let row = &mut self.0[first as usize * ROW..];
        for second in seconds {
            let (entry, bit) = bit_of_pair(0, second);
            row[entry] |= 1 << bit;
        }
        let mut before = 0;
        for entry in row {
            let count = entry.count_ones();
            *entry |= u64::from(before);
            before += count;
        }
    }

    /// Returns all rows.
    pub(crate) fn finish(self) -> Vec<u64> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::letters::Letters;
    use super::*;

    #[test]
    fn words_and_what_they_begin_with_are_found_and_nothing_else() {
        // There are so many different letters that some are not frequent.
        let many: Vec<char> = ('\u{4E00}'..).take(2 * FREQUENT as usize).collect();
        let one = |at: usize| many[at % many.len()];
        let mut words: Vec<String> = vec![format!("{}", one(7)), format!("{}〇", one(8))];
        for at in 0..many.len() {
            words.push([one(at), one(at * 7 + 1)].iter().collect());
            words.push([one(at), one(at * 7 + 1), one(at * 5)].iter().collect());
            words.push([one(at), one(at * 11), one(at * 5), one(at + 3), one(3)].iter().collect());
        }
        words.sort_unstable();
        words.dedup();
        let letters = Letters::new(many.iter().map(|&c| (c, 1)));
        let listed = words.iter().zip(1..).map(|(word, class)| (word.as_str(), 1, class));
        let (tree, ones) = Words::new(listed, words.len(), &letters);
        let numbers = |word: &str| word.chars().map(|c| letters.number(c)).collect::<Vec<u16>>();
        let class = |word: &str| words.binary_search_by(|one| one.as_str().cmp(word)).map_or(0, |at| at + 1);
        for word in words.iter().filter(|word| word.chars().count() > 1) {
            // Words that contain a character that joins nothing are skipped.
            let expected = if word.contains('〇') { 0 } else { class(word) };
            assert_eq!(tree.class(&numbers(word)), expected, "{word}");
            let other: String = word.chars().rev().collect();
            assert_eq!(tree.class(&numbers(&other)), if expected == 0 { 0 } else { class(&other) }, "{other}");
            let longer = format!("{word}{}", one(at_of(word)));
            assert_eq!(tree.class(&numbers(&longer)), if expected == 0 { 0 } else { class(&longer) }, "{longer}");
        }
        assert_eq!(ones.iter().filter(|&&class| class != 0).count(), 1);
        assert_eq!(ones[numbers(&words[0])[0] as usize] != 0, words[0].chars().count() == 1);
    }

    /// Returns a number derived from a word.
    fn at_of(word: &str) -> usize {
        word.chars().map(|c| c as usize).sum()
    }
}

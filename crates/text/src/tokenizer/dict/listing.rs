//! Lists the words from which the tables were built, in the order of the dictionary.
//!
//! In a double array, a place minus its letter is the base of the parent node, and no two nodes have the same base, so a place
//! identifies its parent. From a node where a word ends, the path to the root spells the word backwards.

use super::best_path::Cutter;
use super::words::{FREQUENT, Node, Words};

/// The node that a base belongs to.
#[derive(Clone, Copy, Default)]
enum Parent {
    #[default]
    Nothing,
    /// The number of a pair.
    Pair(u32),
    /// The place of a longer node.
    Place(u32),
}

impl Cutter {
    /// Returns the dictionary as lines of `word frequency` in ascending order. `apart` contains the lines whose words are in no table,
    /// in the same format.
    pub(crate) fn dictionary(&self, apart: &[u8]) -> String {
        let mut list = List { letters: self.characters(), text: String::new(), lines: Vec::new() };
        for (number, &weight) in self.ones.iter().enumerate() {
            list.add(&[number as u16], self.frequency(weight));
        }
        let weight = |class: usize| self.weights.get(class).copied().unwrap_or(f64::NEG_INFINITY);
        let pairs = self.words.spelled_pairs();
        for (number, letters) in (0..).zip(&pairs) {
            list.add(letters, self.frequency(weight(self.words.pair(number).class())));
        }
        let parents = self.words.parents();
        let mut letters = Vec::new();
        for (place, &node) in self.words.places.iter().enumerate().filter(|(_, node)| Node(**node).class() != 0) {
            self.words.spell(place, &parents, &pairs, &mut letters);
            list.add(&letters, self.frequency(weight(Node(node).class())));
        }
        for line in str::from_utf8(apart).unwrap_or_default().lines() {
            list.lines.push((list.text.len(), line.len()));
            list.text.push_str(line);
        }
        list.sorted()
    }

    /// Returns the dictionary frequency that corresponds to a weight. Weights are logarithms of shares, and an unseen character has the
    /// same share as a word with frequency 1.
    fn frequency(&self, weight: f64) -> u64 {
        crate::float::exp(weight - self.unseen).round() as u64
    }

    /// Returns the character for each number.
    fn characters(&self) -> Vec<char> {
        let mut characters = vec![char::REPLACEMENT_CHARACTER; self.letters.alone() as usize + 1];
        for (c, number) in self.letters.known() {
            characters[number as usize] = c;
        }
        characters
    }
}

impl Words {
    /// Returns the letters of each pair, indexed by its number. Pair 0 does not exist, so its letters are meaningless.
    fn spelled_pairs(&self) -> Vec<[u16; 2]> {
        let mut pairs = vec![[0; 2]; self.pairs.len()];
        let mut set = |number: u32, letters| {
            if let Some(pair) = pairs.get_mut(number as usize) {
                *pair = letters;
            }
        };
        let mut first_of = vec![0; self.others.len() + 1];
        for (first, &base) in (0..).zip(self.bases_of.iter()) {
            for second in 0..FREQUENT {
                set(self.frequent_pair(first, second), [first, second]);
            }
            if let Some(of) = first_of.get_mut(base as usize) {
                *of = first;
            }
        }
        for (place, &entry) in (0..).zip(self.others.iter()).filter(|(_, entry)| **entry != 0) {
            let second = entry as u16;
            let first = first_of[(place - u32::from(second)) as usize];
            set(self.other_pair(place, first, second), [first, second]);
        }
        pairs
    }

    /// Returns the parent node for each base.
    fn parents(&self) -> Vec<Parent> {
        let mut parents = vec![Parent::Nothing; self.places.len() + 1];
        for (number, &base) in (0..).zip(self.bases.iter()) {
            parents[base as usize] = Parent::Pair(number);
        }
        for (place, &node) in (0..).zip(self.places.iter()).filter(|(_, node)| Node(**node).has_children()) {
            parents[Node(node).base() as usize] = Parent::Place(place);
        }
        parents
    }

    /// Collects the letters on the path from the root to a place.
    fn spell(&self, mut place: usize, parents: &[Parent], pairs: &[[u16; 2]], letters: &mut Vec<u16>) {
        letters.clear();
        loop {
            let letter = self.places[place] as u16;
            letters.push(letter);
            match parents[place - letter as usize] {
                Parent::Place(parent) => place = parent as usize,
                Parent::Pair(number) => {
                    let [first, second] = pairs[number as usize];
                    letters.extend([second, first]);
                    break;
                }
                Parent::Nothing => break,
            }
        }
        letters.reverse();
    }
}

/// The lines of the dictionary, in the order in which they are found.
struct List {
    letters: Vec<char>,
    text: String,
    /// The beginning and the length of each line.
    lines: Vec<(usize, usize)>,
}

impl List {
    /// Adds a word. If the frequency is 0, nothing is added, because the letters are only the beginning of longer words.
    fn add(&mut self, word: &[u16], frequency: u64) {
        if frequency > 0 {
            let from = self.text.len();
            self.text.extend(word.iter().map(|&number| self.letters[number as usize]));
            self.text.push(' ');
            self.text.push_str(&frequency.to_string());
            self.lines.push((from, self.text.len() - from));
        }
    }

    /// Returns all lines, sorted by word. Sorting the lines sorts the words, because no character of a word sorts
    /// before the space that ends the word.
    fn sorted(mut self) -> String {
        let line = |&(from, length): &(usize, usize)| &self.text[from..from + length];
        self.lines.sort_unstable_by(|one, other| line(one).cmp(line(other)));
        let mut sorted = String::with_capacity(self.text.len() + self.lines.len());
        for place in &self.lines {
            sorted.push_str(line(place));
            sorted.push('\n');
        }
        sorted
    }
}

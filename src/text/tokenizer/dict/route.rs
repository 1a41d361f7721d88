//! The likeliest way through a run of characters: the words of the dictionary whose frequencies have the largest product.
//!
//! From the end of the run to its beginning, each place takes the word that weighs most together with the best way behind
//! it; of words that weigh the same it takes the longest. Characters that stay single, several in a row, are given to the
//! model of unknown words, but for a row that is a word of the dictionary itself.

use std::cmp::Reverse;
use std::ops::Range;

use hashbrown::HashMap;

use super::letters::Letters;
use super::unknown::Unknown;
use super::vocabulary::Vocabulary;
use super::words::{Node, Words};

/// A character of a run.
#[derive(Clone, Copy)]
pub struct Step {
    /// The logarithm of the probability of the best way from here to the end.
    weight: f64,
    /// The nodes of the one, two and three characters from here.
    nodes: [Node; 3],
    /// Where it stands in the run, in bytes.
    start: u32,
    /// How many characters the word has that begins here.
    pub length: u32,
    /// Its number.
    pub letter: u16,
}

/// Everything that runs are cut with.
pub struct Cutter {
    letters: Letters,
    words: Words,
    unknown: Unknown,
    /// By class: the logarithm of a word's share of all frequencies; that of nothing for class 0.
    weights: Vec<f64>,
    /// The weight of a character that the dictionary does not have: as if it had been seen once.
    unseen: f64,
}

impl Cutter {
    /// A cutter for a dictionary and a model of unknown words.
    pub fn new(vocabulary: &Vocabulary, model: &str) -> Cutter {
        // The most frequent first: they stay close to each other, and in the processor's cache.
        let mut sums: HashMap<u64, u64> = HashMap::new();
        let mut count = 0;
        for (_, frequency) in vocabulary.words() {
            count += 1;
            *sums.entry(frequency).or_default() += frequency;
        }
        let mut frequencies: Vec<u64> = sums.keys().copied().collect();
        frequencies.sort_unstable_by_key(|frequency| (Reverse(sums[frequency]), *frequency));
        let total = (vocabulary.total() as f64).ln();
        let weight = |&frequency: &u64| (frequency as f64).ln() - total;
        let weights = [f64::NEG_INFINITY].into_iter().chain(frequencies.iter().map(weight)).collect();
        let classes: HashMap<u64, u32> = frequencies.into_iter().zip(1..).collect();

        let seen = vocabulary.words().flat_map(|(word, frequency)| word.chars().map(move |c| (c, frequency)));
        let letters = Letters::new(seen.chain(Unknown::characters(model).map(|c| (c, 0))));
        let words = vocabulary.words().map(|(word, frequency)| (word, frequency, classes[&frequency]));
        Cutter {
            words: Words::new(words, count, &letters),
            unknown: Unknown::new(model, &letters),
            letters,
            weights,
            unseen: 0.0 - total,
        }
    }

    /// Calls `out` with the byte range of each word of a run of Chinese characters. What was in `steps` does not count.
    pub fn cut(&self, run: &str, steps: &mut Vec<Step>, out: &mut dyn FnMut(Range<usize>)) {
        let alone = self.letters.alone();
        let count = self.look_up(run, steps);
        self.weigh(steps, count);
        let mut at = 0;
        while at < count {
            let is_single = |step: &Step| step.length == 1 && step.letter != alone;
            let singles = steps[at..count].iter().take_while(|step| is_single(step)).count();
            if singles > 1 && !self.is_word(&steps[at..at + singles]) {
                self.unknown.join(&mut steps[at..at + singles], self.letters.covered());
            }
            // The row of single characters, and what ended it.
            let end = (at + singles + 1).min(count);
            while at < end {
                let next = at + steps[at].length as usize;
                out(steps[at].start as usize..steps[next].start as usize);
                at = next;
            }
        }
    }

    /// Makes a step of each character and finds the first nodes of each; returns how many characters there are.
    ///
    /// Few words have more than three characters. Nobody asks beforehand whether a node has children: the look-ups do not wait
    /// for each other then, and memory is waited for once for all of them.
    fn look_up(&self, run: &str, steps: &mut Vec<Step>) -> usize {
        let step = |start, letter| Step { weight: 0.0, nodes: [Node::NONE; 3], start, letter, length: 1 };
        steps.clear();
        steps.extend(run.char_indices().map(|(start, c)| step(start as u32, self.letters.number(c))));
        let count = steps.len();
        // No word goes on here, so that nobody need look for the end.
        steps.extend([step(run.len() as u32, self.letters.alone()); 3]);
        for at in 0..count {
            let one = self.words.child(Node::ROOT, steps[at].letter);
            steps[at].nodes = [one, self.words.child(one, steps[at + 1].letter), Node::NONE];
        }
        for at in 0..count {
            steps[at].nodes[2] = self.words.child(steps[at].nodes[1], steps[at + 2].letter);
        }
        count
    }

    /// Sets weight and length of each step.
    fn weigh(&self, steps: &mut [Step], count: usize) {
        for at in (0..count).rev() {
            let Some([here, one, two, three, ..]) = steps.get(at..) else { continue };
            // A character that is a word of its own divides the run.
            if here.letter == self.letters.alone() {
                continue;
            }
            let mut best = (f64::NEG_INFINITY, 0);
            let mut take = |node: Node, behind: &Step, length| {
                let weight = self.weights[node.class()] + behind.weight;
                if weight >= best.0 {
                    best = (weight, length);
                }
            };
            take(here.nodes[0], one, 1);
            take(here.nodes[1], two, 2);
            take(here.nodes[2], three, 3);
            let (mut node, mut length) = (here.nodes[2], 3);
            while node.has_children() {
                node = self.words.child(node, steps[at + length].letter);
                length += 1;
                if node != Node::NONE {
                    take(node, &steps[at + length], length);
                }
            }
            if best.0 == f64::NEG_INFINITY {
                best = (self.unseen + one.weight, 1);
            }
            (steps[at].weight, steps[at].length) = (best.0, best.1 as u32);
        }
    }

    fn is_word(&self, steps: &[Step]) -> bool {
        let node = steps[2..].iter().fold(steps[0].nodes[1], |node, step| self.words.child(node, step.letter));
        node.class() != 0
    }
}

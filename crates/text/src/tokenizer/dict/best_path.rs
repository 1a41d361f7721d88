//! Finds the most probable path through a run of characters: the sequence of dictionary words whose frequencies have the largest product.
//!
//! The code works backward from the end of the run and selects for each position the word that maximizes the sum of its own weight and the
//! weight of the best path after it. If several words have the same sum, the longest word is selected. Consecutive single characters are
//! passed to the model of unknown words, unless they form a dictionary word.
//!
//! A run between two punctuation marks has only about eight characters. Therefore, many runs are processed together, one kind of lookup at
//! a time. This makes the loops long, and the processor waits for memory once for many characters, not once for each.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::hint::select_unpredictable;

use super::letters::Letters;
use super::tables::Reader;
use super::unknown::Unknown;
use super::vocabulary::Vocabulary;
use super::words::{FREQUENT, Node, Words};
use crate::cpu::ask_for;
use crate::float;

/// Runs of characters that are being split into words. Each run is followed by a separator character.
#[derive(Default)]
pub(crate) struct Batch {
    /// The letter numbers of all characters.
    letters: Vec<u16>,
    /// The index of the first character of each run.
    runs: Vec<u32>,
    /// The log probabilities of the one-, two- and three-character words that begin at each character.
    ones: Vec<f64>,
    twos: Vec<f64>,
    threes: Vec<f64>,
    /// The number of the pair that begins at each character.
    pairs: Vec<u32>,
    /// The position of each pair whose second character is not frequent, with the place of the pair in the tree.
    others: Vec<(u32, u32)>,
    /// The positions at which a word of more than two characters may begin. A position is first stored with the number of the pair, and
    /// later with the place of the third character.
    thirds: Vec<(u32, u32)>,
    /// The positions at which a word of more than three characters may begin, each with the node of the first four characters.
    longer: Vec<(u32, Node)>,
    /// The weight of the best path from each character to the end of its run.
    best: Vec<f64>,
    /// The length, in characters, of the word that begins at each character.
    lengths: Vec<u16>,
}

impl Batch {
    /// Returns an empty batch.
    pub(crate) const fn new() -> Batch {
        Batch {
            letters: Vec::new(),
            runs: Vec::new(),
            ones: Vec::new(),
            twos: Vec::new(),
            threes: Vec::new(),
            pairs: Vec::new(),
            others: Vec::new(),
            thirds: Vec::new(),
            longer: Vec::new(),
            best: Vec::new(),
            lengths: Vec::new(),
        }
    }

    /// Returns the number of characters, including separators between the runs.
    pub(crate) fn characters(&self) -> usize {
        self.letters.len()
    }

    fn clear(&mut self) {
        self.letters.clear();
        self.runs.clear();
    }
}

/// The resources for splitting runs.
pub(crate) struct Cutter {
    pub(super) letters: Letters,
    pub(super) words: Words,
    pub(super) unknown: Unknown,
    /// The weight of a word in each frequency class: the logarithm of its share of the total frequency, or negative infinity for class 0.
    pub(super) weights: Cow<'static, [f64]>,
    /// The weight of each letter as a word of its own.
    pub(super) ones: Cow<'static, [f64]>,
    /// The weight of a character that is not in the dictionary; it is treated as a word with frequency 1.
    pub(super) unseen: f64,
}

impl Cutter {
    /// Returns a cutter for a dictionary and a model of unknown words. `met` lists the characters that the model covers, and `model`
    /// builds the model for given letter numbers.
    pub(crate) fn of(
        vocabulary: &Vocabulary,
        met: impl Iterator<Item = char>,
        model: impl FnOnce(&Letters) -> Unknown,
    ) -> Cutter {
        // Classes and letters are numbered by frequency, so that frequent data is close together and in the processor's cache.
        let mut sums: BTreeMap<u64, u64> = BTreeMap::new();
        let mut count = 0;
        for (_, frequency) in vocabulary.words() {
            count += 1;
            *sums.entry(frequency).or_default() += frequency;
        }
        let mut frequencies: Vec<u64> = sums.keys().copied().collect();
        frequencies.sort_unstable_by_key(|frequency| (Reverse(sums[frequency]), *frequency));
        let total = float::ln(vocabulary.total() as f64);
        let weight = |&frequency: &u64| float::ln(frequency as f64) - total;
        let weights: Vec<f64> = [f64::NEG_INFINITY].into_iter().chain(frequencies.iter().map(weight)).collect();
        let classes: HashMap<u64, u32> = frequencies.into_iter().zip(1..).collect();

        let seen = vocabulary.words().flat_map(|(word, frequency)| word.chars().map(move |c| (c, frequency)));
        let letters = Letters::new(seen.chain(met.map(|c| (c, 0))));
        let words = vocabulary.words().map(|(word, frequency)| (word, frequency, classes[&frequency]));
        let (words, ones) = Words::new(words, count, &letters);
        Cutter {
            words,
            unknown: model(&letters),
            letters,
            ones: ones.iter().map(|&class| weights[class as usize]).collect(),
            weights: weights.into(),
            unseen: 0.0 - total,
        }
    }

    /// Returns a cutter with the same model and different words.
    pub(crate) fn with_words(&self, vocabulary: &Vocabulary) -> Cutter {
        let met = self.letters.known().filter(|&(_, number)| number < self.letters.covered()).map(|(c, _)| c);
        Cutter::of(vocabulary, met, |letters| self.unknown.renumbered(&self.letters, letters))
    }

    /// Reads a cutter from the tables.
    pub(crate) fn read(tables: &mut Reader) -> Cutter {
        let [unseen] = tables.array();
        Cutter {
            unseen,
            weights: tables.list(),
            ones: tables.list(),
            letters: Letters::read(tables),
            words: Words::read(tables),
            unknown: Unknown::read(tables),
        }
    }

    /// Returns the numbers of the characters.
    pub(crate) fn letters(&self) -> &Letters {
        &self.letters
    }

    /// Adds a run of 1 to 65,535 characters, all of which may join other characters.
    #[inline]
    pub(crate) fn add(&self, run: impl Iterator<Item = u16>, batch: &mut Batch) {
        batch.runs.push(batch.letters.len() as u32);
        batch.letters.extend(run);
        batch.letters.push(self.letters.alone());
    }

    /// Splits all runs of a batch, and clears the batch. Calls `out` once per word, with the number of its run and the
    /// end of the word in the run, in characters.
    pub(crate) fn cut(&self, batch: &mut Batch, mut out: impl FnMut(usize, usize)) {
        self.look_up(batch);
        self.weigh(batch);
        let Batch { letters, lengths, runs, .. } = batch;
        for (number, &first) in runs.iter().enumerate() {
            let mut at = first as usize;
            // The separator after a run has length 0.
            while lengths[at] != 0 {
                let end = at + lengths[at] as usize;
                if end == at + 1 && lengths[end] == 1 {
                    let singles = 2 + lengths[end + 1..].iter().take_while(|&&length| length == 1).count();
                    let row = &letters[at..at + singles];
                    if self.words.class(row) == 0 {
                        self.unknown.join(row, &mut lengths[at..at + singles], self.letters.covered());
                    }
                    let end = at + singles;
                    while at < end {
                        at += lengths[at] as usize;
                        out(number, at - first as usize);
                    }
                    continue;
                }
                at = end;
                out(number, at - first as usize);
            }
        }
        batch.clear();
    }

    /// Finds the words that begin at each character, and their weights.
    ///
    /// Each step prefetches the memory that the next step reads. Lists are filled without branches, because the processor cannot
    /// predict whether a word continues, and would wait for memory after a misprediction.
    fn look_up(&self, batch: &mut Batch) {
        let Batch { letters, ones, twos, threes, pairs, others, thirds, longer, .. } = batch;
        let count = letters.len();
        // No word continues at a separator, so the end of a run needs no check.
        let alone = self.letters.alone();
        letters.extend([alone; 2]);
        let (words, letters) = (&self.words, &letters[..]);
        for list in [&mut *ones, twos, threes] {
            list.resize(count, 0.0);
        }
        pairs.resize(count, 0);
        for list in [&mut *others, thirds] {
            list.resize(count + 1, (0, 0));
        }
        let weight = |class: usize| self.weights.get(class).copied().unwrap_or(f64::NEG_INFINITY);

        let mut listed = 0;
        for (at, (two, one)) in letters.windows(2).zip(&mut ones[..count]).enumerate() {
            let &[first, second] = two else { continue };
            *one = self.ones.get(first as usize).copied().unwrap_or(f64::NEG_INFINITY);
            words.ask_for_pair(first, second);
            others[listed] = (at as u32, 0);
            listed += usize::from(second >= FREQUENT && second != alone);
        }
        for other in &mut others[..listed] {
            let at = other.0 as usize;
            other.1 = words.place_of_other(letters[at], letters[at + 1]);
            ask_for(&words.others, other.1 as usize);
        }
        for (two, number) in letters.windows(2).zip(&mut pairs[..count]) {
            let &[first, second] = two else { continue };
            *number = words.frequent_pair(first, second);
            ask_for(&words.pairs, *number as usize);
        }
        for &(at, place) in &others[..listed] {
            let at = at as usize;
            pairs[at] = words.other_pair(place, letters[at], letters[at + 1]);
            ask_for(&words.pairs, pairs[at] as usize);
        }

        let mut listed = 0;
        for (at, ((&number, two), &third)) in
            pairs[..count].iter().zip(&mut twos[..count]).zip(&letters[2..]).enumerate()
        {
            let pair = words.pair(number);
            *two = weight(pair.class());
            let may_have = pair.may_have(third);
            thirds[listed] = (at as u32, number);
            listed += usize::from(may_have);
            ask_for(&words.bases, select_unpredictable(may_have, number as usize, 0));
        }
        for third in &mut thirds[..listed] {
            third.1 = words.place_of_third(third.1, letters[third.0 as usize + 2]);
            ask_for(&words.places, third.1 as usize);
        }
        threes[..count].fill(f64::NEG_INFINITY);
        longer.resize(listed + 1, (0, Node::NONE));
        let mut beginnings = 0;
        for &(at, place) in &thirds[..listed] {
            let node = words.at_place(place, letters[at as usize + 2]);
            threes[at as usize] = weight(node.class());
            longer[beginnings] = (at, node);
            beginnings += usize::from(node.has_children());
            words.ask_for_child(node, letters[at as usize + 3]);
        }
        longer.truncate(beginnings);
        longer.retain_mut(|(at, node)| {
            *node = words.child(*node, letters[*at as usize + 3]);
            *node != Node::NONE
        });
    }

    /// Sets the length of the best word that begins at each character.
    fn weigh(&self, batch: &mut Batch) {
        let Batch { letters, ones, twos, threes, longer, best, lengths, .. } = batch;
        let count = ones.len();
        best.resize(count, 0.0);
        lengths.resize(count, 0);
        // The weights of the best paths from the next three characters.
        let (mut one, mut two, mut three) = (0.0, 0.0, 0.0);
        for at in (0..count).rev() {
            let weights = [ones[at] + one, twos[at] + two, threes[at] + three];
            let mut length = 2 + u16::from(weights[2] >= weights[1]);
            let mut weight = if weights[2] > weights[1] { weights[2] } else { weights[1] };
            length = if weights[0] > weight { 1 } else { length };
            weight = if weights[0] > weight { weights[0] } else { weight };
            if let Some(&(first, mut node)) = longer.last()
                && first as usize == at
            {
                longer.pop();
                let mut end = at + 4;
                while node != Node::NONE {
                    let sum = self.weights[node.class()] + best[end];
                    if sum >= weight {
                        (weight, length) = (sum, (end - at) as u16);
                    }
                    node = if node.has_children() { self.words.child(node, letters[end]) } else { Node::NONE };
                    end += 1;
                }
            }
            let ends = letters[at] == self.letters.alone();
            weight = select_unpredictable(ends, 0.0, weight);
            length = select_unpredictable(ends, 0, length);
            if weight == f64::NEG_INFINITY {
                (weight, length) = (self.unseen + one, 1);
            }
            (best[at], lengths[at]) = (weight, length);
            (one, two, three) = (weight, one, two);
        }
    }
}

//! Collects the items of an evaluation set.

use std::collections::HashMap;

use dupsift_core::hash::hash64;

use crate::grams::Gram;
use crate::items::Items;
use crate::label::each_without_labels;
use crate::texts::{Ends, Item, Texts};
use crate::words::{LEAST_BESIDE, LEAST_WORDS, Number, Numbers, Words};

/// The minimum number of tokens in an item that is searched for, counted with its choices and without labels.
pub(crate) const LEAST_TOKENS: usize = 5;

/// Collects items.
#[derive(Debug)]
pub struct Builder {
    ngram: usize,
    /// The item with these words and numbers; the key is a hash of the question, the choices and the answers.
    known: HashMap<u128, Item>,
    texts: Texts,
    /// The numbers in questions, by their position in the list of tokens.
    numbers: Numbers,
}

impl Builder {
    /// Returns an empty collection for n-grams of this many tokens.
    pub fn new(ngram: u32) -> Builder {
        Builder {
            ngram: ngram.max(1) as usize,
            known: HashMap::new(),
            texts: Texts::default(),
            numbers: Numbers::default(),
        }
    }

    /// Returns the number of items. Items with the same words and numbers count once.
    pub fn len(&self) -> usize {
        self.texts.ends.len()
    }

    /// Returns whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.texts.ends.is_empty()
    }

    /// Adds an item with its choices and its correct answers, and returns its number. Empty choices and answers are ignored.
    pub fn push(&mut self, question: &Words, choices: &[Words], answers: &[Words]) -> Item {
        let fold = |key: u128, hash: u64| {
            (key ^ u128::from(hash)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013B).rotate_left(47)
        };
        let key = std::iter::once(question)
            .chain(choices)
            .chain(answers)
            .fold((choices.len() as u128) << 64 | answers.len() as u128, |key, words| {
                fold(words.hashes.iter().fold(key, |key, &hash| fold(key, hash)), words.hashes.len() as u64)
            });
        // Token hashes depend neither on signs nor on decimal points.
        let key = question.numbers.digits.iter().fold(key, |key, number| {
            let key = fold(key, hash64(number.value.as_bytes()));
            fold(key, (number.sign as u64) << 1 | u64::from(number.is_joined))
        });
        let texts = &mut self.texts;
        let new = texts.ends.len() as Item;
        let item = *self.known.entry(key).or_insert(new);
        if item != new {
            return item;
        }
        let start = texts.tokens.len() as u32;
        let Numbers { digits, words } = &question.numbers;
        self.numbers.digits.extend(digits.iter().map(|number| Number { at: start + number.at, ..number.clone() }));
        self.numbers.words.extend(words.iter().map(|(at, value)| (start + at, *value)));
        texts.tokens.extend(&question.hashes);
        let question_end = texts.tokens.len();
        for choice in choices.iter().filter(|choice| !choice.hashes.is_empty()) {
            texts.tokens.extend(&choice.hashes);
            texts.choice_ends.push(texts.tokens.len());
        }
        for answer in answers.iter().filter(|answer| !answer.hashes.is_empty()) {
            texts.answers.extend(&answer.hashes);
            texts.answer_ends.push(texts.answers.len());
        }
        let beside = |words: &Words| if words.hashes.is_empty() { 0.0 } else { words.size.max(LEAST_BESIDE) };
        let longest = answers.iter().map(beside).fold(0.0, f32::max);
        let of_choices = choices.iter().map(beside).sum::<f32>();
        let words = question.size + of_choices + longest;
        let before = texts.ends.last().map_or(0, |before| before.tokens);
        let mut core = 0;
        each_without_labels(texts.tokens[before..].iter().copied(), |_, _| core += 1);
        texts.ends.push(Ends {
            question: question_end,
            tokens: texts.tokens.len(),
            choices: texts.choice_ends.len(),
            answers: texts.answer_ends.len(),
            words: question.size,
            beside: of_choices.max(longest),
            is_too_short: question.hashes.is_empty() || core < LEAST_TOKENS || words < LEAST_WORDS,
        });
        item
    }

    /// Returns the maximum memory, in bytes, for an item with this many tokens in its question, choices and answers, given the number of
    /// search threads: for each token its hash, its number and how many items share it, the slots of the vocabulary, the n-grams while they
    /// are sorted, their buckets and filter bits, and a count per thread.
    pub fn bytes_of(tokens: usize, threads: usize) -> u64 {
        let a_token = 8 + 4 + 1 + 4 * 8 + (3 * size_of::<Gram>() + 9) + 2 * 4 + 8 * threads;
        (tokens * a_token + size_of::<Ends>() + 2 * (size_of::<u128>() + 8) + 16) as u64
    }

    /// Builds the search structure.
    pub fn build(self) -> Items {
        let Builder { ngram, known, texts, numbers } = self;
        drop(known);
        Items::new(ngram, texts, numbers)
    }
}

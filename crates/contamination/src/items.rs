//! Holds the evaluation set in memory: its items as token numbers, and their n-grams in one list sorted by hash.

use std::ops::Range;

use crate::by_hash::sorted_by_hash;
use crate::grams::{Grams, list};
use crate::label::each_without_labels;
use crate::sharing::{SHARED, Sharing};
use crate::texts::{Ends, Item, Texts};
use crate::vocabulary::Vocabulary;
use crate::words::{Number, Numbers};

/// The default number of tokens in an n-gram.
pub const NGRAM: u32 = 5;

/// Holds the items of an evaluation set.
#[derive(Debug)]
pub struct Items {
    ngram: usize,
    vocabulary: Vocabulary,
    /// The token numbers of all questions and choices, in the order of [`Texts::tokens`].
    tokens: Vec<u32>,
    /// The number of items that share each of these tokens.
    sharing: Vec<Sharing>,
    /// The numbers in questions, by their position in the list of tokens.
    numbers: Numbers,
    texts: Texts,
    /// The number of tokens that the n-grams of an item in a text must cover before the item is compared with the text.
    least: Vec<u32>,
    /// The number of tokens in each n-gram of an item; 0 if the item is not searched for.
    gram_tokens: Vec<u32>,
    /// The n-grams that are searched for.
    grams: Grams,
}

/// Texts contain `1 / LEAST_SHARE` of an item's tokens in n-grams, or the item is not compared with them.
const LEAST_SHARE: usize = 3;

impl Items {
    /// Builds the search structure of items whose n-grams have this many tokens.
    pub(crate) fn new(ngram: usize, texts: Texts, mut numbers: Numbers) -> Items {
        let vocabulary = Vocabulary::new(&texts.tokens);
        let tokens: Vec<u32> = texts.tokens.iter().map(|&hash| vocabulary.number(hash)).collect();
        numbers.digits.shrink_to_fit();
        numbers.words.shrink_to_fit();
        let mut items = Items {
            ngram,
            vocabulary,
            sharing: vec![Sharing::default(); tokens.len()],
            tokens,
            numbers,
            least: vec![0; texts.ends.len()],
            gram_tokens: vec![0; texts.ends.len()],
            texts,
            grams: Grams::default(),
        };
        items.index();
        items.texts.tokens = Vec::new();
        items
    }

    /// Lists the n-grams. An item all of whose n-grams are shared gets n-grams of twice the length, and so on. An item that is not found by
    /// any length is part of too many other items, and is not searched for.
    fn index(&mut self) {
        let mut pending: Vec<Item> = (0..self.len() as u32).filter(|&item| !self.is_too_short(item)).collect();
        let mut length = self.ngram;
        let (mut core, mut places, mut sums) = (Vec::new(), Vec::new(), Vec::new());
        // The position of each pending item's first n-gram among the n-grams of all pending items.
        let mut begins = vec![0u32; self.len()];
        let mut listed = Vec::new();
        while !pending.is_empty() {
            let mut grams = Vec::new();
            let mut whole = Vec::new();
            for &item in &pending {
                self.core(item, &mut core, &mut places);
                let tokens = length.min(core.len());
                if length >= core.len() {
                    whole.push(item);
                }
                self.gram_tokens[item as usize] = tokens as u32;
                begins[item as usize] = grams.len() as u32;
                list(item, &core, tokens, &mut sums, &mut grams);
            }
            let grams = sorted_by_hash(&grams, |gram| gram.hash);
            // The number of items that share each n-gram, in the order of items.
            let mut counts = vec![0u8; grams.len()];
            for same in grams.chunk_by(|a, b| a.hash == b.hash) {
                let items = same.chunk_by(|a, b| a.item == b.item).count().min(255) as u8;
                for gram in same {
                    counts[(begins[gram.item as usize] + gram.at) as usize] = items;
                }
            }
            let ends = pending[1..].iter().map(|&next| begins[next as usize] as usize).chain([grams.len()]);
            let mut repeated = Vec::new();
            for (&item, end) in pending.iter().zip(ends) {
                let of_item = &counts[begins[item as usize] as usize..end];
                if of_item.iter().any(|&items| usize::from(items) <= SHARED) {
                    self.settle(item, of_item, &mut core, &mut places);
                } else if whole.binary_search(&item).is_ok() {
                    self.gram_tokens[item as usize] = 0;
                } else {
                    repeated.push(item);
                }
            }
            for same in grams.chunk_by(|a, b| a.hash == b.hash) {
                if same.chunk_by(|a, b| a.item == b.item).count() <= SHARED {
                    listed.extend_from_slice(same);
                }
            }
            pending = repeated;
            length *= 2;
        }
        let mut lengths: Vec<usize> = self.gram_tokens.iter().map(|&tokens| tokens as usize).collect();
        lengths.sort_unstable();
        lengths.dedup();
        self.grams = Grams::new(listed, lengths.into_iter().filter(|&tokens| tokens > 0));
    }

    /// Records, for each token of an item, how many items share it, and how much of the item a text must contain. `counts` has the number of
    /// items that share each n-gram of the item.
    fn settle(&mut self, item: Item, counts: &[u8], core: &mut Vec<u64>, places: &mut Vec<u32>) {
        self.core(item, core, places);
        let (range, question) = (self.range(item), self.question_len(item) as u32);
        let length = self.gram_tokens[item as usize];
        let sharing = &mut self.sharing[range];
        // The tokens that n-grams cover: in the question, and in all.
        let (mut own, mut until) = ([0, 0], 0);
        for (&items, gram) in counts.iter().zip(0..) {
            let (first, last) = (places[gram as usize], places[(gram + length - 1) as usize]);
            for token in &mut sharing[first as usize..=last as usize] {
                token.add(items);
            }
            if usize::from(items) <= SHARED {
                for at in until.max(gram)..gram + length {
                    own[0] += u32::from(places[at as usize] < question);
                    own[1] += 1;
                }
                until = gram + length;
            }
        }
        // Labels at either end belong to the n-gram next to them.
        let mut last = Sharing::default();
        for forwards in [true, false] {
            let mut fill = |token: &mut Sharing| {
                if *token == Sharing::default() { *token = last } else { last = *token }
            };
            if forwards { sharing.iter_mut().for_each(&mut fill) } else { sharing.iter_mut().rev().for_each(&mut fill) }
        }
        let least = if own[0] > 0 { own[0] } else { own[1] };
        self.least[item as usize] = least.div_ceil(LEAST_SHARE as u32);
    }

    /// Lists the hashes of an item's tokens that are not labels, and their positions in the item.
    fn core(&self, item: Item, core: &mut Vec<u64>, places: &mut Vec<u32>) {
        core.clear();
        places.clear();
        each_without_labels(self.texts.tokens[self.range(item)].iter().copied(), |at, hash| {
            core.push(hash);
            places.push(at);
        });
    }

    /// Returns the number of items. Items with the same words and numbers count once.
    pub fn len(&self) -> usize {
        self.texts.ends.len()
    }

    /// Returns whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.texts.ends.is_empty()
    }

    /// Returns the number of tokens in an n-gram.
    pub fn ngram(&self) -> usize {
        self.ngram
    }

    /// Returns the number of distinct tokens in the items.
    pub fn vocabulary(&self) -> usize {
        self.vocabulary.count as usize
    }

    fn before(&self, item: Item) -> Ends {
        item.checked_sub(1).map_or_else(Ends::default, |before| self.texts.ends[before as usize])
    }

    fn ends(&self, item: Item) -> Ends {
        self.texts.ends[item as usize]
    }

    /// Returns the range of an item's question and choices in the list of tokens.
    fn range(&self, item: Item) -> Range<usize> {
        self.before(item).tokens..self.ends(item).tokens
    }

    /// Returns the token numbers of an item's question, followed by those of its choices.
    pub(crate) fn tokens(&self, item: Item) -> &[u32] {
        &self.tokens[self.range(item)]
    }

    /// Returns, for each token of an item, how many items share it.
    pub(crate) fn sharing(&self, item: Item) -> &[Sharing] {
        &self.sharing[self.range(item)]
    }

    /// Returns the numbers with digits in the question of an item, each with its position in the item.
    pub(crate) fn with_digits(&self, item: Item) -> impl Iterator<Item = (u32, &Number)> {
        let (start, end) = (self.before(item).tokens as u32, self.ends(item).question as u32);
        let from = self.numbers.digits.partition_point(|number| number.at < start);
        let numbers = self.numbers.digits[from..].iter().take_while(move |number| number.at < end);
        numbers.map(move |number| (number.at - start, number))
    }

    /// Returns the position and the value of each number in words in the question of an item.
    pub(crate) fn in_words(&self, item: Item) -> impl Iterator<Item = (u32, u64)> {
        let (start, end) = (self.before(item).tokens as u32, self.ends(item).question as u32);
        let from = self.numbers.words.partition_point(|(at, _)| *at < start);
        let numbers = self.numbers.words[from..].iter().take_while(move |(at, _)| *at < end);
        numbers.map(move |&(at, value)| (at - start, value))
    }

    /// Returns the number of tokens in an item's question.
    pub fn question_len(&self, item: Item) -> usize {
        self.ends(item).question - self.before(item).tokens
    }

    /// Returns the average number of words that a token of an item's question counts as.
    pub(crate) fn word_size(&self, item: Item) -> f32 {
        self.ends(item).words / self.question_len(item).max(1) as f32
    }

    /// Returns the maximum number of words in the choices or the answer of an item beside its question.
    pub(crate) fn most_beside(&self, item: Item) -> f32 {
        self.ends(item).beside
    }

    /// Returns the token numbers of each choice of an item.
    pub(crate) fn choices(&self, item: Item) -> impl Iterator<Item = &[u32]> {
        let (first, last) = (self.before(item).choices, self.ends(item).choices);
        let mut start = self.ends(item).question;
        self.texts.choice_ends[first..last].iter().map(move |&end| {
            let choice = &self.tokens[start..end];
            start = end;
            choice
        })
    }

    /// Returns whether an item has too few words to be searched for, even if its choices and its answer are next to it.
    pub fn is_too_short(&self, item: Item) -> bool {
        self.ends(item).is_too_short
    }

    /// Returns whether every n-gram of an item, and the item itself, is part of too many other items.
    pub fn is_shared(&self, item: Item) -> bool {
        self.gram_tokens[item as usize] == 0 && !self.is_too_short(item)
    }

    /// Returns the number of n-grams in an item's question.
    pub fn gram_count(&self, item: Item) -> usize {
        let tokens = self.question_len(item);
        if tokens == 0 { 0 } else { tokens - tokens.min(self.ngram) + 1 }
    }

    /// Returns the number of tokens in each n-gram of an item; 0 if the item is not searched for.
    pub(crate) fn gram_tokens(&self, item: Item) -> usize {
        self.gram_tokens[item as usize] as usize
    }

    /// Returns the number of tokens that an item's n-grams in a text must cover before the item is compared with the text.
    pub(crate) fn least_covered(&self, item: Item) -> u32 {
        self.least[item as usize]
    }

    /// Returns the token hashes of each answer to an item.
    pub(crate) fn answers(&self, item: Item) -> impl Iterator<Item = &[u64]> {
        (self.before(item).answers..self.ends(item).answers).map(|answer| {
            let start = answer.checked_sub(1).map_or(0, |before| self.texts.answer_ends[before]);
            &self.texts.answers[start..self.texts.answer_ends[answer]]
        })
    }

    /// Returns the number that identifies a token, or [`NO_TOKEN`](crate::vocabulary::NO_TOKEN) if the token is in no item.
    #[inline]
    pub(crate) fn number(&self, hash: u64) -> u32 {
        self.vocabulary.number(hash)
    }

    /// Returns the n-grams that are searched for.
    #[inline]
    pub(crate) fn grams(&self) -> &Grams {
        &self.grams
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;
    use crate::texts::Ends;
    use crate::vocabulary::NO_TOKEN;
    use crate::words::Words;
    use dupsift_core::hash::mix64;

    #[test]
    fn items_have_the_grams_that_they_should() {
        let mut builder = Builder::new(8);
        let tokens: Vec<u64> = (1..=12).map(mix64).collect();
        let of = |from: usize, to: usize| Words::made(&tokens[from..to]);
        let mut bytes = 0;
        for (length, choices) in [(4, 0), (6, 0), (6, 5), (9, 0), (12, 0)] {
            let choices = if choices > 0 { vec![of(12 - choices, 12)] } else { Vec::new() };
            let answers = [of(0, 1), of(0, 0), of(1, 3)];
            builder.push(&of(0, length), &choices, &answers);
            bytes += Builder::bytes_of(length + 5 * choices.len() + 3, 2);
        }
        assert_eq!(builder.push(&of(0, 9), &[], &[of(0, 1), of(0, 0), of(1, 3)]), 3, "the same words");
        let items = builder.build();
        assert_eq!((0..5).map(|item| items.is_too_short(item)).collect::<Vec<_>>(), [true, true, false, false, false]);
        assert_eq!((0..5).map(|item| items.gram_tokens(item)).collect::<Vec<_>>(), [0, 0, 8, 8, 8]);
        assert_eq!((0..5).map(|item| items.gram_count(item)).collect::<Vec<_>>(), [1, 1, 1, 2, 5]);
        assert_eq!(items.answers(2).collect::<Vec<_>>(), [&tokens[..1], &tokens[1..3]]);
        assert_eq!(items.choices(2).map(<[u32]>::len).collect::<Vec<_>>(), [5]);
        assert_eq!((items.choices(3).count(), items.len(), items.vocabulary()), (0, 5, 12));
        let mut found = Vec::new();
        items.grams().windows(&tokens, &mut Vec::new(), |start, grams| {
            found.extend(grams.iter().map(|gram| (start, gram.item, gram.at)));
        });
        let expected = [(0, 3, 0), (0, 4, 0), (1, 3, 1), (1, 4, 1), (2, 4, 2), (3, 4, 3), (4, 4, 4)];
        assert_eq!(found, expected);
        let taken = items.grams.bytes()
            + items.vocabulary.bytes()
            + items.tokens.len() * (4 + 1)
            + items.texts.answers.len() * 8
            + (items.texts.choice_ends.len() + items.texts.answer_ends.len()) * 8
            + items.len() * (size_of::<Ends>() + 8)
            + 2 * 8 * items.vocabulary();
        assert!(taken as u64 <= bytes, "{taken} {bytes}");
    }

    #[test]
    fn nothing_is_found_where_there_is_nothing() {
        let items = Builder::new(8).build();
        assert!(items.is_empty() && items.grams.is_empty() && items.number(7) == NO_TOKEN);
    }

    #[test]
    fn an_item_inside_many_others_is_shared() {
        let mut builder = Builder::new(5);
        let tokens: Vec<u64> = (1..=20).map(mix64).collect();
        for at in 0..=SHARED as u64 {
            let more: Vec<u64> = (0..30).map(|more| mix64(1000 * (at + 1) + more)).collect();
            builder.push(&Words::made(&[&tokens[..], &more].concat()), &[], &[]);
        }
        let inner = builder.push(&Words::made(&tokens[2..15]), &[], &[]);
        let items = builder.build();
        assert!(!items.is_shared(inner), "it is alone among the items that need long n-grams");
        assert!((0..inner).all(|item| !items.is_shared(item)));
    }
}

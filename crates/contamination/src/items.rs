//! Holds the evaluation set in memory: its items as token numbers, and their n-grams in one list sorted by hash.

use std::collections::HashMap;
use std::ops::Range;

use dupsift_core::hash::{hash64, mix64};

use crate::label::each_without_labels;
use crate::words::{LEAST_BESIDE, LEAST_WORDS, Number, Numbers, Words};

/// The default number of tokens in an n-gram.
pub const NGRAM: u32 = 5;

/// The minimum number of tokens in an item that is searched for, counted with its choices and without labels.
pub(crate) const LEAST_TOKENS: usize = 5;

/// An n-gram in more than this many items says nothing about any of them: it belongs to an instruction, a reading passage or a stock
/// phrase. Such n-grams are not searched for.
pub const SHARED: usize = 10;

/// Holds how many items share the n-grams around a token: the number for the rarest n-gram, and a flag if an n-gram is in more than
/// [`SHARED`] items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sharing(u8);

impl Sharing {
    const FLAG: u8 = 0x80;

    /// Adds an n-gram in this many items.
    fn add(&mut self, items: u8) {
        let rarest = self.items();
        let flag = if usize::from(items) > SHARED { Sharing::FLAG } else { self.0 & Sharing::FLAG };
        self.0 = flag | items.min(Sharing::FLAG - 1).min(if rarest == 0 { u8::MAX } else { rarest });
    }

    /// Returns the number of items that share the rarest n-gram, at most 127; 0 if there is none.
    pub(crate) fn items(self) -> u8 {
        self.0 & !Sharing::FLAG
    }

    /// Returns whether an n-gram around the token is in at most [`SHARED`] items.
    pub(crate) fn is_own(self) -> bool {
        usize::from(self.items()) <= SHARED
    }

    /// Returns whether every n-gram around the token is in at most [`SHARED`] items. This is false for all words of an instruction;
    /// [`Sharing::is_own`] is true for its first and last words, because some of their n-grams also contain other words of the item.
    pub(crate) fn is_only_own(self) -> bool {
        self.0 & Sharing::FLAG == 0
    }
}

/// The multiplier of the rolling n-gram hash, the same as for shingles.
const R: u64 = 0x9E37_79B9_7F4A_7C15;

/// The number that stands for any token that is in no item.
pub(crate) const NO_TOKEN: u32 = u32::MAX;

/// The number of filter bits per n-gram.
const FILTER_BITS: usize = 16;

/// The number of an item, in the order in which items were added. Items with the same words and numbers have the same number.
pub type Item = u32;

/// Describes an n-gram in an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gram {
    /// The hash, which determines the order of n-grams.
    pub hash: u64,
    /// The item.
    pub item: Item,
    /// The position of the n-gram's first token among the item's tokens that are not labels.
    pub at: u32,
}

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

/// Holds the token hashes of all questions, choices and answers.
#[derive(Debug, Default)]
struct Texts {
    /// The tokens of each question, followed by those of its choices.
    tokens: Vec<u64>,
    /// The tokens of the answers.
    answers: Vec<u64>,
    /// Where the texts of each item end.
    ends: Vec<Ends>,
    /// The end of each choice in `tokens`.
    choice_ends: Vec<usize>,
    /// The end of each answer in `answers`.
    answer_ends: Vec<usize>,
}

/// Marks where the texts of an item end in the lists of [`Texts`].
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    question: usize,
    tokens: usize,
    choices: usize,
    answers: usize,
    /// The number of words in the question.
    words: f32,
    /// The maximum number of words in choices or an answer beside the question.
    beside: f32,
    /// Whether there are too few words to search for.
    is_too_short: bool,
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
        let Builder { ngram, known, texts, mut numbers } = self;
        drop(known);
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
            lengths: Vec::new(),
            grams: Vec::new(),
            buckets: Vec::new(),
            shift: 63,
            filter: Vec::new(),
        };
        items.index();
        items.texts.tokens = Vec::new();
        items
    }
}

/// Holds the items of an evaluation set.
#[derive(Debug)]
pub struct Items {
    ngram: usize,
    vocabulary: Vocabulary,
    /// The token numbers of all questions and choices, in the order of [`Texts::tokens`].
    tokens: Vec<u32>,
    /// How many items share each of these tokens.
    sharing: Vec<Sharing>,
    /// The numbers in questions, by their position in the list of tokens.
    numbers: Numbers,
    texts: Texts,
    /// The number of tokens that the n-grams of an item in a text must cover before the item is compared with the text.
    least: Vec<u32>,
    /// The number of tokens in each n-gram of an item; 0 if the item is not searched for.
    gram_tokens: Vec<u32>,
    /// The possible lengths of an n-gram in tokens.
    lengths: Vec<Length>,
    /// All n-grams that are searched for, sorted by hash.
    grams: Vec<Gram>,
    /// `buckets[value]` is the position of the first n-gram whose hash begins with the bits of `value`. The last entry is the end of the
    /// list.
    buckets: Vec<u32>,
    shift: u32,
    /// A filter in which each hash sets two bits.
    filter: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Length {
    tokens: usize,
    /// `R` raised to the power `tokens`.
    power: u64,
}

/// Texts contain `1 / LEAST_SHARE` of an item's tokens in n-grams, or the item is not compared with them.
const LEAST_SHARE: usize = 3;

impl Items {
    /// Lists the n-grams. An item all of whose n-grams are shared gets n-grams of twice the length, and so on. An item that is not found by
    /// any length is part of too many other items, and is not searched for.
    fn index(&mut self) {
        let mut pending: Vec<Item> = (0..self.len() as u32).filter(|&item| !self.is_too_short(item)).collect();
        let mut length = self.ngram;
        let (mut core, mut places, mut sums) = (Vec::new(), Vec::new(), Vec::new());
        // The position of each pending item's first n-gram among the n-grams of all pending items.
        let mut begins = vec![0u32; self.len()];
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
                polynomials(core.iter().copied(), &mut sums);
                let power = power(tokens);
                begins[item as usize] = grams.len() as u32;
                grams.extend(sums[tokens..].iter().zip(&sums).zip(0..).map(|((&end, &begin), at)| Gram {
                    hash: mix(end.wrapping_sub(begin.wrapping_mul(power)), tokens),
                    item,
                    at,
                }));
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
                    self.grams.extend_from_slice(same);
                }
            }
            pending = repeated;
            length *= 2;
        }
        // The n-grams of each length are in order.
        if !self.grams.is_sorted() {
            self.grams.sort();
        }
        self.grams.shrink_to_fit();
        let mut lengths: Vec<usize> = self.gram_tokens.iter().map(|&tokens| tokens as usize).collect();
        lengths.sort_unstable();
        lengths.dedup();
        let lengths = lengths.into_iter().filter(|&tokens| tokens > 0);
        self.lengths = lengths.map(|tokens| Length { tokens, power: power(tokens) }).collect();
        // Chooses the number of buckets so that there is about one n-gram per bucket.
        let bits = (self.grams.len().max(2) as u64).ilog2();
        self.shift = 64 - bits;
        self.buckets = vec![0; (1 << bits) + 1];
        for gram in &self.grams {
            self.buckets[(gram.hash >> self.shift) as usize + 1] += 1;
        }
        for at in 1..self.buckets.len() {
            self.buckets[at] += self.buckets[at - 1];
        }
        let words = (self.grams.len() * FILTER_BITS / 64).next_power_of_two();
        self.filter = vec![0; words];
        for gram in &self.grams {
            let (word, bits) = place_in(words, gram.hash);
            self.filter[word] |= bits;
        }
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

    /// Returns the number that identifies a token, or [`NO_TOKEN`] if the token is in no item.
    #[inline]
    pub(crate) fn number(&self, hash: u64) -> u32 {
        self.vocabulary.number(hash)
    }

    /// Returns the number of tokens in the shortest n-grams.
    pub(crate) fn least_gram(&self) -> usize {
        self.lengths.first().map_or(usize::MAX, |length| length.tokens)
    }

    /// Returns whether an n-gram may have this hash; the false-positive rate is about one in two hundred.
    #[inline]
    fn may_have(&self, hash: u64) -> bool {
        let (word, bits) = place_in(self.filter.len(), hash);
        self.filter[word] & bits == bits
    }

    /// Returns the n-grams with this hash, ordered by item.
    pub(crate) fn grams(&self, hash: u64) -> &[Gram] {
        let bucket = (hash >> self.shift) as usize;
        let (from, to) = (self.buckets[bucket] as usize, self.buckets[bucket + 1] as usize);
        let bucket = &self.grams[from..to];
        let start = bucket.partition_point(|gram| gram.hash < hash);
        let length = bucket[start..].partition_point(|gram| gram.hash == hash);
        &bucket[start..start + length]
    }
}

/// Returns the filter word for a hash, and the two bits to set in it. The word and the bits depend on the lower half of the hash, because
/// buckets use the upper bits.
#[inline]
fn place_in(words: usize, hash: u64) -> (usize, u64) {
    ((hash as usize >> 12) & (words - 1), 1 << (hash % 64) | 1 << ((hash >> 6) % 64))
}

/// Sorts rows by their hash; rows with equal hashes keep their order. Hashes are evenly distributed, so nearly all rows that differ fall into
/// different buckets.
fn sorted_by_hash<T: Copy + Default>(rows: &[T], hash: impl Fn(&T) -> u64) -> Vec<T> {
    let shift = 64 - (rows.len().max(2) as u64).ilog2();
    let bucket = |row: &T| (hash(row) >> shift) as usize;
    let mut places = vec![0u32; (u64::MAX >> shift) as usize + 2];
    rows.iter().for_each(|row| places[bucket(row) + 1] += 1);
    for at in 1..places.len() {
        places[at] += places[at - 1];
    }
    let mut sorted = vec![T::default(); rows.len()];
    for row in rows {
        let place = &mut places[bucket(row)];
        sorted[*place as usize] = *row;
        *place += 1;
    }
    // `places[bucket]` is the end of the bucket now.
    let mut start = 0;
    for &end in &places[..places.len() - 1] {
        if end - start > 1 {
            sorted[start as usize..end as usize].sort_by_key(&hash);
        }
        start = end;
    }
    sorted
}

/// Returns `R` raised to the power `tokens`.
fn power(tokens: usize) -> u64 {
    (0..tokens).fold(1, |power: u64, _| power.wrapping_mul(R))
}

/// Lists the value of the polynomial before the first token and after each token.
#[inline]
fn polynomials(hashes: impl Iterator<Item = u64>, sums: &mut Vec<u64>) {
    sums.clear();
    sums.push(0);
    let mut last = 0u64;
    sums.extend(hashes.map(|hash| {
        last = last.wrapping_mul(R).wrapping_add(hash);
        last
    }));
}

/// Returns the hash of an n-gram, given the value of its polynomial. The hash depends on the length of the n-gram.
#[inline]
fn mix(polynomial: u64, tokens: usize) -> u64 {
    mix64(polynomial ^ tokens as u64)
}

/// Calls `each` for every window of a token run that matches an n-gram of at least one item. The arguments are the window's position and
/// the matching n-grams. `sums` is a buffer that the caller reuses.
#[inline]
pub(crate) fn windows<'i>(items: &'i Items, run: &[u64], sums: &mut Vec<u64>, mut each: impl FnMut(usize, &'i [Gram])) {
    polynomials(run.iter().copied(), sums);
    for &Length { tokens, power } in &items.lengths {
        let Some(ends) = sums.get(tokens..) else { break };
        for (start, (&end, &begin)) in ends.iter().zip(&sums[..]).enumerate() {
            let hash = mix(end.wrapping_sub(begin.wrapping_mul(power)), tokens);
            if items.may_have(hash) {
                let grams = items.grams(hash);
                if !grams.is_empty() {
                    each(start, grams);
                }
            }
        }
    }
}

/// Maps the token hashes of all items to numbers, most frequent first. The map is an open-addressing table that is at most half full.
#[derive(Debug)]
struct Vocabulary {
    /// The upper half of the token's hash, and the token's number. About one in four billion unrelated tokens is mistaken for a token of an
    /// item, but n-grams are never mistaken for each other.
    slots: Vec<(u32, u32)>,
    count: u32,
}

impl Vocabulary {
    fn new(hashes: &[u64]) -> Vocabulary {
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
    fn number(&self, hash: u64) -> u32 {
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

#[cfg(test)]
mod tests {
    use super::*;

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
        windows(&items, &tokens, &mut Vec::new(), |start, grams| {
            found.extend(grams.iter().map(|gram| (start, gram.item, gram.at)));
        });
        let expected = [(0, 3, 0), (0, 4, 0), (1, 3, 1), (1, 4, 1), (2, 4, 2), (3, 4, 3), (4, 4, 4)];
        assert_eq!(found, expected);
        let taken = items.grams.len() * size_of::<Gram>()
            + items.buckets.len() * 4
            + items.filter.len() * 8
            + items.vocabulary.slots.len() * 8
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
        assert!(items.is_empty() && items.lengths.is_empty() && items.number(7) == NO_TOKEN);
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

//! Holds the evaluation set in memory: its items as token numbers, and all their n-grams in one list sorted by hash.

use dupsift_core::hash::mix64;
use dupsift_text::Token;

/// The default number of tokens in an n-gram.
pub const NGRAM: u32 = 5;

/// The minimum item length in tokens. Shorter items are not searched for, because the origin of a four-word phrase is unclear.
pub const LEAST_TOKENS: usize = 5;

/// The multiplier of the rolling n-gram hash, the same as for shingles.
const R: u64 = 0x9E37_79B9_7F4A_7C15;

/// The number that stands for any token that is in no item.
pub(crate) const NO_TOKEN: u32 = u32::MAX;

/// The number of filter bits per n-gram.
const FILTER_BITS: usize = 16;

/// The number of an item, in the order in which items were added.
pub type Item = u32;

/// Describes an n-gram in an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gram {
    /// The hash, which determines the order of n-grams.
    pub hash: u64,
    /// The item.
    pub item: Item,
    /// The position of the n-gram's first token in the item.
    pub at: u32,
}

/// Collects items.
#[derive(Debug)]
pub struct Builder {
    ngram: usize,
    /// The token hashes of all items, one item after the other.
    tokens: Vec<u64>,
    /// The end of each item in `tokens`.
    ends: Vec<usize>,
    /// The token hashes of all answers, one answer after the other.
    answers: Vec<u64>,
    /// The end of each answer in `answers`.
    answer_ends: Vec<usize>,
    /// The end of each item's answers in `answer_ends`.
    item_answers: Vec<usize>,
}

impl Builder {
    /// Returns an empty collection for n-grams of this many tokens.
    pub fn new(ngram: u32) -> Builder {
        let ngram = ngram.max(1) as usize;
        let (answers, answer_ends, item_answers) = (Vec::new(), Vec::new(), Vec::new());
        Builder { ngram, tokens: Vec::new(), ends: Vec::new(), answers, answer_ends, item_answers }
    }

    /// Adds an item with its correct answers. An answer without tokens is ignored.
    pub fn push(&mut self, tokens: &[u64], answers: &[Vec<u64>]) {
        self.tokens.extend(tokens);
        self.ends.push(self.tokens.len());
        for answer in answers.iter().filter(|answer| !answer.is_empty()) {
            self.answers.extend(answer);
            self.answer_ends.push(self.answers.len());
        }
        self.item_answers.push(self.answer_ends.len());
    }

    /// Returns the maximum memory, in bytes, that these items require while the search structure is built and used on this many threads.
    pub fn bytes(&self, threads: usize) -> u64 {
        let item = Builder::bytes_of(0, 0, threads) * self.ends.len() as u64;
        let answers = self.answers.len() + self.answer_ends.len();
        item + Builder::bytes_of(self.tokens.len(), answers, threads)
    }

    /// Returns the maximum memory, in bytes, for an item and its answers, given their token counts and the number of search threads. The
    /// memory holds token hashes and numbers, n-grams with their buckets and filter bits, and the vocabulary with a count per thread.
    pub fn bytes_of(tokens: usize, answer: usize, threads: usize) -> u64 {
        let a_token = 8 + 4 + 16 + 8 + 4 + 2 * 32 + 8 * threads;
        (tokens * a_token + answer * 8 + 24) as u64
    }

    /// Builds the search structure.
    pub fn build(self) -> Items {
        let Builder { ngram, tokens: hashes, ends, answers, answer_ends, item_answers } = self;
        let vocabulary = Vocabulary::new(&hashes);
        let tokens: Vec<u32> = hashes.iter().map(|&hash| vocabulary.number(hash)).collect();
        let mut items = Items {
            ngram,
            vocabulary,
            tokens,
            ends,
            answers,
            answer_ends,
            item_answers,
            lengths: Vec::new(),
            grams: Vec::new(),
            buckets: Vec::new(),
            shift: 63,
            filter: Vec::new(),
        };
        items.index(&hashes);
        items
    }
}

/// Holds the items of an evaluation set.
#[derive(Debug)]
pub struct Items {
    ngram: usize,
    vocabulary: Vocabulary,
    /// The token numbers of all items, one item after the other.
    tokens: Vec<u32>,
    ends: Vec<usize>,
    answers: Vec<u64>,
    answer_ends: Vec<usize>,
    item_answers: Vec<usize>,
    /// The possible lengths of an n-gram in tokens: `ngram`, and the length of each shorter item.
    lengths: Vec<Length>,
    /// All n-grams, sorted by hash.
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

impl Items {
    fn index(&mut self, hashes: &[u64]) {
        let mut lengths: Vec<usize> = (0..self.len() as u32).map(|item| self.gram_tokens(item)).collect();
        lengths.sort_unstable();
        lengths.dedup();
        let power = |tokens: usize| (0..tokens).fold(1u64, |power, _| power.wrapping_mul(R));
        self.lengths = lengths
            .into_iter()
            .filter(|&tokens| tokens > 0)
            .map(|tokens| Length { tokens, power: power(tokens) })
            .collect();
        for item in 0..self.len() as u32 {
            let (tokens, start) = (self.gram_tokens(item), self.start(item));
            if tokens == 0 {
                continue;
            }
            let windows = hashes[start..self.ends[item as usize]].windows(tokens).zip(0..);
            let gram = |(window, at): (&[u64], u32)| {
                let hash = window.iter().fold(0u64, |hash, &token| hash.wrapping_mul(R).wrapping_add(token));
                Gram { hash: mix(hash, tokens), item, at }
            };
            self.grams.extend(windows.map(gram));
        }
        self.grams.sort_unstable();
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

    /// Returns the number of items, including items that are too short.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the number of tokens in an n-gram.
    pub fn ngram(&self) -> usize {
        self.ngram
    }

    /// Returns the number of distinct tokens in the items.
    pub fn vocabulary(&self) -> usize {
        self.vocabulary.count as usize
    }

    fn start(&self, item: Item) -> usize {
        item.checked_sub(1).map_or(0, |before| self.ends[before as usize])
    }

    /// Returns the token numbers of an item.
    pub(crate) fn tokens(&self, item: Item) -> &[u32] {
        &self.tokens[self.start(item)..self.ends[item as usize]]
    }

    /// Returns the number of tokens in an item.
    pub fn token_count(&self, item: Item) -> usize {
        self.ends[item as usize] - self.start(item)
    }

    /// Returns whether an item has too few tokens to be searched for.
    pub fn is_too_short(&self, item: Item) -> bool {
        self.token_count(item) < LEAST_TOKENS
    }

    /// Returns the number of n-grams in an item.
    pub fn gram_count(&self, item: Item) -> usize {
        if self.is_too_short(item) { 0 } else { self.token_count(item) - self.gram_tokens(item) + 1 }
    }

    /// Returns the number of tokens in each n-gram of an item; 0 if the item is too short.
    pub(crate) fn gram_tokens(&self, item: Item) -> usize {
        if self.is_too_short(item) { 0 } else { self.token_count(item).min(self.ngram) }
    }

    /// Returns the token hashes of each answer to an item.
    pub(crate) fn answers(&self, item: Item) -> impl Iterator<Item = &[u64]> {
        let first = item.checked_sub(1).map_or(0, |before| self.item_answers[before as usize]);
        (first..self.item_answers[item as usize]).map(|answer| {
            let start = answer.checked_sub(1).map_or(0, |before| self.answer_ends[before]);
            &self.answers[start..self.answer_ends[answer]]
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

/// Returns the hash of an n-gram, given the value of its polynomial. The hash depends on the length of the n-gram.
#[inline]
fn mix(polynomial: u64, tokens: usize) -> u64 {
    mix64(polynomial ^ tokens as u64)
}

/// Calls `each` for every window of a token run that matches an n-gram of at least one item. The arguments are the window's position and
/// the matching n-grams. `sums` is a buffer that the caller reuses.
#[inline]
pub(crate) fn windows<'i>(
    items: &'i Items,
    run: &[Token],
    sums: &mut Vec<u64>,
    mut each: impl FnMut(usize, &'i [Gram]),
) {
    // `sums` holds the value of the polynomial before the run and after each token in the run.
    sums.clear();
    sums.push(0);
    let mut last = 0u64;
    sums.extend(run.iter().map(|token| {
        last = last.wrapping_mul(R).wrapping_add(token.hash);
        last
    }));
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
        let mut sorted = hashes.to_vec();
        sorted.sort_unstable();
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

/// Returns the hashes of tokens in the form that [`Builder::push`] expects.
pub fn hashes(tokens: &[Token]) -> Vec<u64> {
    tokens.iter().map(|token| token.hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_have_the_grams_that_they_should() {
        let mut builder = Builder::new(8);
        let tokens: Vec<u64> = (1..=10).map(mix64).collect();
        for length in [4, 5, 8, 10] {
            builder
                .push(&tokens[..length], &[tokens[..length - 4].to_vec(), tokens[..1].to_vec()][..(length - 4).min(2)]);
        }
        let most = builder.bytes(2);
        let items = builder.build();
        assert_eq!((0..4).map(|item| items.gram_count(item)).collect::<Vec<_>>(), [0, 1, 1, 3]);
        assert_eq!((0..4).map(|item| items.is_too_short(item)).collect::<Vec<_>>(), [true, false, false, false]);
        assert_eq!(items.lengths.iter().map(|length| length.tokens).collect::<Vec<_>>(), [5, 8]);
        assert_eq!(items.answers(0).count(), 0);
        assert_eq!(items.answers(2).collect::<Vec<_>>(), [&tokens[..4], &tokens[..1]]);
        assert_eq!(items.answers(1).collect::<Vec<_>>(), [&tokens[..1]]);
        assert_eq!((items.len(), items.vocabulary()), (4, 10));
        let run: Vec<Token> = tokens.iter().map(|&hash| Token { hash, han: false, joined: false }).collect();
        let mut found = Vec::new();
        windows(&items, &run, &mut Vec::new(), |start, grams| {
            found.extend(grams.iter().map(|gram| (start, gram.item, gram.at)));
        });
        assert_eq!(found, [(0, 1, 0), (0, 2, 0), (0, 3, 0), (1, 3, 1), (2, 3, 2)]);
        let taken = items.grams.len() * 16
            + items.buckets.len() * 4
            + items.filter.len() * 8
            + items.vocabulary.slots.len() * 8
            + items.tokens.len() * 4
            + 2 * 8 * items.vocabulary();
        assert!(taken as u64 <= most, "{taken} {most}");
    }

    #[test]
    fn nothing_is_found_where_there_is_nothing() {
        let items = Builder::new(8).build();
        assert!(items.is_empty() && items.lengths.is_empty() && items.number(7) == NO_TOKEN);
    }
}

//! Finds the n-grams of all items by their hashes.

use dupsift_core::hash::mix64;

use crate::texts::Item;

/// The multiplier of the rolling n-gram hash, the same as for shingles.
const R: u64 = 0x9E37_79B9_7F4A_7C15;

/// The number of filter bits per n-gram.
const FILTER_BITS: usize = 16;

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

/// Holds the n-grams that are searched for.
#[derive(Debug, Default)]
pub(crate) struct Grams {
    /// The possible lengths of an n-gram in tokens.
    lengths: Vec<Length>,
    /// All n-grams, sorted by hash.
    sorted: Vec<Gram>,
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

impl Grams {
    /// Prepares the search for these n-grams. Those of each length are in order; `lengths` has the lengths, in tokens, in ascending order.
    pub(crate) fn new(mut sorted: Vec<Gram>, lengths: impl Iterator<Item = usize>) -> Grams {
        if !sorted.is_sorted() {
            sorted.sort();
        }
        sorted.shrink_to_fit();
        let lengths = lengths.map(|tokens| Length { tokens, power: power(tokens) }).collect();
        // Chooses the number of buckets so that there is about one n-gram per bucket.
        let bits = (sorted.len().max(2) as u64).ilog2();
        let shift = 64 - bits;
        let mut buckets = vec![0; (1 << bits) + 1];
        for gram in &sorted {
            buckets[(gram.hash >> shift) as usize + 1] += 1;
        }
        for at in 1..buckets.len() {
            buckets[at] += buckets[at - 1];
        }
        let words = (sorted.len() * FILTER_BITS / 64).next_power_of_two();
        let mut filter = vec![0; words];
        for gram in &sorted {
            let (word, bits) = place_in(words, gram.hash);
            filter[word] |= bits;
        }
        Grams { lengths, sorted, buckets, shift, filter }
    }

    /// Returns the number of tokens in the shortest n-grams.
    pub(crate) fn least(&self) -> usize {
        self.lengths.first().map_or(usize::MAX, |length| length.tokens)
    }

    /// Returns whether an n-gram may have this hash; the false-positive rate is about one in two hundred.
    #[inline]
    fn may_have(&self, hash: u64) -> bool {
        let (word, bits) = place_in(self.filter.len(), hash);
        self.filter[word] & bits == bits
    }

    /// Returns the n-grams with this hash, ordered by item.
    pub(crate) fn of(&self, hash: u64) -> &[Gram] {
        let bucket = (hash >> self.shift) as usize;
        let (from, to) = (self.buckets[bucket] as usize, self.buckets[bucket + 1] as usize);
        let bucket = &self.sorted[from..to];
        let start = bucket.partition_point(|gram| gram.hash < hash);
        let length = bucket[start..].partition_point(|gram| gram.hash == hash);
        &bucket[start..start + length]
    }

    /// Calls `each` for every window of a token run that matches an n-gram of at least one item. The arguments are the window's position and
    /// the matching n-grams. `sums` is a buffer that the caller reuses.
    #[inline]
    pub(crate) fn windows<'g>(&'g self, run: &[u64], sums: &mut Vec<u64>, mut each: impl FnMut(usize, &'g [Gram])) {
        polynomials(run.iter().copied(), sums);
        for &Length { tokens, power } in &self.lengths {
            let Some(ends) = sums.get(tokens..) else { break };
            for (start, (&end, &begin)) in ends.iter().zip(&sums[..]).enumerate() {
                let hash = mix(end.wrapping_sub(begin.wrapping_mul(power)), tokens);
                if self.may_have(hash) {
                    let grams = self.of(hash);
                    if !grams.is_empty() {
                        each(start, grams);
                    }
                }
            }
        }
    }

    /// Returns the memory of the lists, in bytes.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.sorted.len() * size_of::<Gram>() + self.buckets.len() * 4 + self.filter.len() * 8
    }

    /// Returns whether there are no n-grams.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }
}

/// Lists the n-grams of this many tokens in an item, given the hashes of its tokens. `sums` is a buffer that the caller reuses.
pub(crate) fn list(item: Item, hashes: &[u64], tokens: usize, sums: &mut Vec<u64>, grams: &mut Vec<Gram>) {
    polynomials(hashes.iter().copied(), sums);
    let power = power(tokens);
    grams.extend(sums[tokens..].iter().zip(&*sums).zip(0..).map(|((&end, &begin), at)| Gram {
        hash: mix(end.wrapping_sub(begin.wrapping_mul(power)), tokens),
        item,
        at,
    }));
}

/// Returns the filter word for a hash, and the two bits to set in it. The word and the bits depend on the lower half of the hash, because
/// buckets use the upper bits.
#[inline]
fn place_in(words: usize, hash: u64) -> (usize, u64) {
    ((hash as usize >> 12) & (words - 1), 1 << (hash % 64) | 1 << ((hash >> 6) % 64))
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

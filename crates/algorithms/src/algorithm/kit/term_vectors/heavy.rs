//! Computes keys that two texts share if they have two of their heaviest terms in common.
//!
//! The heaviest terms of a text describe its topic. Unrelated texts rarely share two of their heaviest terms if terms that occur in many
//! documents are excluded, so the number of comparisons grows little faster than the corpus. A pair is missed if its texts share at most
//! one heavy term.
//!
//! Versions share most of their heaviest terms, and some of the less heavy terms. Therefore, only pairs of terms whose ranks have a small
//! sum are keys. With the same number of keys, this choice misses half as many pairs as a shorter list in which all pairs of terms are
//! keys.
//!
//! ```text
//! of `most` terms the keys are those of ranks r + s <= most + 1; their number is most^2 / 4
//! heaviest 4 of "a a a a b b b c c d e" (df 2 each): a b c d -> keys ab, ac, ad, bc
//! ```
//!
//! A page from a template has few unique words. The template's words are common and are not used in keys; otherwise, all pages with the
//! template would be compared. If two texts share no term that is used in keys, their cosine is at most the product of the lengths of their
//! remaining terms (the bound of the prefix filter, `kit/prefix.rs`). So no pair is lost as long as this product is below the threshold. If
//! the remaining terms of a text could reach the threshold, common terms are added to its list. If two texts share a key that consists of
//! two common terms, they are compared only if that bound reaches the threshold.
//!
//! ```text
//! threshold 0.6; lengths of the common terms: a 0.9  b 0.7  c 0.65      a b 0.63, a c 0.585, b c 0.455: only a and b are compared
//! ```

use super::vector::is_head;
use crate::algorithm::kit::prefix::{Term, below};
use dupsift_core::hash::combine;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Bound;

/// Terms in at most this many documents are used in keys even in a small corpus, because they cost little.
const FEW_DOCUMENTS: u64 = 400;

/// If fewer than this many terms of a text are used in keys, each of these terms is also a key by itself.
const FEW_TERMS: usize = 3;

/// Defines which terms are used in keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeavyTerms {
    /// The maximum number of heavy terms per text.
    pub most: usize,
    /// The maximum document frequency of a term that is used in keys.
    pub most_documents: u64,
    /// The cosine threshold of a pair.
    pub threshold: f64,
}

/// Holds the keys of a text and the terms that are used in them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Keys {
    /// The terms: first the rarer terms, then the common terms, each group sorted by descending weight.
    pub terms: Vec<u64>,
    /// The keys, each made of one or two terms.
    pub keys: Vec<u64>,
    /// The length of the common terms if they were added to the list, otherwise 0.
    pub common: f64,
}

/// Defines the parts that make up a key. The lowest bits of a key store its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Two terms that are not both common.
    Two,
    /// Two common terms.
    Common,
    /// A single term, or none.
    Single,
}

impl Kind {
    const BITS: u64 = 3;

    /// Returns the kind of a key.
    pub(crate) fn of(key: u128) -> Kind {
        match key as u64 & Kind::BITS {
            0 => Kind::Two,
            1 => Kind::Common,
            _ => Kind::Single,
        }
    }

    fn key(self, hash: u64) -> u64 {
        hash & !Kind::BITS | self as u64
    }
}

impl HeavyTerms {
    /// Returns the maximum document frequency of a term that is used in keys, for a corpus with this many documents.
    pub(crate) fn most_documents(share: f64, documents: u64) -> u64 {
        ((share * documents as f64) as u64).max(FEW_DOCUMENTS)
    }

    /// Returns the keys of a text, without its first line. A term in at most `own` documents is skipped: only copies of this text contain
    /// it, so it cannot match another document. A text with at least one term gets at least one key.
    pub(crate) fn keys(&self, terms: &[Term], own: u64) -> Keys {
        let shared = || terms.iter().filter(|term| term.df > own);
        let makes_keys = |term: &&Term| !is_head(term.hash) && term.df <= self.most_documents;
        let mut chosen = heaviest(shared().filter(makes_keys), terms.len(), self.most);
        let rare = chosen.len();
        let singles = if rare < FEW_TERMS.min(self.most) { chosen.clone() } else { Vec::new() };
        let rest = shared().filter(|term| !makes_keys(term));
        let length = rest.clone().map(|term| term.weight * term.weight).sum::<f64>().sqrt();
        let fills = rare < self.most && length >= below(self.threshold);
        if fills {
            chosen.extend(heaviest(rest.filter(|term| !is_head(term.hash)), terms.len(), self.most - rare));
        }
        let mut keys = Vec::with_capacity(self.most * self.most / 4 + FEW_TERMS);
        for (rank, &x) in chosen.iter().enumerate() {
            for (other, &y) in chosen[..rank.min(self.most - rank)].iter().enumerate() {
                let kind = if other >= rare { Kind::Common } else { Kind::Two };
                keys.push(kind.key(combine(x.min(y), x.max(y))));
            }
        }
        keys.extend(singles.into_iter().map(|term| Kind::Single.key(term)));
        if keys.is_empty() && !terms.is_empty() {
            // No term can match another document, so the text gets a unique key as its signature.
            keys.push(Kind::Single.key(terms.iter().fold(0, |all, term| combine(all, term.hash))));
        }
        Keys { terms: chosen, keys, common: if fills { length } else { 0.0 } }
    }
}

/// [`words_of`] skips texts with more distinct words than this.
const MOST_WORDS: usize = 4000;

/// Returns the one or two words that make up each key, or `None` if they are not words of the text.
pub(crate) fn words_of(keys: &[u128], words: &BTreeMap<u64, &str>) -> Vec<Option<String>> {
    let mut found: BTreeMap<u64, Option<String>> = keys.iter().map(|&key| (key as u64, None)).collect();
    if words.len() <= MOST_WORDS {
        let mut note = |key: u64, name: &dyn Fn() -> String| {
            if let Some(slot) = found.get_mut(&key) {
                *slot = Some(name());
            }
        };
        for (&x, first) in words {
            note(Kind::Single.key(x), &|| (*first).to_owned());
            for (&y, second) in words.range((Bound::Excluded(x), Bound::Unbounded)) {
                let hash = combine(x, y);
                for kind in [Kind::Two, Kind::Common] {
                    note(kind.key(hash), &|| format!("{first} {second}"));
                }
            }
        }
    }
    keys.iter().map(|&key| found.get(&(key as u64)).cloned().flatten()).collect()
}

/// Returns the hashes of the heaviest terms, heaviest first; `most` limits their number. `terms` yields at most `room` terms.
fn heaviest<'t>(terms: impl Iterator<Item = &'t Term>, room: usize, most: usize) -> Vec<u64> {
    // Weights are positive, and positive floating-point numbers sort like their bits.
    let mut heavy: Vec<(Reverse<u64>, u64)> = Vec::with_capacity(room);
    heavy.extend(terms.map(|term| (Reverse(term.weight.to_bits()), term.hash)));
    if most < heavy.len() {
        heavy.select_nth_unstable(most);
        heavy.truncate(most);
    }
    heavy.sort_unstable();
    heavy.into_iter().map(|(_, hash)| hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAVY: HeavyTerms = HeavyTerms { most: 4, most_documents: 400, threshold: 0.6 };

    fn term(hash: u64, weight: f64, df: u64) -> Term {
        Term { hash, weight, df }
    }

    fn key(x: u64, y: u64) -> u64 {
        Kind::Two.key(combine(x.min(y), x.max(y)))
    }

    #[test]
    fn keys_are_of_two_terms_whose_ranks_are_small_together() {
        let terms = [term(2, 3.0, 2), term(4, 2.0, 2), term(6, 1.0, 2), term(8, 0.5, 2), term(10, 0.4, 2)];
        let found = HEAVY.keys(&terms, 1);
        assert_eq!(found.terms, [2, 4, 6, 8]);
        assert_eq!(found.keys, [key(2, 4), key(2, 6), key(4, 6), key(2, 8)]);
        // The order of the weights does not change the key of two terms, and the terms of the first line are not used in keys.
        let turned = [term(2, 1.0, 2), term(4, 2.0, 2), term(6, 3.0, 2), term(9, 9.0, 2)];
        let same: Vec<u64> = HEAVY.keys(&turned, 1).keys;
        assert_eq!(same, [key(6, 4), key(6, 2), key(4, 2)]);
        for most in 2..=32 {
            let terms: Vec<Term> = (0..40).map(|n| term(2 * n, 50.0 - n as f64, 2)).collect();
            let keys = HeavyTerms { most, ..HEAVY }.keys(&terms, 1).keys;
            assert_eq!(keys.len(), most * most / 4, "{most}");
        }
    }

    #[test]
    fn terms_of_one_text_and_of_many_make_no_keys() {
        // Unique terms: 2 and 4. Common term: 10. The vector has length 1, and the common term is a small part of it.
        let terms = [term(2, 0.7, 1), term(4, 0.4, 1), term(6, 0.4, 2), term(8, 0.4, 400), term(10, 0.2, 401)];
        let found = HEAVY.keys(&terms, 1);
        assert_eq!((found.terms, found.common), (vec![6, 8], 0.0));
        // There are few terms, so each of them is also a key by itself.
        assert_eq!(found.keys, [key(6, 8), Kind::Single.key(6), Kind::Single.key(8)]);
        assert_eq!(HEAVY.keys(&terms[..3], 1).keys, [Kind::Single.key(6)]);
        // No term can match another document, so each text gets a unique key.
        let alone = [HEAVY.keys(&terms[..2], 1), HEAVY.keys(&terms[..1], 1)].map(|found| found.keys);
        assert!(alone[0].len() == 1 && alone[1].len() == 1 && alone[0] != alone[1]);
        assert!(HEAVY.keys(&[], 1).keys.is_empty());
        // There are three copies of the text, so its unique terms are in three documents.
        let copied = [term(2, 0.7, 3), term(4, 0.4, 4), term(6, 0.3, 7)];
        assert_eq!(HEAVY.keys(&copied, 3).terms, [4, 6]);
    }

    #[test]
    fn common_terms_fill_up_where_they_alone_may_reach_the_threshold() {
        // The common terms have length 0.75 with the first line and 0.42 without it.
        let terms = [term(2, 0.6, 1), term(6, 0.27, 3), term(8, 0.3, 900), term(10, 0.3, 950), term(13, 0.62, 990)];
        let found = HEAVY.keys(&terms, 1);
        assert_eq!(found.terms, [6, 8, 10]);
        assert!((found.common - 0.75).abs() < 0.01);
        let kinds: Vec<Kind> = found.keys.iter().map(|&key| Kind::of(key.into())).collect();
        assert_eq!(kinds, [Kind::Two, Kind::Two, Kind::Common, Kind::Single]);
        let stricter = HeavyTerms { threshold: 0.8, ..HEAVY }.keys(&terms, 1);
        assert_eq!((stricter.terms, stricter.keys, stricter.common), (vec![6], vec![Kind::Single.key(6)], 0.0));
        // The maximum is a share of the corpus, but at least 400 documents.
        assert_eq!([100, 20_000, 1_000_000].map(|n| HeavyTerms::most_documents(0.02, n)), [400, 400, 20_000]);
    }
}

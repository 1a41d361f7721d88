//! Keys by which texts meet that have two of their heaviest terms in common.
//!
//! What a text is about stands in its few heaviest terms, and unrelated texts seldom share two of these: so what meets
//! grows with the duplicates, not with the square of the corpus. A pair is missed if it shares at most one of them.
//!
//! ```text
//! heaviest 3 of "a a a b b c d" (df 2 each): a b c -> keys ab, ac, bc
//! ```

use super::prefix::Term;
use super::vector::is_head;
use crate::hash::combine;
use std::cmp::Reverse;

/// A key for each two of the `most` heaviest terms of the text, first lines apart. A term of at most `own` documents is left
/// out: the copies of this text have it and nobody else, so nobody could be met there. At least one key for a text with a
/// term.
pub fn heavy_keys(terms: &[Term], most: usize, own: u64) -> Vec<u64> {
    let text = || terms.iter().filter(|term| !is_head(term.hash));
    // Weights are above 0, where floating-point numbers have the order of their bits.
    let ours = text().filter(|term| term.df > own);
    let mut heavy: Vec<(Reverse<u64>, u64)> = ours.map(|term| (Reverse(term.weight.to_bits()), term.hash)).collect();
    if most < heavy.len() {
        heavy.select_nth_unstable(most);
        heavy.truncate(most);
    }
    heavy.sort_unstable();
    let both = |(at, &(_, x)): (usize, &(Reverse<u64>, u64))| -> Vec<u64> {
        heavy[..at].iter().map(|&(_, y)| combine(x.min(y), x.max(y))).collect()
    };
    let keys: Vec<u64> = heavy.iter().enumerate().flat_map(both).collect();
    match heavy[..] {
        // A text without two such terms has a key of its own, by which its exact copies are known.
        [] => text().map(|term| term.hash).min().into_iter().collect(),
        [(_, one)] => vec![one],
        _ => keys,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(hash: u64, weight: f64, df: u64) -> Term {
        Term { hash, weight, df }
    }

    #[test]
    fn keys_are_of_two_of_the_heaviest() {
        let terms = [term(2, 3.0, 2), term(4, 2.0, 2), term(6, 1.0, 2), term(8, 0.5, 2)];
        let keys = heavy_keys(&terms, 3, 1);
        assert_eq!(keys, [combine(2, 4), combine(2, 6), combine(4, 6)]);
        // In whatever order the weights put them.
        let turned = [term(2, 1.0, 2), term(4, 2.0, 2), term(6, 3.0, 2)];
        let mut other = heavy_keys(&turned, 3, 1);
        other.sort_unstable();
        let mut keys = keys;
        keys.sort_unstable();
        assert_eq!(other, keys);
    }

    #[test]
    fn terms_of_one_text_and_of_first_lines_make_no_keys_but_for_want_of_others() {
        let terms = [term(2, 9.0, 1), term(4, 2.0, 2), term(6, 1.0, 2), term(7, 8.0, 5)];
        assert_eq!(heavy_keys(&terms, 8, 1), [combine(4, 6)]);
        assert_eq!(heavy_keys(&terms, 8, 0).len(), 3);
        assert_eq!(heavy_keys(&terms[..2], 8, 1), [4]);
        assert_eq!(heavy_keys(&terms[..1], 8, 1), [2]);
        assert!(heavy_keys(&[], 8, 1).is_empty());
        // Three copies of a text, whose own terms are in three documents.
        let copied = [term(2, 9.0, 3), term(4, 2.0, 4), term(6, 1.0, 7)];
        assert_eq!(heavy_keys(&copied, 8, 3), [combine(4, 6)]);
    }
}

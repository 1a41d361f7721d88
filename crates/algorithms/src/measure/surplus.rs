//! The word that distinguishes two texts: if a template is filled in for different towns, each page repeats a different word many times.
//!
//! ```text
//! u = "Bern: the mayor of Bern speaks"    {bern 2, the 1, mayor 1, of 1, speaks 1}
//! v = "Basel: the mayor of Basel speaks"  {basel 2, ...}
//! two of the six words of u are bern, which v lacks: a surplus of 1/3
//! ```
//!
//! Cost: O(distinct words of both texts) time, and 8 bytes per distinct word of a text.

use dupsift_text::Analysis;

/// The number of low bits that hold the count of a word in the text; the other bits are the upper bits of its hash.
const COUNT: u32 = 16;

/// Appends the number of words in a text, the number of distinct words, and the distinct words with their counts,
/// ordered by hash.
pub(crate) fn write_word_counts(document: &Analysis<'_>, out: &mut Vec<u64>) {
    let mut hashes: Vec<u64> = document.words().iter().map(|word| word.hash >> COUNT).collect();
    hashes.sort_unstable();
    out.extend([hashes.len() as u64, 0]);
    let at = out.len();
    let most = (1u64 << COUNT) - 1;
    out.extend(hashes.chunk_by(|a, b| a == b).map(|run| run[0] << COUNT | (run.len() as u64).min(most)));
    out[at - 1] = (out.len() - at) as u64;
}

/// Splits the word counts that [`write_word_counts`] wrote from the values that follow them.
pub(crate) fn split_word_counts(evidence: &[u64]) -> (&[u64], &[u64]) {
    let distinct = evidence.get(1).map_or(0, |&distinct| distinct as usize);
    evidence.split_at_checked(2 + distinct).unwrap_or((evidence, &[]))
}

/// Returns the largest surplus of a word in `u` over `v`, as a share of the words in `u`, or 0 if `u` contains no words.
pub fn surplus(u: &[u64], v: &[u64]) -> f64 {
    let [all, _, u @ ..] = u else { return 0.0 };
    let v = v.get(2..).unwrap_or_default();
    let count = |word: u64| word & ((1 << COUNT) - 1);
    let (mut at, mut most) = (0, 0);
    for &word in u {
        while v.get(at).is_some_and(|other| other >> COUNT < word >> COUNT) {
            at += 1;
        }
        let other = v.get(at).filter(|other| **other >> COUNT == word >> COUNT).map_or(0, |other| count(*other));
        most = most.max(count(word).saturating_sub(other));
    }
    most as f64 / (*all).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    fn of(u: &str, v: &str) -> [f64; 2] {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        let counts = |text: &str| {
            let mut out = Vec::new();
            write_word_counts(&pipeline.analyse(text), &mut out);
            out.extend([9, 9]);
            let (counts, rest) = split_word_counts(&out);
            assert_eq!(rest, [9, 9]);
            counts.to_vec()
        };
        let (u, v) = (counts(u), counts(v));
        [surplus(&u, &v), surplus(&v, &u)]
    }

    #[test]
    fn worked_examples() {
        assert_eq!(of("Bern: the mayor of Bern speaks", "Basel: the mayor of Basel speaks"), [2.0 / 6.0; 2]);
        assert_eq!(of("one two two", "two one"), [1.0 / 3.0, 0.0]);
        assert_eq!(of("one two", "three four five six"), [0.5, 0.25]);
        assert_eq!(of("same words", "words same"), [0.0, 0.0]);
        assert_eq!(of("", "words"), [0.0, 1.0]);
        assert_eq!(surplus(&[], &[]), 0.0);
        assert_eq!(split_word_counts(&[]), (&[][..], &[][..]));
    }

    proptest::proptest! {
        #[test]
        fn it_is_that_of_plain_counts(u in "([a-f] ){1,40}", v in "([a-f] ){0,40}") {
            let count = |text: &str, word: char| text.chars().filter(|&letter| letter == word).count();
            let most = ('a'..='f').map(|word| count(&u, word).saturating_sub(count(&v, word))).max().unwrap_or(0);
            let all = u.split_whitespace().count();
            proptest::prop_assert_eq!(of(&u, &v)[0], most as f64 / all as f64);
        }
    }
}

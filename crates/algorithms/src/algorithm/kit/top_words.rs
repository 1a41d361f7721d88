//! Collects the heaviest words of a document in the order that all algorithms use: by weight (descending), then by word (ascending).

use dupsift_text::{Analysis, Counted};

/// Returns the distinct words of a document with their counts, without stop words.
pub(crate) fn distinct_words(document: &Analysis<'_>) -> Vec<Counted> {
    let mut words = Vec::with_capacity(document.counted().len());
    words.extend(document.counted().iter().filter(|counted| !counted.word.stop));
    words
}

/// Returns the given share of `count`, rounded down to a whole number of words.
pub(crate) fn share(count: usize, share: f64) -> usize {
    // A share such as 0.29 is stored as a slightly lower number, so 100 times the share is slightly less than 29.
    (count as f64 * share + 1e-9).floor() as usize
}

/// Holds the heaviest words seen so far.
pub(crate) struct Heaviest<'t> {
    count: usize,
    /// The weight, letters and number of occurrences of each word, heaviest word first.
    words: Vec<(f64, &'t str, u32)>,
}

impl<'t> Heaviest<'t> {
    /// Returns an empty list; `count` is the maximum number of words, at least 1.
    pub(crate) fn new(count: usize) -> Heaviest<'t> {
        Heaviest { count, words: Vec::with_capacity(count + 1) }
    }

    /// Adds a word if it is among the heaviest. One comparison with the last word of the list rejects nearly every other word.
    #[inline]
    pub(crate) fn push(&mut self, weight: f64, document: &'t Analysis<'_>, counted: &Counted) {
        // Adding 0.0 turns -0.0 into 0.0, so that equal weights compare equal.
        let weight = weight + 0.0;
        if self.lightest().is_some_and(|lightest| weight < lightest) {
            return;
        }
        self.push_word(weight, document.word(&counted.word), counted.tf);
    }

    /// Like `Heaviest::push`, but accepts the letters of a word and its number of occurrences.
    pub(crate) fn push_word(&mut self, weight: f64, word: &'t str, tf: u32) {
        let word = (weight + 0.0, word, tf);
        let heavier =
            |a: &(f64, &str, u32), b: &(f64, &str, u32)| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)).is_lt();
        // Most words with the same weight as the last word come after it.
        if self.words.len() == self.count && self.words.last().is_some_and(|last| !heavier(&word, last)) {
            return;
        }
        let at = self.words.partition_point(|other| heavier(other, &word));
        self.words.insert(at, word);
        self.words.truncate(self.count);
    }

    /// Returns the weight that a word must reach to be added, or `None` if the list is not full.
    pub(crate) fn lightest(&self) -> Option<f64> {
        if self.words.len() < self.count { None } else { self.words.last().map(|last| last.0) }
    }

    /// Returns the words, heaviest first.
    pub(crate) fn words(&self) -> impl Iterator<Item = &'t str> {
        self.words.iter().map(|&(_, word, _)| word)
    }

    /// Returns the words, heaviest first, each with the number of its occurrences in the document.
    pub(crate) fn in_order(self) -> impl Iterator<Item = (&'t str, u32)> {
        self.words.into_iter().map(|(_, word, tf)| (word, tf))
    }

    /// Returns the words with their weights, heaviest first.
    pub(crate) fn weighed(self) -> impl Iterator<Item = (f64, &'t str)> {
        self.words.into_iter().map(|(weight, word, _)| (weight, word))
    }

    /// Returns the words in alphabetical order (by code point), joined with single spaces.
    pub(crate) fn join(self) -> String {
        let mut chosen: Vec<&str> = self.words.into_iter().map(|(_, word, _)| word).collect();
        chosen.sort_unstable();
        chosen.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    #[test]
    fn shares_are_what_they_say() {
        let shares = [(100, 0.29), (90, 0.7), (17, 0.5), (17, 0.6), (10, 0.7), (1, 0.7), (7, 1.0)];
        assert_eq!(shares.map(|(count, part)| share(count, part)), [29, 63, 8, 10, 7, 0, 7]);
    }

    proptest! {
        #[test]
        fn the_heaviest_are_those_of_sorting(text in "[abcd]{1,2}( [abcd]{1,2}){0,40}", count in 1..9_usize) {
            let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
            let document = pipeline.analyse(&text);
            let words = distinct_words(&document);
            let weights: Vec<f64> = words.iter().map(|one| f64::from(one.tf % 3) - 1.0).collect();
            let mut sorted: Vec<(f64, &str)> =
                words.iter().zip(&weights).map(|(one, weight)| (weight + 0.0, document.word(&one.word))).collect();
            sorted.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
            let mut expected: Vec<&str> = sorted.iter().take(count).map(|one| one.1).collect();
            let taken = || {
                let mut heaviest = Heaviest::new(count);
                words.iter().zip(&weights).for_each(|(one, &weight)| heaviest.push(weight, &document, one));
                heaviest
            };
            let in_order: Vec<(&str, u32)> = taken().in_order().collect();
            prop_assert_eq!(in_order.iter().map(|one| one.0).collect::<Vec<_>>(), expected.clone());
            for (word, tf) in in_order {
                prop_assert_eq!(tf as usize, text.split(' ').filter(|other| *other == word).count());
            }
            expected.sort_unstable();
            let heaviest = taken();
            prop_assert_eq!(heaviest.join(), expected.join(" "));
        }
    }
}

//! The heaviest words of a document, in the order that binds all algorithms: weight descending, then word ascending.

use dupsift_text::{Analysis, Counted};

/// The distinct words of a document with their counts, stop words left out.
pub fn distinct_words(document: &Analysis<'_>) -> Vec<Counted> {
    let mut words = Vec::with_capacity(document.counted().len());
    words.extend(document.counted().iter().filter(|counted| !counted.word.stop));
    words
}

/// So many of `count` words are the share `share`, rounded down.
pub fn share(count: usize, share: f64) -> usize {
    // A share such as 0.29 is a hair less than it says, and 100 words times it a hair less than 29.
    (count as f64 * share + 1e-9).floor() as usize
}

/// The heaviest words that have been seen.
pub struct Heaviest<'t> {
    count: usize,
    /// Heaviest first: weight, letters, occurrences in the document.
    words: Vec<(f64, &'t str, u32)>,
}

impl<'t> Heaviest<'t> {
    /// Room for `count` words, at least one.
    pub fn new(count: usize) -> Heaviest<'t> {
        Heaviest { count, words: Vec::with_capacity(count + 1) }
    }

    /// Takes a word in, if it is among the heaviest. Nearly every word is lighter than the last of them, which one look
    /// tells.
    #[inline]
    pub fn push(&mut self, weight: f64, document: &'t Analysis<'_>, counted: &Counted) {
        // Adding 0.0 turns -0.0 into 0.0, so that equal weights compare equal.
        let weight = weight + 0.0;
        if self.lightest().is_some_and(|lightest| weight < lightest) {
            return;
        }
        self.push_word(weight, document.word(&counted.word), counted.tf);
    }

    /// The same for a word in letters that occurs so often.
    pub fn push_word(&mut self, weight: f64, word: &'t str, tf: u32) {
        let word = (weight + 0.0, word, tf);
        let heavier =
            |a: &(f64, &str, u32), b: &(f64, &str, u32)| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)).is_lt();
        // Most of those that are as heavy as the last come behind it.
        if self.words.len() == self.count && self.words.last().is_some_and(|last| !heavier(&word, last)) {
            return;
        }
        let at = self.words.partition_point(|other| heavier(other, &word));
        self.words.insert(at, word);
        self.words.truncate(self.count);
    }

    /// The weight that a word must reach to be taken in, once there are enough.
    pub fn lightest(&self) -> Option<f64> {
        if self.words.len() < self.count { None } else { self.words.last().map(|last| last.0) }
    }

    /// The words, heaviest first.
    pub fn words(&self) -> impl Iterator<Item = &'t str> {
        self.words.iter().map(|&(_, word, _)| word)
    }

    /// The words with their occurrences in the document, heaviest first.
    pub fn in_order(self) -> impl Iterator<Item = (&'t str, u32)> {
        self.words.into_iter().map(|(_, word, tf)| (word, tf))
    }

    /// The words with their weights, heaviest first.
    pub fn weighed(self) -> impl Iterator<Item = (f64, &'t str)> {
        self.words.into_iter().map(|(weight, word, _)| (weight, word))
    }

    /// The words in alphabetical order (of code points), joined by one space.
    pub fn join(self) -> String {
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

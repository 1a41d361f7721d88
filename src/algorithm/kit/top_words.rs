//! The heaviest words of a document, in the binding order of algorithms.md 1.5: weight descending, then word ascending.

use crate::text::{Analysis, Counted};

/// The distinct words of a document with their counts, stop words left out.
pub fn distinct_words(document: &Analysis<'_>) -> Vec<Counted> {
    let mut words = Vec::with_capacity(document.counted().len());
    words.extend(document.counted().iter().filter(|counted| !counted.word.stop));
    words
}

/// The `count` heaviest words in alphabetical order (of code points), joined by one space; `weights` are those of `words`.
pub fn top_words(document: &Analysis<'_>, words: &[Counted], weights: &[f64], count: usize) -> String {
    let heavier = |a: &(f64, &str), b: &(f64, &str)| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)).is_lt();
    // The heaviest so far, heaviest first: nearly every word is lighter than the last of them, which one look tells.
    let mut heaviest: Vec<(f64, &str)> = Vec::with_capacity(count + 1);
    for (counted, weight) in words.iter().zip(weights) {
        // Adding 0.0 turns -0.0 into 0.0, so that equal weights compare equal.
        let weight = weight + 0.0;
        if heaviest.len() == count && heaviest.last().is_some_and(|last| weight < last.0) {
            continue;
        }
        let word = (weight, document.word(&counted.word));
        let at = heaviest.partition_point(|other| heavier(other, &word));
        heaviest.insert(at, word);
        heaviest.truncate(count);
    }
    let mut chosen: Vec<&str> = heaviest.into_iter().map(|(_, word)| word).collect();
    chosen.sort_unstable();
    chosen.join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::{Pipeline, TextOptions};

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
            expected.sort_unstable();
            prop_assert_eq!(top_words(&document, &words, &weights, count), expected.join(" "));
        }
    }
}

//! The heaviest words of a document, in the binding order of algorithms.md 1.5: weight descending, then word ascending.

use crate::text::{Analysis, Counted};

/// The distinct words of a document with their counts, stop words left out.
pub fn distinct_words(document: &Analysis<'_>) -> Vec<Counted> {
    document.counted().iter().filter(|counted| !counted.word.stop).copied().collect()
}

/// The `count` heaviest words in alphabetical order (of code points), joined by one space; `weights` are those of `words`.
pub fn top_words(document: &Analysis<'_>, words: &[Counted], weights: &[f64], count: usize) -> String {
    // Adding 0.0 turns -0.0 into 0.0, so that equal weights compare equal.
    let mut weighed: Vec<(f64, u32)> =
        weights.iter().enumerate().map(|(at, weight)| (weight + 0.0, at as u32)).collect();
    let text = |at: u32| document.word(&words[at as usize].word);
    let heavier = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then_with(|| text(a.1).cmp(text(b.1)));
    if weighed.len() > count {
        weighed.select_nth_unstable_by(count, heavier);
        weighed.truncate(count);
    }
    let mut chosen: Vec<&str> = weighed.into_iter().map(|(_, at)| text(at)).collect();
    chosen.sort_unstable();
    chosen.join(" ")
}

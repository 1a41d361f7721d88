//! The heaviest words of a document, in the binding order of algorithms.md 1.5: weight descending, then word ascending.

use crate::text::{Analysis, Word};

/// A distinct word of a document.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// One occurrence of the word.
    pub word: Word,
    /// How often it occurs in the document.
    pub tf: u32,
}

/// The distinct words of a document with their counts, stop words left out; in order of their hashes.
pub fn distinct_words(document: &Analysis<'_>) -> Vec<Counted> {
    let mut words: Vec<Word> = document.words().iter().filter(|word| !word.stop).copied().collect();
    words.sort_unstable_by_key(|word| word.hash);
    words.chunk_by(|a, b| a.hash == b.hash).map(|run| Counted { word: run[0], tf: run.len() as u32 }).collect()
}

/// The `count` heaviest words in alphabetical order (of code points), joined by one space.
pub fn top_words(document: &Analysis<'_>, words: &[Counted], count: usize, weight: impl Fn(&Counted) -> f64) -> String {
    // Adding 0.0 turns -0.0 into 0.0, so that equal weights compare equal.
    let mut weighed: Vec<(f64, &str)> = words.iter().map(|w| (weight(w) + 0.0, document.word(&w.word))).collect();
    let heavier = |a: &(f64, &str), b: &(f64, &str)| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1));
    if weighed.len() > count {
        weighed.select_nth_unstable_by(count, heavier);
        weighed.truncate(count);
    }
    let mut chosen: Vec<&str> = weighed.into_iter().map(|(_, word)| word).collect();
    chosen.sort_unstable();
    chosen.join(" ")
}

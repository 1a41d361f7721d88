//! Holds Han words. The words of many runs are found together, before the later runs are requested.
//!
//! Runs between two punctuation marks are short, and dictionary lookups are faster for many runs together than for each run alone.
//! Therefore, a tokenizer with a dictionary also splits the following runs, and their words are returned later, in order.

use std::ops::Range;

use crate::pool;
use crate::simd::Classes;

/// The words in some of the Han runs in a document's text.
pub struct HanWords {
    /// The start of each run, or part of a run, in bytes. The tokenizer that fills the list uses this field.
    pub starts: Vec<u32>,
    /// The end of each word, in bytes, in ascending order. A word begins where the previous word ends or where its run begins.
    pub ends: Vec<u32>,
    /// The end of the part of the text that is split into words. This part begins with the requested run and ends with
    /// a run or a part of a run.
    pub until: usize,
    /// The number of the next word.
    pub(super) next: usize,
}

impl HanWords {
    /// Returns an empty list that reuses the memory of the last text.
    pub fn take() -> HanWords {
        let starts = pool::take(|pool| &mut pool.han_starts, 0);
        HanWords { starts, ends: pool::take(|pool| &mut pool.han_ends, 0), until: 0, next: 0 }
    }

    /// Removes all words.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.ends.clear();
        (self.until, self.next) = (0, 0);
    }

    /// Returns the memory to the pool so that the next text can use it.
    pub fn leave(self) {
        pool::leave(|pool| &mut pool.han_starts, self.starts);
        pool::leave(|pool| &mut pool.han_ends, self.ends);
    }
}

/// Returns the Han runs in the text, according to its byte classes. The first run begins at `from`.
pub(crate) fn runs_of_han(classes: &[Classes], from: usize) -> impl Iterator<Item = Range<usize>> {
    let mut block = from / 64;
    let first = classes.get(block).map_or(0, |one| one.han & u64::MAX << (from % 64));
    // A set bit in `edges` is a position where a run begins or ends.
    let (mut edges, mut before) = (first ^ first << 1, first >> 63);
    let mut edge = move || {
        while edges == 0 {
            block += 1;
            let han = classes.get(block)?.han;
            edges = han ^ (han << 1 | before);
            before = han >> 63;
        }
        let place = block * 64 + edges.trailing_zeros() as usize;
        edges &= edges - 1;
        Some(place)
    };
    std::iter::from_fn(move || Some(edge()?..edge()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::classify;

    #[test]
    fn runs_are_found_wherever_they_stand() {
        let long = "国".repeat(100);
        for text in ["", "abc", "中文", &format!("中a{long},文{long}"), &format!("{long} {}é{long}", " ".repeat(200))]
        {
            let mut classes = Vec::new();
            classify(text, &mut classes);
            let is_han = |c: char| ('\u{4E00}'..='\u{9FFF}').contains(&c);
            let runs: Vec<&str> = text.split(|c| !is_han(c)).filter(|run| !run.is_empty()).collect();
            let first = text.find(is_han).unwrap_or(text.len());
            assert_eq!(runs_of_han(&classes, first).map(|run| &text[run]).collect::<Vec<_>>(), runs);
        }
    }
}

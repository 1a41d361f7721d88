//! Words of Han characters, found for many runs before they are asked for.
//!
//! Between two marks stand few characters, and a dictionary finds the words of many runs in less time than those of each.
//! A tokenizer that can do so cuts the runs that follow too, and the words are handed out when their turn comes.

use std::ops::Range;

use crate::pool;
use crate::simd::Classes;

/// The words of some runs of Han characters of a text.
pub struct HanWords {
    /// Where each run, or part of a run, begins, in bytes; for the tokenizer that fills this.
    pub starts: Vec<u32>,
    /// Where each word ends, ascending. Each begins where the one before ends or where its run begins.
    pub ends: Vec<u32>,
    /// All that is before this place is cut, from the run that was asked for on: it is the end of a run or of a part of one.
    pub until: usize,
    /// The number of the word that is next.
    pub(super) next: usize,
}

impl HanWords {
    /// Without any word, in the room that the last text left.
    pub fn take() -> HanWords {
        let starts = pool::take(|pool| &mut pool.han_starts, 0);
        HanWords { starts, ends: pool::take(|pool| &mut pool.han_ends, 0), until: 0, next: 0 }
    }

    /// Forgets all words.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.ends.clear();
        (self.until, self.next) = (0, 0);
    }

    /// Leaves the room for words to the next text.
    pub fn leave(self) {
        pool::leave(|pool| &mut pool.han_starts, self.starts);
        pool::leave(|pool| &mut pool.han_ends, self.ends);
    }
}

/// The runs of Han characters that the classes of a text show, from a place on at which one begins.
pub fn runs_of_han(classes: &[Classes], from: usize) -> impl Iterator<Item = Range<usize>> {
    let mut block = from / 64;
    let first = classes.get(block).map_or(0, |one| one.han & u64::MAX << (from % 64));
    // Bits of the places where a run begins, or where what is none does.
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

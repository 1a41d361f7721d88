//! Compares the first line of one text with another text, using the evidence of both.
//!
//! ```text
//! u "a b\n a a c"   v "a c d\n d"
//! a: 3 in u, 1 in v, 2/3 missing; b: missing; d: missing, and repeated
//! rare words in both: a a a c of the five of u, a c of the four of v
//! ```

use super::evidence::{Stated, Terms};
use super::surplus::word;
use super::vector::Weighing;
use crate::measure::{LONGEST_TITLE, TitleWords};
use std::iter::Peekable;

/// Holds the counts of a word in a text.
#[derive(Clone, Copy, Default)]
struct Counted {
    /// The number of occurrences in the text.
    text: u64,
    /// The number of occurrences in the first line.
    line: u64,
}

/// Reads the words of one text from the front.
struct Side<'e> {
    terms: Peekable<Terms<'e>>,
    weight: f64,
    rare: f64,
    /// The number of words in the text and in the first line, including repetitions.
    text: u64,
    line: u64,
    title: TitleWords,
}

impl Weighing<'_> {
    /// Compares the first line of each of two texts with the other text. A word is rare if at most `few` documents contain it.
    pub(crate) fn titles(&self, a: &[u64], b: &[u64], few: u64) -> [TitleWords; 2] {
        let (Some(a), Some(b)) = (self.terms(a), self.terms(b)) else { return [TitleWords::default(); 2] };
        let mut sides = [Side::new(a), Side::new(b)];
        while let Some(number) = sides.iter_mut().filter_map(Side::next).min() {
            let mut df = 0;
            let words = sides.each_mut().map(|side| side.take(number, &mut df));
            let (idf, rare) = (self.idf(df), df <= few && words.iter().all(|word| word.text > 0));
            for (side, other) in [(0, 1), (1, 0)] {
                sides[side].note(number, words[side], words[other], idf, rare);
            }
        }
        sides.map(Side::end)
    }
}

impl<'e> Side<'e> {
    fn new(terms: Terms<'e>) -> Side<'e> {
        Side { terms: terms.peekable(), weight: 0.0, rare: 0.0, text: 0, line: 0, title: TitleWords::default() }
    }

    /// Returns the number of the next word.
    fn next(&mut self) -> Option<u64> {
        self.terms.peek().map(|term| term.place >> 1)
    }

    /// Returns the counts of the word with this number, or zeros if a different word is next.
    fn take(&mut self, number: u64, df: &mut u64) -> Counted {
        let mut counted = Counted::default();
        while let Some(term) = self.terms.next_if(|term: &Stated| term.place >> 1 == number) {
            *df = term.df;
            *(if term.is_head() { &mut counted.line } else { &mut counted.text }) += term.count;
        }
        counted
    }

    fn note(&mut self, number: u64, own: Counted, other: Counted, idf: f64, rare: bool) {
        let weight = own.text as f64 * idf;
        self.weight += weight;
        self.rare += if rare { weight } else { 0.0 };
        self.title.rare_words += u64::from(rare);
        self.text += own.text;
        self.line += own.line;
        if own.line == 0 || own.text == 0 {
            return;
        }
        self.title.words += 1;
        self.title.repeated |= own.text > 1 && other.text == 0;
        let missing = 1.0 - other.text as f64 / own.text as f64;
        if missing > self.title.missing {
            (self.title.missing, self.title.word) = (missing, word(number << 1));
        }
    }

    fn end(self) -> TitleWords {
        let rare = if self.weight > 0.0 { self.rare / self.weight } else { 0.0 };
        match self.line {
            0..=LONGEST_TITLE => TitleWords { rare, complete: self.line == self.text, ..self.title },
            _ => TitleWords { rare, rare_words: self.title.rare_words, ..TitleWords::default() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::kit::by_count::ByCount;
    use crate::algorithm::kit::prefix::Term;
    use crate::algorithm::kit::term_vectors::vector::{Vector, Weighed};
    use crate::algorithm::kit::units::Units;
    use crate::corpus::CorpusStats;
    use crate::testing::examples::counted;
    use dupsift_core::hash::hash64;
    use dupsift_text::{Pipeline, TextOptions};

    fn titles(stats: &CorpusStats, head: f64, a: &str, b: &str) -> [TitleWords; 2] {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        let units = Units { name: "word", han_only: false };
        let idf = Some(ByCount::new(1, |_| 2.0));
        let weighing = Weighing { sublinear: true, idf, head, units, stats };
        let evidence = |text: &str| {
            let mut out = Vec::new();
            weighing.evidence(&weighing.vector(&pipeline.analyse(text)), &mut out);
            out
        };
        weighing.titles(&evidence(a), &evidence(b), 10)
    }

    /// A word that was not counted is treated as if one document contained it.
    #[test]
    fn the_example() {
        let none = CorpusStats::none();
        let [u, v] = titles(&none, 0.1, "a b\na a c", "a c d\nd");
        assert!((u.missing - 1.0).abs() < 1e-9 && u.words == 2 && v.missing == 1.0 && v.words == 3, "{u:?} {v:?}");
        let name = |word: &[u8]| (hash64(word) >> 2) + 1;
        assert_eq!((u.word, v.word), (name(b"b"), name(b"d")));
        // d occurs twice in v and never in u; b occurs once.
        assert!(!u.repeated && v.repeated && !u.complete);
        // The rare words are a (three times) and c (once) among 5 words in the first text, and a and c among 4 words in the second.
        assert_eq!((u.rare_words, v.rare_words), (2, 2));
        assert!((u.rare - 0.8).abs() < 1e-9 && (v.rare - 0.5).abs() < 1e-9, "{u:?} {v:?}");
        let [u, _] = titles(&none, 0.1, "a b\na a c", "a b\nc");
        assert!((u.missing - 2.0 / 3.0).abs() < 1e-9 && u.word == name(b"a"), "{u:?}");
    }

    #[test]
    fn what_more_documents_have_is_not_rare() {
        let stats = counted(99, 999, &[("a", 10, 10), ("b", 11, 11)]);
        let units = Units { name: "word", han_only: false };
        let weighing = Weighing { sublinear: true, idf: None, head: 0.1, units, stats: &stats };
        let evidence = || {
            let term = |word: &str, df| {
                let hash = hash64(word.as_bytes()) & !1;
                let rank = stats.words.rank(stats.words.get(hash64(word.as_bytes())).expect("a word of the corpus").at);
                Weighed { term: Term { hash, weight: 1.0, df }, count: 1, rank, word: hash }
            };
            let mut terms = vec![term("a", 10), term("b", 11)];
            terms.sort_by_key(|term| term.rank);
            let mut out = Vec::new();
            weighing.evidence(&Vector { terms, factors: [1.0, 1.0] }, &mut out);
            out
        };
        let of = |few| weighing.titles(&evidence(), &evidence(), few)[0];
        assert_eq!([of(9), of(10), of(11)].map(|title| (title.rare_words, title.rare)), [(0, 0.0), (1, 0.5), (2, 1.0)]);
    }

    #[test]
    fn a_text_of_one_line_is_its_own_title_and_a_paragraph_is_none() {
        let stats = CorpusStats::none();
        let [u, v] = titles(&stats, 0.1, "what is two plus two", "what is two plus three");
        assert_eq!((u.missing, u.words, v.missing, u.complete, v.complete), (0.5, 4, 1.0, true, true));
        let long = "word ".repeat(41);
        let [u, _] = titles(&stats, 0.1, &format!("{long}name\nand more"), "word and more");
        assert_eq!((u.missing, u.word, u.words), (0.0, 0, 0));
        // If the first line has no share in the vector, the evidence does not include it.
        assert_eq!(titles(&stats, 0.0, "a b\nc", "a c")[0].missing, 0.0);
    }
}

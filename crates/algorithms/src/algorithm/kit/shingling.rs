//! The set of shingles of a document: windows of k words (each Han character counts as a word), or of k characters.

use crate::algorithm::params::{Kind, ParamSpec, Params};
use dupsift_text::Analysis;
use dupsift_text::shingle::{char_shingles, char_windows, distinct, shingles};
use std::ops::Range;

/// The `ngram` parameter.
pub const NGRAM: ParamSpec = ParamSpec {
    name: "ngram",
    kind: Kind::Int(1, 1000),
    default: "5",
    help: "units per shingle; a document with fewer units is a single shingle",
};

/// The `unit` parameter.
pub const UNIT: ParamSpec = ParamSpec {
    name: "unit",
    kind: Kind::Choice(&["word", "char"]),
    default: "word",
    help: "word: words, and single characters for Han; char: characters of the normalized text, including spaces",
};

/// Defines the shingles that a document is cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shingling {
    /// Number of units in a shingle.
    pub ngram: usize,
    /// Whether units are characters instead of words.
    pub chars: bool,
}

impl Shingling {
    /// The default for checks of algorithms without shingles: five words, or five characters of Han text.
    pub const DEFAULT: Shingling = Shingling { ngram: 5, chars: false };

    /// Returns the settings from the parameters [`NGRAM`] and [`UNIT`].
    pub fn new(params: &Params) -> Shingling {
        Shingling { ngram: params.count("ngram"), chars: params.word("unit") == "char" }
    }

    /// Parses `words5` or `chars8`. Returns `None` for anything else.
    pub fn parse(typed: &str) -> Option<Shingling> {
        let (chars, ngram) = match typed.strip_prefix("words") {
            Some(ngram) => (false, ngram),
            None => (true, typed.strip_prefix("chars")?),
        };
        let ngram = ngram.parse().ok().filter(|ngram| (1..=1000).contains(ngram))?;
        Some(Shingling { ngram, chars })
    }

    /// Appends the hashes of the document's shingles in order, including repetitions.
    pub fn cut_all(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        if self.chars {
            // Punctuation alone does not make documents similar, so a text without words has no shingles.
            if !document.tokens().is_empty() {
                char_shingles(document.text(), self.ngram, out);
            }
        } else {
            shingles(document.tokens(), self.ngram, false, out);
        }
    }

    /// Returns the texts of the document's shingles, in the order of [`Shingling::cut_all`].
    pub fn texts<'t>(&self, document: &'t Analysis<'_>) -> Vec<&'t str> {
        if document.tokens().is_empty() {
            return Vec::new();
        }
        if self.chars {
            return char_windows(document.text(), self.ngram).collect();
        }
        let mut tokens = Vec::with_capacity(document.tokens().len());
        document.each_token(&mut |token| tokens.push(token));
        let text = |window: &[Range<usize>]| &document.text()[window[0].start..window[window.len() - 1].end];
        tokens.windows(self.ngram.min(tokens.len())).map(text).collect()
    }

    /// Appends the hashes of the document's distinct shingles in ascending order. The previous contents of `out` do not change.
    pub fn cut(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        let mut own = Vec::new();
        self.cut_all(document, &mut own);
        distinct(&mut own);
        out.append(&mut own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    #[test]
    fn each_shingle_has_its_text() {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        for (ngram, chars, text, expected) in [
            (2, false, "The cat, the 网页!", &["the cat", "cat, the", "the 网", "网页"][..]),
            (5, false, "One two", &["one two"]),
            (3, true, "Кот 1", &["кот", "от ", "т 1"]),
            (5, false, "...", &[]),
        ] {
            let document = pipeline.analyse(text);
            let mut hashes = Vec::new();
            Shingling { ngram, chars }.cut_all(&document, &mut hashes);
            let texts = Shingling { ngram, chars }.texts(&document);
            assert_eq!((texts.as_slice(), texts.len()), (expected, hashes.len()), "{text}");
        }
    }

    #[test]
    fn a_set_is_appended_and_nothing_before_it_is_touched() {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        let document = pipeline.analyse("a b a b a b c");
        let shingling = Shingling { ngram: 2, chars: false };
        let (mut set, mut all) = (Vec::new(), Vec::new());
        shingling.cut(&document, &mut set);
        shingling.cut_all(&document, &mut all);
        assert_eq!((set.len(), all.len()), (3, 6));
        assert!(set.is_sorted());
        // Numbers that sorting or deduplication would move.
        let before = [u64::MAX, set[0], set[0]];
        let mut out = before.to_vec();
        shingling.cut(&document, &mut out);
        assert_eq!(out, [&before[..], &set].concat());
    }
}

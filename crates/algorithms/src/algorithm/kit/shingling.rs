//! Computes the shingles of a document: windows of k words (each Han character counts as a word), or of k characters.

use crate::algorithm::contract::{Kind, ParamSpec, Params};
use dupsift_text::Analysis;
use dupsift_text::shingle::{char_shingles, char_windows, distinct, shingles};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// The `ngram` parameter.
pub const NGRAM: ParamSpec = ParamSpec {
    name: "ngram",
    kind: Kind::Int(1, 1000),
    default: "5",
    help: "units per shingle; a document with fewer units is a single shingle",
};

/// The `unit` parameter.
pub(crate) const UNIT: ParamSpec = ParamSpec {
    name: "unit",
    kind: Kind::Choice(&["word", "char"]),
    default: "word",
    help: "word: words, but single characters for Han text; char: characters of the normalized text, including spaces",
};

/// Defines the shingles into which a document is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shingling {
    /// The number of units in a shingle.
    pub ngram: usize,
    /// Whether units are characters instead of words.
    pub chars: bool,
}

impl Shingling {
    /// The default for checks in algorithms that do not use shingles: five words, or five characters of Han text.
    pub const DEFAULT: Shingling = Shingling { ngram: 5, chars: false };

    /// Returns the settings from the parameters [`NGRAM`] and [`UNIT`].
    pub fn new(params: &Params) -> Shingling {
        Shingling { ngram: params.count("ngram"), chars: params.word("unit") == "char" }
    }

    /// Parses a value such as `words5` or `chars8`. Returns `None` for anything else.
    pub fn parse(typed: &str) -> Option<Shingling> {
        let (chars, ngram) = match typed.strip_prefix("words") {
            Some(ngram) => (false, ngram),
            None => (true, typed.strip_prefix("chars")?),
        };
        let ngram = ngram.parse().ok().filter(|ngram| (1..=1000).contains(ngram))?;
        Some(Shingling { ngram, chars })
    }

    /// Appends the hashes of the document's shingles in order, including repetitions.
    pub(crate) fn cut_all(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        if self.chars {
            // Punctuation alone does not make documents similar, so a text without words has no shingles.
            if !document.tokens().is_empty() {
                char_shingles(document.text(), self.ngram, out);
            }
        } else {
            shingles(document.tokens(), self.ngram, false, out);
        }
    }

    /// Returns the hashes of [`Shingling::cut_all`], each with the text of its shingle.
    pub fn with_texts<'t>(&self, document: &'t Analysis<'_>) -> Vec<(u64, Cow<'t, str>)> {
        let mut hashes = Vec::new();
        self.cut_all(document, &mut hashes);
        let texts = match self.chars {
            true => char_windows(document.text(), self.ngram).map(Cow::Borrowed).collect(),
            false => word_texts(document, self.ngram, false),
        };
        hashes.into_iter().zip(texts).collect()
    }

    /// Appends the hashes of the document's distinct shingles in ascending order. The previous contents of `out` do not change.
    pub fn cut(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        let mut own = Vec::new();
        self.cut_all(document, &mut own);
        distinct(&mut own);
        out.append(&mut own);
    }
}

/// Returns the texts of the shingles that [`shingles`] makes from the document's tokens, in the same order. The text of a shingle that
/// wraps around has an ellipsis between the end and the beginning of the document.
pub(crate) fn word_texts<'t>(document: &'t Analysis<'_>, ngram: usize, circular: bool) -> Vec<Cow<'t, str>> {
    let mut tokens = Vec::with_capacity(document.tokens().len());
    document.each_token(&mut |token| tokens.push(token));
    if tokens.is_empty() {
        return Vec::new();
    }
    let text = |window: &[Range<usize>]| &document.text()[window[0].start..window[window.len() - 1].end];
    let windows = tokens.windows(ngram.min(tokens.len()));
    let mut texts: Vec<Cow<'t, str>> = windows.map(|window| Cow::Borrowed(text(window))).collect();
    if circular && tokens.len() >= ngram {
        let wrapped =
            |start: usize| format!("{} … {}", text(&tokens[start..]), text(&tokens[..start + ngram - tokens.len()]));
        texts.extend((tokens.len() - ngram + 1..tokens.len()).map(wrapped).map(Cow::Owned));
    }
    texts
}

/// Returns one entry per key: the text whose hash equals the key, or `None` if there is no such text.
pub(crate) fn words_of_hashes(texts: &[(u64, Cow<'_, str>)], keys: &[u128]) -> Vec<Option<String>> {
    let known: BTreeMap<u128, &str> = texts.iter().map(|(hash, text)| ((*hash).into(), &**text)).collect();
    keys.iter().map(|key| known.get(key).map(|text| (*text).to_owned())).collect()
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
            let (found, texts): (Vec<u64>, Vec<_>) =
                Shingling { ngram, chars }.with_texts(&document).into_iter().unzip();
            assert_eq!(texts, expected, "{text}");
            assert_eq!(found, hashes, "{text}");
        }
    }

    #[test]
    fn circular_shingles_have_texts_too() {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        for (ngram, text, expected) in [
            (3, "A b, c. D", &["a b, c", "b, c. d", "c. d … a", "d … a b"][..]),
            (4, "a b c d", &["a b c d", "b c d … a", "c d … a b", "d … a b c"]),
            (1, "a b", &["a", "b"]),
            (3, "a b", &["a b"]),
            (3, "!", &[]),
        ] {
            let document = pipeline.analyse(text);
            let mut hashes = Vec::new();
            shingles(document.tokens(), ngram, true, &mut hashes);
            assert_eq!(word_texts(&document, ngram, true), expected, "{text}");
            assert_eq!(hashes.len(), expected.len(), "{text}");
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
        // Sorting or deduplication would move these numbers.
        let before = [u64::MAX, set[0], set[0]];
        let mut out = before.to_vec();
        shingling.cut(&document, &mut out);
        assert_eq!(out, [&before[..], &set].concat());
    }
}

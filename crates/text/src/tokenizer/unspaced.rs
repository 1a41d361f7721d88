//! Splits text in scripts without spaces, except Chinese: kana, Thai, Lao, Khmer and Burmese.
//!
//! `tokenizer=dict` and `tokenizer=jieba` split text in these scripts with the dictionaries of icu_segmenter. The library searches
//! for the longest match and uses no floating-point model, so the result is the same on every machine. With these dictionaries, a run of
//! Katakana is one word, as UAX #29 specifies. With all other tokenizers, each character with its marks (a grapheme cluster) is a word.

use std::ops::Range;

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{GraphemeClusterSegmenter, GraphemeClusterSegmenterBorrowed, WordSegmenter, WordSegmenterBorrowed};

use super::Tokenizer;

/// The segmenter that splits runs of unspaced scripts into words. Both kinds use tables that are compiled into the program, so creating a
/// segmenter costs nothing.
pub(crate) enum Unspaced {
    /// Splits with dictionaries.
    Words(WordSegmenterBorrowed<'static>),
    /// Splits into characters, each with its combining marks.
    Characters(GraphemeClusterSegmenterBorrowed<'static>),
}

impl Unspaced {
    /// Returns the segmenter that uses dictionaries.
    pub(crate) fn words() -> Unspaced {
        Unspaced::Words(WordSegmenter::new_dictionary(WordBreakInvariantOptions::default()))
    }

    /// Returns the segmenter that splits into characters.
    pub(crate) fn characters() -> Unspaced {
        Unspaced::Characters(GraphemeClusterSegmenter::new())
    }
}

impl Tokenizer for Unspaced {
    fn cut(&self, run: &str, out: &mut dyn FnMut(Range<usize>)) {
        match self {
            Unspaced::Words(segmenter) => segments_with_letters(run, segmenter.segment_str(run), out),
            Unspaced::Characters(segmenter) => segments_with_letters(run, segmenter.segment_str(run), out),
        }
    }
}

/// Calls `out` with each segment between two boundaries that contains a letter or digit.
pub(crate) fn segments_with_letters(
    run: &str,
    boundaries: impl Iterator<Item = usize>,
    out: &mut (impl FnMut(Range<usize>) + ?Sized),
) {
    let mut start = 0;
    // The first boundary is the start of the run, which gives an empty segment.
    for end in boundaries {
        if run[start..end].chars().any(char::is_alphanumeric) {
            out(start..end);
        }
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut<'r>(tokenizer: &Unspaced, run: &'r str) -> Vec<&'r str> {
        let mut words = Vec::new();
        tokenizer.cut(run, &mut |word| words.push(&run[word]));
        words
    }

    #[test]
    fn words_by_dictionary_characters_with_their_marks() {
        assert_eq!(cut(&Unspaced::words(), "ภาษาไทยภาษาไทย"), ["ภาษา", "ไทย", "ภาษา", "ไทย"]);
        assert_eq!(cut(&Unspaced::words(), "これはカメラカバーです"), ["これ", "は", "カメラカバー", "です"]);
        assert_eq!(cut(&Unspaced::characters(), "ที่นี่か\u{3099}な"), ["ที่", "นี่", "か\u{3099}", "な"]);
        assert!(cut(&Unspaced::words(), "").is_empty() && cut(&Unspaced::characters(), "").is_empty());
    }
}

//! Finds words in scripts that use spaces: the segments, as defined by UAX #29, that contain a letter or digit.
//!
//! icu_segmenter determines the segments ([`by_library`]). Nearly all Russian and English text consists of ASCII, Cyrillic letters and the
//! most common punctuation. Stretches of these characters are split by [`by_table`], which applies the same rules and is several times as
//! fast. Property tests compare the two functions.

use std::ops::Range;

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};

use super::super::script::{Class, class};
use super::unspaced::segments_with_letters;

const SEGMENTER: WordSegmenterBorrowed<'static> =
    WordSegmenter::new_for_non_complex_scripts(WordBreakInvariantOptions::default());

/// Finds the words in a stretch that contains no unspaced script.
pub(crate) fn by_library(stretch: &str, out: &mut impl FnMut(Range<usize>)) {
    segments_with_letters(stretch, SEGMENTER.segment_str(stretch), out);
}

/// Finds the words in a stretch that contains no characters of the classes `Other`, `Han` and `Unspaced`. Returns the same words as
/// [`by_library`], but faster.
pub(crate) fn by_table(stretch: &str, out: &mut impl FnMut(Range<usize>)) {
    let mut characters = stretch.char_indices();
    while let Some((start, first)) = characters.next() {
        let mut last = class(first);
        if !matches!(last, Class::Letter | Class::Digit | Class::Joiner) {
            continue;
        }
        let mut holds_letter = last != Class::Joiner;
        let end = loop {
            let mut ahead = characters.clone();
            let Some((place, c)) = ahead.next() else { break stretch.len() };
            match class(c) {
                joined @ (Class::Letter | Class::Digit | Class::Joiner) => {
                    last = joined;
                    holds_letter |= joined != Class::Joiner;
                }
                between @ (Class::Between | Class::BetweenLetters | Class::BetweenDigits) => {
                    let can_join = match last {
                        Class::Letter => between != Class::BetweenDigits,
                        Class::Digit => between != Class::BetweenLetters,
                        _ => false,
                    };
                    if !can_join || ahead.next().map(|(_, next)| class(next)) != Some(last) {
                        break place;
                    }
                }
                _ => break place,
            }
            characters = ahead;
        };
        if holds_letter {
            out(start..end);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(stretch: &str, cut: impl Fn(&str, &mut dyn FnMut(Range<usize>))) -> Vec<&str> {
        let mut words = Vec::new();
        cut(stretch, &mut |word| words.push(&stretch[word]));
        words
    }

    fn both(stretch: &str) -> (Vec<&str>, Vec<&str>) {
        (
            words(stretch, |text, mut out| by_table(text, &mut out)),
            words(stretch, |text, mut out| by_library(text, &mut out)),
        )
    }

    #[test]
    fn worked_examples() {
        for (stretch, expected) in [
            ("can't", &["can't"][..]),
            ("3.14,", &["3.14"]),
            ("1,000;5", &["1,000;5"]),
            ("a:b 1:2", &["a:b", "1", "2"]),
            ("a.b.c.", &["a.b.c"]),
            ("v1.2-rc_3", &["v1.2", "rc_3"]),
            ("«что-то»", &["что", "то"]),
            ("it’s", &["it’s"]),
            ("1'a", &["1", "a"]),
            ("__", &[]),
            ("_a_", &["_a_"]),
            ("user@example.com", &["user", "example.com"]),
        ] {
            let (short, long) = both(stretch);
            assert_eq!(short, expected, "{stretch}");
            assert_eq!(long, expected, "{stretch}");
        }
    }

    /// Checks that the table gives the same words as the library for every plain character, in every position where it could join other
    /// characters.
    #[test]
    fn every_plain_character() {
        for c in ('\0'..='\u{FFFF}').filter(|&c| !matches!(class(c), Class::Other | Class::Han | Class::Unspaced)) {
            for stretch in [format!("a{c}b"), format!("1{c}2"), format!("a{c}"), format!("{c}1"), format!("_{c}_")] {
                // White space other than U+0020 does not occur in normalized text.
                if !c.is_whitespace() {
                    let (short, long) = both(&stretch);
                    assert_eq!(short, long, "{stretch:?}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn the_table_is_the_library(stretch in "[a-bZй0-1_.':,;\"‘’«—。/ \\-]{0,16}") {
            let (short, long) = both(&stretch);
            prop_assert_eq!(short, long);
        }
    }
}

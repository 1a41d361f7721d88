//! Stems words, if requested, with the Snowball stemmers for Russian and English. The letters of a word determine which stemmer is used.
//!
//! A word that consists only of the Cyrillic letters а to я and ё is stemmed as Russian. A word that consists only of ASCII letters and
//! apostrophes is stemmed as English. Any other word is its own stem. ё does not change; use the `yo_to_e` option for that.

use std::borrow::Cow;

use dupsift_core::hash::hash64;
use rust_stemmers::{Algorithm, Stemmer};

/// The stemmers for Russian and English.
pub(crate) struct Stems {
    russian: Stemmer,
    english: Stemmer,
}

impl Stems {
    /// Creates the stemmers. Creating them costs nothing.
    pub(crate) fn new() -> Stems {
        Stems { russian: Stemmer::create(Algorithm::Russian), english: Stemmer::create(Algorithm::English) }
    }

    /// Returns the stem of a normalized word. The stem is never empty.
    pub(crate) fn stem<'w>(&self, word: &'w str) -> Cow<'w, str> {
        let stemmer = if word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'\'') {
            &self.english
        } else if word.chars().all(|c| matches!(c, 'а'..='я' | 'ё')) {
            &self.russian
        } else {
            return Cow::Borrowed(word);
        };
        let stem = stemmer.stem(word);
        if stem.is_empty() { Cow::Borrowed(word) } else { stem }
    }

    /// Returns the hash of the stem of a normalized word.
    #[inline(never)]
    pub(crate) fn hash(&self, word: &str) -> u64 {
        hash64(self.stem(word).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_two_languages_and_words_of_none() {
        let stems = Stems::new();
        for (word, stem) in [
            ("running", "run"),
            ("cats", "cat"),
            ("окнами", "окн"),
            ("ёлка", "ёлка"),
            ("елка", "елк"),
            ("3.14", "3.14"),
            ("caféing", "caféing"),
            ("окнаing", "окнаing"),
            ("中文", "中文"),
        ] {
            assert_eq!(stems.stem(word), stem, "{word}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_word_upsets_a_stemmer(english in "[a-z']{1,12}", russian in "[а-яё]{1,12}") {
            let stems = Stems::new();
            for word in [&english, &russian] {
                let stem = stems.stem(word);
                proptest::prop_assert!(!stem.is_empty());
                proptest::prop_assert!(stem.len() <= word.len(), "{} {}", word, stem);
            }
        }
    }
}

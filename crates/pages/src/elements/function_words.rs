//! Lists Chinese, Russian and English function words, such as 的, и and "the", which occur in nearly all text and do not refer to a topic.
//!
//! If only frequency counted, these words would be the keywords of every page. The lists come from the stopwords-iso collection in the
//! `stop-words` crate. These lists also include some common nouns ("system", "Россия"), which therefore cannot be keywords. If the user
//! provides a list, it replaces these lists.

use std::collections::HashSet;
use std::sync::LazyLock;

use dupsift_core::hash::hash64;
use dupsift_text::normal::{Letters, normal_word};

const LANGUAGES: [&str; 3] = ["zh", "ru", "en"];

/// The hashes of the words in all spellings that normalized text may contain (ё or е, both kinds of apostrophes).
static WORDS: LazyLock<HashSet<u64>> = LazyLock::new(|| {
    let mut words = HashSet::new();
    for word in LANGUAGES.iter().filter_map(stop_words::lookup).flatten() {
        for yo_to_e in [false, true] {
            let word = normal_word(word, Letters { yo_to_e, ..Letters::default() });
            words.insert(hash64(word.as_bytes()));
            words.insert(hash64(word.replace('\'', "’").as_bytes()));
        }
    }
    words
});

/// Returns whether a normalized word, before stemming, is a function word.
pub(crate) fn is_function_word(word: &str) -> bool {
    WORDS.contains(&hash64(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_there_and_know_the_commonest_words() {
        for language in LANGUAGES {
            assert!(stop_words::lookup(language).is_some_and(|words| words.len() > 500), "{language}");
        }
        for word in ["the", "and", "of", "can't", "can’t", "и", "это", "который", "ещё", "еще", "的", "因为", "我们"]
        {
            assert!(is_function_word(word), "{word}");
        }
        for word in ["purification", "дубликат", "去重", ""] {
            assert!(!is_function_word(word), "{word}");
        }
    }
}

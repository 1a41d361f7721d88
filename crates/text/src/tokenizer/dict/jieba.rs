//! Splits Chinese text with the jieba-rs library, using the built-in dictionary and the library's hidden Markov model.
//!
//! The dictionary is listed from the tables in the program, so the binary contains it only once. Each run of Han characters is passed to
//! jieba-rs. Letters, digits and all other scripts are split in the same way as with the `dict` tokenizer.

use std::ops::Range;
use std::sync::OnceLock;

use super::tables::Reader;
use super::vocabulary::Vocabulary;
use super::{Cutter, TABLES, UserWords};
use crate::tokenizer::Tokenizer;

/// The maximum length of a run, in characters, that is passed to jieba-rs in one call. The limit keeps the memory use of jieba-rs at a few
/// megabytes per thread.
pub(crate) const RUN_LIMIT: usize = 1 << 16;

/// The `jieba` tokenizer. The dictionary is built when the first Han run is split.
pub(crate) struct Jieba {
    user_words: UserWords,
    jieba: OnceLock<jieba_rs::Jieba>,
}

impl Jieba {
    /// Returns a tokenizer that uses the user's words in addition to the built-in dictionary.
    pub(crate) fn new(user_words: UserWords) -> Jieba {
        Jieba { user_words, jieba: OnceLock::new() }
    }

    fn jieba(&self) -> &jieba_rs::Jieba {
        self.jieba.get_or_init(|| {
            let mut tables = Reader::new(&TABLES.0);
            let dictionary = Cutter::read(&mut tables).dictionary(&tables.list());
            let mut vocabulary = Vocabulary::new(&dictionary);
            self.user_words.add_to(&mut vocabulary);
            let mut jieba = jieba_rs::Jieba::empty();
            for (word, frequency) in vocabulary.words() {
                jieba.add_word(word, Some(frequency as usize), None);
            }
            jieba
        })
    }
}

impl Tokenizer for Jieba {
    fn cut(&self, run: &str, out: &mut dyn FnMut(Range<usize>)) {
        let jieba = self.jieba();
        let mut from = 0;
        while from < run.len() {
            let rest = &run[from..];
            // The number of bytes is an upper bound on the number of characters.
            let length = if rest.len() <= RUN_LIMIT { None } else { rest.char_indices().nth(RUN_LIMIT) };
            let piece = &rest[..length.map_or(rest.len(), |(place, _)| place)];
            for token in jieba.cut(piece, true) {
                out(from + token.byte_start..from + token.byte_end);
            }
            from += piece.len();
        }
    }
}

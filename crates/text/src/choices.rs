//! Defines the options for text processing.

use super::normal::Letters;

/// The tokenizer that splits text in Chinese, and in other languages that are written without spaces, into words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TokenizerKind {
    /// Words from dictionaries: the jieba dictionary for Chinese, and the icu_segmenter dictionaries for kana, Thai, Lao, Khmer and
    /// Burmese.
    #[default]
    Dict,
    /// Like [`TokenizerKind::Dict`], but Chinese is split by the jieba-rs library.
    Jieba,
    /// Overlapping pairs of Chinese characters; single characters in the other scripts without spaces.
    Bigram,
    /// Single characters.
    Char,
}

impl TokenizerKind {
    /// The values of the `tokenizer` option.
    pub const NAMES: &'static [&'static str] = &["dict", "jieba", "bigram", "char"];

    /// Returns the tokenizer with this name; `None` if the name is not in [`TokenizerKind::NAMES`].
    pub fn by_name(name: &str) -> Option<TokenizerKind> {
        Some(match name {
            "dict" => TokenizerKind::Dict,
            "jieba" => TokenizerKind::Jieba,
            "bigram" => TokenizerKind::Bigram,
            "char" => TokenizerKind::Char,
            _ => return None,
        })
    }

    /// Returns the name of the tokenizer.
    pub const fn name(&self) -> &'static str {
        match self {
            TokenizerKind::Dict => "dict",
            TokenizerKind::Jieba => "jieba",
            TokenizerKind::Bigram => "bigram",
            TokenizerKind::Char => "char",
        }
    }

    /// Returns whether the tokenizer looks words up in the Chinese dictionary.
    pub const fn has_dictionary(&self) -> bool {
        matches!(self, TokenizerKind::Dict | TokenizerKind::Jieba)
    }
}

/// The options for text processing; the defaults are the program's defaults.
#[derive(Clone, Debug, Default)]
pub struct TextOptions {
    /// The tokenizer for scripts without spaces.
    pub tokenizer: TokenizerKind,
    /// Whether ё is replaced with е.
    pub yo_to_e: bool,
    /// Whether traditional Chinese characters are replaced with simplified characters.
    pub traditional: bool,
    /// Whether Russian and English words are stemmed.
    pub stem: bool,
    /// The stop words, one per entry. Stop words are normalized in the same way as the text of a document. An entry that the tokenizer
    /// splits into several words has no effect.
    pub stop_words: Vec<String>,
    /// The contents of a user dictionary for the `dict` and `jieba` tokenizers, with lines of the form `word [frequency [tag]]`. A
    /// word without a frequency gets the lowest frequency at which the word is not split. Only runs of Han characters are looked up.
    pub dictionary: Option<String>,
}

impl TextOptions {
    /// Returns the options for letters.
    pub const fn letters(&self) -> Letters {
        Letters { yo_to_e: self.yo_to_e, traditional: self.traditional }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_back() {
        for name in TokenizerKind::NAMES {
            assert_eq!(TokenizerKind::by_name(name).map(|kind| kind.name()), Some(*name));
        }
        assert_eq!(TokenizerKind::by_name("mecab"), None);
    }
}

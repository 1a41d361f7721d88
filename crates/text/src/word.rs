//! Defines the words in an analysis: occurrences (ranges with hashes), distinct words with counts, and shingle tokens.

use std::ops::Range;

/// One occurrence of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The position of the word's first byte in the arena.
    pub start: u32,
    /// The position after the word's last byte in the arena.
    pub end: u32,
    /// `hash64` of the word's bytes.
    pub hash: u64,
    /// Whether the word is in the list of stop words.
    pub stop: bool,
    /// Whether the word consists of Han characters.
    pub han: bool,
}

/// A distinct word in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The first occurrence of the word.
    pub word: Word,
    /// The number of occurrences of the word in the document.
    pub tf: u32,
}

/// A shingle token: a word, or a single Han character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// `hash64` of the token's UTF-8 bytes, as in [`Word`].
    pub hash: u64,
    /// Whether the token is a Han character.
    pub han: bool,
    /// Whether the token is a Han character that directly follows another Han character.
    pub joined: bool,
}

/// The words of a document, with its sentences and stems.
#[derive(Debug, Default)]
pub(super) struct Cut {
    pub words: Vec<Word>,
    /// The sentences, as ranges of word numbers; no range is empty.
    pub sentences: Vec<Range<u32>>,
    /// The stems that differ from their words. These stems form the part of the arena after the text.
    pub stems: String,
    /// The number of Han characters that were looked up in the dictionary.
    pub segmented: u64,
}

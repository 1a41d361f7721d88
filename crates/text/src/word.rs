//! Defines the words in an analysis: ranges with hashes, optionally counted, and the tokens of shingles.

use std::ops::Range;

/// One occurrence of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The first byte in the arena.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
    /// `hash64` of the word's bytes.
    pub hash: u64,
    /// Whether the word is in the list of stop words.
    pub stop: bool,
    /// Whether the word consists of Han characters.
    pub han: bool,
}

/// A distinct word of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The first occurrence.
    pub word: Word,
    /// How often the word occurs in the document.
    pub tf: u32,
}

/// A token of a shingle: a word, or a single Han character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// `hash64` of its UTF-8 bytes, as in [`Word`].
    pub hash: u64,
    /// Whether the token is a Han character.
    pub han: bool,
    /// Whether the token is a Han character that directly follows another one.
    pub joined: bool,
}

/// The words of a text, with its sentences and stems.
#[derive(Debug, Default)]
pub(super) struct Cut {
    pub words: Vec<Word>,
    /// Ranges of word numbers, none empty.
    pub sentences: Vec<Range<u32>>,
    /// The stems that differ from their words; the arena continues here where the text ends.
    pub stems: String,
    /// The number of Han characters that were looked up in the dictionary.
    pub segmented: u64,
}

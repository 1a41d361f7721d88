//! Words as an analysis hands them out: places with hashes, counted or not, and what shingles are made of.

use std::ops::Range;

/// One occurrence of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The first byte in the arena.
    pub start: u32,
    /// The byte behind the last.
    pub end: u32,
    /// `hash64` of the word's bytes.
    pub hash: u64,
    /// Whether it is on the list of stop words.
    pub stop: bool,
    /// Whether it is of Han characters.
    pub han: bool,
}

/// A distinct word of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Its first occurrence.
    pub word: Word,
    /// How often it occurs in the document.
    pub tf: u32,
}

/// What shingles are made of: a word, or a single Han character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// `hash64` of its UTF-8 bytes, as in [`Word`].
    pub hash: u64,
    /// Whether it is a Han character.
    pub han: bool,
    /// Whether it is a Han character behind another one: no mark and no space stands between.
    pub joined: bool,
}

/// The words of a text, and what goes with them.
#[derive(Debug, Default)]
pub(super) struct Cut {
    pub words: Vec<Word>,
    /// Ranges of word numbers, none empty.
    pub sentences: Vec<Range<u32>>,
    /// The stems that differ from their words; the arena goes on here where the text ends.
    pub stems: String,
    /// Han characters that were looked up in the dictionary.
    pub segmented: u64,
}

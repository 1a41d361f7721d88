//! One document as the algorithms see it: text, words, sentences and shingle tokens, each made at its first use.
//!
//! Words are spans into one arena with their hashes, 24 bytes each, and never strings of their own. The arena is the
//! normalised text with the stems behind it, where stems were asked for: so a word's place means something to
//! [`Analysis::word`] alone.

use std::cell::OnceCell;
use std::ops::Range;

use super::normal::{MAX_TEXT_BYTES, Normal};
use super::pipeline::Pipeline;

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

/// What shingles are made of: a word, or a single Han character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// `hash64` of its UTF-8 bytes, as in [`Word`].
    pub hash: u64,
    /// Whether it is a Han character.
    pub han: bool,
}

/// The words of a text, and what goes with them.
#[derive(Debug, Default)]
pub(super) struct Cut {
    pub words: Vec<Word>,
    /// Ranges of word numbers, none empty.
    pub sentences: Vec<Range<u32>>,
    /// The stems that differ from their words; the arena goes on here where the text ends.
    pub stems: String,
}

/// A document under analysis; see [`Pipeline::analyse`]. It belongs to one thread at a time.
pub struct Analysis<'a> {
    pipeline: &'a Pipeline,
    raw: &'a str,
    normal: OnceCell<Normal>,
    cut: OnceCell<Cut>,
    tokens: OnceCell<Vec<Token>>,
}

impl<'a> Analysis<'a> {
    pub(super) fn new(pipeline: &'a Pipeline, raw: &'a str) -> Analysis<'a> {
        Analysis { pipeline, raw, normal: OnceCell::new(), cut: OnceCell::new(), tokens: OnceCell::new() }
    }

    /// The text as it came.
    pub fn raw(&self) -> &'a str {
        self.raw
    }

    /// The number of Unicode scalars of the raw text.
    pub fn characters(&self) -> u64 {
        self.raw.chars().count() as u64
    }

    /// Whether the raw text is above [`MAX_TEXT_BYTES`]; then the normalised text is empty and there are no words.
    /// Readers reject such rows, so that this is never the answer to a document that was read.
    pub fn is_too_long(&self) -> bool {
        self.raw.len() > MAX_TEXT_BYTES
    }

    /// The normalised text: pieces (sentences, also those without words) with one U+0020 between them.
    pub fn text(&self) -> &str {
        &self.normal().text
    }

    /// The words in order; stop words are among them, marked. With `tokenizer=bigram` words of Han characters overlap.
    pub fn words(&self) -> &[Word] {
        &self.cut().words
    }

    /// The letters of one of the words of this document; empty for a word of another.
    pub fn word(&self, word: &Word) -> &str {
        let (text, stems) = (self.text(), &self.cut().stems);
        let (start, end) = (word.start as usize, word.end as usize);
        let found = match start.checked_sub(text.len()) {
            Some(start) if !stems.is_empty() => stems.get(start..end - text.len()),
            _ => text.get(start..end),
        };
        found.unwrap_or_default()
    }

    /// The sentences in order, as ranges of word numbers: none is empty, and together they are all the words.
    pub fn sentences(&self) -> &[Range<u32>] {
        &self.cut().sentences
    }

    /// What shingles are made of, in order: each word that is not of Han characters, and each Han character, whatever
    /// the tokenizer. Never loads the Chinese dictionary.
    pub fn tokens(&self) -> &[Token] {
        self.tokens.get_or_init(|| self.pipeline.cut_tokens(self.normal(), self.cut.get()))
    }

    /// All words, one U+0020 between two: the canonical form of the document.
    pub fn canonical(&self) -> String {
        let mut out = String::with_capacity(self.text().len());
        self.write_canonical(&mut out);
        out
    }

    /// Appends [`Analysis::canonical`] to a string.
    pub fn write_canonical(&self, out: &mut String) {
        self.write_words(self.words(), out);
    }

    /// Appends the words of one of the sentences, one U+0020 between two: the canonical form of the sentence.
    pub fn write_sentence(&self, sentence: &Range<u32>, out: &mut String) {
        let words = self.words().get(sentence.start as usize..sentence.end as usize);
        self.write_words(words.unwrap_or_default(), out);
    }

    fn write_words(&self, words: &[Word], out: &mut String) {
        for (number, word) in words.iter().enumerate() {
            if number > 0 {
                out.push(' ');
            }
            out.push_str(self.word(word));
        }
    }

    fn normal(&self) -> &Normal {
        self.normal.get_or_init(|| self.pipeline.normalise(self.raw).unwrap_or_default())
    }

    fn cut(&self) -> &Cut {
        self.cut.get_or_init(|| self.pipeline.cut_words(self.normal()))
    }
}

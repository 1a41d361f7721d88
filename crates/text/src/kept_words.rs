//! Holds the word counts that an earlier pass saved instead of the text of a document. Some algorithms need only
//! these counts.

use super::beside::Frequency;
use super::pool;
use super::word::{Counted, Word};

/// The counted words of a document or of its first line.
#[derive(Debug)]
pub struct KeptWords<'a> {
    /// The distinct words, in order of first occurrence.
    pub(super) counted: Vec<Counted>,
    /// The frequencies of these words.
    pub(super) frequencies: Vec<Frequency>,
    /// The number of words in the document, including repeated words.
    pub(super) words: usize,
    /// The string that contains the letters of all words.
    pub(super) letters: &'a str,
    /// The words of the first line; `None` if that line is the whole text.
    pub(super) first_line: Option<Box<KeptWords<'a>>>,
}

impl<'a> KeptWords<'a> {
    /// Creates an empty list for a document with this many words. The ranges of the words refer to `letters`.
    pub fn new(words: usize, distinct: usize, letters: &'a str) -> KeptWords<'a> {
        KeptWords {
            counted: pool::take(|pool| &mut pool.counted, distinct),
            frequencies: pool::take(|pool| &mut pool.frequencies, distinct),
            words,
            letters,
            first_line: None,
        }
    }

    /// Adds the next distinct word with its count in the document and its frequency in the corpus.
    #[inline]
    pub fn push(&mut self, word: Word, tf: u32, frequency: Frequency) {
        self.counted.push(Counted { word, tf });
        self.frequencies.push(frequency);
    }

    /// Marks the word at an index as a stop word.
    pub fn stop(&mut self, place: usize) {
        if let Some(counted) = self.counted.get_mut(place) {
            counted.word.stop = true;
        }
    }

    /// Adds the first line.
    pub fn with_first_line(mut self, line: KeptWords<'a>) -> KeptWords<'a> {
        self.first_line = Some(Box::new(line));
        self
    }
}

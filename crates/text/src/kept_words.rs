//! What an earlier reading kept of a document's words, in place of its text: for who asks for nothing else.

use super::beside::Frequency;
use super::pool;
use super::word::{Counted, Word};

/// The counted words of a document, or of its first line.
#[derive(Debug)]
pub struct KeptWords<'a> {
    /// The distinct words, in order of their first occurrences.
    pub(super) counted: Vec<Counted>,
    /// Their frequencies.
    pub(super) frequencies: Vec<Frequency>,
    /// How many words there are.
    pub(super) words: usize,
    /// Where the letters of the words lie.
    pub(super) letters: &'a str,
    /// The same of the first line, where that is not the whole text.
    pub(super) first_line: Option<Box<KeptWords<'a>>>,
}

impl<'a> KeptWords<'a> {
    /// So many words, of which none is known yet. The places of words are those of their letters in `letters`.
    pub fn new(words: usize, distinct: usize, letters: &'a str) -> KeptWords<'a> {
        KeptWords {
            counted: pool::take(|pool| &mut pool.counted, distinct),
            frequencies: pool::take(|pool| &mut pool.frequencies, distinct),
            words,
            letters,
            first_line: None,
        }
    }

    /// The next distinct word: how often it stands in the document, and how often in the corpus.
    #[inline]
    pub fn push(&mut self, word: Word, tf: u32, frequency: Frequency) {
        self.counted.push(Counted { word, tf });
        self.frequencies.push(frequency);
    }

    /// Says that the word at a place is a stop word as this document has it.
    pub fn stop(&mut self, place: usize) {
        if let Some(counted) = self.counted.get_mut(place) {
            counted.word.stop = true;
        }
    }

    /// The same document with its first line.
    pub fn with_first_line(mut self, line: KeptWords<'a>) -> KeptWords<'a> {
        self.first_line = Some(Box::new(line));
        self
    }
}

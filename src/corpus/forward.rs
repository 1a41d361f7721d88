//! The forward index: for each document the words that it has, and how often, in the few bytes that numbers of words take.
//!
//! A signature that depends on nothing of a text but how often each word stands in it can be made from that, once all
//! documents are counted, without another reading of the corpus. Words have numbers in the vocabulary of one worker between
//! two drains of its counts ([`Counts`](super::Counts) gives them); the commonest words come early, so most numbers are small.
//!
//! ```text
//! document = doc, bytes of the text, words of the text, 0 | 1 and the words of the first line, where that is not all
//! words    = how many, how many distinct ones, for each of these in order of their first occurrences
//!            2 number          of a word that occurs once
//!            2 number + 1, tf  of another one
//!            then how many of them are stop words, and the distance of each place to the one before
//! ```
//!
//! All are numbers of 7 bits a byte, the lowest first, with the highest bit set in all bytes but the last (LEB128). Of an entry of
//! 1,000 bytes of text that is about 200.

use std::mem::take;

use crate::cpu::ask_for;
use crate::text::{Analysis, Counted, Frequencies, Frequency, Recalled, Word};

/// Bytes of a word in the vocabulary as it is stored: hash, where its letters end, whether it is of Han characters.
const ENTRY: usize = 16;

/// Words that are asked for before the first of them is looked at.
const AT_ONCE: usize = 64;

/// The words that one worker has numbered.
#[derive(Debug, Default)]
pub struct Vocabulary {
    entries: Vec<u8>,
    letters: String,
}

impl Vocabulary {
    /// Gives the next number to a word.
    pub fn push(&mut self, document: &Analysis<'_>, word: &Word) {
        self.letters.push_str(document.word(word));
        self.entries.extend_from_slice(&word.hash.to_le_bytes());
        self.entries.extend_from_slice(&(self.letters.len() as u32).to_le_bytes());
        self.entries.extend_from_slice(&u32::from(word.han).to_le_bytes());
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.entries.len() + self.letters.len()
    }

    /// What has to be stored of it: the words, and their letters; it is empty afterwards.
    pub fn drain(&mut self) -> (Vec<u8>, String) {
        (take(&mut self.entries), take(&mut self.letters))
    }
}

/// Appends what is kept of a document with these numbers of its words ([`Analysis::counted`]); of its first line too, where
/// there is one.
pub fn write_document(doc: u64, document: &Analysis<'_>, numbers: &[u32], out: &mut Vec<u8>) {
    push(out, doc);
    push(out, document.raw().len() as u64);
    write_words(document, numbers, out);
}

/// Appends the words of a first line behind its document.
pub fn write_first_line(line: Option<&Analysis<'_>>, numbers: &[u32], out: &mut Vec<u8>) {
    push(out, u64::from(line.is_some()));
    if let Some(line) = line {
        write_words(line, numbers, out);
    }
}

fn write_words(document: &Analysis<'_>, numbers: &[u32], out: &mut Vec<u8>) {
    let counted = document.counted();
    push(out, document.word_count() as u64);
    push(out, counted.len() as u64);
    for (&number, counted) in numbers.iter().zip(counted) {
        push(out, u64::from(number) << 1 | u64::from(counted.tf > 1));
        if counted.tf > 1 {
            push(out, counted.tf.into());
        }
    }
    let stops = || counted.iter().enumerate().filter(|(_, counted): &(usize, &Counted)| counted.word.stop);
    push(out, stops().count() as u64);
    stops().fold(0, |before, (place, _)| {
        push(out, (place - before) as u64);
        place
    });
}

#[inline]
fn push(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A vocabulary as it was stored, with the frequencies of its words in the corpus.
pub struct Words<'v> {
    words: Vec<Known>,
    letters: &'v str,
}

/// A word of a vocabulary. Nearly every look at one waits for memory, and never for more than one line of the cache.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Known {
    hash: u64,
    frequency: Frequency,
    start: u32,
    /// How many bytes of letters there are, and in the highest bit whether these are of Han characters.
    len: u32,
}

impl Known {
    const HAN: u32 = 1 << 31;

    #[inline]
    fn word(&self) -> Word {
        let end = self.start + (self.len & !Known::HAN);
        Word { start: self.start, end, hash: self.hash, stop: false, han: self.len & Known::HAN > 0 }
    }
}

impl<'v> Words<'v> {
    /// Looks the words up; none where the bytes are not those of a vocabulary.
    pub fn look_up(entries: &[u8], letters: &'v [u8], corpus: &dyn Frequencies) -> Option<Words<'v>> {
        let letters = std::str::from_utf8(letters).ok()?;
        let (entries, rest) = entries.as_chunks::<ENTRY>();
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
        let hashes: Vec<u64> = entries.iter().map(|entry| number(&entry[..8])).collect();
        let mut frequencies = Vec::with_capacity(hashes.len());
        corpus.look_up(&hashes, &mut frequencies);
        let mut start = 0;
        let words = entries.iter().zip(&hashes).zip(frequencies).map(|((entry, &hash), frequency)| {
            let end = number(&entry[8..12]) as u32;
            let len = end.saturating_sub(start) | if entry[12] > 0 { Known::HAN } else { 0 };
            Known { hash, frequency, start: std::mem::replace(&mut start, end), len }
        });
        rest.is_empty().then(|| Words { words: words.collect(), letters })
    }
}

/// Documents as they were written, one after the other.
pub struct Records<'r> {
    rest: &'r [u8],
    first_lines: bool,
    numbers: Vec<(u32, u32)>,
}

/// What is kept of one document.
pub struct Record<'v> {
    /// Its number.
    pub doc: u64,
    /// Bytes of its text.
    pub text_bytes: u64,
    /// Its words.
    pub words: Recalled<'v>,
}

impl<'r> Records<'r> {
    /// Documents with or without their first lines, as they were written.
    pub fn new(bytes: &'r [u8], first_lines: bool) -> Records<'r> {
        Records { rest: bytes, first_lines, numbers: Vec::new() }
    }

    /// Whether all were read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next document; none where the bytes are not those of documents with this vocabulary.
    pub fn next<'v>(&mut self, words: &Words<'v>) -> Option<Record<'v>> {
        let (doc, text_bytes) = (self.number()?, self.number()?);
        let mut text = self.words(words)?;
        if self.first_lines && self.number()? > 0 {
            text = text.with_first_line(self.words(words)?);
        }
        Some(Record { doc, text_bytes, words: text })
    }

    fn words<'v>(&mut self, known: &Words<'v>) -> Option<Recalled<'v>> {
        let (count, distinct) = (self.number()? as usize, self.number()? as usize);
        // A word takes a byte at the least.
        if distinct > self.rest.len() {
            return None;
        }
        let mut words = Recalled::new(count, distinct, known.letters);
        let mut left = distinct;
        while left > 0 {
            self.numbers.clear();
            for _ in 0..left.min(AT_ONCE) {
                let value = self.number()?;
                let tf = if value & 1 == 1 { self.number()? as u32 } else { 1 };
                ask_for(&known.words, (value >> 1) as usize);
                self.numbers.push(((value >> 1) as u32, tf));
            }
            for &(number, tf) in &self.numbers {
                let word = known.words.get(number as usize)?;
                words.push(word.word(), tf, word.frequency);
            }
            left -= self.numbers.len();
        }
        let mut place = 0;
        for _ in 0..self.number()? {
            place += self.number()? as usize;
            words.stop(place);
        }
        Some(words)
    }

    #[inline]
    fn number(&mut self) -> Option<u64> {
        let (&first, mut rest) = self.rest.split_first()?;
        let mut value = u64::from(first & 0x7F);
        let (mut byte, mut shift) = (first, 7);
        while byte >= 0x80 && shift < u64::BITS {
            (byte, rest) = rest.split_first().map(|(&byte, rest)| (byte, rest))?;
            value |= u64::from(byte & 0x7F) << shift;
            shift += 7;
        }
        self.rest = rest;
        Some(value)
    }
}

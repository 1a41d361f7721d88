//! The forward index: the words of each document and their counts, stored compactly as word numbers.
//!
//! A signature that depends only on how often each word occurs can be computed from this index once all documents are counted, without
//! another pass over the corpus. Words are numbered in the vocabulary of one worker between two drains of its counts
//! ([`Counts`](super::Counts) assigns the numbers); the most common words come early, so most numbers are small.
//!
//! ```text
//! document = number, bytes in the text, words of the text; with first lines also 0, or 1 and the words of the first line
//! words    = count, distinct count, then for each distinct word in order of first occurrence
//!            2 number          if the word occurs once
//!            2 number + 1, tf  otherwise
//!            then the number of stop words, and the distance of each one's position from the previous one
//! ```
//!
//! All numbers are stored with 7 bits per byte, lowest first, with the highest bit set in all bytes except the last (LEB128). The index
//! takes 200 to 300 bytes for 1,000 bytes of text.

use std::mem::{replace, take};

use dupsift_core::cpu::ask_for;
use dupsift_core::hash::hash64;
use dupsift_text::{Analysis, Counted, Frequencies, Frequency, KeptWords, Word};

/// The bit in a word's length that marks a word in Han characters.
const HAN: u32 = 1 << 31;

/// The number of words that are prefetched together.
const AT_ONCE: usize = 64;

/// Holds the words that one worker has numbered.
#[derive(Debug, Default)]
pub struct Vocabulary {
    /// The length of each word in bytes, combined with [`HAN`].
    lengths: Vec<u32>,
    letters: String,
}

impl Vocabulary {
    /// Assigns the next number to a word.
    pub fn push(&mut self, document: &Analysis<'_>, word: &Word) {
        let letters = document.word(word);
        self.lengths.push(letters.len() as u32 | if word.han { HAN } else { 0 });
        self.letters.push_str(letters);
    }

    /// Returns the number of bytes in memory.
    pub fn bytes(&self) -> usize {
        size_of_val(self.lengths.as_slice()) + self.letters.len()
    }

    /// Returns the lengths and letters of the words, which the caller must store, and clears the vocabulary.
    pub fn drain(&mut self) -> (Vec<u32>, String) {
        (take(&mut self.lengths), take(&mut self.letters))
    }
}

/// Appends the record of a document. `numbers` holds the numbers of its words, in the order of [`Analysis::counted`].
pub fn write_document(doc: u64, document: &Analysis<'_>, numbers: &[u32], out: &mut Vec<u8>) {
    push(out, doc);
    push(out, document.raw().len() as u64);
    write_words(document, numbers, out);
}

/// Appends the words of the first line, if there is one, after the words of its document.
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

/// Holds a stored vocabulary, with the corpus frequencies of its words.
pub struct Words<'v> {
    words: Vec<Known>,
    letters: &'v str,
}

/// Holds a word of a vocabulary. Nearly every access waits for memory; with this alignment, an access reads only one cache line.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Known {
    hash: u64,
    /// The frequency, packed by [`Frequency::packed`].
    frequency: [u64; 2],
    start: u32,
    /// The length in bytes, combined with [`HAN`].
    length: u32,
}

impl Known {
    #[inline]
    fn word(&self) -> Word {
        let end = self.start + (self.length & !HAN);
        Word { start: self.start, end, hash: self.hash, stop: false, han: self.length & HAN > 0 }
    }
}

impl<'v> Words<'v> {
    /// Looks up the frequencies of the words. Returns `None` if the bytes are not a valid vocabulary.
    pub fn look_up(lengths: &[u8], letters: &'v [u8], corpus: &dyn Frequencies) -> Option<Words<'v>> {
        let letters = std::str::from_utf8(letters).ok()?;
        let (lengths, rest) = lengths.as_chunks::<4>();
        let mut start = 0u32;
        let hash = |length: &[u8; 4]| {
            let end = start.checked_add(u32::from_le_bytes(*length) & !HAN)?;
            Some(hash64(letters.get(replace(&mut start, end) as usize..end as usize)?.as_bytes()))
        };
        let hashes: Vec<u64> = lengths.iter().map(hash).collect::<Option<_>>()?;
        let mut frequencies: Vec<Frequency> = Vec::with_capacity(hashes.len());
        corpus.look_up(&hashes, &mut frequencies);
        start = 0;
        let word = |((&length, hash), frequency): ((_, u64), Frequency)| {
            let length = u32::from_le_bytes(length);
            let end = start + (length & !HAN);
            Known { hash, frequency: frequency.packed(), start: replace(&mut start, end), length }
        };
        let words = lengths.iter().zip(hashes).zip(frequencies).map(word).collect();
        rest.is_empty().then_some(Words { words, letters })
    }
}

/// Reads stored documents one by one.
#[derive(Clone)]
pub struct Records<'r> {
    rest: &'r [u8],
    first_lines: bool,
}

/// Holds the stored record of one document.
pub struct Record<'v> {
    /// The number of the document.
    pub doc: u64,
    /// The number of bytes in the text of the document.
    pub text_bytes: u64,
    /// The words of the document.
    pub words: KeptWords<'v>,
}

impl<'r> Records<'r> {
    /// Creates a reader of documents that were stored with or without their first lines.
    pub fn new(bytes: &'r [u8], first_lines: bool) -> Records<'r> {
        Records { rest: bytes, first_lines }
    }

    /// Returns whether all documents have been read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the number of bytes in the text of the next document.
    pub fn text_bytes(&self) -> Option<u64> {
        let mut ahead = self.rest;
        number(&mut ahead)?;
        number(&mut ahead)
    }

    /// Returns the next document, or `None` if the bytes are invalid or do not match this vocabulary.
    pub fn next<'v>(&mut self, words: &Words<'v>) -> Option<Record<'v>> {
        // Copies of `rest` that are on the stack stay in registers.
        let mut rest = self.rest;
        let (doc, text_bytes) = (number(&mut rest)?, number(&mut rest)?);
        let mut text = kept_words(&mut rest, words)?;
        if self.first_lines && number(&mut rest)? > 0 {
            text = text.with_first_line(kept_words(&mut rest, words)?);
        }
        self.rest = rest;
        Some(Record { doc, text_bytes, words: text })
    }
}

/// Takes the words of a text from the front of the bytes. Returns `None` if the bytes are invalid or do not match this vocabulary.
fn kept_words<'v>(bytes: &mut &[u8], known: &Words<'v>) -> Option<KeptWords<'v>> {
    let mut rest = *bytes;
    let (count, distinct) = (number(&mut rest)? as usize, number(&mut rest)? as usize);
    // A word takes at least one byte.
    if distinct > rest.len() {
        return None;
    }
    let mut words = KeptWords::new(count, distinct, known.letters);
    let mut left = distinct;
    let mut asked = [(0, 0); AT_ONCE];
    while left > 0 {
        let asked = &mut asked[..left.min(AT_ONCE)];
        for asked in asked.iter_mut() {
            let value = number(&mut rest)?;
            let tf = if value & 1 == 1 { number(&mut rest)? as u32 } else { 1 };
            *asked = ((value >> 1) as u32, tf);
            ask_for(&known.words, asked.0 as usize);
        }
        for &(number, tf) in asked.iter() {
            let word = known.words.get(number as usize)?;
            words.push(word.word(), tf, Frequency::unpacked(word.frequency));
        }
        left -= asked.len();
    }
    let mut place = 0;
    for _ in 0..number(&mut rest)? {
        place = number(&mut rest)?.saturating_add(place as u64) as usize;
        words.stop(place);
    }
    *bytes = rest;
    Some(words)
}

/// Takes a number from the front of the bytes.
#[inline]
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let (&first, mut rest) = bytes.split_first()?;
    let mut value = u64::from(first & 0x7F);
    let (mut byte, mut shift) = (first, 7);
    while byte >= 0x80 && shift < u64::BITS {
        (byte, rest) = rest.split_first().map(|(&byte, rest)| (byte, rest))?;
        value |= u64::from(byte & 0x7F) << shift;
        shift += 7;
    }
    *bytes = rest;
    Some(value)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::corpus::Counts;
    use dupsift_text::{Pipeline, TextOptions};

    /// Derives the frequency of a word from its hash.
    struct ByHash;

    impl Frequencies for ByHash {
        fn look_up(&self, words: &[u64], out: &mut Vec<Frequency>) {
            out.extend(words.iter().map(|&hash| of_hash(hash)));
        }
    }

    fn of_hash(hash: u64) -> Frequency {
        Frequency { df: 1 + hash % 1000, cf: 7 + hash % 100_000, rank: hash >> 30 }
    }

    const TEXTS: [&str; 8] = [
        "Кот и пёс.\nПёс спит, а кот и кошка - нет. Коты спят, кот спал.",
        "",
        "网页搜索引擎\n网页和重复网页 the seo page 重复",
        "one line only, only one",
        "?! --\n \n...",
        "\n***\n the heading\nand the rest of the text, the the the",
        "中 国\n中国",
        "bargains bargain bargaining\nбежал бежать",
    ];

    /// Returns everything that a signer may read from a document or a first line.
    fn said(document: &Analysis<'_>) -> Vec<(u64, String, bool, bool, u32, Frequency)> {
        let counted = document.counted().iter().zip(document.frequencies());
        let of = |(one, frequency): (&Counted, &Frequency)| {
            let word = &one.word;
            (word.hash, document.word(word).to_string(), word.stop, word.han, one.tf, *frequency)
        };
        counted.map(of).collect()
    }

    /// Holds several texts in stored form.
    pub struct Written {
        /// The lengths of the words.
        pub lengths: Vec<u8>,
        /// The letters of the words.
        pub letters: String,
        /// The documents.
        pub records: Vec<u8>,
    }

    /// Counts and stores the words of several texts, and also the words of their first lines if `first_lines` is set.
    pub fn written(pipeline: &Pipeline, texts: &[String], first_lines: bool) -> Written {
        let (mut counts, mut words, mut records) = (Counts::new(0), Vocabulary::default(), Vec::new());
        for (doc, text) in texts.iter().enumerate() {
            let document = pipeline.analyse(text);
            let fresh = |counts: &Counts, document: &Analysis<'_>, words: &mut Vocabulary| {
                counts.fresh().iter().for_each(|&at| words.push(document, &document.counted()[at as usize].word));
            };
            counts.add_counted(document.counted().iter().map(|one| (one.word.hash, one.tf)));
            fresh(&counts, &document, &mut words);
            write_document(doc as u64 * 1000, &document, counts.numbers(), &mut records);
            if first_lines {
                let line = document.first_line();
                if let Some(line) = &line {
                    counts.number(line.counted().iter().map(|one| one.word.hash));
                    fresh(&counts, line, &mut words);
                }
                write_first_line(line, counts.numbers(), &mut records);
            }
        }
        assert!(words.bytes() > 0);
        let (lengths, letters) = words.drain();
        let lengths = lengths.iter().flat_map(|length| length.to_le_bytes()).collect();
        assert_eq!(words.bytes(), 0);
        Written { lengths, letters, records }
    }

    #[test]
    fn what_comes_back_is_what_the_text_says() {
        let stop_words = ["и", "the", "bargains"].map(String::from).to_vec();
        // This text is so long that words are prefetched in several batches and some numbers take more than one byte.
        let long = (0..3000u32).map(|n| format!("w{} ", n * n % 1777)).collect::<String>();
        let texts: Vec<String> = TEXTS.iter().map(ToString::to_string).chain([long]).collect();
        for (stem, first_lines) in [(false, false), (false, true), (true, true)] {
            let options = TextOptions { stop_words: stop_words.clone(), stem, ..TextOptions::default() };
            let pipeline = Pipeline::new(&options).expect("options");
            let Written { lengths, letters, records } = written(&pipeline, &texts, first_lines);
            let words = Words::look_up(&lengths, letters.as_bytes(), &ByHash).expect("words");
            let mut read = Records::new(&records, first_lines);
            for (doc, text) in texts.iter().enumerate() {
                let record = read.next(&words).expect("a document");
                assert_eq!((record.doc, record.text_bytes), (doc as u64 * 1000, text.len() as u64));
                let (kept_words, document) =
                    (pipeline.read_back(record.words), pipeline.analyse(text).counted_over(&ByHash));
                assert_eq!(said(&kept_words), said(&document), "{text:?}");
                assert_eq!(kept_words.word_count(), document.words().len());
                for _ in 0..2 {
                    let lines = (kept_words.first_line(), document.first_line().filter(|_| first_lines));
                    assert_eq!(lines.0.map(said), lines.1.map(said), "{text:?}");
                    assert_eq!(lines.0.map(|line| line.word_count()), lines.1.map(|line| line.words().len()));
                }
            }
            assert!(read.is_empty());
        }
    }

    proptest::proptest! {
        /// Only a broken disk could return bytes that were not written, but even such bytes must not cause a panic.
        #[test]
        fn any_bytes_are_read_or_refused(
            cut in 0usize..4000, at in 0usize..4000, by in 0u8.., noise in proptest::collection::vec(0u8.., 0..300),
        ) {
            let pipeline = Pipeline::new(&TextOptions::default()).expect("options");
            let texts: Vec<String> = TEXTS.iter().map(ToString::to_string).collect();
            let Written { mut lengths, letters, mut records } = written(&pipeline, &texts, true);
            let flip = |bytes: &mut Vec<u8>| if let Some(byte) = bytes.get_mut(at) { *byte ^= by };
            flip(&mut records);
            flip(&mut lengths);
            records.truncate(cut);
            let letters = letters.as_bytes();
            if let Some(words) = Words::look_up(&lengths, &letters[..cut.min(letters.len())], &ByHash) {
                for bytes in [&records, &noise] {
                    let mut read = Records::new(bytes, at % 2 == 0);
                    while let Some(record) = read.next(&words) {
                        let document = pipeline.read_back(record.words);
                        document.counted().iter().for_each(|one| _ = document.word(&one.word));
                    }
                }
            }
        }
    }

    #[test]
    fn a_worked_record() {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("options");
        let Written { lengths, letters, records } = written(&pipeline, &["a b a".to_string()], true);
        // The record holds document 0, 5 bytes of text, three words (two distinct), number 0 twice, number 1 once, no stop words, and one
        // line.
        assert_eq!(records, [0, 5, 3, 2, 1, 2, 2, 0, 0]);
        assert_eq!((letters.as_str(), lengths.as_slice()), ("ab", &[1, 0, 0, 0, 1, 0, 0, 0][..]));
    }
}

//! Provides the parts of a document that the algorithms use: text, words, sentences and shingle tokens. Each part is
//! computed when it is first needed.
//!
//! A word is not a separate string but a range in one arena, stored with its hash in 24 bytes. The arena is the normalized text,
//! followed by the stems if stemming is on, so only [`Analysis::word`] can interpret the range.

use std::cell::OnceCell;
use std::ops::Range;

use super::beside::{Field, FieldValue, FieldValues, Frequencies, Frequency};
use super::counted::count;
use super::kept_words::KeptWords;
use super::normal::Normal;
use super::pipeline::Pipeline;
use super::pool;
use super::simd::count_characters;
use super::tokenizer::starts::StartsWriter;
use super::word::{Counted, Cut, Token, Word};
use dupsift_core::hash::{combine, hash128};
use dupsift_core::unread::{Unread, split};

/// The analysis of a document; see [`Pipeline::analyse`]. Only one thread uses an analysis at a time.
pub struct Analysis<'a> {
    pipeline: &'a Pipeline,
    /// The raw text with the mark of unread parts; see [`dupsift_core::unread`].
    marked: &'a str,
    raw: &'a str,
    unread: Option<Unread>,
    /// Whether the document counts as having no words, so that only copies of the complete document are found.
    is_wordless: bool,
    /// The starts of Han words, as found in an earlier pass.
    known: Option<&'a [u8]>,
    hash: OnceCell<u128>,
    normal: OnceCell<Normal>,
    cut: OnceCell<Cut>,
    counted: OnceCell<Vec<Counted>>,
    tokens: OnceCell<Vec<Token>>,
    values: FieldValues<'a>,
    fields: [OnceCell<Box<Analysis<'a>>>; Field::ALL.len()],
    known_words: Option<&'a dyn Frequencies>,
    times: u64,
    scope: Option<u64>,
    frequencies: OnceCell<Vec<Frequency>>,
    first_line: OnceCell<Option<Box<Analysis<'a>>>>,
    /// The number of words and the letters of the words, if the document has only word counts and no text.
    kept_words: Option<(usize, &'a str)>,
}

impl Pipeline {
    /// Returns the analysis of a document's raw text. Every part is computed when it is first needed.
    ///
    /// Readers reject texts larger than [`super::MAX_TEXT_BYTES`]; the normalized text of such a text is empty, and it has no words.
    pub fn analyse<'a>(&'a self, raw: &'a str) -> Analysis<'a> {
        Analysis::new(self, raw, None)
    }

    /// Returns the same words as [`Pipeline::analyse`] for text that was analyzed before. `han_starts`, the output of
    /// [`Analysis::write_han_starts`], makes dictionary lookups unnecessary.
    pub fn analyse_again<'a>(&'a self, raw: &'a str, han_starts: &'a [u8]) -> Analysis<'a> {
        Analysis::new(self, raw, self.has_dictionary().then_some(han_starts))
    }

    /// Restores a document from the word counts that an earlier pass saved. [`Analysis::counted`], [`Analysis::frequencies`],
    /// [`Analysis::word`], [`Analysis::word_count`] and [`Analysis::first_line`] return the same values as for the original
    /// text. Nothing else is available, because there is no text.
    pub fn read_back<'a>(&'a self, kept_words: KeptWords<'a>) -> Analysis<'a> {
        Analysis::kept_words(self, kept_words)
    }
}

impl<'a> Analysis<'a> {
    pub(super) fn new(pipeline: &'a Pipeline, raw: &'a str, known: Option<&'a [u8]>) -> Analysis<'a> {
        let (marked, (raw, unread)) = (raw, split(raw));
        Analysis {
            pipeline,
            marked,
            raw,
            unread,
            is_wordless: false,
            known,
            hash: OnceCell::new(),
            normal: OnceCell::new(),
            cut: OnceCell::new(),
            counted: OnceCell::new(),
            tokens: OnceCell::new(),
            values: FieldValues::default(),
            fields: Default::default(),
            known_words: None,
            times: 1,
            scope: None,
            frequencies: OnceCell::new(),
            first_line: OnceCell::new(),
            kept_words: None,
        }
    }

    /// Restores a document from word counts; see [`Pipeline::read_back`].
    pub(super) fn kept_words(pipeline: &'a Pipeline, kept_words: KeptWords<'a>) -> Analysis<'a> {
        let KeptWords { counted, frequencies, words, letters, first_line } = kept_words;
        let mut document = Analysis::new(pipeline, "", None);
        document.counted = OnceCell::from(counted);
        document.frequencies = OnceCell::from(frequencies);
        document.first_line = OnceCell::from(first_line.map(|line| Box::new(Analysis::kept_words(pipeline, *line))));
        document.kept_words = Some((words, letters));
        document
    }

    /// Sets the fields (such as the title), the source of word frequencies, the number of times that the text is included in the
    /// corpus counts, and the scope. The analysis is changed in place, because copying it is expensive.
    pub fn stands(
        &mut self,
        values: FieldValues<'a>,
        corpus: Option<&'a dyn Frequencies>,
        times: u64,
        scope: Option<u64>,
    ) {
        (self.values, self.known_words, self.times, self.scope) = (values, corpus, times, scope);
    }

    /// Returns the document with its fields.
    pub fn with_fields(mut self, values: FieldValues<'a>) -> Analysis<'a> {
        self.values = values;
        self
    }

    /// Returns the document with a source of word frequencies.
    pub fn counted_over(mut self, corpus: &'a dyn Frequencies) -> Analysis<'a> {
        self.known_words = Some(corpus);
        self
    }

    /// Returns the document with [`Analysis::times`] set.
    pub fn counted_times(mut self, times: u64) -> Analysis<'a> {
        self.times = times;
        self
    }

    /// Returns the scope to which comparisons of the document are limited; `None` if they are not limited to a scope. A document with a
    /// scope is compared only with documents in the same scope.
    pub fn scope(&self) -> Option<u64> {
        self.scope
    }

    /// Returns the number of times that this text is included in the corpus counts, at least 1. A word whose document frequency does
    /// not exceed this number occurs in no other text.
    pub fn times(&self) -> u64 {
        self.times
    }

    /// Returns the parts of the document that could not be read, such as pictures.
    pub fn unread(&self) -> Option<Unread> {
        self.unread
    }

    /// Makes a document with unread parts count as having no words, so that it is compared only with copies: similar texts say nothing about
    /// pictures. All other documents stay the same.
    pub fn comparable(&mut self) {
        self.is_wordless = self.unread.is_some();
    }

    /// Returns whether the document contains nothing but white space, and therefore has no copies. The same holds for a document with parts
    /// that are not known.
    pub fn has_no_copies(&self) -> bool {
        match self.unread {
            None => self.raw.trim_start().is_empty(),
            Some(unread) => unread == Unread::Unknown,
        }
    }

    /// Returns the raw text with the mark of its unread parts; see [`dupsift_core::unread`]. Copies have equal marked texts.
    pub fn marked(&self) -> &'a str {
        self.marked
    }

    /// Returns the raw text, without the mark of unread parts.
    pub fn raw(&self) -> &'a str {
        self.raw
    }

    /// Returns the `hash128` of the raw text and the mark of its unread parts; exact copies have equal hashes.
    pub fn raw_hash(&self) -> u128 {
        *self.hash.get_or_init(|| hash128(self.marked.as_bytes()))
    }

    /// Returns a hash of the text, the fields that were read with it, and the scope. Documents that no algorithm in the run can distinguish
    /// have the same hash.
    pub fn copy_hash(&self) -> u128 {
        let both = |hash: u128, at: u64, value: u128| {
            let half = |low: u32| combine((hash >> low) as u64, combine(at, (value >> low) as u64));
            u128::from(half(64)) << 64 | u128::from(half(0))
        };
        let hash = self.values.iter().enumerate().fold(self.raw_hash(), |hash, (at, value)| {
            let of_value = match value {
                FieldValue::NoColumn => return hash,
                FieldValue::Null => 0,
                FieldValue::Text(text) => hash128(text.as_bytes()),
            };
            both(hash, at as u64 + 1, of_value)
        });
        self.scope.map_or(hash, |scope| both(hash, 0, scope.into()))
    }

    /// Returns whether the corpus has a column for the field and at least one algorithm of this run reads it.
    pub fn has_column(&self, field: Field) -> bool {
        self.values[field as usize] != FieldValue::NoColumn
    }

    /// Returns the field as a separate document; `None` if the field has no value.
    pub fn field(&self, field: Field) -> Option<&Analysis<'a>> {
        let FieldValue::Text(raw) = self.values[field as usize] else { return None };
        if self.is_wordless {
            return None;
        }
        Some(self.fields[field as usize].get_or_init(|| {
            let mut document = Analysis::new(self.pipeline, raw, None);
            document.known_words = self.known_words;
            Box::new(document)
        }))
    }

    /// Returns a part of the normalized text, such as a title without the name of its site, as a separate document.
    ///
    /// # Panics
    /// Panics if the range is not within [`Analysis::text`].
    pub fn part(&self, place: Range<usize>) -> Analysis<'_> {
        let mut part = Analysis::new(self.pipeline, &self.text()[place], None);
        part.known_words = self.known_words;
        part
    }

    /// Returns an analysis of other text, such as a line of the raw text, with the same settings.
    pub fn beside<'l>(&self, raw: &'l str) -> Analysis<'l>
    where
        'a: 'l,
    {
        Analysis::new(self.pipeline, raw, None)
    }

    /// Returns the first line of the raw text that contains a letter or digit, as a separate document. This line is often a heading.
    /// Returns `None` if the text consists of a single line.
    pub fn first_line(&self) -> Option<&Analysis<'a>> {
        self.first_line.get_or_init(|| self.first_line_by(self.known).map(Box::new)).as_deref()
    }

    /// Like [`Analysis::first_line`], but takes the starts of Han words from `known`, the output of
    /// [`Analysis::write_han_starts`].
    pub fn first_line_by<'l>(&self, known: Option<&'l [u8]>) -> Option<Analysis<'l>>
    where
        'a: 'l,
    {
        if self.is_wordless {
            return None;
        }
        let mut end = 0;
        for line in self.raw.split_inclusive(['\n', '\r']) {
            end += line.len();
            if line.contains(char::is_alphanumeric) {
                break;
            }
        }
        if end == self.raw.len() {
            return None;
        }
        // The analyzed part begins at the start of the text, because `known` begins with the first Han character of the text.
        let mut line = Analysis::new(self.pipeline, &self.raw[..end], known);
        line.known_words = self.known_words;
        Some(line)
    }

    /// Returns the frequencies of the words in [`Analysis::counted`], in the same order. The frequencies are looked up once for all
    /// algorithms. All frequencies are [`Frequency::UNKNOWN`] if the words of the corpus were not counted.
    pub fn frequencies(&self) -> &[Frequency] {
        self.frequencies.get_or_init(|| {
            let counted = self.counted();
            let mut found = pool::take(|pool| &mut pool.frequencies, counted.len());
            if let Some(corpus) = self.known_words {
                let mut hashes = pool::take(|pool| &mut pool.hashes, counted.len());
                hashes.extend(counted.iter().map(|counted| counted.word.hash));
                corpus.look_up(&hashes, &mut found);
                pool::leave(|pool| &mut pool.hashes, hashes);
            }
            found.resize(counted.len(), Frequency::UNKNOWN);
            found
        })
    }

    /// Returns whether [`Analysis::frequencies`] have already been looked up. If they have not, a caller that needs only a few frequencies
    /// can look up just those.
    pub fn has_frequencies(&self) -> bool {
        self.frequencies.get().is_some()
    }

    /// Returns the number of Unicode scalar values in the raw text.
    pub fn characters(&self) -> u64 {
        count_characters(self.raw) as u64
    }

    /// Returns the normalized text, which consists of pieces separated by one U+0020. A piece is a sentence and may contain no words.
    pub fn text(&self) -> &str {
        &self.normal().text
    }

    /// Returns the words in order, including stop words, which are marked. With `tokenizer=bigram`, words of Han characters overlap.
    pub fn words(&self) -> &[Word] {
        &self.cut().words
    }

    /// Returns the number of words, including stop words.
    pub fn word_count(&self) -> usize {
        self.kept_words.map_or_else(|| self.words().len(), |(words, _)| words)
    }

    /// Returns the distinct words with their counts, including stop words, in order of their first occurrences.
    pub fn counted(&self) -> &[Counted] {
        self.counted.get_or_init(|| count(self.words()))
    }

    /// Appends the starts of Han words, one bit per Han character, lowest bit first. With this output, [`Pipeline::analyse_again`] does not
    /// need the dictionary. Appends nothing if the text has no Han characters or the tokenizer has no dictionary.
    pub fn write_han_starts(&self, out: &mut Vec<u8>) {
        if !self.pipeline.has_dictionary() {
            return;
        }
        let mut writer = StartsWriter::new(out);
        let text = self.text();
        for word in self.words().iter().filter(|word| word.han) {
            // Han words have no stems, so their ranges are in the text. Each Han character has three or four bytes, so the length of a
            // short word in bytes determines its number of characters.
            writer.word(match word.end - word.start {
                3 => 1,
                6 => 2,
                9 => 3,
                _ => text[word.start as usize..word.end as usize].chars().count(),
            });
        }
    }

    /// Returns the number of characters of this document that were split into words with the dictionary; 0 if its words have not been
    /// computed yet.
    pub fn segmented(&self) -> u64 {
        self.cut.get().map_or(0, |cut| cut.segmented)
    }

    /// Returns the letters of a word in this document; empty if the range of the word is not valid in this document.
    pub fn word(&self, word: &Word) -> &str {
        if let Some((_, letters)) = self.kept_words {
            return letters.get(word.start as usize..word.end as usize).unwrap_or_default();
        }
        let (text, stems) = (self.text(), &self.cut().stems);
        let (start, end) = (word.start as usize, word.end as usize);
        let found = match start.checked_sub(text.len()) {
            Some(start) if !stems.is_empty() => stems.get(start..end - text.len()),
            _ => text.get(start..end),
        };
        found.unwrap_or_default()
    }

    /// Returns the ranges of the words in [`Analysis::text`], in the order of [`Analysis::words`]. A stem has the range of the word that
    /// it replaces.
    pub fn places(&self) -> Vec<Range<usize>> {
        if self.pipeline.stems.is_none() {
            return self.words().iter().map(|word| word.start as usize..word.end as usize).collect();
        }
        let (mut known, mut places) = (Vec::new(), Vec::with_capacity(self.words().len()));
        self.write_han_starts(&mut known);
        self.pipeline.each_place(self.normal(), &known, &mut |place| places.push(place));
        places
    }

    /// Returns the sentences in order, as ranges of word numbers. No range is empty, and together the ranges cover all words.
    pub fn sentences(&self) -> &[Range<u32>] {
        &self.cut().sentences
    }

    /// Returns the shingle tokens in order. Regardless of the tokenizer, each Han character is a token, and so is each word in any other
    /// script. Never loads the Chinese dictionary.
    pub fn tokens(&self) -> &[Token] {
        self.tokens.get_or_init(|| self.pipeline.cut_tokens(self.normal(), self.cut.get()))
    }

    /// Calls `each` with the range of each token in [`Analysis::text`], in the order of [`Analysis::tokens`]. A stem has the range of
    /// the word that it replaces.
    pub fn each_token(&self, each: &mut dyn FnMut(Range<usize>)) {
        self.pipeline.each_token(self.normal(), each);
    }

    /// Returns the canonical form of the document: all words, separated by one U+0020.
    pub fn canonical(&self) -> String {
        let mut out = String::with_capacity(self.text().len());
        self.write_canonical(&mut out);
        out
    }

    /// Appends [`Analysis::canonical`] to a string.
    pub(crate) fn write_canonical(&self, out: &mut String) {
        self.write_words(self.words(), out);
    }

    /// Appends the canonical form of a sentence: its words, separated by one U+0020.
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
        let raw = if self.is_wordless { "" } else { self.raw };
        self.normal.get_or_init(|| self.pipeline.normalise(raw).unwrap_or_default())
    }

    fn cut(&self) -> &Cut {
        self.cut.get_or_init(|| self.pipeline.cut_words(self.normal(), self.known))
    }
}

impl Drop for Analysis<'_> {
    /// Returns the lists to the pool so that the next document on this thread can use them.
    fn drop(&mut self) {
        if let Some(normal) = self.normal.take() {
            normal.leave();
        }
        if let Some(cut) = self.cut.take() {
            pool::leave(|pool| &mut pool.words, cut.words);
            pool::leave(|pool| &mut pool.sentences, cut.sentences);
        }
        if let Some(counted) = self.counted.take() {
            pool::leave(|pool| &mut pool.counted, counted);
        }
        if let Some(tokens) = self.tokens.take() {
            pool::leave(|pool| &mut pool.tokens, tokens);
        }
        if let Some(frequencies) = self.frequencies.take() {
            pool::leave(|pool| &mut pool.frequencies, frequencies);
        }
    }
}

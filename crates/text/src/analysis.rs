//! One document as the algorithms see it: text, words, sentences and shingle tokens, each made at its first use.
//!
//! Words are spans into one arena with their hashes, 24 bytes each, and never strings of their own. The arena is the
//! normalised text with the stems behind it, where stems were asked for: so a word's place means something to
//! [`Analysis::word`] alone.

use std::cell::OnceCell;
use std::ops::Range;

use super::beside::{Field, FieldValue, FieldValues, Frequencies, Frequency};
use super::counted::count;
use super::kept_words::KeptWords;
use super::normal::{MAX_TEXT_BYTES, Normal};
use super::pipeline::Pipeline;
use super::pool;
use super::tokenizer::starts::StartsWriter;
use super::word::{Counted, Cut, Token, Word};
use dupsift_core::hash::{combine, hash128};

/// A document under analysis; see [`Pipeline::analyse`]. It belongs to one thread at a time.
pub struct Analysis<'a> {
    pipeline: &'a Pipeline,
    raw: &'a str,
    /// Where words of Han characters begin, from an earlier pass.
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
    /// What other documents it may meet, see [`Analysis::stands`].
    scope: Option<u64>,
    frequencies: OnceCell<Vec<Frequency>>,
    first_line: OnceCell<Option<Box<Analysis<'a>>>>,
    /// Where only the counts of the words are there, and no text: how many words, and their letters.
    kept_words: Option<(usize, &'a str)>,
}

impl Pipeline {
    /// The analysis of a document's raw text. Nothing is done yet: every part is made at its first use.
    ///
    /// A text above [`super::MAX_TEXT_BYTES`] should have been rejected by the reader; here it has no words
    /// (see [`Analysis::is_too_long`]).
    pub fn analyse<'a>(&'a self, raw: &'a str) -> Analysis<'a> {
        Analysis::new(self, raw, None)
    }

    /// The same for a text that was analysed before, with what [`Analysis::write_han_starts`] noted of it then: the words are
    /// the same, and the dictionary is not asked.
    pub fn analyse_again<'a>(&'a self, raw: &'a str, han_starts: &'a [u8]) -> Analysis<'a> {
        Analysis::new(self, raw, self.has_dictionary().then_some(han_starts))
    }

    /// A document of which an earlier reading kept the counts of its words: [`Analysis::counted`],
    /// [`Analysis::frequencies`], [`Analysis::word`], [`Analysis::word_count`] and the same of [`Analysis::first_line`] are
    /// those of the text. There is no text, and so nothing else.
    pub fn read_back<'a>(&'a self, kept_words: KeptWords<'a>) -> Analysis<'a> {
        Analysis::kept_words(self, kept_words)
    }
}

impl<'a> Analysis<'a> {
    pub(super) fn new(pipeline: &'a Pipeline, raw: &'a str, known: Option<&'a [u8]>) -> Analysis<'a> {
        Analysis {
            pipeline,
            raw,
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

    /// See [`Pipeline::read_back`].
    pub(super) fn kept_words(pipeline: &'a Pipeline, kept_words: KeptWords<'a>) -> Analysis<'a> {
        let KeptWords { counted, frequencies, words, letters, first_line } = kept_words;
        let mut document = Analysis::new(pipeline, "", None);
        document.counted = OnceCell::from(counted);
        document.frequencies = OnceCell::from(frequencies);
        document.first_line = OnceCell::from(first_line.map(|line| Box::new(Analysis::kept_words(pipeline, *line))));
        document.kept_words = Some((words, letters));
        document
    }

    /// Adds what stands beside the text, and the only documents that it may meet: in place, for copies of an analysis cost.
    pub fn stands(
        &mut self,
        values: FieldValues<'a>,
        corpus: Option<&'a dyn Frequencies>,
        times: u64,
        scope: Option<u64>,
    ) {
        (self.values, self.known_words, self.times, self.scope) = (values, corpus, times, scope);
    }

    /// The same document with what stands beside its text.
    pub fn with_fields(mut self, values: FieldValues<'a>) -> Analysis<'a> {
        self.values = values;
        self
    }

    /// The same document as a part of a corpus whose words were counted.
    pub fn counted_over(mut self, corpus: &'a dyn Frequencies) -> Analysis<'a> {
        self.known_words = Some(corpus);
        self
    }

    /// The same text, of which the counts of the corpus hold so many copies.
    pub fn counted_times(mut self, times: u64) -> Analysis<'a> {
        self.times = times;
        self
    }

    /// What documents it may meet: those of this scope; all of them where there is none.
    pub fn scope(&self) -> Option<u64> {
        self.scope
    }

    /// How often this text stands in the counts of the corpus, at least 1: a word with no larger document frequency is in
    /// no other text.
    pub fn times(&self) -> u64 {
        self.times
    }

    /// The text as it came.
    pub fn raw(&self) -> &'a str {
        self.raw
    }

    /// `hash128` of the raw text: the same for exact copies.
    pub fn raw_hash(&self) -> u128 {
        *self.hash.get_or_init(|| hash128(self.raw.as_bytes()))
    }

    /// A hash of the text, of the fields that were read with it, and of its scope: the same for documents that no algorithm of the run
    /// can tell apart.
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

    /// Whether the corpus has a column for the field, and an algorithm of this run reads it.
    pub fn has_column(&self, field: Field) -> bool {
        self.values[field as usize] != FieldValue::NoColumn
    }

    /// The field as a document of its own; none where there is no value.
    pub fn field(&self, field: Field) -> Option<&Analysis<'a>> {
        let FieldValue::Text(raw) = self.values[field as usize] else { return None };
        Some(self.fields[field as usize].get_or_init(|| {
            let mut document = Analysis::new(self.pipeline, raw, None);
            document.known_words = self.known_words;
            Box::new(document)
        }))
    }

    /// A part of the normalised text, a title without the name of its site perhaps, as a document of its own.
    ///
    /// # Panics
    /// If the place is none in [`Analysis::text`].
    pub fn part(&self, place: Range<usize>) -> Analysis<'_> {
        let mut part = Analysis::new(self.pipeline, &self.text()[place], None);
        part.known_words = self.known_words;
        part
    }

    /// Another text, a line of the raw one perhaps, seen the same way.
    pub fn beside<'l>(&self, raw: &'l str) -> Analysis<'l>
    where
        'a: 'l,
    {
        Analysis::new(self.pipeline, raw, None)
    }

    /// The first line of the raw text that has a letter or digit, a heading often, as a document of its own; none where
    /// the whole text is one line.
    pub fn first_line(&self) -> Option<&Analysis<'a>> {
        self.first_line.get_or_init(|| self.first_line_by(self.known).map(Box::new)).as_deref()
    }

    /// The same with words of Han characters that begin where `known` says, as [`Analysis::write_han_starts`] wrote it.
    pub fn first_line_by<'l>(&self, known: Option<&'l [u8]>) -> Option<Analysis<'l>>
    where
        'a: 'l,
    {
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
        // From the start of the text on, for that is where the known words of Han characters begin.
        let mut line = Analysis::new(self.pipeline, &self.raw[..end], known);
        line.known_words = self.known_words;
        Some(line)
    }

    /// The frequencies of the words of [`Analysis::counted`], in the same order, looked up once for all algorithms;
    /// [`Frequency::UNKNOWN`] for all of them in a corpus whose words were not counted.
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

    /// Whether [`Analysis::frequencies`] have been looked up already: who needs only a few of them may ask for these alone
    /// where no other algorithm wanted all.
    pub fn has_frequencies(&self) -> bool {
        self.frequencies.get().is_some()
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

    /// How many words there are, stop words among them.
    pub fn word_count(&self) -> usize {
        self.kept_words.map_or_else(|| self.words().len(), |(words, _)| words)
    }

    /// The distinct words with their counts, stop words among them, in order of their first occurrences.
    pub fn counted(&self) -> &[Counted] {
        self.counted.get_or_init(|| count(self.words()))
    }

    /// Where the words of Han characters begin, a bit a character, lowest bit first: what [`Pipeline::analyse_again`] takes
    /// to do without the dictionary. Appends nothing for a text without Han characters, and nothing where words of Han
    /// characters do not come from a dictionary.
    pub fn write_han_starts(&self, out: &mut Vec<u8>) {
        if !self.pipeline.has_dictionary() {
            return;
        }
        let mut writer = StartsWriter::new(out);
        let text = self.text();
        for word in self.words().iter().filter(|word| word.han) {
            // Stems are of letters, so a word of Han characters lies in the text itself. Each has three bytes or four: short
            // words show by their length how many there are.
            writer.word(match word.end - word.start {
                3 => 1,
                6 => 2,
                9 => 3,
                _ => text[word.start as usize..word.end as usize].chars().count(),
            });
        }
    }

    /// How many characters the dictionary has cut into words for this document so far.
    pub fn segmented(&self) -> u64 {
        self.cut.get().map_or(0, |cut| cut.segmented)
    }

    /// The letters of one of the words of this document; empty for a word of another.
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

    /// Where the words stand in [`Analysis::text`], in the order of [`Analysis::words`]; of a stem the word that it was
    /// made of.
    pub fn places(&self) -> Vec<Range<usize>> {
        if self.pipeline.stems.is_none() {
            return self.words().iter().map(|word| word.start as usize..word.end as usize).collect();
        }
        let (mut known, mut places) = (Vec::new(), Vec::with_capacity(self.words().len()));
        self.write_han_starts(&mut known);
        self.pipeline.each_place(self.normal(), &known, &mut |place| places.push(place));
        places
    }

    /// The sentences in order, as ranges of word numbers: none is empty, and together they are all the words.
    pub fn sentences(&self) -> &[Range<u32>] {
        &self.cut().sentences
    }

    /// What shingles are made of, in order: each word that is not of Han characters, and each Han character, with any
    /// tokenizer. Never loads the Chinese dictionary.
    pub fn tokens(&self) -> &[Token] {
        self.tokens.get_or_init(|| self.pipeline.cut_tokens(self.normal(), self.cut.get()))
    }

    /// Calls `each` with the place of each token in [`Analysis::text`], in the order of [`Analysis::tokens`]; of a stem that of the word it
    /// was made of.
    pub fn each_token(&self, each: &mut dyn FnMut(Range<usize>)) {
        self.pipeline.each_token(self.normal(), each);
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
        self.cut.get_or_init(|| self.pipeline.cut_words(self.normal(), self.known))
    }
}

impl Drop for Analysis<'_> {
    /// The lists go to the next document of the thread.
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

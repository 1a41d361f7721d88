//! Splits a document into lines and paragraphs, and holds the contents of a passage.
//!
//! A blank line, or the paragraph separator U+2029, ends a paragraph. If a document contains no blank line and no U+2029, because its
//! extractor wrote one block per line, each line is a paragraph.
//!
//! Passages are compared only by their letters and digits, with one space between words. Punctuation, quotation marks and spacing do not
//! count. The length is counted in half-words, because a character of a script without spaces (Han, kana, Thai) is about half a word.
//! Counting half-words requires no dictionary.

use std::ops::Range;

use super::raw_places::RawPlaces;
use dupsift_core::hash::{Hash64, hash64};
use dupsift_text::Analysis;

/// Holds a line with visible text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// The range of the line in the normalized text.
    pub place: Range<usize>,
    /// Whether a blank line, or U+2029, precedes the line.
    pub after_blank: bool,
}

/// Returns the lines of the raw text that contain visible text, in order.
pub(crate) fn lines(document: &Analysis<'_>) -> Vec<Line> {
    let raw = document.raw();
    let mut places = RawPlaces::new(document);
    let mut lines: Vec<Line> = Vec::new();
    let (mut at, mut start, mut after_blank) = (0, 0, false);
    for line in raw.split_inclusive(is_line_end) {
        let of_return = line == "\n" && raw[..at].ends_with('\r');
        at += line.len();
        let end = places.to(at);
        if end > start {
            lines.push(Line { place: start..end, after_blank });
            after_blank = false;
        } else if !of_return {
            after_blank = true;
        }
        after_blank |= line.ends_with('\u{2029}');
        start = end;
    }
    lines
}

/// Returns the paragraphs as ranges in the normalized text.
pub(crate) fn paragraphs(document: &Analysis<'_>) -> Vec<Range<usize>> {
    let lines = lines(document);
    let blanks = lines.iter().skip(1).any(|line| line.after_blank);
    let paragraphs = lines.chunk_by(|_, next| blanks && !next.after_blank);
    paragraphs.map(|lines| lines[0].place.start..lines[lines.len() - 1].place.end).collect()
}

/// The maximum number of characters in the readable form of a passage.
const MOST_SHOWN: usize = 200;

/// Returns text in readable form. Long text is truncated and ends with an ellipsis.
pub(crate) fn beginning(text: &str) -> String {
    let text = text.trim();
    text.char_indices().nth(MOST_SHOWN).map_or_else(|| text.to_owned(), |(end, _)| format!("{}…", &text[..end]))
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The maximum number of bytes of letters to buffer before hashing. A paragraph may be an entire long document, so the buffer is limited.
const KEPT_BYTES: usize = 1 << 20;

/// Holds the letters and digits of one passage, which consists of any number of stretches of normalized text.
#[derive(Default)]
pub(crate) struct Passage {
    /// The letters that have not been hashed yet.
    letters: String,
    /// The hash of all earlier letters, if there were too many to buffer.
    before: Option<Box<Hash64>>,
    half_words: usize,
    /// Whether the last character belongs to a word delimited by spaces.
    behind_word: bool,
}

impl Passage {
    /// Appends a stretch of text.
    pub(crate) fn add(&mut self, text: &str) {
        let mut in_word = false;
        for c in text.chars() {
            if self.letters.len() >= KEPT_BYTES {
                self.before.get_or_insert_default().add(self.letters.as_bytes());
                self.letters.clear();
            }
            if is_unspaced(c) {
                self.letters.push(c);
                self.half_words += 1;
                (in_word, self.behind_word) = (false, false);
            } else if c.is_alphanumeric() {
                if !in_word {
                    self.half_words += 2;
                    if self.behind_word {
                        self.letters.push(' ');
                    }
                }
                self.letters.push(c);
                (in_word, self.behind_word) = (true, true);
            } else {
                in_word = false;
            }
        }
    }

    /// Returns the length in half-words: two for each word, one for each character of a script without spaces.
    pub(crate) fn half_words(&self) -> usize {
        self.half_words
    }

    /// Returns the 64-bit fingerprint.
    pub(crate) fn fingerprint(&self) -> u64 {
        let Some(before) = &self.before else { return hash64(self.letters.as_bytes()) };
        let mut all = before.clone();
        all.add(self.letters.as_bytes());
        all.value()
    }

    /// Clears the passage but keeps its memory for reuse.
    pub(crate) fn clear(&mut self) {
        self.letters.clear();
        self.before = None;
        self.half_words = 0;
        self.behind_word = false;
    }
}

/// Returns whether a character belongs to a script that is written without spaces. Entire Unicode blocks are listed, because unassigned
/// characters do not matter.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{3400}'..='\u{9FFF}' | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30FF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{20000}'..='\u{3FFFD}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    fn cut(raw: &str) -> Vec<String> {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        let document = pipeline.analyse(raw);
        paragraphs(&document).into_iter().map(|place| document.text()[place].trim().to_owned()).collect()
    }

    #[test]
    fn paragraphs_end_at_blank_lines_or_else_at_lines() {
        for (raw, expected) in [
            ("", &[][..]),
            ("Один\nдва", &["один", "два"]),
            ("\n\nОдин\nдва\n\n", &["один", "два"]),
            ("One\ntwo\n\nThree.\nFour", &["one two", "three. four"]),
            ("One\r\ntwo\r\n\r\nThree", &["one two", "three"]),
            ("One\r\ntwo\r\nthree", &["one", "two", "three"]),
            ("一。\n \u{3000}\n二\u{200B}\n\u{200B}\n三，四\n五", &["一。", "二", "三,四 五"]),
            ("One\ntwo\u{2029}three", &["one two", "three"]),
        ] {
            assert_eq!(cut(raw), expected, "{raw:?}");
        }
    }

    #[test]
    fn long_texts_are_shortened() {
        assert_eq!(beginning(" Слово. "), "Слово.");
        assert_eq!(beginning(&"网".repeat(200)), "网".repeat(200));
        assert_eq!(beginning(&"网".repeat(201)), "网".repeat(200) + "…");
    }

    #[test]
    fn passages_are_letters_and_half_words() {
        let mut passage = Passage::default();
        passage.add("«don't», 网页 搜索 ok! ");
        passage.add("ещё 3.14");
        assert_eq!((passage.letters.as_str(), passage.half_words()), ("don t网页搜索ok ещё 3 14", 16));
        let whole = passage.fingerprint();
        passage.clear();
        assert_eq!((passage.letters.as_str(), passage.half_words()), ("", 0));
        passage.add("don't: 网页搜索 ok - ещё; 3.14");
        assert_eq!(passage.fingerprint(), whole);
    }

    #[test]
    fn a_long_passage_has_the_fingerprint_of_all_its_letters() {
        let mut passage = Passage::default();
        passage.add(&"слово 网 ".repeat(300_000));
        assert!(passage.letters.capacity() < 3 * KEPT_BYTES);
        // A space separates only words; a character of a script without spaces is not a word in this sense.
        assert_eq!(passage.fingerprint(), hash64("слово网".repeat(300_000).as_bytes()));
        passage.clear();
        passage.add("слово");
        assert_eq!(passage.fingerprint(), hash64("слово".as_bytes()));
    }
}

//! Extracts the parts that identify a document: the title, the code and the label at the end.
//!
//! * **Title.** The title is the first line, without a number before it and without a remark in parentheses at its end. A title of one word
//!   is a name, and goes on in the next line, unless a section or a list begins there: the signature of a function, or the description of a
//!   command.
//! * **Code.** The lines in fenced code blocks. Two lessons that explain the same thing in two programming languages differ in their code.
//! * **Label.** A last line of at most three words, such as the answer below a question.

use super::grams::GRAM;
use dupsift_core::hash::hash64;
use dupsift_text::shingle::{distinct, shingles};
use dupsift_text::{Analysis, TitleLines, is_han, is_unspaced, short_last_line};

/// The maximum number of tokens in a title; a longer first line is a paragraph.
const LONGEST: usize = 40;
/// The number of initial letters that two forms of the same word share.
const STEM: usize = 4;
/// The number of leading values: the name, the hash of the title, and three numbers of tokens.
const HEAD: usize = 5;
/// The minimum number of tokens in a title that is looked for in the other text. A shorter title may occur anywhere.
const LEAST_QUOTED: usize = 4;
/// The marks that begin and end a block of code.
const FENCES: [&str; 2] = ["```", "~~~"];
/// The maximum number of words in a label, and of bytes.
pub(in crate::measure) const LABEL: usize = 3;
const LABEL_BYTES: usize = 64;

/// Appends the title of a text, or nothing if the text has no title.
pub(super) fn write_title(document: &Analysis<'_>, out: &mut Vec<u64>) {
    let Some(lines) = TitleLines::of(document) else { return };
    let (core, line) = (document.beside(lines.core()), document.beside(lines.first));
    if core.tokens().len() > LONGEST {
        return;
    }
    let name = if lines.next.is_some() { name(core.text()) } else { 0 };
    let start = out.len();
    out.extend([name, hash64(core.text().as_bytes()), line.tokens().len() as u64, core.tokens().len() as u64, 0]);
    write_stems(&core, out);
    if let Some(next) = lines.short_next().filter(|_| name != 0) {
        write_stems(&document.beside(next), out);
    }
    out[start + HEAD - 1] = (out.len() - start - HEAD) as u64;
    if core.tokens().len() >= GRAM {
        shingles(core.tokens(), GRAM, false, out);
    }
}

/// Appends a hash for each token: of the first letters of a word, or of a Han character.
fn write_stems(line: &Analysis<'_>, out: &mut Vec<u64>) {
    let start = out.len();
    for word in line.words() {
        let letters = line.word(word);
        if word.han {
            out.extend(letters.chars().map(|letter| hash64(letter.encode_utf8(&mut [0; 4]).as_bytes())));
        } else {
            out.push(hash64(stem(letters).as_bytes()));
        }
    }
    // Words that mix Han characters and letters may be split differently from tokens.
    if out.len() - start != line.tokens().len() {
        out.truncate(start);
        out.extend(line.tokens().iter().map(|token| token.hash));
    }
}

/// Returns the first letters of a word; a word that contains a digit (a version or a number) or a dot (`nn.fold`) has no other forms.
fn stem(word: &str) -> &str {
    let is_word = word.chars().all(char::is_alphabetic);
    let end = word.char_indices().nth(STEM).filter(|_| is_word);
    end.map_or(word, |(end, _)| &word[..end])
}

/// Returns the hash of a title that is a single name. Returns 0 if there is more than one word, for a script without spaces between words,
/// and for dates and other numbers.
fn name(title: &str) -> u64 {
    let is_number = title.contains(char::is_numeric) && !title.contains(char::is_alphabetic);
    if is_number || title.contains(|letter: char| letter.is_whitespace() || is_han(letter) || is_unspaced(letter)) {
        0
    } else {
        hash64(title.as_bytes()).max(1)
    }
}

/// Appends the hashes of the distinct lines of code, in ascending order.
pub(super) fn write_code(document: &Analysis<'_>, out: &mut Vec<u64>) {
    let raw = document.raw();
    if !FENCES.iter().any(|fence| raw.contains(fence)) {
        return;
    }
    let (mut lines, mut inside) = (Vec::new(), false);
    for line in raw.lines() {
        let is_fence = FENCES.iter().any(|fence| line.trim_start().starts_with(fence));
        inside ^= is_fence;
        if inside && !is_fence && line.contains(char::is_alphanumeric) {
            let letters: String = line.split_whitespace().collect();
            lines.push(hash64(letters.to_lowercase().as_bytes()));
        }
    }
    distinct(&mut lines);
    out.append(&mut lines);
}

/// Appends the hash of a text's label, or nothing if the text has none.
pub(super) fn write_label(document: &Analysis<'_>, out: &mut Vec<u64>) {
    let Some(line) = short_last_line(document, LABEL_BYTES) else { return };
    let line = document.beside(line);
    if (1..=LABEL).contains(&line.tokens().len()) {
        out.push(line.tokens().iter().fold(0, |hash: u64, token| hash.rotate_left(1) ^ token.hash));
    }
}

/// Holds a title as [`write_title`] wrote it.
pub(in crate::measure) struct Title<'t> {
    /// The hash of the title if it is a name, or 0.
    pub name: u64,
    /// The hash of the title.
    pub hash: u64,
    /// The number of tokens in the first line, with everything that does not belong to the title.
    pub line: u64,
    /// The stems of the title.
    pub stems: &'t [u64],
    /// The stems of the title and, if it is a name, of the next line.
    pub with_next: &'t [u64],
    phrases: &'t [u64],
}

impl<'t> Title<'t> {
    /// Reads a title as [`write_title`] wrote it, or returns `None` if the text has no title.
    pub(in crate::measure) fn of(values: &'t [u64]) -> Option<Title<'t>> {
        let (&[name, hash, line, tokens, all], rest) = values.split_first_chunk::<HEAD>()?;
        let (with_next, phrases) = rest.split_at_checked(all as usize)?;
        Some(Title { name, hash, line, stems: with_next.get(..tokens as usize)?, with_next, phrases })
    }

    /// Returns whether at least half of the words of this title are in the other title.
    pub(in crate::measure) fn shares_half(&self, other: &Title<'_>) -> bool {
        2 * self.stems.iter().filter(|stem| other.stems.contains(stem)).count() >= self.stems.len()
    }

    /// Returns whether the title is long enough to be recognized in a text, and a text with these 3-grams contains it.
    pub(in crate::measure) fn stands_in(&self, grams: &[u64]) -> bool {
        self.stems.len() >= LEAST_QUOTED && self.phrases.iter().all(|phrase| grams.binary_search(phrase).is_ok())
    }
}

//! Normalizes text so that different encodings of the same text become the same bytes.
//!
//! Invisible characters are removed first, so that they affect neither sentence boundaries nor normal forms. The text is converted to NFC,
//! and stress marks on Cyrillic letters are removed. Then the text is split into sentences (full-width marks still exist at this point).
//! Each piece is lowercased, converted to NFKC, and lowercased again (№ and ℃ contain capitals), and its white space is collapsed. No step
//! changes a letter into a different one unless [`Letters`] requests it: й remains й, and traditional and simplified characters differ.
//! Exponents, indices, fractions and numbers in circles next to a digit are separated from it, so that NFKC does not turn 10⁶ into 106, 1½
//! into 11⁄2 or 3⑤ into 35.
//!
//! Most pieces contain only ASCII, basic Cyrillic and Han characters, and their punctuation. Such a piece is copied in lowercase
//! (`text/simd/`); punctuation and white space are looked up in a small table (`plain`). A piece that contains any other character is
//! processed by the libraries. A property test checks that the shortcut and the libraries give the same result.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use icu_normalizer::{ComposingNormalizer, ComposingNormalizerBorrowed};
use icu_properties::props::DefaultIgnorableCodePoint;
use icu_properties::{CodePointSetData, CodePointSetDataBorrowed};

use super::pieces::Pieces;
use super::simd::copy_plain;
use super::traditional::simplify;
use super::{pool, sentence};
use dupsift_core::cpu::Level;

/// The maximum size of raw text that is analyzed, in bytes (128 MiB); readers reject rows that contain more text.
///
/// Offsets in the normalized text are 32-bit numbers. NFKC lengthens text by a factor of at most 11, and stems may double the length again,
/// so this limit keeps every offset below 2^32.
pub const MAX_TEXT_BYTES: usize = 128 << 20;

const NFC: ComposingNormalizerBorrowed<'static> = ComposingNormalizer::new_nfc();
const NFKC: ComposingNormalizerBorrowed<'static> = ComposingNormalizer::new_nfkc();

const IGNORABLE: CodePointSetDataBorrowed<'static> = CodePointSetData::new::<DefaultIgnorableCodePoint>();

/// The options for replacing letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Letters {
    /// Whether ё becomes е.
    pub yo_to_e: bool,
    /// Whether traditional Chinese characters are replaced with simplified characters.
    pub traditional: bool,
}

impl Letters {
    /// Replaces letters in place; the length in bytes does not change.
    fn read(self, text: &mut String) {
        if self.yo_to_e {
            *text = text.replace('ё', "е");
        }
        if self.traditional {
            simplify(text);
        }
    }
}

/// The normalized text of a document and the ends of its pieces (sentences, with or without words).
#[derive(Debug, Default)]
pub struct Normal {
    /// The pieces, separated by one U+0020.
    pub text: String,
    /// The end of each piece, in bytes; the next piece begins one byte later. No piece is empty.
    ends: Vec<u32>,
}

impl Normal {
    /// Normalizes raw text of at most [`MAX_TEXT_BYTES`]; returns `None` for longer text.
    pub fn of(raw: &str, letters: Letters) -> Option<Normal> {
        Normal::of_by(Level::best(), raw, letters)
    }

    /// Like [`Normal::of`], but with the kernels of the given level.
    fn of_by(level: Level, raw: &str, letters: Letters) -> Option<Normal> {
        if raw.len() > MAX_TEXT_BYTES {
            return None;
        }
        // Nearly all text is already composed. The check runs while the text is copied; if it fails, the text is composed first and copied
        // again.
        let mut normal = match Normal::of_composed(raw, false, level) {
            Some(normal) => normal,
            None => Normal::of_composed(&composed(raw), true, level)?,
        };
        letters.read(&mut normal.text);
        // The limit on the raw text guarantees this length. The length is checked anyway, because offsets would overflow otherwise.
        (normal.text.len() <= (u32::MAX / 2) as usize).then_some(normal)
    }

    /// Normalizes text that is in NFC and has no invisible characters. Returns `None` for text that may violate these conditions, unless
    /// the caller is `certain` that the text satisfies them.
    fn of_composed(text: &str, certain: bool, level: Level) -> Option<Normal> {
        let bytes = text.as_bytes();
        let mut out = Pieces {
            text: pool::take(|pool| &mut pool.text, text.len() + 64),
            ends: pool::take(|pool| &mut pool.ends, 0),
            start: 0,
            begin: 0,
        };
        let mut place = 0;
        while place < bytes.len() {
            if out.is_at_start() {
                // White space and blank lines before a piece are dropped.
                place += bytes[place..].iter().take_while(|&&byte| sentence::is_white(byte)).count();
            }
            // White space after white space is dropped.
            if !(out.is_behind_space() && bytes.get(place).is_some_and(|&byte| sentence::is_white(byte))) {
                place = copy_plain(level, text, place, &mut out);
            }
            let Some(&first) = bytes.get(place) else { break };
            if sentence::is_white(first) {
                let white = sentence::white_space_at(text, place);
                place += white.bytes;
                if white.divides {
                    out.end(place);
                } else if !out.is_behind_space() {
                    out.text.push(b' ');
                }
                continue;
            }
            let c = match first {
                0..=0x7F => first as char,
                _ => text[place..].chars().next()?,
            };
            if !certain && first > 0x7F && !is_surely_composed(c) {
                return None;
            }
            let end = sentence::boundary_at(text, place);
            let simple = match end {
                Some(end) => text[place..end].chars().all(|c| out.push(c)),
                None => out.push(c),
            };
            place = end.unwrap_or(place + c.len_utf8());
            if !simple {
                // A character is not in the table, so the libraries process the whole piece.
                place = end.unwrap_or_else(|| sentence::piece_end(text, place));
                let piece = &text[out.begin..place];
                if !certain && !piece.chars().all(is_surely_composed) {
                    return None;
                }
                out.text.truncate(out.start);
                push_any(piece, &mut out.text);
            }
            if end.is_some() || !simple {
                out.end(place);
            }
        }
        out.end(place);
        if !out.ends.is_empty() {
            // There is no separator after the last piece.
            out.text.pop();
        }
        let text = checked(out.text)?;
        Some(Normal { text, ends: out.ends })
    }

    /// Returns the lists to the pool so that the next document can use them.
    pub fn leave(self) {
        pool::leave(|pool| &mut pool.text, self.text.into_bytes());
        pool::leave(|pool| &mut pool.ends, self.ends);
    }

    /// Returns the byte range of each piece in the text, in order.
    pub fn pieces(&self) -> impl ExactSizeIterator<Item = Range<usize>> + '_ {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let piece = start..end as usize;
            start = end as usize + 1;
            piece
        })
    }
}

/// Converts bytes to a string if they are valid UTF-8. The check uses vector code and is ten times as fast as the check in the standard
/// library.
#[allow(unsafe_code)]
fn checked(bytes: Vec<u8>) -> Option<String> {
    simdutf8::basic::from_utf8(&bytes).ok()?;
    // SAFETY: the line above checked that the bytes are UTF-8.
    Some(unsafe { String::from_utf8_unchecked(bytes) })
}

/// Normalizes a single word from a stop-word list or a dictionary, in the same way as a word in a document.
pub fn normal_word(word: &str, letters: Letters) -> String {
    let mut text = Vec::with_capacity(word.len());
    push_any(&composed(word), &mut text);
    let mut text = String::from_utf8(text).unwrap_or_default();
    if text.ends_with(' ') {
        text.pop();
    }
    letters.read(&mut text);
    text
}

/// Returns the length that the output of [`normal_word`] would have for this stretch, in bytes, not counting white space. Does not allocate
/// the output.
pub fn visible_length(stretch: &str) -> usize {
    let mut visible = Visible(0);
    let written = NFKC.normalize_to(&separated(&composed(stretch).to_lowercase()), &mut visible);
    debug_assert!(written.is_ok(), "a number takes all");
    visible.0
}

/// Counts the bytes of the text that is written to it, except white space.
struct Visible(usize);

impl fmt::Write for Visible {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let small = text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase);
        self.0 += small.map(char::len_utf8).sum::<usize>();
        Ok(())
    }
}

/// Returns whether a character is invisible according to the Unicode property Default_Ignorable_Code_Point. Examples are the soft
/// hyphen, zero-width space and joiners, direction marks, variation selectors, Hangul fillers and tags.
fn is_invisible(c: char) -> bool {
    c >= '\u{AD}' && IGNORABLE.contains(c)
}

/// Returns the text without invisible characters and stress marks, in NFC.
fn composed(raw: &str) -> Cow<'_, str> {
    if !raw.contains(is_invisible) {
        return without_stress(NFC.normalize(raw));
    }
    let mut visible = String::with_capacity(raw.len());
    raw.split(is_invisible).for_each(|part| visible.push_str(part));
    Cow::Owned(without_stress(NFC.normalize(&visible)).into_owned())
}

/// Removes acute and grave accents on Cyrillic letters unless they are part of a letter (ѓ, ќ, ѐ and ѝ). Dictionaries, schoolbooks and
/// encyclopedias use these accents to mark stress. The text must be in NFC, and the result is in NFC.
fn without_stress(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains(is_stress) {
        return text;
    }
    let mut on_cyrillic = false;
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        if !is_combining(c) {
            on_cyrillic = is_cyrillic(c);
        }
        if !(on_cyrillic && is_stress(c)) {
            plain.push(c);
        }
    }
    if plain.len() == text.len() { text } else { Cow::Owned(NFC.normalize(&plain).into_owned()) }
}

fn is_stress(c: char) -> bool {
    matches!(c, '\u{300}' | '\u{301}')
}

fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{483}'..='\u{489}')
}

fn is_cyrillic(c: char) -> bool {
    matches!(c, '\u{400}'..='\u{52F}' | '\u{1C80}'..='\u{1C8F}' | '\u{A640}'..='\u{A69D}')
}

/// Returns whether the character is ASCII, basic Cyrillic, Han, or a common punctuation mark or symbol. Text that contains only these
/// characters is in NFC and has no invisible characters. This may also be true of other text.
#[inline]
fn is_surely_composed(c: char) -> bool {
    matches!(c,
        '\0'..='\x7F' | '\u{80}'..='\u{AC}' | '\u{AE}'..='\u{2FF}' | '\u{400}'..='\u{47F}'
        | '\u{2010}'..='\u{2029}' | '\u{202F}'..='\u{203F}' | '\u{20A0}'..='\u{20CF}' | '\u{2100}'..='\u{2125}' | '\u{2150}'..='\u{2328}'
        | '\u{232B}'..='\u{27FF}' | '\u{3000}'..='\u{3029}' | '\u{3400}'..='\u{9FFF}' | '\u{FF00}'..='\u{FF7F}'
        | '\u{1F300}'..='\u{1FAFF}')
}

/// Appends the normal form of a piece, with at most one space at its end. This function defines the normal form; all other code paths are
/// shortcuts.
fn push_any(piece: &str, out: &mut Vec<u8>) {
    let mut folded = Folded { out, after_space: true };
    // The output is written incrementally, because a piece may become eleven times as long and would otherwise be in memory twice.
    let written = NFKC.normalize_to(&separated(&piece.to_lowercase()), &mut folded);
    debug_assert!(written.is_ok(), "a list takes all");
}

/// The position of a digit relative to the line, or [`Position::Other`] for a character that NFKC does not turn into a digit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Line,
    Superscript,
    Subscript,
    Fraction,
    /// A number in a circle, or with a mark or a word after it.
    Enclosed,
    Other,
}

/// Returns the positions in which a character begins and ends. The signs, brackets and letters of exponents and indices count as digits.
fn positions(c: char) -> [Position; 2] {
    match c {
        '0'..='9' | '\u{FF10}'..='\u{FF19}' | '\u{1D7CE}'..='\u{1D7FF}' | '\u{1FBF0}'..='\u{1FBF9}' => {
            [Position::Line; 2]
        }
        '²' | '³' | '¹' | '\u{2070}'..='\u{207F}' => [Position::Superscript; 2],
        '\u{2080}'..='\u{208E}' => [Position::Subscript; 2],
        '¼'..='¾' | '\u{2150}'..='\u{215F}' | '\u{2189}' => [Position::Fraction; 2],
        '①'..='⑳' | '⒈'..='⒛' | '⓪' | '㉑'..='㉟' | '㊱'..='㊿' | '\u{1F100}'..='\u{1F10A}' => {
            [Position::Enclosed; 2]
        }
        // Months, hours and days, which end with a word.
        '㋀'..='㋋' | '㍘'..='㍰' | '㏠'..='㏾' => [Position::Enclosed, Position::Other],
        // Units of areas, volumes and accelerations.
        '㍸' | '㍹' | '㎟'..='㎦' | '㎨' | '㎯' => [Position::Other, Position::Superscript],
        _ => [Position::Other; 2],
    }
}

/// Returns the text with a mark between two digits in different positions, which NFKC would otherwise join to a different number: `10^6`
/// for 10⁶, `10_2` for 10₂, `1 1⁄2` for 1½ and `3 5` for 3⑤. Spaces are not visible, so the number of visible bytes does not depend on
/// the characters that follow.
fn separated(text: &str) -> Cow<'_, str> {
    let is_raised = |c: char| {
        c > '\u{7F}' && positions(c).iter().any(|position| !matches!(position, Position::Line | Position::Other))
    };
    if !text.contains(is_raised) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut before) = (String::with_capacity(text.len() + 8), Position::Other);
    for c in text.chars() {
        let [here, end] = positions(c);
        if before != Position::Other && (before != here || matches!(here, Position::Fraction | Position::Enclosed)) {
            match here {
                Position::Superscript => out.push('^'),
                Position::Subscript => out.push('_'),
                Position::Line | Position::Fraction | Position::Enclosed => out.push(' '),
                Position::Other => {}
            }
        }
        out.push(c);
        before = end;
    }
    Cow::Owned(out)
}

/// Collapses the white space in the text that is written to it, and lowercases the capitals in the output of NFKC (№ becomes `No`).
struct Folded<'o> {
    out: &'o mut Vec<u8>,
    after_space: bool,
}

impl fmt::Write for Folded<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| self.write_char(c))
    }

    fn write_char(&mut self, c: char) -> fmt::Result {
        let white = c.is_whitespace();
        if white && !self.after_space {
            self.out.push(b' ');
        } else if !white {
            for c in c.to_lowercase() {
                self.out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        self.after_space = white;
        Ok(())
    }
}

#[cfg(test)]
#[path = "normal_tests.rs"]
mod tests;

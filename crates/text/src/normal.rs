//! Normalizes text so that different encodings of the same text become the same bytes.
//!
//! Invisible characters are removed first, so that they affect neither sentence boundaries nor normal forms. The text is converted to NFC,
//! and stress marks on Cyrillic letters are removed. Then the text is split into sentences (full-width marks still exist at this point).
//! Each piece is lowercased, converted to NFKC, and lowercased again (№ and ℃ contain capitals), and its white space is collapsed. The
//! decimal digits of all scripts become ASCII digits. Exponents, indices, fractions and numbers in circles next to a digit are separated
//! from it, so that NFKC does not turn 10⁶ into 106, 1½ into 11⁄2 or 3⑤ into 35; exponents are also separated from letters (m²).
//!
//! Marks that Arabic, Hebrew and Greek are written with or without are removed, and Arabic letters that are used for each other become
//! one ([`Folding`]). No other step changes a letter into a different one unless [`Letters`] requests it: й remains й, é remains é, and
//! traditional and simplified characters differ.
//!
//! Most pieces contain only ASCII, basic Cyrillic and Han characters, and their punctuation. Such a piece is copied in lowercase
//! (`text/simd/`); punctuation and white space are looked up in a small table (`plain`). A piece that contains any other character is
//! processed by the libraries. A property test checks that the shortcut and the libraries give the same result.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::sync::LazyLock;

use icu_normalizer::properties::{CanonicalDecomposition, CanonicalDecompositionBorrowed, Decomposed};
use icu_normalizer::{ComposingNormalizer, ComposingNormalizerBorrowed};
use icu_properties::props::{DefaultIgnorableCodePoint, GeneralCategory, Script};
use icu_properties::{CodePointMapData, CodePointMapDataBorrowed, CodePointSetData, CodePointSetDataBorrowed};

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

const DECOMPOSITION: CanonicalDecompositionBorrowed<'static> = CanonicalDecomposition::new();
const CATEGORY: CodePointMapDataBorrowed<'static, GeneralCategory> = CodePointMapData::<GeneralCategory>::new();
const SCRIPT: CodePointMapDataBorrowed<'static, Script> = CodePointMapData::<Script>::new();

/// The ranges of decimal digits. Each range consists of one or more sets of ten digits, from zero to nine.
static DIGITS: LazyLock<Vec<RangeInclusive<u32>>> =
    LazyLock::new(|| CATEGORY.iter_ranges_for_value(GeneralCategory::DecimalNumber).collect());

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
    let mut visible = 0;
    Folding::new(|c| visible += if c == ' ' { 0 } else { c.len_utf8() }).push(&composed(stretch));
    visible
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
    // The output is written incrementally, because a piece may become eleven times as long and would otherwise be in memory twice.
    Folding::new(|c| out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes())).push(piece);
}

/// Returns the value of a decimal digit outside of ASCII.
fn digit(c: char) -> Option<char> {
    if c <= '\u{5FF}' || CATEGORY.get(c) != GeneralCategory::DecimalNumber {
        return None;
    }
    let c = u32::from(c);
    let at = DIGITS.partition_point(|range| *range.end() < c);
    let value = (c - DIGITS.get(at)?.start()) % 10;
    char::from_digit(value, 10)
}

/// Returns lowercase text with ASCII digits and decimal and thousands separators in place of those of other scripts, and with `i` in place
/// of the lowercase form of İ, which has a second dot.
fn with_ascii_digits(text: String) -> String {
    let changes = |c: char| c == '\u{307}' || matches!(c, '\u{66B}' | '\u{66C}') || digit(c).is_some();
    if !text.contains(changes) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{307}' if out.ends_with('i') => {}
            '\u{66B}' => out.push('.'),
            '\u{66C}' => out.push(','),
            _ => out.push(digit(c).unwrap_or(c)),
        }
    }
    out
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
        '0'..='9' => [Position::Line; 2],
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
/// for 10⁶, `10_2` for 10₂, `1 1⁄2` for 1½ and `3 5` for 3⑤; and with a mark between a letter or a bracket and an exponent: `m^2` for m²
/// and ㎡. Spaces are not visible, so the number of visible bytes does not depend on the characters that follow.
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
        } else if here == Position::Superscript && out.ends_with(|c: char| c.is_alphabetic() || matches!(c, ')' | ']'))
        {
            out.push('^');
        }
        out.push(c);
        if here == Position::Other && end == Position::Superscript {
            // The last character of a unit is its exponent.
            out.pop();
            out.push_str(&NFKC.normalize(c.encode_utf8(&mut [0; 4])));
            let exponent = out.pop();
            out.push('^');
            out.extend(exponent);
        }
        before = end;
    }
    Cow::Owned(out)
}

/// Writes normalized characters: collapses white space, lowercases the capitals in the output of NFKC (№ becomes `No`), and removes
/// differences between spellings of the same word.
///
/// Arabic, Hebrew and Greek letters lose their nonspacing marks: vowel signs, points and accents, which most texts omit or which capitals
/// do not have. Arabic letters that look alike at the end of a word or that Persian keyboards write differently become one, the tatweel,
/// which only stretches a word, is removed, and the final sigma becomes a sigma.
struct Folding<W> {
    write: W,
    after_space: bool,
    /// Whether marks on the last letter are removed.
    drops_marks: bool,
}

impl<W: FnMut(char)> Folding<W> {
    fn new(write: W) -> Folding<W> {
        Folding { write, after_space: true, drops_marks: false }
    }

    /// Writes the normal form of a piece in NFC.
    fn push(&mut self, piece: &str) {
        let written = NFKC.normalize_to(&separated(&with_ascii_digits(piece.to_lowercase())), self);
        debug_assert!(written.is_ok(), "characters are always accepted");
    }

    /// Writes a lowercase letter or another visible character.
    fn fold(&mut self, c: char) {
        // Only these blocks have letters of the three scripts in the output of NFKC, and marks.
        if !matches!(c, '\u{300}'..='\u{3FF}' | '\u{590}'..='\u{8FF}' | '\u{1DC0}'..='\u{1FFF}' | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}' | '\u{10E60}'..='\u{10EFF}')
        {
            self.drops_marks = false;
            return (self.write)(c);
        }
        if CATEGORY.get(c) == GeneralCategory::NonspacingMark {
            if !self.drops_marks {
                (self.write)(c);
            }
            return;
        }
        let script = SCRIPT.get(c);
        if c != '\u{640}' {
            self.drops_marks = matches!(script, Script::Arabic | Script::Hebrew | Script::Greek);
        }
        match c {
            '\u{640}' => {}
            'ى' | 'ی' => (self.write)('ي'),
            'ة' => (self.write)('ه'),
            'ک' => (self.write)('ك'),
            'ς' => (self.write)('σ'),
            _ if script == Script::Greek => (self.write)(base_letter(c)),
            _ => (self.write)(c),
        }
    }
}

/// Returns a letter without its marks.
fn base_letter(c: char) -> char {
    match DECOMPOSITION.decompose(c) {
        Decomposed::Expansion(base, _) => base_letter(base),
        Decomposed::Singleton(base) => base,
        Decomposed::Default => c,
    }
}

impl<W: FnMut(char)> fmt::Write for Folding<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| self.write_char(c))
    }

    fn write_char(&mut self, c: char) -> fmt::Result {
        let white = c.is_whitespace();
        if white && !self.after_space {
            (self.write)(' ');
            self.drops_marks = false;
        } else if !white {
            c.to_lowercase().for_each(|c| self.fold(c));
        }
        self.after_space = white;
        Ok(())
    }
}

#[cfg(test)]
#[path = "normal_tests.rs"]
mod tests;

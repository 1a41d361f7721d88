//! Splits text into sentences.
//!
//! A piece ends after `.`, `!`, `?` or U+2026 if white space, a closing quotation mark or bracket, or the end of the text follows. A piece
//! always ends after U+3002, U+FF01, U+FF1F and U+FF61, and after the sentence marks of other scripts (the Unicode property
//! Sentence_Terminal), except for forms of the ASCII period. A piece also ends at a blank line (white space that contains two line breaks) or at
//! U+2029, which text extractors write between blocks. A single line break is not a boundary. Sentence marks, closing quotation marks and
//! brackets right after the end of a sentence also belong to its piece.
//!
//! The text must be in NFC but not yet in NFKC, which turns full-width marks into ASCII marks, for which different rules apply. The rules
//! of this module also split text after an abbreviation such as `etc.` or after a heading number, which is harmless as long as all
//! documents are split the same way.

use icu_properties::props::SentenceTerminal;
use icu_properties::{CodePointSetData, CodePointSetDataBorrowed};

const TERMINAL: CodePointSetDataBorrowed<'static> = CodePointSetData::new::<SentenceTerminal>();

/// Returns the end of the piece that contains `from`. No boundary may begin between the start of the piece and `from`.
pub fn piece_end(text: &str, from: usize) -> usize {
    (from..text.len()).find_map(|place| boundary_at(text, place)).unwrap_or(text.len())
}

const MAY_BEGIN_BOUNDARY: [bool; 256] = {
    let mut table = [false; 256];
    // These are the ASCII marks and line breaks, and the first bytes of U+0085 (C2), of U+2026, U+2028 and U+2029 (E2), of U+3002 (E3), of
    // U+FF01, U+FF1F and U+FF61 (EF), and of the marks of other scripts.
    let bytes =
        [b'.', b'!', b'?', b'\n', b'\r', 0xC2, 0xD6, 0xD8, 0xDB, 0xDC, 0xDF, 0xE0, 0xE1, 0xE2, 0xE3, 0xEA, 0xEF, 0xF0];
    let mut i = 0;
    while i < bytes.len() {
        table[bytes[i] as usize] = true;
        i += 1;
    }
    table
};

/// Returns the end of the piece if the character at `place` ends a piece.
#[inline]
pub(crate) fn boundary_at(text: &str, place: usize) -> Option<usize> {
    // A boundary begins with one of the bytes in the table, none of which occurs inside a character.
    let bytes = text.as_bytes();
    if !MAY_BEGIN_BOUNDARY[bytes[place] as usize] {
        return None;
    }
    match (bytes[place], bytes.get(place + 1), bytes.get(place + 2)) {
        // Most of these marks are inside a number or an address, or are followed by a space and a word.
        (b'.' | b'!' | b'?', Some(next), _) if next.is_ascii_alphanumeric() => None,
        (b'.' | b'!' | b'?', Some(&next), Some(_)) if is_white(next) => Some(place + 1),
        // These bytes form a Chinese period, followed by a letter (including a Chinese character) or by white space.
        (0xE3, Some(0x80), Some(0x82)) if bytes.get(place + 3).is_some_and(|&next| is_letter_or_white(next)) => {
            Some(place + 3)
        }
        // A line break before a visible ASCII character does not begin a blank line.
        (b'\n', Some(b'!'..=b'~'), _) => None,
        _ => mark_at(text, place),
    }
}

/// Returns whether a byte is ASCII white space.
#[inline]
pub(crate) fn is_white(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// Returns `true` only if a character with this byte is neither a sentence mark nor closing punctuation.
#[inline]
fn is_letter_or_white(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || is_white(byte) || matches!(byte, 0xD0 | 0xD1 | 0xE4..=0xE9)
}

/// A stretch of white space.
pub(crate) struct WhiteSpace {
    /// The length in bytes.
    pub bytes: usize,
    /// Whether the white space contains a blank line or a block boundary, and therefore ends a piece.
    pub divides: bool,
}

/// Returns the white space that begins at `place`. The white space is read only once, because the caller skips all of it.
pub(crate) fn white_space_at(text: &str, place: usize) -> WhiteSpace {
    let mut white = WhiteSpace { bytes: 0, divides: false };
    let mut line_ends = 0;
    let mut after_return = false;
    for c in text[place..].chars().take_while(|c| c.is_whitespace()) {
        white.bytes += c.len_utf8();
        match c {
            '\u{2029}' => white.divides = true,
            // CR LF is one line break.
            '\n' if after_return => {}
            '\n' | '\r' | '\u{85}' | '\u{2028}' => line_ends += 1,
            _ => {}
        }
        after_return = c == '\r';
    }
    white.divides |= line_ends >= 2;
    white
}

fn mark_at(text: &str, place: usize) -> Option<usize> {
    let rest = &text[place..];
    let mark = rest.chars().next()?;
    let behind = &rest[mark.len_utf8()..];
    let ends_here = match mark {
        '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
            let white = white_space_at(text, place);
            return white.divides.then_some(place + white.bytes);
        }
        '\u{3002}' | '\u{FF01}' | '\u{FF1F}' | '\u{FF61}' => true,
        '.' | '!' | '?' | '\u{2026}' => match behind.chars().next() {
            None => true,
            Some(next) => next.is_whitespace() || is_closing(next),
        },
        _ => is_terminal(mark),
    };
    ends_here.then(|| text.len() - behind.trim_start_matches(|c| is_mark(c) || is_closing(c)).len())
}

fn is_mark(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '\u{2026}' | '\u{3002}' | '\u{FF01}' | '\u{FF1F}' | '\u{FF61}') || is_terminal(c)
}

/// Returns whether a character outside of ASCII ends a sentence. Forms of the ASCII period may also be inside a number.
fn is_terminal(c: char) -> bool {
    c > '\u{57F}' && !matches!(c, '\u{2024}' | '\u{FE52}' | '\u{FF0E}') && TERMINAL.contains(c)
}

/// Returns whether a character is a closing quotation mark or bracket. The two raised quotation marks that open a quotation in English
/// are included, because they close a quotation in German and Russian.
pub(crate) fn is_closing(c: char) -> bool {
    matches!(
        c,
        ')' | ']'
            | '}'
            | '"'
            | '\''
            | '»'
            | '›'
            | '’'
            | '”'
            | '“'
            | '‘'
            | '〉'
            | '》'
            | '」'
            | '』'
            | '】'
            | '〕'
            | '〗'
            | '〙'
            | '〛'
            | '〞'
            | '〟'
            | '⟩'
            | '⟫'
            | '）'
            | '］'
            | '｝'
            | '＂'
            | '＇'
            | '｠'
            | '｣'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<&str> {
        let mut pieces = Vec::new();
        let mut start = 0;
        while start < text.len() {
            let end = piece_end(text, start);
            pieces.push(&text[start..end]);
            start = end;
        }
        pieces
    }

    #[test]
    fn table_of_cases() {
        for (text, expected) in [
            ("", &[][..]),
            (".", &["."]),
            ("Кот спит. Он спит", &["Кот спит.", " Он спит"]),
            ("Pi is 3.14 or so.", &["Pi is 3.14 or so."]),
            ("see example.com/a.b?c=d!e", &["see example.com/a.b?c=d!e"]),
            ("Really?! Yes... No", &["Really?!", " Yes...", " No"]),
            ("He said \"Go.\" Then", &["He said \"Go.\"", " Then"]),
            ("(It is.) «Да!» — он", &["(It is.)", " «Да!»", " — он"]),
            ("今天。明天！后天？大后天｡完", &["今天。", "明天！", "后天？", "大后天｡", "完"]),
            ("他说：“好。”我走了……真的", &["他说：“好。”", "我走了……真的"]),
            ("「行。」（是！）完", &["「行。」", "（是！）", "完"]),
            ("Wait… what…now", &["Wait…", " what…now"]),
            ("one\ntwo", &["one\ntwo"]),
            ("one\r\ntwo", &["one\r\ntwo"]),
            ("one\n \t\ntwo", &["one\n \t\n", "two"]),
            ("one\r\n\r\ntwo", &["one\r\n\r\n", "two"]),
            ("one\n\u{3000}\ntwo", &["one\n\u{3000}\n", "two"]),
            ("one\u{2029}two", &["one\u{2029}", "two"]),
            ("one \u{2029} two", &["one \u{2029} ", "two"]),
            ("a.\u{301}b", &["a.\u{301}b"]),
            ("वह गया। वह आया॥अंत", &["वह गया।", " वह आया॥", "अंत"]),
            ("هل ذهب؟ نعم۔ لا", &["هل ذهب؟", " نعم۔", " لا"]),
            ("ሰላም። ደህና", &["ሰላም።", " ደህና"]),
            ("ဟုတ်။မဟုတ်", &["ဟုတ်။", "မဟုတ်"]),
            ("３．５", &["３．５"]),
        ] {
            assert_eq!(pieces(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_table_has_the_first_byte_of_each_mark() {
        let mut marks = ('\0'..=char::MAX).filter(|c| is_mark(*c));
        assert!(marks.all(|c| MAY_BEGIN_BOUNDARY[c.to_string().as_bytes()[0] as usize]));
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lost(text in "[a。.!?…\"” \n\r\u{85}\u{2029}я]{0,40}") {
            proptest::prop_assert_eq!(pieces(&text).concat(), text.clone());
            proptest::prop_assert!(pieces(&text).iter().all(|piece| !piece.is_empty()));
        }
    }
}

//! Classifies characters according to the rules by which text is split into words.
//!
//! Han characters are split by the selected tokenizer, other scripts without spaces by a separate segmenter, and all other characters by
//! the rules of UAX #29. In nearly all Russian and English text, the [`Class`] of a character determines its word-break property, so the
//! library is not called. The ranges are from Unicode 18; they are listed here because a table of scripts would require another crate for
//! a dozen ranges. Thai, Lao, Khmer and Burmese digits follow the rules of UAX #29, which combine them into numbers.

/// The class of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Class {
    /// A character that is never part of a word and joins nothing: the space, and most ASCII and Chinese punctuation marks.
    Border,
    /// An ASCII or Cyrillic letter.
    Letter,
    /// An ASCII digit.
    Digit,
    /// The underscore, which joins letters and digits on both sides.
    Joiner,
    /// `.` or an apostrophe, which joins two letters or two digits.
    Between,
    /// `:`, which joins two letters.
    BetweenLetters,
    /// `,` or `;`, which joins two digits.
    BetweenDigits,
    /// `"`, which joins two Hebrew letters and ends any other word.
    Quote,
    /// Any other character for which UAX #29 has rules.
    Other,
    /// A Chinese character.
    Han,
    /// A character in another script without spaces between words.
    Unspaced,
}

/// Returns the class of a character in normalized text, in which U+0020 is the only white space.
#[inline]
pub(crate) fn class(c: char) -> Class {
    const LOW: [Class; 0x530] = {
        let mut table = [Class::Other; 0x530];
        let mut c = 0;
        while c < table.len() {
            table[c] = match c as u32 {
                0x41..=0x5A | 0x61..=0x7A | 0x400..=0x481 | 0x48A..=0x52F => Class::Letter,
                0x30..=0x39 => Class::Digit,
                0x5F => Class::Joiner,
                0x27 | 0x2E => Class::Between,
                0x3A => Class::BetweenLetters,
                0x2C | 0x3B => Class::BetweenDigits,
                0x22 => Class::Quote,
                0..=0x7F | 0xAB | 0xBB => Class::Border,
                _ => Class::Other,
            };
            c += 1;
        }
        table
    };
    if let Some(&class) = LOW.get(c as usize) {
        return class;
    }
    match c {
        '\u{4E00}'..='\u{9FFF}' => Class::Han,
        '–' | '—' | '“' | '”' | '„' | '•' | '\u{3001}' | '\u{3002}' | '\u{3008}'..='\u{3011}' => {
            Class::Border
        }
        '‘' | '’' => Class::Between,
        _ if is_han(c) => Class::Han,
        _ if is_unspaced(c) => Class::Unspaced,
        _ => Class::Other,
    }
}

/// Returns whether a character is an ideograph, U+3005 or U+3007. Ideographs are the characters of the Han script,
/// except radicals, which are symbols.
#[inline]
pub fn is_han(c: char) -> bool {
    matches!(c,
        '\u{4E00}'..='\u{9FFF}'
        | '\u{3005}' | '\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303B}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{2FFFD}'
        | '\u{30000}'..='\u{3FFFD}')
}

/// Returns whether a character continues a run in a script without spaces. Combining marks continue a run, because they belong to the
/// letter before them.
pub(crate) fn continues_unspaced(c: char) -> bool {
    is_unspaced(c) || matches!(c, '\u{300}'..='\u{36F}')
}

/// Returns whether a character belongs to a script without spaces between words, other than Han: kana, Thai, Lao, Burmese or Khmer.
pub fn is_unspaced(c: char) -> bool {
    matches!(c,
        // Hiragana and Katakana, with their voicing and repetition marks.
        '\u{3031}'..='\u{3035}' | '\u{3041}'..='\u{3096}' | '\u{3099}' | '\u{309A}' | '\u{309D}'..='\u{309F}'
        | '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' | '\u{FF66}'..='\u{FF9D}'
        | '\u{1AFF0}'..='\u{1AFFE}' | '\u{1B000}'..='\u{1B16F}'
        // Thai, Lao, Burmese, Khmer.
        | '\u{E01}'..='\u{E3A}' | '\u{E40}'..='\u{E4E}'
        | '\u{E81}'..='\u{EBD}' | '\u{EC0}'..='\u{ECE}' | '\u{EDC}'..='\u{EDF}'
        | '\u{1000}'..='\u{103F}' | '\u{1050}'..='\u{108F}' | '\u{109A}'..='\u{109D}'
        | '\u{A9E0}'..='\u{A9EF}' | '\u{A9FA}'..='\u{A9FE}' | '\u{AA60}'..='\u{AA76}' | '\u{AA7A}'..='\u{AA7F}'
        | '\u{1780}'..='\u{17D3}' | '\u{17D7}' | '\u{17DC}' | '\u{17DD}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_go_their_way() {
        for (characters, expected) in [
            (" -/\0«—。", Class::Border),
            ("aZйёІѣҐ", Class::Letter),
            ("09", Class::Digit),
            ("_", Class::Joiner),
            (".'’", Class::Between),
            (":", Class::BetweenLetters),
            (",;", Class::BetweenDigits),
            ("\"", Class::Quote),
            ("éßअ한عΩ\u{301}😀\u{FFFD}๑၁・", Class::Other),
            ("中々〇㐀𠀀\u{FA0E}〥", Class::Han),
            ("あアーヽกລမក\u{3099}", Class::Unspaced),
        ] {
            for c in characters.chars() {
                assert_eq!(class(c), expected, "{c:?}");
            }
        }
    }
}

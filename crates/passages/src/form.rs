//! Computes the normal form in which units are compared: lower case, NFKC, single spaces, no invisible characters.
//!
//! The normal form equals the result of `dupsift_text::normal::normal_word`. Most units contain only ASCII, basic Cyrillic, Han characters
//! and common punctuation marks. The normal form of such a unit is written directly as a copy with small changes. A test checks that the
//! direct result equals that of `normal_word`.

use dupsift_core::hash::hash128;
use dupsift_text::normal::{Letters, normal_word};

/// Returns the hash of the normal form of a unit. `out` is a buffer that the thread reuses.
pub fn hash(unit: &str, letters: Letters, out: &mut Vec<u8>) -> u128 {
    out.clear();
    if write_plain(unit, letters, out) {
        if out.last() == Some(&b' ') {
            out.pop();
        }
        hash128(out)
    } else {
        hash128(normal_word(unit, letters).as_bytes())
    }
}

/// Returns whether text has at least this many characters. Each run of white space counts as one character.
pub(crate) fn has_chars(text: &str, least: u32) -> bool {
    let (mut count, mut after_space) = (0, false);
    for c in text.chars() {
        let white = c.is_whitespace();
        count += u32::from(!(white && after_space));
        after_space = white;
        if count >= least {
            return true;
        }
    }
    least == 0
}

/// The number of bytes that are normalized at a time if all of them are ASCII.
const BLOCK: usize = 16;

/// Writes the normal form of a unit that consists of plain characters. Returns `false` if the unit contains other characters.
fn write_plain(unit: &str, letters: Letters, out: &mut Vec<u8>) -> bool {
    let bytes = unit.as_bytes();
    // Normalization makes no character longer, but storing the last character writes `WORD` bytes.
    out.resize(bytes.len() + WORD, 0);
    let (mut after_space, mut at, mut to) = (true, 0, 0);
    while let Some(&first) = bytes.get(at) {
        if first < 0x80 {
            if let Some(block) = bytes[at..].first_chunk::<BLOCK>()
                && is_plain_block(block, after_space)
            {
                out[to..to + BLOCK].copy_from_slice(&block.map(|byte| byte.to_ascii_lowercase()));
                after_space = block[BLOCK - 1] == b' ';
                (at, to) = (at + BLOCK, to + BLOCK);
                continue;
            }
            let is_space = matches!(first, 9..=13 | b' ');
            if !(is_space && after_space) {
                out[to] = if is_space { b' ' } else { first.to_ascii_lowercase() };
                to += 1;
            }
            after_space = is_space;
            at += 1;
            continue;
        }
        // Cyrillic letters, and Han characters starting at U+4E00.
        let quick: Option<([u8; WORD], usize)> = match (first, &bytes[at + 1..]) {
            (0xD0, &[second @ 0x90..=0x9F, ..]) => Some(([0xD0, second + 0x20, 0, 0], 2)),
            (0xD0, &[second @ 0xA0..=0xAF, ..]) => Some(([0xD1, second - 0x20, 0, 0], 2)),
            (0xD0, &[second @ 0xB0..=0xBF, ..]) => Some(([0xD0, second, 0, 0], 2)),
            (0xD1, &[second @ 0x80..=0x8F, ..]) => Some(([0xD1, second, 0, 0], 2)),
            (0xE4, &[second @ 0xB8..=0xBF, third, ..]) if !letters.traditional => Some(([0xE4, second, third, 0], 3)),
            (0xE5..=0xE9, &[second, third, ..]) if !letters.traditional => Some(([first, second, third, 0], 3)),
            _ => None,
        };
        if let Some((lower, length)) = quick {
            out[to..to + WORD].copy_from_slice(&lower);
            (after_space, at, to) = (false, at + length, to + length);
            continue;
        }
        let Some(c) = unit[at..].chars().next() else { break };
        let lower = match c {
            'ё' | 'Ё' if letters.yo_to_e => 'е',
            'ё' | 'Ё' => 'ё',
            '\u{3001}' | '\u{3002}' | '\u{3008}'..='\u{3011}' | '«' | '»' | '·' => c,
            '\u{2013}' | '\u{2014}' | '\u{2018}' | '\u{2019}' | '\u{201C}'..='\u{201E}' | '\u{2022}' => c,
            '\u{FF01}'..='\u{FF5E}' => {
                let ascii = char::from_u32(c as u32 - 0xFEE0).unwrap_or(c);
                ascii.to_ascii_lowercase()
            }
            '\u{A0}' | '\u{3000}' => ' ',
            _ => return false,
        };
        if lower != ' ' || !after_space {
            to += lower.encode_utf8(&mut out[to..]).len();
        }
        after_space = lower == ' ';
        at += c.len_utf8();
    }
    out.truncate(to);
    true
}

/// The number of bytes that are written for every multi-byte character. The next character may overwrite the last of these bytes.
const WORD: usize = 4;

/// Returns whether the block, apart from uppercase letters, is already in normal form: printable ASCII without two spaces in a row.
fn is_plain_block(block: &[u8; BLOCK], after_space: bool) -> bool {
    // Checks all bytes without branches so that the loop compiles to a few vector instructions.
    let mut is_plain = !(after_space && block[0] == b' ');
    let mut before = 0;
    for &byte in block {
        is_plain &= byte.wrapping_sub(b' ') < 0x5F;
        is_plain &= !(byte == b' ' && before == b' ');
        before = byte;
    }
    is_plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_unit_have_one_hash() {
        let of = |unit: &str| hash(unit, Letters::default(), &mut Vec::new());
        assert_eq!(of("All  Rights\tReserved."), of("all rights reserved. "));
        assert_eq!(of("ВСЕ ПРАВА"), of("все\u{A0}права"));
        assert_eq!(of("Ｎｏ．１，版权"), of("no.1,版权"));
        assert_eq!(of("co\u{AD}operate"), of("cooperate"));
        assert_ne!(of("все права"), of("все правд"));
        let letters = Letters { yo_to_e: true, traditional: true };
        assert_eq!(hash("Ёлка 漢", letters, &mut Vec::new()), hash("елка 汉", letters, &mut Vec::new()));
    }

    #[test]
    fn lengths_are_those_of_folded_text() {
        assert!(has_chars("a  \n b", 3) && !has_chars("a  \n b", 4));
        assert!(has_chars("", 0) && !has_chars("", 1) && has_chars("中文", 2));
    }

    proptest::proptest! {
        #[test]
        fn blocks_of_ascii_are_normalized_as_single_characters(unit in "[a-cX-Z0-9 .\\t中Э]{0,80}") {
            let slow = hash128(normal_word(&unit, Letters::default()).as_bytes());
            proptest::prop_assert_eq!(hash(&unit, Letters::default(), &mut Vec::new()), slow);
        }

        #[test]
        fn the_short_way_is_the_long_way(unit in "[a-cX-Z0-9 .,\n\t\u{AD}а-вЭ-ЯёЁйі中文漢、。【】，！Ｎ«»“”–—…№é\u{301}\u{3000}\u{A0}가]{0,30}", yo in proptest::bool::ANY) {
            let letters = Letters { yo_to_e: yo, traditional: false };
            let slow = hash128(normal_word(&unit, letters).as_bytes());
            proptest::prop_assert_eq!(hash(&unit, letters, &mut Vec::new()), slow);
        }
    }
}

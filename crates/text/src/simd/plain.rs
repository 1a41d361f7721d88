//! Implements `copy_plain` and `classify` in plain code, which defines the results that the vector code must match.

use super::Classes;

/// Implements [`super::copy_plain`].
pub(super) fn copy_lower(bytes: &[u8], from: usize, out: &mut Vec<u8>) -> usize {
    let mut place = from;
    let mut copied = from;
    while let Some(&first) = bytes.get(place) {
        let second = bytes.get(place + 1).copied().unwrap_or_default();
        match first {
            b'.' | b'!' | b'?' => break,
            b' ' if second <= b' ' => break,
            b' '..=0x7F => place += 1,
            // The code points of capitals from Ѐ to Џ are 80 below the code points of their lowercase letters; for capitals from А to Я,
            // the difference is 32.
            0xD0 => {
                let small = match second {
                    0x80..=0x8F => [0xD1, second + 0x10],
                    0x90..=0x9F => [0xD0, second + 0x20],
                    0xA0..=0xAF => [0xD1, second - 0x20],
                    _ => [first, second],
                };
                if small != [first, second] {
                    push_ascii_lower(&bytes[copied..place], out);
                    out.extend_from_slice(&small);
                    copied = place + 2;
                }
                place += 2;
            }
            0xD1 if second < 0xA0 => place += 2,
            0xE4..=0xE9 => place += 3,
            _ => break,
        }
    }
    push_ascii_lower(&bytes[copied..place], out);
    place
}

fn push_ascii_lower(bytes: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(bytes);
    out[start..].make_ascii_lowercase();
}

/// Implements [`super::count_characters`]: counts the bytes that begin a character.
pub(super) fn count_characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

/// Implements [`super::classify`].
pub(super) fn classify(text: &str, out: &mut Vec<Classes>) {
    let mut classes = Classes::default();
    let mut place = 0;
    for c in text.chars() {
        let (letter, border, han, other) = match c {
            '0'..='9' | 'A'..='Z' | 'a'..='z' | '\u{400}'..='\u{47F}' => (1, 0, 0, 0),
            '\'' | '.' | ':' | ',' | ';' | '"' => (0, 0, 0, 0),
            '_' => (0, 0, 0, 1),
            '\0'..='\x7F' | '«' | '»' => (0, 1, 0, 0),
            '–' | '—' | '“' | '”' | '„' | '•' => (0, 1, 0, 0),
            '\u{3001}' | '\u{3002}' | '\u{3008}'..='\u{3011}' => (0, 1, 0, 0),
            '\u{4E00}'..='\u{9FFF}' => (0, 0, 1, 0),
            _ => (0, 0, 0, 1),
        };
        for _ in 0..c.len_utf8() {
            classes.letter |= letter << place;
            classes.border |= border << place;
            classes.han |= han << place;
            classes.other |= other << place;
            place += 1;
            if place == 64 {
                out.push(std::mem::take(&mut classes));
                place = 0;
            }
        }
    }
    if place > 0 {
        classes.border |= u64::MAX << place;
        out.push(classes);
    }
}

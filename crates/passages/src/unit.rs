//! Finds the units of a text: lines, paragraphs, sentences. White space around a unit does not belong to the unit.

use dupsift_text::{normal::Letters, piece_end};
use memchr::memchr2_iter;

use crate::cut::Cut;
use crate::fold::{is_line_end, white_at, white_before};
use crate::form;

/// Describes the position of a unit in a text, in bytes. The first and last characters of the unit are not white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The position of the unit's first byte.
    pub start: usize,
    /// The position after the unit's last byte.
    pub end: usize,
}

/// Calls `each` with the lines, paragraphs or sentences of a text, in order. Blank units are skipped. [`Cut::Runs`] has no units.
pub fn units(text: &str, cut: Cut, each: &mut dyn FnMut(Unit)) {
    let mut take = |from: usize, to: usize| {
        let start = from + white_at(&text[..to], from);
        if start < to {
            each(Unit { start, end: white_before(text, to) });
        }
    };
    let mut from = 0;
    match cut {
        Cut::Lines => line_ends(text, &mut |end, next| {
            take(from, end);
            from = next;
        }),
        Cut::Paragraphs => line_ends(text, &mut |end, _| {
            if end >= from && is_blank_line(&text[end..]) {
                take(from, end);
                from = end + white_at(text, end);
            }
        }),
        Cut::Sentences(_) => {
            while from < text.len() {
                let end = piece_end(text, from);
                take(from, end);
                from = end;
            }
        }
        Cut::Runs(_) => return,
    }
    if from < text.len() {
        take(from, text.len());
    }
}

/// Calls `each` with the start and the end of each character that ends a line, in order.
fn line_ends(text: &str, each: &mut dyn FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    // Few texts contain line ends other than LF and CR. The others begin with a byte that is rare in most languages.
    let has_others = memchr2_iter(0xC2, 0xE2, bytes).any(|at| text[at..].starts_with(is_line_end));
    if has_others {
        text.match_indices(is_line_end).for_each(|(at, end)| each(at, at + end.len()));
    } else {
        memchr2_iter(b'\n', b'\r', bytes).for_each(|at| each(at, at + 1));
    }
}

/// Returns whether the white space at the start of a text contains two line breaks, or U+2029, which separates paragraphs.
fn is_blank_line(text: &str) -> bool {
    let (mut ends, mut after_return) = (0, false);
    for c in text.chars().take_while(|c| c.is_whitespace()) {
        ends += match c {
            '\u{2029}' => 2,
            // A carriage return followed by a line feed counts as one line break.
            '\n' if after_return => 0,
            _ => u32::from(is_line_end(c)),
        };
        after_return = c == '\r';
    }
    ends >= 2
}

/// Holds buffers that are reused for the next text.
#[derive(Debug, Default)]
pub struct Scratch {
    units: Vec<Unit>,
    hashes: Vec<u128>,
    form: Vec<u8>,
}

/// Calls `each` with the number, the first byte and the hash of each unit that is long enough to count as a repeat. For `sentences:N`, a
/// unit consists of N sentences, starting with the sentence that has that number.
pub fn hashes(
    text: &str,
    cut: Cut,
    letters: Letters,
    least: u32,
    scratch: &mut Scratch,
    each: &mut dyn FnMut(u32, usize, u128),
) {
    let Scratch { units: all, hashes, form } = scratch;
    let mut number = 0;
    let count = cut.length() as usize;
    if !matches!(cut, Cut::Sentences(_)) {
        units(text, cut, &mut |unit| {
            let content = &text[unit.start..unit.end];
            if form::has_chars(content, least) {
                each(number, unit.start, form::hash(content, letters, form));
            }
            number += 1;
        });
        return;
    }
    all.clear();
    units(text, cut, &mut |unit| all.push(unit));
    if all.len() < count {
        return;
    }
    hashes.clear();
    hashes.extend(all.iter().map(|unit| form::hash(&text[unit.start..unit.end], letters, form)));
    for (number, (group, hashes)) in all.windows(count).zip(hashes.windows(count)).enumerate() {
        let (start, end) = (group[0].start, group[count - 1].end);
        if form::has_chars(&text[start..end], least) {
            form.clear();
            hashes.iter().for_each(|hash| form.extend_from_slice(&hash.to_le_bytes()));
            each(number as u32, start, dupsift_core::hash::hash128(form));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, cut: Cut) -> Vec<&str> {
        let mut out = Vec::new();
        units(text, cut, &mut |unit| out.push(&text[unit.start..unit.end]));
        out
    }

    #[test]
    fn units_have_no_white_space_around_them() {
        assert_eq!(of("\n  a b \r\n\r\nc\n \u{3000}\nd", Cut::Lines), ["a b", "c", "d"]);
        assert_eq!(of("a\nb\n \n\n c\r\nd\r\n\r\ne\n", Cut::Paragraphs), ["a\nb", "c\r\nd", "e"]);
        assert_eq!(of("a\u{85}b\u{2028} c\u{2029}d\n«e»\re", Cut::Lines), ["a", "b", "c", "d", "«e»", "e"]);
        assert_eq!(
            of("a\u{85}b\u{2028} \u{85}c\u{2029}d\ne\n\u{2028}f", Cut::Paragraphs),
            ["a\u{85}b", "c", "d\ne", "f"]
        );
        assert_eq!(of("One. Two!\n\nThree 中文。四", Cut::Sentences(2)), ["One.", "Two!", "Three 中文。", "四"]);
        for cut in [Cut::Lines, Cut::Paragraphs, Cut::Sentences(1)] {
            assert!(of("", cut).is_empty() && of(" \n\n ", cut).is_empty());
        }
        assert!(of("text", Cut::Runs(20)).is_empty());
    }

    #[test]
    fn short_units_have_no_hash_and_sentences_are_taken_together() {
        let of = |text: &str, cut, least| {
            let mut out = Vec::new();
            hashes(text, cut, Letters::default(), least, &mut Scratch::default(), &mut |number, start, hash| {
                out.push((number, start, hash));
            });
            out
        };
        let lines = of("one\nlong enough\nLONG  ENOUGH", Cut::Lines, 5);
        assert_eq!(lines.iter().map(|line| (line.0, line.1)).collect::<Vec<_>>(), [(1, 4), (2, 16)]);
        assert_eq!(lines[0].2, lines[1].2);
        let sentences = of("A b. C d. A b. C d.", Cut::Sentences(2), 3);
        assert_eq!(sentences.iter().map(|one| (one.0, one.1)).collect::<Vec<_>>(), [(0, 0), (1, 5), (2, 10)]);
        assert!(sentences[0].2 == sentences[2].2 && sentences[0].2 != sentences[1].2);
        assert!(of("A b.", Cut::Sentences(2), 0).is_empty());
    }
}

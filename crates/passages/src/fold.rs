//! Folds each run of white space in a text to one space, and maps bytes of the folded text to the original text.

use std::ops::Range;

/// Holds a folded text. All lengths and positions of runs refer to the folded text.
#[derive(Debug, Default)]
pub struct Folded {
    /// The folded text.
    pub text: String,
    /// The shifts, in ascending order. From byte `folded` to the next shift, positions in the folded text and the original text differ by a
    /// constant.
    shifts: Vec<Shift>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shift {
    folded: usize,
    original: usize,
}

/// The kind of white space that each byte may begin: 0 for none, 1 for ASCII white space except the space, 2 for the space, 3 for other
/// white space.
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 9;
    while byte <= 13 {
        kinds[byte] = 1;
        byte += 1;
    }
    kinds[b' ' as usize] = 2;
    // The first bytes of U+0085 and U+00A0, U+1680, U+2000 to U+205F, U+3000.
    kinds[0xC2] = 3;
    kinds[0xE1] = 3;
    kinds[0xE2] = 3;
    kinds[0xE3] = 3;
    kinds
};

impl Folded {
    /// Folds text.
    pub fn new(text: &str) -> Folded {
        let mut folded = Folded::default();
        folded.fold(text);
        folded
    }

    /// Folds text, and reuses the memory of the previous text.
    pub fn fold(&mut self, text: &str) {
        self.text.clear();
        self.shifts.clear();
        self.text.reserve(text.len());
        let bytes = text.as_bytes();
        let (mut copied, mut at) = (0, 0);
        while let Some(ahead) = bytes[at..].iter().position(|&byte| KINDS[byte as usize] != 0) {
            at += ahead;
            let kind = KINDS[bytes[at] as usize];
            if kind == 2 && bytes.get(at + 1).is_some_and(|&next| KINDS[next as usize] == 0) {
                at += 1;
                continue;
            }
            let white = white_at(text, at);
            if white == 0 {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            self.text.push_str(&text[copied..at]);
            if white != 1 || kind != 2 {
                self.text.push(' ');
                if white != 1 {
                    self.shifts.push(Shift { folded: self.text.len(), original: at + white });
                }
                copied = at + white;
            } else {
                copied = at;
            }
            at += white;
        }
        self.text.push_str(&text[copied..]);
    }

    /// Converts a byte position in the folded text to a byte position in the original text. The position after a single space becomes the
    /// position after the run of white space.
    pub fn original(&self, folded: usize) -> usize {
        match self.shifts.partition_point(|shift| shift.folded <= folded).checked_sub(1) {
            None => folded,
            Some(last) => folded - self.shifts[last].folded + self.shifts[last].original,
        }
    }

    /// Converts a byte position in the original text to a byte position in the folded text. A position within a run of white space becomes
    /// the position after the single space.
    pub fn folded(&self, original: usize) -> usize {
        match self.shifts.partition_point(|shift| shift.original <= original).checked_sub(1) {
            None => self.before(original, 0),
            Some(last) => {
                let shift = self.shifts[last];
                self.before(original - shift.original + shift.folded, last + 1)
            }
        }
    }

    /// Splits a range of the folded text into parts in each of which consecutive characters are also consecutive in the original text.
    pub(crate) fn unshifted(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
        let begin = self.shifts.partition_point(|shift| shift.folded <= range.start);
        let within = self.shifts[begin..].iter().map(|shift| shift.folded).take_while(move |&at| at < range.end);
        let mut from = range.start;
        let parts = within.chain([range.end]).map(move |to| std::mem::replace(&mut from, to)..to);
        parts.filter(|part| !part.is_empty())
    }

    /// Limits a position to the next shift, because positions beyond that shift are within white space.
    fn before(&self, folded: usize, next: usize) -> usize {
        self.shifts.get(next).map_or(folded, |shift| folded.min(shift.folded))
    }
}

/// Returns whether a character ends a line.
pub(crate) fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns the number of white-space bytes at a position.
pub(crate) fn white_at(text: &str, at: usize) -> usize {
    text[at..].chars().take_while(|c| c.is_whitespace()).map(char::len_utf8).sum()
}

/// Returns the start of the white space that ends at a position.
pub(crate) fn white_before(text: &str, at: usize) -> usize {
    at - text[..at].chars().rev().take_while(|c| c.is_whitespace()).map(char::len_utf8).sum::<usize>()
}

/// Returns the number of characters.
pub(crate) fn chars(text: &str) -> usize {
    // Continuation bytes are not counted. The compiler vectorizes this loop.
    text.as_bytes().iter().filter(|&&byte| byte as i8 >= -0x40).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow(text: &str) -> String {
        let mut out = String::new();
        for c in text.chars() {
            match c.is_whitespace() {
                true if out.ends_with(' ') => {}
                true => out.push(' '),
                false => out.push(c),
            }
        }
        out
    }

    #[test]
    fn white_space_is_folded_and_found_again() {
        let text = " a\n\n  b\u{3000}\tc\u{A0}«d» é\u{2028}";
        let folded = Folded::new(text);
        assert_eq!(folded.text, " a b c «d» é ");
        let place = |part: &str| (folded.text.find(part).expect("a part"), text.find(part).expect("a part"));
        for part in ["a", "b", "c", "«", "d", "é"] {
            let (at, original) = place(part);
            assert_eq!((folded.original(at), folded.folded(original)), (original, at), "{part}");
        }
        assert_eq!(folded.original(folded.text.len()), text.len());
        // Within white space, the result is the byte after the single space.
        assert_eq!(folded.folded(text.find("b").expect("a part") - 1), folded.text.find('b').expect("a part"));
    }

    proptest::proptest! {
        #[test]
        fn folding_is_as_it_is_defined(text in "[a \n\t\u{3000}\u{A0}é中\u{200B}\u{85}]{0,60}") {
            let folded = Folded::new(&text);
            proptest::prop_assert_eq!(&folded.text, &slow(&text));
            let mut last = 0;
            for (at, c) in folded.text.char_indices() {
                let original = folded.original(at);
                proptest::prop_assert!(original >= last);
                last = original;
                let there = text[original..].chars().next().expect("a character");
                proptest::prop_assert!(there == c || (c == ' ' && there.is_whitespace()));
                proptest::prop_assert_eq!(folded.folded(original), at);
            }
            proptest::prop_assert_eq!(folded.original(folded.text.len()), text.len());
            proptest::prop_assert_eq!(chars(&text), text.chars().count());
            let mut end = 0;
            for part in folded.unshifted(0..folded.text.len()) {
                proptest::prop_assert_eq!(part.start, end);
                end = part.end;
                for (ahead, (at, _)) in folded.text[part.clone()].char_indices().enumerate() {
                    let original = chars(&text[..folded.original(part.start + at)]);
                    proptest::prop_assert_eq!(original, chars(&text[..folded.original(part.start)]) + ahead);
                }
            }
            proptest::prop_assert_eq!(end, folded.text.len());
        }
    }
}

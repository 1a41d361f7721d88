//! Assigns numbers to characters, starting with the most common, so that frequent data is close together in memory.

use std::borrow::Cow;

use super::tables::Reader;

/// The numbers of characters. There are three kinds, in this order: characters that the model of unknown words covers, other characters
/// that may join, and characters that are always words of their own, which share one number. In each of the first two kinds, all characters
/// that are neither in the dictionary nor in the model share the last number.
pub(crate) struct Letters {
    /// The number of each code point; [`UNKNOWN`] for a character in neither the dictionary nor the model. Every code point in
    /// [`COMMON`] has a number.
    pub(super) numbers: Cow<'static, [u16]>,
    pub(super) covered: u16,
    pub(super) other: u16,
}

/// A number that is not assigned to any character.
const UNKNOWN: u16 = 0;

/// The code points of nearly all characters in Chinese text, U+4E00 to U+9FFF; each has three bytes in UTF-8.
const COMMON: std::ops::Range<usize> = 0x4E00..0xA000;

/// Returns whether a Chinese character may form a word with other characters. All other characters are words of their own:
/// U+3005, U+3007, and characters that Unicode added after jieba's ranges were defined.
#[inline]
pub(crate) fn joins(c: char) -> bool {
    matches!(c,
        '\u{4E00}'..='\u{9FFF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{2A6DF}'
        | '\u{2A700}'..='\u{2EBEF}'
        | '\u{2F800}'..='\u{2FA1F}')
}

fn is_covered(c: char) -> bool {
    matches!(c, '\u{4E00}'..='\u{9FD5}')
}

impl Letters {
    /// Assigns numbers to at most 65,000 different characters, given with their counts. Characters that never join other characters
    /// are skipped.
    pub(crate) fn new(seen: impl Iterator<Item = (char, u64)>) -> Letters {
        let mut counts: Vec<Option<u64>> = Vec::new();
        for (c, count) in seen.filter(|&(c, _)| joins(c)) {
            let at = c as usize;
            if at >= counts.len() {
                counts.resize(at + 1, None);
            }
            counts[at] = Some(counts[at].unwrap_or(0).saturating_add(count));
        }
        let mut known: Vec<(bool, u64, char)> = (0..)
            .zip(&counts)
            .filter_map(|(c, &count)| {
                let (c, count) = (char::from_u32(c)?, count?);
                Some((!is_covered(c), u64::MAX - count, c))
            })
            .collect();
        known.sort_unstable();
        let covered = known.iter().filter(|(is_other, ..)| !is_other).count() as u16 + 1;
        let mut numbers = vec![UNKNOWN; counts.len().max(COMMON.end)];
        for (rank, &(is_other, _, c)) in (1..).zip(&known) {
            numbers[c as usize] = rank + u16::from(is_other);
        }
        let mut letters = Letters { numbers: Cow::Borrowed(&[]), covered, other: known.len() as u16 + 2 };
        for (c, number) in (COMMON.start as u32..).zip(&mut numbers[COMMON]) {
            if let (UNKNOWN, Some(c)) = (*number, char::from_u32(c)) {
                *number = letters.of_kind(c);
            }
        }
        letters.numbers = Cow::Owned(numbers);
        letters
    }

    /// Reads letters from the tables.
    pub(crate) fn read(tables: &mut Reader) -> Letters {
        let [covered, other] = tables.array();
        Letters { numbers: tables.list(), covered, other }
    }

    /// Returns the number of a character.
    #[inline]
    pub(crate) fn number(&self, c: char) -> u16 {
        match self.numbers.get(c as usize) {
            Some(&number) if number != UNKNOWN => number,
            _ => self.of_kind(c),
        }
    }

    /// Returns the numbers of characters from U+4E00 to U+9FFF, which have three bytes each in UTF-8.
    #[inline]
    pub(crate) fn of_common<'a>(&'a self, utf8: &'a [u8]) -> impl Iterator<Item = u16> + 'a {
        let numbers = self.numbers.get(COMMON).unwrap_or_default();
        utf8.as_chunks::<3>().0.iter().map(|&[one, two, three]| {
            let point = usize::from(one & 15) << 12 | usize::from(two & 63) << 6 | usize::from(three & 63);
            numbers.get(point.wrapping_sub(COMMON.start)).copied().unwrap_or(self.covered)
        })
    }

    /// Returns the characters that do not share their number, in ascending order, each with its number.
    pub(crate) fn known(&self) -> impl Iterator<Item = (char, u16)> {
        let all = (0..).zip(self.numbers.iter());
        let own = all.filter(|&(_, number)| ![UNKNOWN, self.covered, self.other].contains(number));
        own.filter_map(|(c, &number)| Some((char::from_u32(c)?, number)))
    }

    #[cold]
    fn of_kind(&self, c: char) -> u16 {
        match c {
            _ if is_covered(c) => self.covered,
            _ if joins(c) => self.other,
            _ => self.alone(),
        }
    }

    /// Returns the largest number among the characters that the model of unknown words covers.
    #[inline]
    pub(crate) fn covered(&self) -> u16 {
        self.covered
    }

    /// Returns the number that is shared by all characters that are words of their own. It is the largest number.
    #[inline]
    pub(crate) fn alone(&self) -> u16 {
        self.other + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commonest_comes_first_within_its_kind() {
        let letters = Letters::new([('中', 3), ('国', 5), ('㐀', 9), ('中', 4), ('〇', 99), ('a', 99)].into_iter());
        let number = |c| letters.number(c);
        assert_eq!([number('中'), number('国')], [1, 2]);
        assert_eq!((number('龘'), letters.covered()), (3, 3));
        assert_eq!([number('㐀'), number('㐁'), number('𠀀')], [4, 5, 5]);
        assert_eq!([number('〇'), number('々'), number('𰀀'), letters.alone()], [6; 4]);
        let text = "中国龘\u{4E00}\u{9FD5}\u{9FD6}\u{9FFF}";
        let numbers: Vec<u16> = letters.of_common(text.as_bytes()).collect();
        assert_eq!(numbers, text.chars().map(number).collect::<Vec<_>>());
        assert_eq!(numbers, [1, 2, 3, 3, 3, 5, 5]);
    }
}

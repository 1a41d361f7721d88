//! Numbers for characters: the commonest first, so that what is asked for often lies close together.

/// Characters by number, in three kinds: those that the model of unknown words covers, others that may join, and one number
/// for all that are words of their own. The last number of each of the first two kinds stands for all of the kind that
/// neither the dictionary nor the model knows.
pub struct Letters {
    /// By code point; [`UNKNOWN`] for characters that neither knows.
    numbers: Vec<u16>,
    covered: u16,
    other: u16,
}

/// No character has this number.
const UNKNOWN: u16 = 0;

/// Whether a Chinese character may join others to a word. All but these are words of their own: U+3005, U+3007 and what
/// Unicode has added since the ranges were drawn.
#[inline]
pub fn joins(c: char) -> bool {
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
    /// Numbers for characters, at most 65,000 different ones, that come with how often each is seen. Those that do not join
    /// others are left out.
    pub fn new(seen: impl Iterator<Item = (char, u64)>) -> Letters {
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
        let mut letters = Letters { numbers: vec![UNKNOWN; counts.len()], covered, other: known.len() as u16 + 2 };
        for (rank, &(is_other, _, c)) in (1..).zip(&known) {
            letters.numbers[c as usize] = rank + u16::from(is_other);
        }
        letters
    }

    /// The number of a character.
    #[inline]
    pub fn number(&self, c: char) -> u16 {
        match self.numbers.get(c as usize) {
            Some(&number) if number != UNKNOWN => number,
            _ => self.of_kind(c),
        }
    }

    #[cold]
    fn of_kind(&self, c: char) -> u16 {
        match c {
            _ if is_covered(c) => self.covered,
            _ if joins(c) => self.other,
            _ => self.alone(),
        }
    }

    /// The largest number of a character that the model of unknown words covers.
    #[inline]
    pub fn covered(&self) -> u16 {
        self.covered
    }

    /// The number of all characters that are words of their own, and the largest.
    #[inline]
    pub fn alone(&self) -> u16 {
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
    }
}

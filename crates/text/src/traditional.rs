//! Replaces each traditional character with its simplified form, so that the traditional and the simplified version of a text are treated
//! as identical. The simplified text is used only for comparison and is never written.
//!
//! The table is from OpenCC 1.4.2 (TSCharacters, Apache-2.0) and contains 2,966 characters of the Basic Multilingual Plane. If a
//! character has several simplified forms, only the first is kept. Characters are replaced regardless of the words that contain them,
//! so 乾隆 becomes 干隆, and 覆 does not change. Both texts of a pair are treated in the same way.

use std::sync::LazyLock;

/// The version of the table, which is part of the identity of a pipeline.
pub(crate) const TABLE: &str = "opencc-1.4.2";

/// The pairs of characters, separated by white space.
const PAIRS: &str = include_str!("traditional.txt");

/// The range of characters that the table may contain.
const HAN: std::ops::Range<usize> = 0x3400..0xA000;

/// The simplified form of each character in [`HAN`]; 0 for a character that does not change.
static SIMPLIFIED: LazyLock<Vec<u16>> = LazyLock::new(|| {
    let mut table = vec![0; HAN.len()];
    for pair in PAIRS.split_whitespace() {
        let mut units = pair.encode_utf16();
        if let (Some(from), Some(to)) = (units.next(), units.next())
            && let Some(place) = table.get_mut(usize::from(from).wrapping_sub(HAN.start))
        {
            *place = to;
        }
    }
    table
});

/// Returns the simplified form of a three-byte character, as three bytes of UTF-8; `None` if the character does not change.
fn simplified(table: &[u16], bytes: [u8; 3]) -> Option<[u8; 3]> {
    let [first, second, third] = bytes.map(usize::from);
    let character = (first & 0xF) << 12 | (second & 0x3F) << 6 | (third & 0x3F);
    let to = *table.get(character.checked_sub(HAN.start)?)?;
    let byte = |sign: u16, shift: u32, mask: u16| (sign | (to >> shift & mask)) as u8;
    (to != 0).then(|| [byte(0xE0, 12, 0xF), byte(0x80, 6, 0x3F), byte(0x80, 0, 0x3F)])
}

/// Simplifies the characters of the text in place. This is possible because traditional characters and their simplified forms have three
/// bytes each.
pub(crate) fn simplify(text: &mut String) {
    let table = &*SIMPLIFIED;
    let mut bytes = std::mem::take(text).into_bytes();
    let mut at = 0;
    while let Some(&first) = bytes.get(at) {
        let length = match first {
            0..=0x7F => 1,
            0x80..=0xDF => 2,
            0xE0..=0xEF => 3,
            _ => 4,
        };
        if let Some(character) = bytes.get_mut(at..at + 3).filter(|_| length == 3)
            && let Ok(three) = <[u8; 3]>::try_from(&*character)
            && let Some(simple) = simplified(table, three)
        {
            character.copy_from_slice(&simple);
        }
        at += length;
    }
    // Only complete characters were replaced, so the text is valid UTF-8.
    *text = String::from_utf8(bytes).unwrap_or_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs() -> impl Iterator<Item = (char, char)> {
        PAIRS.split_whitespace().map(|pair| {
            let mut characters = pair.chars();
            (characters.next().expect("two"), characters.next().expect("two"))
        })
    }

    #[test]
    fn the_table_is_sorted_and_of_characters_of_three_bytes() {
        let all: Vec<(char, char)> = pairs().collect();
        assert_eq!(all.len(), 2966);
        assert!(all.windows(2).all(|two| two[0].0 < two[1].0));
        assert!(all.iter().all(|(from, to)| from != to && [from, to].iter().all(|c| HAN.contains(&(**c as usize)))));
        assert!(PAIRS.split_whitespace().all(|pair| pair.chars().count() == 2));
    }

    #[test]
    fn every_character_is_what_the_table_says_and_no_other_changes() {
        let known: std::collections::BTreeMap<char, char> = pairs().collect();
        for c in (0..=0x10FFFF).filter_map(char::from_u32) {
            let mut text = format!("a{c}я");
            simplify(&mut text);
            assert_eq!(text, format!("a{}я", known.get(&c).unwrap_or(&c)));
        }
        let mut text = "乾隆皇帝後來寫書。ё 😀 電腦".to_owned();
        simplify(&mut text);
        assert_eq!(text, "干隆皇帝后来写书。ё 😀 电脑");
    }
}

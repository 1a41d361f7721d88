//! Tests that the code for all levels of vector instructions gives the same results, and that the plain code satisfies its definition.

use proptest::prelude::*;

use super::*;
use crate::script::{self, class};

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~А-яЁёѐѓЋѠѡ]{0,200}",
        "[ a.!?,一-龥。，“”—«»\u{3001}\u{3010}\u{3011}\u{3012}䷀㐀\u{a0}é😀\n\t_'’]{0,200}",
        "[а-яА-Я]{60,70}[ ]{0,3}[A-Za-zА-Я ]{0,80}",
        "\\PC{0,100}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn all_levels_give_the_same(text in texts(), skip in 0..70_usize) {
        let from = text.char_indices().nth(skip).map_or(0, |(place, _)| place);
        let copied = |level| {
            let mut out = b"before".to_vec();
            let end = copy_lower_by(level, &text, from, &mut out);
            (end, out)
        };
        let classes = |level| {
            let mut out = Vec::new();
            classify_by(level, &text, &mut out);
            out
        };
        for level in Level::all() {
            prop_assert_eq!(copied(level), copied(Level::Plain), "{:?}", level);
            prop_assert_eq!(classes(level), classes(Level::Plain), "{:?}", level);
        }
        let long = text.repeat(100);
        prop_assert_eq!(count_characters(&long), long.chars().count());
    }

    #[test]
    fn what_is_copied_is_in_lower_case_and_ends_where_it_must(text in texts()) {
        let mut out = Vec::new();
        let end = copy_lower_by(Level::best(), &text, 0, &mut out);
        prop_assert_eq!(String::from_utf8(out).expect("UTF-8"), text[..end].to_lowercase());
        if let Some(stop) = text[end..].chars().next() {
            let simple = matches!(stop, '"'..='-' | '/'..='>' | '@'..='\x7F' | '\u{400}'..='\u{45F}' | '\u{4000}'..='\u{9FFF}');
            prop_assert!(!simple, "{:?} is simple", stop);
        }
    }

    /// Checks that each bit matches the class of its character.
    #[test]
    fn bits_are_the_classes_of_characters(text in texts()) {
        let mut all = Vec::new();
        classify(&text, &mut all);
        for (place, c) in text.char_indices() {
            for place in place..place + c.len_utf8() {
                let bit = |bits: fn(&Classes) -> u64| bits(&all[place / 64]) >> (place % 64) & 1 == 1;
                let (letter, border) = (bit(|one| one.letter), bit(|one| one.border));
                let (han, other) = (bit(|one| one.han), bit(|one| one.other));
                prop_assert!(u8::from(letter) + u8::from(border) + u8::from(han) + u8::from(other) <= 1);
                let expected = match class(c) {
                    script::Class::Letter | script::Class::Digit => letter || other,
                    script::Class::Border => border || other,
                    script::Class::Han => han || other,
                    script::Class::Joiner => other,
                    script::Class::Between | script::Class::BetweenLetters | script::Class::BetweenDigits
                    | script::Class::Quote => !(letter || border || han),
                    script::Class::Other | script::Class::Unspaced => other,
                };
                prop_assert!(expected, "{:?}", c);
            }
        }
        let last = all.last().expect("an entry of borders");
        prop_assert_eq!(*last, Classes { border: u64::MAX, ..Classes::default() });
    }
}

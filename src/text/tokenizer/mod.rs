//! From a normalised piece of text to its words.
//!
//! A piece is walked once and cut into stretches by script (`text/script.rs`); each stretch goes to whom it belongs:
//!
//! ```text
//! Han characters             the Tokenizer of the run: dict.rs, bigram.rs or char.rs
//! kana, Thai, Lao, ...       unspaced.rs
//! everything else            spaced.rs: UAX #29 segments that hold a letter or digit
//! ```
//!
//! Cutting at these borders gives what UAX #29 gives, but for two things: an underscore does not join Katakana, and a mark
//! behind a Han character belongs to no word. Spaces and most punctuation are borders too.
//!
//! Law: every letter and digit of the piece lies in exactly one word (with bigrams: in at least one).
//! One more tokenizer for Chinese is one more file with a [`Tokenizer`], and a name in `pipeline::TokenizerKind`.

use std::ops::Range;

use super::script::{Class, class, continues_unspaced};

pub mod bigram;
pub mod char;
pub mod dict;
mod spaced;
mod unspaced;

pub use unspaced::Unspaced;

/// Something that cuts a run of one script into words.
pub trait Tokenizer: Send + Sync {
    /// Calls `out` with the byte range of each word of the run, in order.
    fn cut(&self, run: &str, out: &mut dyn FnMut(Range<usize>));
}

/// Calls `out` with the byte range of each word of a normalised piece, in order, and whether it is of Han characters.
pub fn for_each_word(piece: &str, han: &dyn Tokenizer, unspaced: &Unspaced, out: &mut impl FnMut(Range<usize>, bool)) {
    let mut place = 0;
    while let Some(first) = piece[place..].chars().next() {
        let rest = &piece[place..];
        place += match class(first) {
            Class::Border => first.len_utf8(),
            Class::Han => {
                let run = &rest[..length_while(rest, |c| class(c) == Class::Han)];
                han.cut(run, &mut |word| out(place + word.start..place + word.end, true));
                run.len()
            }
            Class::Unspaced => {
                let run = &rest[..length_while(rest, continues_unspaced)];
                unspaced.cut(run, &mut |word| out(place + word.start..place + word.end, false));
                run.len()
            }
            _ => cut_spaced(rest, &mut |word| out(place + word.start..place + word.end, false)),
        };
    }
}

/// How much room to make for the words of a text: seldom less than they need.
///
/// A list that grows holds its old and its new place at once; in a long text that is worth a look at every character
/// beforehand, in a short one it is not. Room that stays unused is never touched and costs no memory.
pub fn room_for_words(text: &str) -> usize {
    const LONG: usize = 1 << 20;
    if text.len() < LONG {
        return text.len() / 8;
    }
    let mut inside = false;
    let starts_word = |c: &char| match class(*c) {
        Class::Border => {
            inside = false;
            false
        }
        Class::Han | Class::Unspaced => {
            inside = false;
            true
        }
        _ => !std::mem::replace(&mut inside, true),
    };
    text.chars().filter(starts_word).count()
}

/// Cuts the stretch of spaced scripts that `rest` begins with, up to the next border or other script; gives its length.
///
/// Nearly always the stretch is one word, and known to be one as soon as its end is seen.
#[inline]
fn cut_spaced(rest: &str, out: &mut impl FnMut(Range<usize>)) -> usize {
    const fn one(class: Class) -> u32 {
        1 << class as u32
    }
    const ENDS: u32 = one(Class::Border) | one(Class::Han) | one(Class::Unspaced);
    const MAY_DIVIDE: u32 =
        one(Class::Between) | one(Class::BetweenLetters) | one(Class::BetweenDigits) | one(Class::Quote);
    let mut seen = 0;
    let length = length_while(rest, |c| {
        let class = one(class(c));
        let goes_on = class & ENDS == 0;
        seen |= if goes_on { class } else { 0 };
        goes_on
    });
    if seen & one(Class::Other) != 0 {
        spaced::by_library(&rest[..length], out);
    } else if seen & MAY_DIVIDE != 0 {
        spaced::by_table(&rest[..length], out);
    } else if seen & (one(Class::Letter) | one(Class::Digit)) != 0 {
        out(0..length);
    }
    length
}

#[inline]
fn length_while(text: &str, mut holds: impl FnMut(char) -> bool) -> usize {
    text.char_indices().find(|&(_, c)| !holds(c)).map_or(text.len(), |(place, _)| place)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::char::Char;
    use super::*;

    #[test]
    fn room_is_enough_for_a_long_text_of_short_words() {
        let text = "a б 1 中文, かな can't ".repeat(60_000);
        let mut words = 0;
        for_each_word(&text, &Char, &Unspaced::characters(), &mut |_, _| words += 1);
        assert!((words..words * 5 / 4).contains(&room_for_words(&text)));
        assert_eq!(room_for_words("a б 1 中文"), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        /// Borders and classes only save work: spaced text is cut as the library cuts the whole of it.
        #[test]
        fn spaced_text_is_cut_as_the_library_cuts_it(
            text in "([ab]|[йё]|[01]|[_.':,;\"’ «—/*#]|[éאבغ한ÅΩ]|[\u{301}\u{308}\u{FE0F}]|[٣٫๑·😀🇷\u{FFFD}]){0,16}"
        ) {
            let (mut words, mut expected) = (Vec::new(), Vec::new());
            for_each_word(&text, &Char, &Unspaced::characters(), &mut |word, _| words.push(&text[word]));
            spaced::by_library(&text, &mut |word| expected.push(&text[word]));
            prop_assert_eq!(words, expected);
        }
    }
}

//! Splits normalized text into words.
//!
//! The text is split into stretches of one script each (`crates/text/src/script.rs`), and each stretch is passed to the tokenizer for its
//! script. In stretches of common characters, the byte classes (`text/simd/`) make a scan of the characters unnecessary.
//!
//! ```text
//! Han characters             the Tokenizer of the run: dict/mod.rs, dict/jieba.rs, bigram.rs or char.rs
//! kana, Thai, Lao, ...       unspaced.rs
//! everything else            spaced.rs: UAX #29 segments that contain a letter or digit
//! ```
//!
//! `han_words.rs` holds runs of Han characters that are split together.
//!
//! Splitting text at borders between scripts gives the same words as UAX #29, with two exceptions: an underscore does not join Katakana,
//! and a mark after a Han character belongs to no word. Spaces and most punctuation marks are also borders.
//!
//! Invariant: every letter and digit of the text is in exactly one word (in at least one with bigrams). To add a tokenizer for Chinese, add
//! a file with a [`Tokenizer`] and a name in `choices::TokenizerKind`.

use std::ops::Range;

use super::pool;
use super::script::{Class, class, continues_unspaced};
use super::simd::{Classes, classify};

pub(crate) mod bigram;
pub mod char;
pub mod cut;
pub(crate) mod dict;
pub(crate) mod han_words;
mod spaced;
pub mod starts;
mod unspaced;

pub use cut::Tokenizer;
pub(crate) use unspaced::Unspaced;

use han_words::HanWords;

/// Calls `out` for each word in normalized text, in order, passing its byte range and whether it consists of Han characters.
///
/// Runs of ASCII and Cyrillic letters and digits, and runs of Han characters, are found by their byte classes. A stretch between two
/// borders that contains any other character is passed to `cut_characters`.
pub(crate) fn for_each_word<T: Tokenizer + ?Sized>(
    text: &str,
    han: &T,
    unspaced: &Unspaced,
    out: &mut impl FnMut(Range<usize>, bool),
) {
    let mut classes = pool::take(|pool| &mut pool.classes, 0);
    classify(text, &mut classes);
    let mut han_words = HanWords::take();
    cut_classes(text, &classes, han, &mut han_words, unspaced, out);
    han_words.leave();
    pool::leave(|pool| &mut pool.classes, classes);
}

fn cut_classes<T: Tokenizer + ?Sized>(
    text: &str,
    classes: &[Classes],
    han: &T,
    han_words: &mut HanWords,
    unspaced: &Unspaced,
    out: &mut impl FnMut(Range<usize>, bool),
) {
    let mut from = 0;
    // `open` is the start of a run that continues in the next 64 bytes; the other variables state whether the run
    // consists of letters or of Han characters.
    let (mut open, mut letter_before, mut han_before) = (None, 0, 0);
    while let [one, after, ..] = &classes[from / 64..] {
        let base = from & !63;
        let here = u64::MAX << (from % 64);
        let (letter, others) = (one.letter & here, one.other & here);
        let han_here = one.han & here;
        // A mark between two letters or digits may join them. The classes alone do not determine whether it does.
        let mark = !(one.letter | one.border | one.han | one.other);
        let behind = (one.letter | one.other) >> 1 | (after.letter | after.other) << 63;
        let trouble = others | mark & (letter << 1 | letter_before) & behind;

        let mut starts = letter & !(letter << 1 | letter_before) | han_here & !(han_here << 1 | han_before);
        let han_ends = (han_here << 1 | han_before) & !han_here;
        let ends = (letter << 1 | letter_before) & !letter | han_ends;
        let mut next_start = || {
            open.take().unwrap_or_else(|| {
                let start = base + starts.trailing_zeros() as usize;
                starts &= starts.wrapping_sub(1);
                start
            })
        };
        // The n-th start and the n-th end belong to the same run.
        let mut left = if trouble == 0 { ends } else { ends & (trouble & trouble.wrapping_neg()).wrapping_sub(1) };
        while left != 0 {
            let end = left.trailing_zeros();
            let run = next_start()..base + end as usize;
            if han_ends >> end & 1 == 0 {
                out(run, false);
            } else {
                han_words.words(han, text, classes, run, out);
            }
            left &= left - 1;
        }
        if trouble == 0 {
            if starts != 0 {
                open = Some(base + starts.trailing_zeros() as usize);
            }
            (letter_before, han_before) = (letter >> 63, han_here >> 63);
            from = base + 64;
            continue;
        }
        // The characters up to the next border are split individually. If a run ends at this byte, the run is included.
        let at = trouble.trailing_zeros();
        let place = base + at as usize;
        let start =
            if ends >> at & 1 == 1 { next_start() } else { place - usize::from(is_mark_before(classes, place)) };
        let end = next_border(classes, place).min(text.len());
        cut_characters(&text[start..end], han, unspaced, &mut |word, is_han| {
            out(start + word.start..start + word.end, is_han);
        });
        (open, letter_before, han_before) = (None, 0, 0);
        from = end;
        if end == text.len() {
            break;
        }
    }
}

/// Returns whether the byte before a position is a mark. If so, a combining character at that position belongs to the mark.
fn is_mark_before(classes: &[Classes], place: usize) -> bool {
    place.checked_sub(1).is_some_and(|before| {
        let one = &classes[before / 64];
        (one.letter | one.border | one.han | one.other) >> (before % 64) & 1 == 0
    })
}

/// Returns the first border at or after a position. The end of the text is followed by borders.
fn next_border(classes: &[Classes], from: usize) -> usize {
    let mut at = from / 64;
    let mut found = classes[at].border & u64::MAX << (from % 64);
    while found == 0 {
        at += 1;
        found = classes[at].border;
    }
    at * 64 + found.trailing_zeros() as usize
}

/// Splits text character by character. This function defines what a word is.
fn cut_characters<T: Tokenizer + ?Sized>(
    text: &str,
    han: &T,
    unspaced: &Unspaced,
    out: &mut impl FnMut(Range<usize>, bool),
) {
    let mut place = 0;
    while let Some(first) = text[place..].chars().next() {
        let rest = &text[place..];
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

/// Returns the number of words for which to reserve memory. The result is rarely smaller than the number of words in the text.
///
/// A growing list occupies its old and its new memory at the same time, so scanning every character in advance pays off for long text, but
/// not for short text. Unused memory is never touched and costs nothing.
pub(crate) fn room_for_words(text: &str) -> usize {
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

/// Splits the stretch of spaced scripts at the start of `rest`, and returns the length of the stretch. The stretch ends at the next
/// border, or at the next character of an unspaced script.
///
/// The stretch is nearly always a single word, which is recognized as soon as the end of the stretch is reached.
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

    /// Returns Han runs unchanged, so that tests see where they end.
    struct Whole;

    impl Tokenizer for Whole {
        fn cut(&self, run: &str, out: &mut dyn FnMut(Range<usize>)) {
            out(0..run.len());
        }
    }

    const PARTS: &[&str] = &[
        "a",
        "word",
        "кот",
        "ёж",
        "1",
        "42",
        " ",
        " ",
        "_",
        "'",
        ".",
        ":",
        ",",
        ";",
        "\"",
        "’",
        "«",
        "»",
        "—",
        "“",
        "„",
        "•",
        "。",
        "、",
        "《",
        "】",
        "〒",
        "中",
        "中文字",
        "清华大学清华大学清华大学清华大学",
        "々",
        "㐀",
        "䷀",
        "𠀀",
        "か",
        "カ",
        "ไทย",
        "é",
        "\u{301}",
        // These combining characters are letters, so a mark that is followed by one of them is a word.
        "\u{345}",
        "\u{93E}",
        "\u{64B}",
        "\u{200D}",
        "😀",
        "한",
        "א",
        "(",
        "-",
        "/",
        "ѡ",
        "ҁ",
        "Ԁ",
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "абвгдежзийклмнопрстуфхцчшщъыьэюя",
    ];

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

        /// Checks that byte classes only save work: a character-by-character search finds the same words.
        #[test]
        fn classes_give_the_words_of_characters(
            parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..60)
        ) {
            let text = parts.concat();
            for unspaced in [Unspaced::characters(), Unspaced::words()] {
                let (mut words, mut expected) = (Vec::new(), Vec::new());
                for_each_word(&text, &Whole, &unspaced, &mut |word, han| words.push((word, han)));
                cut_characters(&text, &Whole, &unspaced, &mut |word, han| expected.push((word, han)));
                prop_assert_eq!(words, expected);
            }
        }

        /// Checks that borders and classes only save work: the library finds the same words in spaced text.
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

//! Containment (Broder 1997): how much of one text also occurs in another text.
//!
//! Texts are compared by their distinct 3-grams (of words or, in Han text, of characters) and their distinct numbers. A number may be
//! written in digits, with or without thousands separators, or in words. A comparison takes O(|A| + |B|) time; the stored contents of a
//! text take 8 bytes per distinct gram.
//!
//! Around its text, a saved web page has dates, counters and addresses that differ each time the page is saved. In a long text, numbers
//! that occur only in the first or last twentieth of the text, and not in the first line, therefore belong to the frame of the page and do
//! not count as facts.
//!
//! ```text
//! u = "fares rise on 1 May"   {fares rise on, rise on 1, on 1 may}   {1}
//! v = "fares rise on 2 May"   {fares rise on, rise on 2, on 2 may}   {2}
//! v contains 1 of the 3 grams and 0 of the 1 numbers in u
//! ```

use serde::Serialize;
use std::cmp::Ordering;

use super::jaccard::common;
use super::title_phrases::{TitleDifference, title_difference, write_title};
use dupsift_core::hash::hash64;
use dupsift_text::Analysis;
use dupsift_text::number_words::number_words;
use dupsift_text::numbers::{numbers, value};
use dupsift_text::shingle::{shingles, sort_hashes};

/// The number of tokens in a gram. A shorter text counts as one gram if it has at least one token.
pub(crate) const GRAM: usize = 3;

/// The minimum number of tokens for a text to have a frame.
const LEAST_WITH_FRAME: usize = 500;
/// The frame consists of the first and the last 1/20 of the text.
const FRAME: usize = 20;
/// The lowest bit of a number's hash, which is set if the number occurs only in the frame.
const IN_FRAME: u64 = 1;

/// Appends the contents of a text in this order: the number of distinct numbers, their hashes with `IN_FRAME` in ascending order, the
/// length of the title, the title as `write_title` writes it, and the hashes of the distinct grams in ascending order.
pub fn write_contents(document: &Analysis<'_>, out: &mut Vec<u64>) {
    let mut own = Vec::new();
    write_numbers(document, &mut own);
    out.push(own.len() as u64);
    out.append(&mut own);
    shingles(document.tokens(), GRAM, false, &mut own);
    sort_hashes(&mut own);
    let length = out.len();
    out.push(0);
    write_title(document, &own, out);
    out[length] = (out.len() - length - 1) as u64;
    own.dedup();
    out.append(&mut own);
}

/// Writes the hash of each distinct number; a number written in words has the hash of its digits.
fn write_numbers(document: &Analysis<'_>, out: &mut Vec<u64>) {
    let text = document.text();
    let frame = if document.tokens().len() < LEAST_WITH_FRAME { 0 } else { text.len() / FRAME };
    let inside = frame..text.len() - frame;
    each_number(text, |start, hash| out.push(hash | if inside.contains(&start) { 0 } else { IN_FRAME }));
    if let Some(line) = document.first_line().filter(|_| frame > 0) {
        each_number(line.text(), |_, hash| out.push(hash));
    }
    // If a number also occurs outside the frame, that occurrence sorts first, and the occurrence in the frame is removed.
    out.sort_unstable();
    out.dedup_by_key(|number| *number & !IN_FRAME);
}

/// Calls `each` with the position and the hash, without `IN_FRAME`, of each number.
fn each_number(text: &str, mut each: impl FnMut(usize, u64)) {
    for number in numbers(text) {
        each(number.as_ptr() as usize - text.as_ptr() as usize, number_hash(&value(number)));
    }
    for (start, value) in number_words(text) {
        each(start, number_hash(&value.to_string()));
    }
}

/// Returns the hash of a number in digits, without `IN_FRAME`.
fn number_hash(value: &str) -> u64 {
    hash64(value.as_bytes()) & !IN_FRAME
}

/// Returns whether a text contains a number, in any spelling. The text is given in the form that [`write_contents`] writes, and the number
/// in the form that [`numbers`] finds.
pub fn has_number(contents: &[u64], number: &str) -> bool {
    let [numbers, ..] = parts(contents);
    numbers.binary_search_by_key(&number_hash(&value(number)), |number| number & !IN_FRAME).is_ok()
}

/// Counts the elements of one text that another text contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Part {
    /// The number of elements that are in the other text.
    pub common: u64,
    /// The total number of elements.
    pub all: u64,
}

impl Part {
    /// Returns the share, or `None` if there are no elements.
    pub fn share(self) -> Option<f64> {
        (self.all > 0).then(|| self.common as f64 / self.all as f64)
    }
}

/// Describes how much of one text another text contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Contained {
    /// The distinct grams that the other text contains.
    pub grams: Part,
    /// The distinct numbers that the other text contains.
    pub numbers: Part,
    /// The distinct numbers outside the frame that the other text contains.
    pub facts: Part,
}

/// Returns how much of `a` is in `b`, and how much of `b` is in `a`. `a` and `b` are the contents of the texts as [`write_contents`] writes
/// them.
pub fn contained(a: &[u64], b: &[u64]) -> [Contained; 2] {
    let ([numbers_a, _, grams_a], [numbers_b, _, grams_b]) = (parts(a), parts(b));
    let grams = common(grams_a, grams_b) as u64;
    let (numbers, facts) = common_numbers(numbers_a, numbers_b);
    [(numbers_a, facts[0], grams_a), (numbers_b, facts[1], grams_b)].map(|(all_numbers, facts, all_grams)| Contained {
        grams: Part { common: grams, all: all_grams.len() as u64 },
        numbers: Part { common: numbers, all: all_numbers.len() as u64 },
        facts: Part { common: facts, all: all_numbers.iter().filter(|number| *number & IN_FRAME == 0).count() as u64 },
    })
}

/// Returns how many numbers two texts have in common, and how many of these are facts in each text.
fn common_numbers(a: &[u64], b: &[u64]) -> (u64, [u64; 2]) {
    let (mut a, mut b, mut all, mut facts) = (a.iter().peekable(), b.iter().peekable(), 0, [0; 2]);
    while let (Some(&&x), Some(&&y)) = (a.peek(), b.peek()) {
        let order = (x & !IN_FRAME).cmp(&(y & !IN_FRAME));
        if order == Ordering::Equal {
            all += 1;
            facts[0] += u64::from(x & IN_FRAME == 0);
            facts[1] += u64::from(y & IN_FRAME == 0);
        }
        if order.is_le() {
            a.next();
        }
        if order.is_ge() {
            b.next();
        }
    }
    (all, facts)
}

/// Returns how the titles of two texts differ. `a` and `b` are the contents of the texts as [`write_contents`] writes them.
pub fn titles_differ(a: &[u64], b: &[u64]) -> Option<TitleDifference> {
    title_difference([a, b].map(|contents| {
        let [_, title, grams] = parts(contents);
        (title, grams)
    }))
}

/// Returns how many distinct numbers each of two texts contains, and how many they have in common.
pub(crate) fn numbers_of(a: &[u64], b: &[u64]) -> ([usize; 2], usize) {
    let ([a, ..], [b, ..]) = (parts(a), parts(b));
    ([a.len(), b.len()], common_numbers(a, b).0 as usize)
}

/// Returns the number of distinct grams in a text.
pub(crate) fn grams_of(contents: &[u64]) -> usize {
    parts(contents)[2].len()
}

/// Splits contents into numbers, title and grams.
fn parts(contents: &[u64]) -> [&[u64]; 3] {
    let (numbers, rest) = counted(contents);
    let (title, grams) = counted(rest);
    [numbers, title, grams]
}

/// Splits a length-prefixed list from the values that follow it.
fn counted(values: &[u64]) -> (&[u64], &[u64]) {
    let Some((&length, rest)) = values.split_first() else { return (&[], &[]) };
    rest.split_at_checked(length as usize).unwrap_or((rest, &[]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    fn of(a: &str, b: &str) -> [Contained; 2] {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        let contents = |text: &str| {
            let mut out = Vec::new();
            write_contents(&pipeline.analyse(text), &mut out);
            out
        };
        contained(&contents(a), &contents(b))
    }

    /// The date of a saved page belongs to its frame. A date counts as a fact if the text is short, or if the date is in the first line or
    /// outside the frame.
    #[test]
    fn numbers_of_the_frame_are_no_facts() {
        let words = |count: usize| "word ".repeat(count);
        let page = |saved: &str, inside: &str| format!("Title\nsaved {saved}\n{}{inside} {}", words(300), words(300));
        let facts = |a: &str, b: &str| of(a, b)[0].facts;
        let [a, b] = of(&page("5 may", "7"), &page("6 may", "7"));
        assert_eq!((a.numbers, a.facts, b.facts), (part(1, 2), part(1, 1), part(1, 1)));
        assert_eq!(facts(&page("5 may", "7"), &page("5 may", "8")), part(0, 1));
        // A number in the frame counts if it also occurs outside the frame or in the first line.
        assert_eq!(facts(&page("5 may", "5"), &page("6 may", "5")), part(1, 1));
        assert_eq!(facts(&format!("Notice 5\n{}", words(600)), &format!("Notice 6\n{}", words(600))), part(0, 1));
        assert_eq!(facts(&format!("Title\n5 {}", words(100)), &format!("Title\n6 {}", words(100))), part(0, 1));
        // A number outside the frame matches a number in the frame of the other text.
        assert_eq!(facts(&page("6 may", "5"), &page("5 may", "7")), part(1, 1));
    }

    fn part(common: u64, all: u64) -> Part {
        Part { common, all }
    }

    #[test]
    fn worked_examples() {
        let both = Contained { grams: part(1, 3), numbers: part(0, 1), facts: part(0, 1) };
        assert_eq!(of("Fares rise on 1 May", "fares rise on 2 May"), [both, both]);
        // Four characters contain two 3-grams, and five contain three.
        let [a, b] = of("今天下雨", "今天下雨了");
        assert_eq!((a.grams, b.grams, a.numbers), (part(2, 2), part(2, 3), part(0, 0)));
        assert_eq!((a.grams.share(), a.numbers.share(), b.grams.share()), (Some(1.0), None, Some(2.0 / 3.0)));
        // A text with fewer tokens than a gram is one gram; a text without tokens has no gram.
        assert_eq!(of("one two", "one two three")[0].grams, part(0, 1));
        assert_eq!(of("!!!", "!!!")[0].grams, part(0, 0));
        assert_eq!(of("costs 1\u{a0}200 or 1,200", "costs 1200")[0].numbers, part(1, 1));
        // Numbers written in words match numbers written in digits.
        assert_eq!(of("一千二百户 сорок", "1200 40")[0].numbers, part(2, 2));
        // Repeated numbers and grams count once.
        let [a, _] = of("1 1 1 1 1", "1 1 1");
        assert_eq!(a, Contained { grams: part(1, 1), numbers: part(1, 1), facts: part(1, 1) });
        assert_eq!(
            contained(&[], &[5, 2]),
            [Contained::default(), Contained { grams: part(0, 0), numbers: part(0, 1), facts: part(0, 1) }]
        );
    }

    proptest::proptest! {
        #[test]
        fn what_stands_in_a_longer_text_is_contained(text in "([a-d] |[0-9]{1,2} ){3,20}", more in "([a-d] ){0,9}") {
            let [whole, back] = of(&text, &format!("{text}{more}"));
            proptest::prop_assert_eq!(whole.grams.share(), Some(1.0));
            proptest::prop_assert!(whole.numbers.share().is_none_or(|share| share == 1.0));
            proptest::prop_assert_eq!((back.grams.common, back.numbers.common), (whole.grams.common, whole.numbers.common));
        }
    }
}

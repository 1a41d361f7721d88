//! Containment (Broder 1997): how much of one text also occurs in another text.
//!
//! Texts are compared by their distinct 3-grams (of words or, in Han text, of characters) and their distinct numbers. A number may be
//! written in digits, with or without thousands separators, or in words. A comparison takes O(|A| + |B|) time; the stored contents of a
//! text take 8 bytes per distinct gram.
//!
//! Numbers in the frame of a web page do not count as facts. Two texts that repeat few words are compared by their 12-grams.
//!
//! ```text
//! u = "fares rise on 1 May"   {fares rise on, rise on 1, on 1 may}   {1}
//! v = "fares rise on 2 May"   {fares rise on, rise on 2, on 2 may}   {2}
//! v contains 1 of the 3 grams and 0 of the 1 numbers in u
//! ```

use serde::Serialize;
use std::cmp::Ordering;

use super::contents::{Contents, IN_FRAME, number_hash};
use super::jaccard::common;
use dupsift_text::numbers::value;

/// Returns whether a text contains a number, in any spelling. The text is given in the form that
/// [`write_contents`](super::write_contents) writes, and the number in the form that [`numbers`](dupsift_text::numbers::numbers()) finds.
pub fn has_number(contents: &[u64], number: &str) -> bool {
    let numbers = Contents::of(contents).numbers;
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

/// Returns how much of `a` is in `b`, and how much of `b` is in `a`. `a` and `b` are the contents of the texts as
/// [`write_contents`](super::write_contents) writes them.
pub fn contained(a: &[u64], b: &[u64]) -> [Contained; 2] {
    let (a, b) = (Contents::of(a), Contents::of(b));
    let [grams_a, grams_b] = grams(&a, &b);
    let same = common(grams_a, grams_b) as u64;
    let (numbers, facts) = common_numbers(a.numbers, b.numbers);
    [(a.numbers, facts[0], grams_a), (b.numbers, facts[1], grams_b)].map(|(all_numbers, facts, all_grams)| Contained {
        grams: Part { common: same, all: all_grams.len() as u64 },
        numbers: Part { common: numbers, all: all_numbers.len() as u64 },
        facts: Part { common: facts, all: all_numbers.iter().filter(|number| *number & IN_FRAME == 0).count() as u64 },
    })
}

/// Returns the grams by which two texts are compared: long ones if both repeat few words.
fn grams<'c>(a: &Contents<'c>, b: &Contents<'c>) -> [&'c [u64]; 2] {
    if a.long.is_empty() || b.long.is_empty() { [a.grams, b.grams] } else { [a.long, b.long] }
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

/// Returns how many distinct numbers each of two texts contains, and how many they have in common.
pub(crate) fn numbers_of(a: &[u64], b: &[u64]) -> ([usize; 2], usize) {
    let (a, b) = (Contents::of(a).numbers, Contents::of(b).numbers);
    ([a.len(), b.len()], common_numbers(a, b).0 as usize)
}

/// Returns the numbers of distinct grams by which two texts are compared.
pub(crate) fn grams_of(a: &[u64], b: &[u64]) -> [usize; 2] {
    grams(&Contents::of(a), &Contents::of(b)).map(<[u64]>::len)
}

#[cfg(test)]
mod tests {
    use super::super::write_contents;
    use super::*;
    use dupsift_core::hash::splitmix64;
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
        // The number that leads the first line is an ordinal.
        assert_eq!(of("11. Take 5\n2. Take 6", "12. Take 5\n2. Take 6")[0].numbers, part(3, 3));
        assert_eq!(
            contained(&[], &[5, 2]),
            [Contained::default(), Contained { grams: part(0, 0), numbers: part(0, 1), facts: part(0, 1) }]
        );
    }

    /// Texts of few words have the same 3-grams in any order.
    #[test]
    fn texts_of_few_words_are_compared_by_long_grams() {
        let random = |seed| {
            let word = |at| ["a", "b", "c", "d"][splitmix64(seed, at) as usize % 4];
            (0..400).map(word).collect::<Vec<_>>().join(" ")
        };
        let [one, other] = [random(1), random(2)];
        let share = |a: &str, b: &str| of(a, b)[0].grams.share().unwrap();
        assert!(share(&one, &other) < 0.1);
        assert_eq!(share(&one, &format!("{one} a b")), 1.0);
        let prose: String = (0..1000).map(|at| format!("word{} ", splitmix64(7, at) % 300)).collect();
        assert!(share(&one, &format!("{one} {prose}")) == 1.0);
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

//! Containment (Broder 1997): how much of what one text says stands in another.
//!
//! What a text says is taken as its distinct 3-grams (of words; Han: of characters) and its distinct numbers as they are
//! written. O(|A| + |B|) a comparison; a text takes 8 bytes a distinct gram.
//!
//! ```text
//! u = "fares rise on 1 May"   {fares rise on, rise on 1, on 1 may}   {1}
//! v = "fares rise on 2 May"   {fares rise on, rise on 2, on 2 may}   {2}
//! of u stand in v: 1 of 3 grams, 0 of 1 numbers
//! ```

use super::jaccard::common;
use dupsift_core::hash::hash64;
use dupsift_text::Analysis;
use dupsift_text::numbers::numbers;
use dupsift_text::shingle::{distinct, shingles};

/// Tokens of a gram. A text with fewer tokens, but at least one, is one gram.
pub const GRAM: usize = 3;

/// Appends what a text says: how many distinct numbers it has, their hashes, and those of its distinct grams, both ascending.
pub fn write_contents(document: &Analysis<'_>, out: &mut Vec<u64>) {
    let mut own: Vec<u64> = numbers(document.text()).map(|number| hash64(number.as_bytes())).collect();
    distinct(&mut own);
    out.push(own.len() as u64);
    out.append(&mut own);
    shingles(document.tokens(), GRAM, false, &mut own);
    distinct(&mut own);
    out.append(&mut own);
}

/// Some of what one text says that stands in another one too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// So many stand in the other.
    pub common: u64,
    /// Of so many.
    pub all: u64,
}

impl Part {
    /// The share; none where there is nothing that could stand anywhere.
    pub fn share(self) -> Option<f64> {
        (self.all > 0).then(|| self.common as f64 / self.all as f64)
    }
}

/// How much of one text stands in another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contained {
    /// Of its distinct grams.
    pub grams: Part,
    /// Of its distinct numbers.
    pub numbers: Part,
}

/// How much of each of two texts stands in the other, as [`write_contents`] wrote them: of `a` in `b`, and of `b` in `a`.
pub fn contained(a: &[u64], b: &[u64]) -> [Contained; 2] {
    let ((numbers_a, grams_a), (numbers_b, grams_b)) = (parts(a), parts(b));
    let (numbers, grams) = (common(numbers_a, numbers_b) as u64, common(grams_a, grams_b) as u64);
    [(numbers_a, grams_a), (numbers_b, grams_b)].map(|(all_numbers, all_grams)| Contained {
        grams: Part { common: grams, all: all_grams.len() as u64 },
        numbers: Part { common: numbers, all: all_numbers.len() as u64 },
    })
}

/// The hashes of the distinct numbers of a text, ascending, as [`write_contents`] wrote them.
pub fn numbers_of(contents: &[u64]) -> &[u64] {
    parts(contents).0
}

/// Numbers and grams.
fn parts(contents: &[u64]) -> (&[u64], &[u64]) {
    let Some((&numbers, rest)) = contents.split_first() else { return (&[], &[]) };
    rest.split_at_checked(numbers as usize).unwrap_or((rest, &[]))
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

    fn part(common: u64, all: u64) -> Part {
        Part { common, all }
    }

    #[test]
    fn worked_examples() {
        let both = Contained { grams: part(1, 3), numbers: part(0, 1) };
        assert_eq!(of("Fares rise on 1 May", "fares rise on 2 May"), [both, both]);
        // Four characters are two grams, five are three.
        let [a, b] = of("今天下雨", "今天下雨了");
        assert_eq!((a.grams, b.grams, a.numbers), (part(2, 2), part(2, 3), part(0, 0)));
        assert_eq!((a.grams.share(), a.numbers.share(), b.grams.share()), (Some(1.0), None, Some(2.0 / 3.0)));
        // Fewer tokens than a gram has are one gram; a text without a token says nothing.
        assert_eq!(of("one two", "one two three")[0].grams, part(0, 1));
        assert_eq!(of("!!!", "!!!")[0].grams, part(0, 0));
        // Repeated numbers and grams count once.
        let [a, _] = of("1 1 1 1 1", "1 1 1");
        assert_eq!(a, Contained { grams: part(1, 1), numbers: part(1, 1) });
        assert_eq!(
            contained(&[], &[5, 1]),
            [Contained::default(), Contained { grams: part(0, 0), numbers: part(0, 1) }]
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

//! Decides, from two texts alone, whether they are versions of the same text or whether one contains the other.
//!
//! The following three conditions must all hold (docs/versions.md describes the corpora on which the limits were measured):
//!
//! 1. The texts share enough: one text contains at least the fraction T of the other text's distinct 3-grams.
//! 2. The facts agree: the other text contains at least the fraction `NUMBERS` of the distinct numbers in the text with fewer numbers, or
//!    each text contains at least the fraction `GRAMS` of the other text's 3-grams.
//! 3. No single word distinguishes them. Let A be the text of which a larger share is contained in the other text, B. For every word, the
//!    number of its occurrences in A minus the number of its occurrences in B is at most the fraction `SURPLUS` of the number of words in
//!    A.
//!
//! The conditions do not consider evidence that only the corpus shows, such as another page from the same template that is equally similar.
//! The conditions reject short texts in which one word was changed, because one word in fewer than fifty exceeds the limit `SURPLUS`.

use crate::measure::{
    Contained, Versions, contained, grams_of, numbers_of, split_word_counts, surplus, write_contents, write_word_counts,
};
use dupsift_text::Analysis;

/// The default value of T.
pub(crate) const ENOUGH: f64 = 0.8;
/// The minimum share of the numbers, in the text with fewer numbers, that the other text must contain for the facts to agree.
const NUMBERS: f64 = Versions::DEFAULT.numbers;
/// The minimum share of each text's 3-grams that the other text must contain for the facts to agree regardless of the numbers.
const GRAMS: f64 = Versions::DEFAULT.both;
/// The maximum difference between the number of occurrences of a word in one text and in the other text, as a share of the words in the
/// first text.
const SURPLUS: f64 = Versions::DEFAULT.word;

/// Appends the evidence of one text.
pub(crate) fn write_evidence(document: &Analysis<'_>, out: &mut Vec<u64>) {
    write_word_counts(document, out);
    write_contents(document, out);
}

/// Returns the larger share of 3-grams if all three conditions hold for two texts.
pub(crate) fn version(a: &[u64], b: &[u64], enough: f64) -> Option<f64> {
    let ((words_a, a), (words_b, b)) = (split_word_counts(a), split_word_counts(b));
    let both = contained(a, b);
    let [of_a, of_b] = both.map(|one| one.grams.share().unwrap_or(0.0));
    let shared = of_a.max(of_b);
    if shared < enough || !facts_agree(&both) {
        return None;
    }
    // If both texts are equally contained in each other, either may pass.
    let passes =
        of_a >= of_b && surplus(words_a, words_b) <= SURPLUS || of_b >= of_a && surplus(words_b, words_a) <= SURPLUS;
    passes.then_some(shared)
}

/// Returns whether the facts of two texts may agree, using only their numbers and 3-gram counts, which is cheap.
pub(crate) fn may_be_version(a: &[u64], b: &[u64]) -> bool {
    let (a, b) = (split_word_counts(a).1, split_word_counts(b).1);
    let ([x, y], common) = numbers_of(a, b);
    let few = x.min(y);
    if few == 0 || common as f64 / few as f64 >= NUMBERS {
        return true;
    }
    // The smaller number of 3-grams divided by the larger number is an upper bound on one of the shares.
    let [x, y] = grams_of(a, b);
    x.min(y) as f64 / x.max(y) as f64 >= GRAMS
}

/// Checks the second condition. The text with fewer numbers has the larger share; if one text has no numbers, nothing can disagree.
fn facts_agree(both: &[Contained; 2]) -> bool {
    let shares = both.iter().filter_map(|one| one.numbers.share());
    let agree = both.iter().any(|one| one.numbers.all == 0) || shares.fold(0.0, f64::max) >= NUMBERS;
    agree || both.iter().all(|one| one.grams.share().is_some_and(|share| share >= GRAMS))
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    static PIPELINE: LazyLock<Pipeline> = LazyLock::new(|| Pipeline::new(&TextOptions::default()).expect("defaults"));

    fn evidence(text: &str) -> Vec<u64> {
        let mut out = Vec::new();
        write_evidence(&PIPELINE.analyse(text), &mut out);
        out
    }

    fn of(a: &str, b: &str, enough: f64) -> Option<f64> {
        let (a, b) = (evidence(a), evidence(b));
        let found = version(&a, &b, enough);
        assert_eq!(found, version(&b, &a, enough));
        assert!(found.is_none() || may_be_version(&a, &b) && may_be_version(&b, &a));
        found
    }

    /// Returns text that consists of this many different words.
    fn words(count: usize) -> String {
        (0..count)
            .map(|n| format!("w{} ", ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"][n % 10].repeat(1 + n / 10)))
            .collect()
    }

    #[test]
    fn texts_share_enough() {
        let text = words(102);
        // The texts have a hundred 3-grams, and the last one differs: one word in 102 distinguishes the texts, which is
        // allowed.
        let other = text.replace(text.split(' ').nth(101).expect("102 words"), "last");
        assert_eq!(of(&text, &other, 0.99), Some(0.99));
        assert_eq!(of(&text, &other, 0.995), None);
        // One text contains the other.
        assert_eq!(of(&text, &format!("{text} and what more there is to say about it"), 0.8), Some(1.0));
        assert_eq!(of(&text, &words(60), 0.8), Some(1.0));
        assert_eq!(of("今天下雨了吗", "今天下雨了吗？没有。", 0.8), Some(1.0));
        assert_eq!(of("one two three four", "five six seven", 0.1), None);
    }

    #[test]
    fn facts_agree_or_do_not() {
        let form = |numbers: [u64; 4]| {
            let parts = numbers
                .map(|number| format!("{} {number}", words(17).replace('w', &"v".repeat(number as usize % 2 + 1))));
            parts.concat()
        };
        let (first, other) = (form([1, 3, 5, 7]), form([1, 3, 9, 11]));
        // The texts share two of four numbers, and all 3-grams except the 3-grams that contain the other two numbers.
        assert!(
            contained(split_word_counts(&evidence(&first)).1, split_word_counts(&evidence(&other)).1)[0].numbers.common
                == 2
        );
        assert_eq!(of(&first, &first, 0.5), Some(1.0));
        let long = |number: &str| format!("{} {number} {}", words(12), words(40));
        assert!(of(&long("7"), &long("8"), 0.5).is_some(), "three quarters of the 3-grams of each agree");
        let short = |number: &str| format!("{} {number} {}", words(30), "x y z");
        assert_eq!(of(&format!("{} 1 2 3", words(60)), &format!("{} 4 5 6 {}", words(60), words(100)), 0.8), None);
        assert!(of(&short("7"), &short(""), 0.5).is_some(), "one has no numbers");
    }

    #[test]
    fn a_word_tells_them_apart() {
        let notice = |town: &str| format!("{town} {} {town} {} {town}", words(80), words(40));
        assert_eq!(of(&notice("bern"), &notice("bern"), 0.8), Some(1.0));
        // Three of 123 words name a different town.
        assert_eq!(of(&notice("bern"), &notice("basel"), 0.8), None);
        let once = |town: &str| format!("{} {town} {}", words(80), words(40));
        assert!(of(&once("bern"), &once("basel"), 0.8).is_some());
    }

    proptest::proptest! {
        #[test]
        fn the_bound_is_a_bound(a in "([a-d] |[0-9] ){1,30}", b in "([a-d] |[0-9] ){1,30}", enough in 0.01f64..1.0) {
            of(&a, &b, enough);
        }
    }
}

//! Compares the documents of each pair on the page in the same way as the removal rule does.

use serde::Serialize;
use std::collections::BTreeMap;

use super::shown::{ComparedText, Shown, read_numbers};
use dupsift_algorithms::measure::{Contained, contained, has_number};
use dupsift_algorithms::recipe::remove_if::{Bounds, Stays};
use dupsift_core::error::Result;

/// The maximum number of numbers to list for each document in a pair.
const NAMED: usize = 8;

/// Describes the shared content of two documents and their differences.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PairComparison {
    /// The containment of the first document in the second, and of the second document in the first.
    pub contained: [Contained; 2],
    /// The first numbers in each document that are not in the other document.
    pub numbers: [Vec<String>; 2],
    /// The count of the remaining numbers in each document that are not in the other document.
    pub more_numbers: [usize; 2],
    /// The reason why each document cannot be removed in favor of the other; `None` if it can be removed.
    pub stays: [Option<&'static str>; 2],
}

/// Compares the two documents of each pair if both were read, using the bounds of the removal rule.
///
/// # Errors
/// Returns an error if a pair contains a document that is not in the corpus.
pub(crate) fn compare_all(
    shown: &Shown<'_>,
    bounds: Option<Bounds>,
    pairs: impl Iterator<Item = (u64, u64)>,
) -> Result<BTreeMap<(u64, u64), PairComparison>> {
    let mut compared = BTreeMap::new();
    for (a, b) in pairs {
        if let (Some(one), Some(other)) = (shown.compared(a)?, shown.compared(b)?) {
            compared.insert((a, b), compare(&one, &other, bounds));
        }
    }
    Ok(compared)
}

fn compare(a: &ComparedText<'_>, b: &ComparedText<'_>, bounds: Option<Bounds>) -> PairComparison {
    let lacking = |one: &ComparedText<'_>, other: &ComparedText<'_>| {
        let mut own = read_numbers(&one.numbers).filter(|number| !has_number(&other.contents, number));
        let named: Vec<String> = own.by_ref().take(NAMED).map(str::to_string).collect();
        (named, own.count())
    };
    let ((own_a, more_a), (own_b, more_b)) = (lacking(a, b), lacking(b, a));
    let [of_a, of_b] = contained(&a.contents, &b.contents);
    let stays = |both| bounds.and_then(|bounds| bounds.stays(both)).map(Stays::name);
    PairComparison {
        contained: [of_a, of_b],
        stays: [stays([of_a, of_b]), stays([of_b, of_a])],
        numbers: [own_a, own_b],
        more_numbers: [more_a, more_b],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::shown::write_numbers;
    use dupsift_algorithms::measure::write_contents;
    use dupsift_text::{Pipeline, TextOptions};

    #[test]
    fn numbers_that_one_lacks_are_listed_in_order() {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        let of = |text: &str| {
            let (document, mut contents, mut numbers) = (pipeline.analyse(text), Vec::new(), Vec::new());
            write_contents(&document, &mut contents);
            write_numbers(document.text(), &mut numbers);
            ComparedText { contents: contents.into(), numbers: numbers.into() }
        };
        let bounds = Bounds { grams: 0.8, numbers: 0.9 };
        let compared = |a: &str, b: &str| compare(&of(a), &of(b), Some(bounds));
        let found = compared("rooms 9, 7 and 5", "rooms 7 and 1");
        assert_eq!((found.numbers, found.more_numbers), ([vec!["9".into(), "5".into()], vec!["1".into()]], [0, 0]));
        let many = (20..31).map(|number| format!("room {number};")).collect::<String>();
        let found = compared("rooms 9, 7 and 5", &many);
        assert_eq!((found.more_numbers, found.numbers[1].len()), ([0, 3], NAMED));
        // A number that is written differently in the other text is not missing from it.
        let found = compared("a price of 1,200 for 40 rooms", "a price of 1 200 for forty rooms");
        assert_eq!((found.numbers, found.stays), ([vec![], vec![]], [Some("unique text"); 2]));
        let found = compared("one two three", "one two three four");
        assert_eq!((found.contained[0].grams.common, found.stays), (1, [None, Some("contains the kept one")]));
    }
}

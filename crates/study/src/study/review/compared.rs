//! Compares the pairs on the page in the same way as the removal rule.

use std::collections::{BTreeMap, BTreeSet};

use super::shown::Read;
use dupsift_algorithms::measure::{Contained, contained};
use dupsift_algorithms::stage::remove_if::{Bounds, Stays};
use dupsift_text::numbers::value;

/// The maximum count of numbers listed for each document of a pair.
const NAMED: usize = 8;

/// Describes the common contents and the differences of two documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairComparison {
    /// The containment of the first document in the second, and of the second document in the first.
    pub contained: [Contained; 2],
    /// The first numbers in each document that are not in the other document.
    pub numbers: [Vec<String>; 2],
    /// The count of further numbers in each document that are not in the other document.
    pub more_numbers: [usize; 2],
    /// The reason why each document cannot be removed in favor of the other; `None` if it can be removed.
    pub stays: [Option<&'static str>; 2],
}

/// Compares the pairs of which both documents were read, with the bounds of the removal rule.
pub fn compare_all(
    read: &BTreeMap<u64, Read>,
    bounds: Option<Bounds>,
    pairs: impl Iterator<Item = (u64, u64)>,
) -> BTreeMap<(u64, u64), PairComparison> {
    let both = |(a, b)| Some(((a, b), compare(read.get(&a)?, read.get(&b)?, bounds)));
    pairs.filter_map(both).collect()
}

fn compare(a: &Read, b: &Read, bounds: Option<Bounds>) -> PairComparison {
    let lacking = |one: &Read, other: &Read| {
        let there: BTreeSet<_> = other.numbers.iter().map(|number| value(number)).collect();
        let own: Vec<String> = one.numbers.iter().filter(|number| !there.contains(&value(number))).cloned().collect();
        let more = own.len().saturating_sub(NAMED);
        (own.into_iter().take(NAMED).collect::<Vec<_>>(), more)
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

    #[test]
    fn numbers_that_one_lacks_are_listed_in_order() {
        let read = |numbers: &[&str]| Read {
            shown: Default::default(),
            // The text has no numbers, no title, and three 3-grams.
            contents: vec![0, 0, 1, 2, 3],
            numbers: numbers.iter().map(ToString::to_string).collect(),
        };
        let many: Vec<String> = (20..31).map(|number| number.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let all = BTreeMap::from([(3, read(&["9", "7", "5"])), (4, read(&["7", "1"])), (5, read(&many))]);
        let bounds = Bounds { grams: 0.8, numbers: 0.9 };
        let found = compare_all(&all, Some(bounds), [(3, 4), (3, 5), (3, 6)].into_iter());
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [(3, 4), (3, 5)]);
        assert_eq!(found[&(3, 4)].numbers, [vec!["9", "5"], vec!["1"]]);
        assert_eq!((found[&(3, 5)].more_numbers, found[&(3, 5)].numbers[1].len()), ([0, 3], NAMED));
        assert_eq!((found[&(3, 4)].contained[0].grams.common, found[&(3, 4)].stays), (3, [None; 2]));
    }
}

//! Pairs that are shown, held against each other as removal does it.

use std::collections::{BTreeMap, BTreeSet};

use super::shown::Read;
use crate::measure::{Contained, contained};

/// Numbers that are told of each of two documents.
const TOLD: usize = 8;

/// What two documents have in common, and what not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Held {
    /// How much of the first stands in the second, and of the second in the first.
    pub contained: [Contained; 2],
    /// The first numbers of each that the other lacks.
    pub numbers: [Vec<String>; 2],
    /// How many more numbers of each the other lacks.
    pub more_numbers: [usize; 2],
}

/// Holds pairs of documents against each other, as far as both were read.
pub fn hold(
    read: &BTreeMap<u64, Read>,
    pairs: impl Iterator<Item = (u64, u64)>,
) -> BTreeMap<(u64, u64), Held> {
    let both = |(a, b)| Some(((a, b), held(read.get(&a)?, read.get(&b)?)));
    pairs.filter_map(both).collect()
}

fn held(a: &Read, b: &Read) -> Held {
    let lacking = |one: &Read, other: &Read| {
        let there: BTreeSet<&str> = other.numbers.iter().map(String::as_str).collect();
        let own: Vec<String> = one.numbers.iter().filter(|number| !there.contains(number.as_str())).cloned().collect();
        let more = own.len().saturating_sub(TOLD);
        (own.into_iter().take(TOLD).collect::<Vec<_>>(), more)
    };
    let ((of_a, more_a), (of_b, more_b)) = (lacking(a, b), lacking(b, a));
    Held {
        contained: contained(&a.contents, &b.contents),
        numbers: [of_a, of_b],
        more_numbers: [more_a, more_b],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_one_lacks_are_told_in_order() {
        let read = |numbers: &[&str]| Read {
            shown: Default::default(),
            contents: vec![0, 1, 2, 3],
            numbers: numbers.iter().map(ToString::to_string).collect(),
        };
        let many: Vec<String> = (20..31).map(|number| number.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let all = BTreeMap::from([(3, read(&["9", "7", "5"])), (4, read(&["7", "1"])), (5, read(&many))]);
        let found = hold(&all, [(3, 4), (3, 5), (3, 6)].into_iter());
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [(3, 4), (3, 5)]);
        assert_eq!(found[&(3, 4)].numbers, [vec!["9", "5"], vec!["1"]]);
        assert_eq!((found[&(3, 5)].more_numbers, found[&(3, 5)].numbers[1].len()), ([0, 3], TOLD));
        assert_eq!(found[&(3, 4)].contained[0].grams.common, 3);
    }
}

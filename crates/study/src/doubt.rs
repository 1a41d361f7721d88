//! Defines how doubtful a removal is. docs/report.md describes the score.

use dupsift_algorithms::steps::guard;
use dupsift_tables::RemovalFound;

/// The facts about a removal, or about a pair in one direction, on which the doubt depends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// The share of the document's 3-grams that the other document contains; or else the similarity; or else 1.
    pub contained: f32,
    /// The share of the document's numbers that the other document contains, or else 1.
    pub numbers: f32,
    /// Whether the titles refer to different things.
    pub other_title: bool,
    /// Whether another document is about as similar.
    pub others_as_near: bool,
    /// Whether the two documents are connected only by a chain of pairs.
    pub chain: bool,
}

impl Facts {
    /// Returns the facts about a removal. The flags, from the tables of pairs, say whether the titles refer to different things, and whether
    /// another document is about as similar.
    pub(crate) fn of(removal: &RemovalFound, [other_title, others_as_near]: [bool; 2]) -> Facts {
        Facts {
            contained: removal.contained.or(removal.similarity).unwrap_or(1.0),
            numbers: removal.numbers.unwrap_or(1.0),
            other_title,
            others_as_near,
            chain: removal.reason == "chain",
        }
    }
}

/// Returns whether another document is about as similar as the other document of a pair.
pub(crate) fn others_as_near(similarity: f32, next_best: Option<f32>) -> bool {
    next_best.is_some_and(|next| next >= similarity - guard::AS_NEAR)
}

/// The factor if the titles refer to different things, and the factor for a chain.
const HALF: f32 = 0.5;
/// The factor if another document is about as similar.
const AS_NEAR: f32 = 0.9;

/// Returns how certain it is that the other document replaces the document, from 0 to 1: a product of shares and factors.
pub(crate) fn certainty(facts: Facts) -> f32 {
    let factor = |is: bool, factor: f32| if is { factor } else { 1.0 };
    facts.contained
        * facts.numbers
        * factor(facts.other_title, HALF)
        * factor(facts.chain, HALF)
        * factor(facts.others_as_near, AS_NEAR)
}

/// Returns the doubt about a removal.
pub(crate) fn doubt(facts: Facts) -> f32 {
    (1.0 - certainty(facts)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_in_common_is_more_doubtful() {
        let none = Facts { contained: 1.0, numbers: 1.0, other_title: false, others_as_near: false, chain: false };
        assert_eq!(doubt(none), 0.0);
        let doubts = [
            doubt(Facts { others_as_near: true, ..none }),
            doubt(Facts { contained: 0.8, ..none }),
            doubt(Facts { contained: 0.8, numbers: 0.9, ..none }),
            doubt(Facts { other_title: true, ..none }),
            doubt(Facts { numbers: 0.4, ..none }),
            doubt(Facts { chain: true, other_title: true, ..none }),
        ];
        assert!(doubts.is_sorted(), "{doubts:?}");
    }
}

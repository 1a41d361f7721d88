//! Implements the margin rule: in addition to reaching the threshold, a pair must be among the best pairs of its documents, or close to
//! them.
//!
//! Pages with the same template are all about equally similar to each other, while a copy stands out. So the threshold of a method can be
//! lowered until it finds revised copies. The rule then removes pairs that are much less similar than the best pairs of their documents.
//!
//! ```text
//! margin=0.1         a b 0.90   a c 0.75   b c 0.79   c d 0.76      best: a 0.90  b 0.90  c 0.79  d 0.76
//!                    kept: a b; c d, because 0.79 - 0.76 <= 0.1    removed: a c (0.90 - 0.75 > 0.1), b c (0.90 - 0.79 > 0.1)
//! margin=either:0.1  kept: all four, because c and d have nothing better
//! ```
//!
//! If a page has five versions, each version is most similar to the next version, and the margin alone would keep only a chain of pairs.
//! `margin=M:D` forms clusters from the kept pairs, and also keeps every pair found within a cluster if its distance is at most D. The
//! distance is the method's own distance, or 1 - similarity if the method has no distance.
//!
//! Exact copies are merged first, and so are documents with equal fingerprints if the method treats them as one document (`simhash`,
//! `random_projection`). Therefore, the best partner of a document is never its own copy. The rule uses all other pairs of both
//! documents, so adding a document may remove pairs.

use crate::algorithm::contract::{Kind, Margin, ParamSpec};
use dupsift_core::row::Score;

/// The `margin` parameter, which all algorithms share.
pub const MARGIN: ParamSpec = ParamSpec {
    name: "margin",
    kind: Kind::Margin,
    default: "none",
    help: "M: a pair's similarity must be within M of the best similarity of each of its documents; either:M: within M of the best similarity of at least one of them; M:D: also keep pairs that connect a cluster, up to distance D",
};

/// The tolerance for similarities, which are Float32: it keeps 0.9 within 0.1 of 1.
const HAIR: f64 = 1e-6;

/// Returns whether a pair with this similarity is within the margin, given the best similarities of its documents.
pub fn within(margin: Margin, similarity: f32, best_a: f32, best_b: f32) -> bool {
    let best = if margin.either { best_a.min(best_b) } else { best_a.max(best_b) };
    f64::from(similarity) + margin.within + HAIR >= f64::from(best)
}

/// Returns whether a pair within a cluster is kept even if the margin alone would remove it.
pub(crate) fn keeps_whole(margin: Margin, score: Score) -> bool {
    let distance = score.distance.unwrap_or(1.0 - score.similarity);
    margin.whole.is_some_and(|whole| f64::from(distance) <= whole + HAIR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_example() {
        let pairs = [('a', 'b', 0.9f32), ('a', 'c', 0.75), ('b', 'c', 0.79), ('c', 'd', 0.76)];
        let best = |x: char| pairs.iter().filter(|(a, b, _)| *a == x || *b == x).map(|pair| pair.2).fold(0.0, f32::max);
        let left = |share: f64, either: bool| -> Vec<(char, char)> {
            let margin = Margin { within: share, either, whole: None };
            let stay = |&&(a, b, similarity): &&(char, char, f32)| within(margin, similarity, best(a), best(b));
            pairs.iter().filter(stay).map(|&(a, b, _)| (a, b)).collect()
        };
        assert_eq!(left(0.1, false), [('a', 'b'), ('c', 'd')]);
        assert_eq!(left(0.15, false).len(), 4);
        assert_eq!(left(0.1, true).len(), 4);
        assert_eq!(left(0.01, true), [('a', 'b'), ('b', 'c'), ('c', 'd')]);
        // 0.9 counts as within 0.1 of 1, even though binary fractions are slightly off.
        assert!(within(Margin { within: 0.1, either: false, whole: None }, 0.9, 1.0, 1.0));
    }

    #[test]
    fn clusters_are_kept_whole_up_to_a_distance() {
        let margin = |whole| Margin { within: 0.1, either: false, whole };
        let score = |similarity, distance| Score { similarity, distance };
        assert!(keeps_whole(margin(Some(0.3)), score(0.7, Some(0.3))));
        assert!(!keeps_whole(margin(Some(0.3)), score(0.9, Some(0.31))));
        assert!(keeps_whole(margin(Some(0.3)), score(0.7, None)) && !keeps_whole(margin(Some(0.3)), score(0.69, None)));
        assert!(!keeps_whole(margin(None), score(1.0, Some(0.0))));
    }
}

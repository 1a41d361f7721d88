//! The margin rule: a pair also has to be among the best of its documents, or nearly so.
//!
//! Pages of one template are all about equally near to one another, while a copy stands out. So the threshold of a method
//! is lowered until it finds reworked copies, and what it finds besides is held against the best that its documents have.
//!
//! ```text
//! margin=0.1         a b 0.90   a c 0.75   b c 0.79   c d 0.76      best: a 0.90  b 0.90  c 0.79  d 0.76
//!                    stays: a b; c d, for 0.79 - 0.76 <= 0.1       goes: a c (0.90 - 0.75 > 0.1), b c (0.90 - 0.79 > 0.1)
//! margin=either:0.1  stays: all four, for c and d have nothing better
//! ```
//!
//! Of five versions of a page each is nearest to the next one, and the margin would leave a chain of them. So with
//! `margin=M:D` what stays makes clusters, and then every pair within one that was found stays as well, if its distance is
//! at most D: the method's own distance, or 1 - similarity where it has none.
//!
//! Exact copies are folded before, and so are documents of equal fingerprints where the method takes these for one (`simhash`,
//! `random_projection`): so the best is never a document's own copy. The rule looks at all other pairs of two
//! documents: adding a document may take pairs away.

use crate::algorithm::params::{Kind, Margin, ParamSpec};
use dupsift_core::row::Score;

/// The parameter that all algorithms share.
pub const MARGIN: ParamSpec = ParamSpec {
    name: "margin",
    kind: Kind::Margin,
    default: "none",
    help: "M: a pair must come within M of the best similarity of each of its documents; either:M: of one of them; M:D: so that clusters stay whole up to the distance D",
};

/// A similarity is a Float32; a hair more than M keeps 0.9 within 0.1 of 1.
const HAIR: f64 = 1e-6;

/// Whether a pair of that similarity comes within the margin, of documents that have these best ones.
pub fn within(margin: Margin, similarity: f32, best_a: f32, best_b: f32) -> bool {
    let best = if margin.either { best_a.min(best_b) } else { best_a.max(best_b) };
    f64::from(similarity) + margin.within + HAIR >= f64::from(best)
}

/// Whether a pair of two documents of one cluster stays in any case.
pub fn keeps_whole(margin: Margin, score: Score) -> bool {
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
        // 0.9 is within 0.1 of 1, also where binary fractions are a hair off.
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

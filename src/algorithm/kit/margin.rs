//! The margin rule: a pair also has to be among the best of each of its two documents, or nearly so.
//!
//! Pages of one template are all about equally near to one another, while a copy stands out. So the threshold of a method
//! is lowered until it finds reworked copies, and what it finds besides is held against the best that either document has.
//!
//! ```text
//! margin=0.1     a b .90   a c .75   b c .79   c d .76      best: a .90  b .90  c .79  d .76
//!                stays: a b; c d, for .79 - .76 <= .1       goes: a c (.90 - .75 > .1), b c (.90 - .79 > .1)
//! margin=0.1:0.7 all stay: from .7 on a pair needs no margin
//! ```
//!
//! Exact copies are folded before, so the best is never a document's own copy. The rule looks at all other pairs of two
//! documents: adding a document may take pairs away.

use crate::algorithm::params::{Kind, Margin, ParamSpec};

/// The parameter that all members share.
pub const MARGIN: ParamSpec = ParamSpec {
    name: "margin",
    kind: Kind::Margin,
    default: "none",
    help: "M: a pair must come within M of the best similarity that each of its documents has with any other; M:S: unless it reaches S",
};

/// A similarity is a Float32; a hair more than M keeps 0.9 within .1 of 1.
const HAIR: f64 = 1e-6;

/// Whether a pair of that similarity stays, of documents that have these best ones.
pub fn stays(margin: Margin, similarity: f32, best_a: f32, best_b: f32) -> bool {
    let similarity = f64::from(similarity) + HAIR;
    similarity >= margin.sure || similarity + margin.within >= f64::from(best_a.max(best_b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_example() {
        let pairs = [('a', 'b', 0.9f32), ('a', 'c', 0.75), ('b', 'c', 0.79), ('c', 'd', 0.76)];
        let best = |x: char| pairs.iter().filter(|(a, b, _)| *a == x || *b == x).map(|pair| pair.2).fold(0.0, f32::max);
        let left = |within: f64, sure: f64| -> Vec<(char, char)> {
            let stay = |&&(a, b, similarity): &&(char, char, f32)| {
                stays(Margin { within, sure }, similarity, best(a), best(b))
            };
            pairs.iter().filter(stay).map(|&(a, b, _)| (a, b)).collect()
        };
        assert_eq!(left(0.1, Margin::NEVER_SURE), [('a', 'b'), ('c', 'd')]);
        assert_eq!(left(0.1, 0.7).len(), 4);
        assert_eq!(left(0.1, 0.79), [('a', 'b'), ('b', 'c'), ('c', 'd')]);
        assert_eq!(left(0.15, Margin::NEVER_SURE).len(), 4);
        // .9 is within .1 of 1, whatever the binary fractions say.
        assert!(stays(Margin { within: 0.1, sure: Margin::NEVER_SURE }, 0.9, 1.0, 1.0));
    }
}

//! merge: merges the occurrences of each pair.
//!
//! A pair occurs in each window that contains both of its documents. The merged pair has the best similarity, the distance that belongs to
//! it, and all the rules that found the pair. If several occurrences have the best similarity, the first one provides the distance, so the
//! occurrences of a pair must be sorted **by all their bytes**, not only by their two documents. The result then does not depend on the
//! order in which the occurrences were found.

use dupsift_core::row::{Pair, PairLayout};

/// Merges all rows for the same two documents into one pair. The rows must be sorted by all their bytes.
#[inline]
pub fn merge(layout: PairLayout, occurrences: &[u8]) -> Option<Pair> {
    let rows = occurrences.chunks_exact(layout.width());
    debug_assert!(rows.clone().is_sorted(), "occurrences arrive in bytewise order");
    rows.map(|row| layout.decode(row)).reduce(Pair::merge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::row::Score;

    #[test]
    fn the_best_score_stays_with_all_the_rules() {
        let layout = PairLayout::new(100);
        let occurrence = |similarity, distance, matched| {
            let mut row = Vec::new();
            layout.encode(&Pair::new(1, 2, Score { similarity, distance }, matched), &mut row);
            row
        };
        let merged = |mut occurrences: Vec<Vec<u8>>| {
            occurrences.sort_unstable();
            merge(layout, &occurrences.concat())
        };
        let pair = |similarity, distance, matched| Some(Pair::new(1, 2, Score { similarity, distance }, matched));
        assert_eq!(merged(vec![occurrence(0.9, Some(3.0), 1), occurrence(0.5, Some(1.0), 2)]), pair(0.9, Some(3.0), 3));
        // If the similarities are equal, the result has the distance of the first occurrence in byte order.
        let alike = [occurrence(0.5, Some(2.0), 1), occurrence(0.5, Some(1.0), 1), occurrence(0.5, Some(0.5), 4)];
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            assert_eq!(merged(order.map(|at| alike[at].clone()).to_vec()), pair(0.5, Some(1.0), 5));
        }
        assert_eq!(merged(Vec::new()), None);
    }
}

//! nearest: selects the candidate pairs that are verified: those of a document with its nearest candidates.
//!
//! Verifying a pair takes thousands of times longer than comparing two sketches. If thousands of documents share most of their words, all of
//! their pairs are candidates, and the cost is quadratic. A candidate pair is therefore verified only if one of its documents is among the
//! [`NEAREST_CANDIDATES`] nearest candidates of the other one, judging by the sketches. Documents at the same distance are ordered by
//! number, so in a group of documents with equal sketches, each document is compared with the first ones of the group.
//!
//! ```text
//! at most 1 candidate: d(1,2) = 5  d(1,3) = 5  d(2,3) = 6
//! nearest of 1: 2   of 2: 1   of 3: 1        1 2 and 1 3 are verified; 2 3 is not
//! ```

use dupsift_core::row::{NEAREST_CANDIDATES, Nearness, Pair};

/// Returns how near the other document of a candidate pair is to `doc`.
pub fn nearness(pair: &Pair, doc: u64) -> Nearness {
    let other = if pair.a == doc { pair.b } else { pair.a };
    Nearness::new(pair.score.distance.unwrap_or_default() as u32, other)
}

/// Returns the nearness of the farthest candidate with which a document is always compared, or `None` if the document is compared with all
/// of its candidates. `candidates` lists the nearness of each candidate in ascending order.
pub fn farthest(mut candidates: impl Iterator<Item = u64>) -> Option<u64> {
    let last = candidates.nth(NEAREST_CANDIDATES - 1)?;
    candidates.next().map(|_| last)
}

/// Returns whether a candidate pair is verified. `farthest` returns [`farthest`] of a document.
#[inline]
pub fn is_verified(pair: &Pair, farthest: impl Fn(u64) -> Option<u64>) -> bool {
    [pair.a, pair.b].into_iter().any(|doc| farthest(doc).is_none_or(|last| nearness(pair, doc).to_number() <= last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::row::Score;

    fn pair(a: u64, b: u64, apart: u32) -> Pair {
        Pair::new(a, b, Score { similarity: 0.0, distance: Some(apart as f32) }, 1)
    }

    #[test]
    fn a_pair_is_verified_if_it_is_near_for_one_of_its_documents() {
        let pairs = [pair(1, 2, 5), pair(1, 3, 5), pair(2, 3, 6)];
        // The farthest of one candidate per document, as in the example above.
        let farthest = |doc: u64| {
            let of = pairs.iter().filter(|pair| [pair.a, pair.b].contains(&doc));
            of.map(|pair| nearness(pair, doc).to_number()).min()
        };
        assert_eq!(pairs.map(|pair| is_verified(&pair, farthest)), [true, true, false]);
        // A document with few candidates is compared with all of them.
        assert!(is_verified(&pairs[2], |doc| if doc == 3 { None } else { farthest(doc) }));
    }

    #[test]
    fn only_documents_with_many_candidates_have_a_farthest_one() {
        let most = NEAREST_CANDIDATES as u64;
        assert_eq!(farthest(0..most), None);
        assert_eq!(farthest(0..=most), Some(most - 1));
        // A smaller distance is nearer, whatever the number of the document.
        assert!(Nearness::new(4, 1 << 40) < Nearness::new(5, 0) && Nearness::new(5, 0) < Nearness::new(5, 1));
        assert_eq!(nearness(&pair(7, 9, 3), 9), Nearness::new(3, 7));
    }
}

//! The next best partner of a pair. The similarity of this partner distinguishes an isolated pair from a pair among many similar documents.
//!
//! The partners of a document have a fixed order: first the near partners by number, then all other partners by descending similarity. A
//! scan of these other partners from the front therefore finds the best partner outside a near group. Each skipped partner costs a lookup
//! among the near partners.
//!
//! ```text
//! near 0.9     a b 0.95   a c 0.93   a d 0.85   b d 0.8   b e 0.7
//! a b: near group a, b, c; outside are d (0.85 to a) and e: the next best is 0.85
//! ```

use std::cmp::Ordering;
use std::ops::Range;

use crate::measure::CROWD;

/// The maximum number of partners that are skipped before the search ends. In larger near groups, the remaining documents count as outside
/// the group.
pub const MOST_PASSED: usize = 128;

/// Holds a partner: the document and its similarity.
pub type Partner = (u64, f32);

/// Provides the partners of all documents, in the order of [`order`].
pub trait Partners {
    /// Returns the positions of a document's partners.
    fn range(&self, doc: u64) -> Range<usize>;
    /// Returns the partner at a position.
    fn get(&self, at: usize) -> Partner;
}

/// Describes the next best partner of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NextBest {
    /// The similarity of the partner; `None` if there is no other partner.
    pub similarity: Option<f32>,
    /// Whether the search ended early, so that the partner may be within the near group.
    pub cut_short: bool,
    /// Whether the near group contains a third document.
    pub in_group: bool,
    /// Whether more than [`CROWD`] other documents are about as similar to the first document as the second document is, and vice versa.
    pub crowded: [bool; 2],
}

/// Compares two partners of a document: near partners first, by number, then all other partners by descending similarity.
pub fn order(near: f32, x: &Partner, y: &Partner) -> Ordering {
    match (x.1 >= near, y.1 >= near) {
        (true, true) => x.0.cmp(&y.0),
        (false, false) => y.1.total_cmp(&x.1).then(x.0.cmp(&y.0)),
        (x, y) => y.cmp(&x),
    }
}

/// Returns the best partner of either document outside the near group. This group consists of the two documents and all documents near
/// either of them. Skips at most `most` partners. Documents with a similarity of at least `least` count toward a crowd.
pub fn next_best(partners: &impl Partners, near: f32, most: usize, (a, b): (u64, u64), least: f32) -> NextBest {
    let [x, y] = [(a, b), (b, a)].map(|(doc, other)| outside(partners, near, most, doc, other));
    let has_third = |doc: u64, other: u64| {
        let near_doc = partners.range(doc).start..near_end(partners, near, doc);
        near_doc.len() > usize::from(is_among(partners, near_doc.clone(), other))
    };
    NextBest {
        similarity: x.similarity.into_iter().chain(y.similarity).reduce(f32::max),
        cut_short: x.cut_short || y.cut_short,
        in_group: has_third(a, b) || has_third(b, a),
        crowded: [(a, b), (b, a)].map(|pair| is_crowded(partners, near, most, pair, least)),
    }
}

/// Returns whether more than [`CROWD`] of a document's first `most` partners have a similarity of at least `least`, not counting the other
/// document of the pair.
fn is_crowded(partners: &impl Partners, near: f32, most: usize, (doc, other): (u64, u64), least: f32) -> bool {
    let mut count = 0;
    for (partner, similarity) in partners.range(doc).take(most).map(|at| partners.get(at)) {
        // Near partners are not ordered by similarity.
        if similarity < least && similarity < near {
            return false;
        }
        count += usize::from(partner != other && similarity >= least);
        if count > CROWD {
            return true;
        }
    }
    false
}

/// Returns a document's most similar partner that is near neither this document nor the other document of the pair.
fn outside(partners: &impl Partners, near: f32, most: usize, doc: u64, other: u64) -> NextBest {
    let far = near_end(partners, near, doc)..partners.range(doc).end;
    let near_other = partners.range(other).start..near_end(partners, near, other);
    for (passed, at) in far.enumerate() {
        let (partner, similarity) = partners.get(at);
        let cut_short = passed == most;
        if cut_short || (partner != other && !is_among(partners, near_other.clone(), partner)) {
            return NextBest { similarity: Some(similarity), cut_short, ..NextBest::default() };
        }
    }
    NextBest::default()
}

/// Returns the position after a document's last near partner.
fn near_end(partners: &impl Partners, near: f32, doc: u64) -> usize {
    first(partners.range(doc), |at| partners.get(at).1 < near)
}

/// Returns whether a document is among the near partners of another document, which are ordered by number.
fn is_among(partners: &impl Partners, near: Range<usize>, partner: u64) -> bool {
    let at = first(near.clone(), |at| partners.get(at).0 >= partner);
    at < near.end && partners.get(at).0 == partner
}

/// Returns the first position at which `so` returns true, or the end if there is no such position.
fn first(places: Range<usize>, so: impl Fn(usize) -> bool) -> usize {
    let Range { mut start, mut end } = places;
    while start < end {
        let middle = start + (end - start) / 2;
        if so(middle) { end = middle } else { start = middle + 1 }
    }
    start
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use dupsift_core::hash::splitmix64;

    const NEAR: f32 = 0.9;

    /// The partners of all documents, one document after another.
    struct Lists(Vec<usize>, Vec<Partner>);

    impl Partners for Lists {
        fn range(&self, doc: u64) -> Range<usize> {
            self.0[doc as usize]..self.0[doc as usize + 1]
        }

        fn get(&self, at: usize) -> Partner {
            self.1[at]
        }
    }

    fn lists(documents: u64, pairs: &BTreeMap<(u64, u64), f32>) -> Lists {
        let (mut begins, mut all) = (vec![0], Vec::new());
        for doc in 0..documents {
            let other = |&(a, b): &(u64, u64)| (a == doc).then_some(b).or((b == doc).then_some(a));
            let mut of_one: Vec<Partner> =
                pairs.iter().filter_map(|(pair, &similarity)| Some((other(pair)?, similarity))).collect();
            of_one.sort_by(|x, y| order(NEAR, x, y));
            all.extend(of_one);
            begins.push(all.len());
        }
        Lists(begins, all)
    }

    /// Finds the next best partner by applying its definition, among all partners of both documents outside the near group.
    fn plain(pairs: &BTreeMap<(u64, u64), f32>, a: u64, b: u64) -> NextBest {
        let links = |doc: u64| {
            pairs.iter().filter_map(move |(&(x, y), &similarity)| {
                let other = (x == doc).then_some(y).or((y == doc).then_some(x))?;
                Some((other, similarity))
            })
        };
        let both = || links(a).chain(links(b));
        let near: BTreeSet<u64> = both().filter(|link| link.1 >= NEAR).map(|link| link.0).chain([a, b]).collect();
        let similarity = both().filter(|link| !near.contains(&link.0)).map(|link| link.1).reduce(f32::max);
        let least = pairs[&(a, b)] - 0.05;
        let as_near = |doc: u64| links(doc).filter(|link| link.1 >= least).count() > CROWD + 1;
        NextBest { similarity, cut_short: false, in_group: near.len() > 2, crowded: [a, b].map(as_near) }
    }

    #[test]
    fn the_example() {
        let pairs = [((0, 1), 0.95), ((0, 2), 0.93), ((0, 3), 0.85), ((1, 3), 0.8), ((1, 4), 0.7)].into();
        let lists = lists(5, &pairs);
        let of = |a, b| next_best(&lists, NEAR, MOST_PASSED, (a, b), 0.7).similarity;
        assert_eq!((of(0, 1), of(1, 4), of(4, 1)), (Some(0.85), Some(0.8), Some(0.8)));
        // All partners of d are in the near group of a, and a has no other partners.
        assert_eq!((of(0, 3), of(3, 1)), (None, Some(0.7)));
    }

    #[test]
    fn a_crowd_is_more_than_ten_others_about_as_similar() {
        // Documents 0 and 1 are the pair; all other documents are partners of document 0 only. Documents with a similarity of 0.88 or more
        // count toward a crowd.
        let crowded = |others: &[f32]| {
            let others = others.iter().enumerate().map(|(at, similarity)| ((0, 2 + at as u64), *similarity));
            let pairs = [((0, 1), 0.93)].into_iter().chain(others).collect();
            next_best(&lists(20, &pairs), NEAR, MOST_PASSED, (0, 1), 0.88).crowded
        };
        assert_eq!(crowded(&[0.89; 10]), [false, false]);
        assert_eq!(crowded(&[0.89; 11]), [true, false]);
        assert_eq!(crowded(&[0.87; 11]), [false, false]);
        // Near partners come first, in the order of their numbers.
        assert_eq!(crowded(&[0.99, 0.87, 0.91, 0.885, 0.98, 0.9, 0.95, 0.6, 0.9, 0.9, 0.9, 0.9, 0.9]), [true, false]);
    }

    /// Two groups of near documents are similar to each other. If the documents of a pair are in different groups, the search first visits
    /// all documents of the other group.
    #[test]
    fn large_families_cost_in_proportion_to_their_pairs() {
        struct Counting(Lists, std::cell::Cell<u64>);
        impl Partners for Counting {
            fn range(&self, doc: u64) -> Range<usize> {
                self.0.range(doc)
            }

            fn get(&self, at: usize) -> Partner {
                self.1.set(self.1.get() + 1);
                self.0.get(at)
            }
        }
        let looks = |family: u64| {
            let alike = |a: u64, b: u64| if (a < family) == (b < family) { 0.95 } else { 0.7 };
            let pairs: BTreeMap<(u64, u64), f32> =
                (0..2 * family).flat_map(|a| (a + 1..2 * family).map(move |b| ((a, b), alike(a, b)))).collect();
            let lists = Counting(lists(2 * family, &pairs), std::cell::Cell::new(0));
            let cut = pairs.keys().filter(|&&(a, b)| next_best(&lists, NEAR, 16, (a, b), 0.7).cut_short).count() as u64;
            (lists.1.get() / pairs.len() as u64, cut)
        };
        let ((small, none), (large, cut)) = (looks(10), looks(80));
        assert_eq!((none, cut), (0, 80 * 80));
        // Up to 2 x 16 partners are skipped, each with a search among the near partners; in a list eight times as long, a search takes
        // three more steps.
        assert!(large < 3 * small && large < 32 * 9, "{small} and {large} looks a pair");
    }

    #[test]
    fn random_graphs_against_the_definition() {
        let (mut cut, mut crowded) = (0, 0);
        for seed in 0..60 {
            let documents = 4 + seed % 24;
            let chance = |at: u64| splitmix64(seed, at) % 100;
            let pairs: BTreeMap<(u64, u64), f32> = (0..documents)
                .flat_map(|a| (a + 1..documents).map(move |b| (a, b)))
                .filter(|(a, b)| chance(100 * a + b) < 70)
                .map(|(a, b)| ((a, b), 0.6 + chance(7000 + 100 * a + b) as f32 / 250.0))
                .collect();
            let lists = lists(documents, &pairs);
            for (&(a, b), &similarity) in &pairs {
                let expected = plain(&pairs, a, b);
                assert_eq!(next_best(&lists, NEAR, 100, (a, b), similarity - 0.05), expected);
                crowded += u64::from(expected.crowded[0]);
                // A search that ends early never overstates how isolated a pair is.
                let early = next_best(&lists, NEAR, 1, (a, b), similarity - 0.05);
                let best = expected.similarity;
                assert!(early.similarity >= best && (early.cut_short || early.similarity == best));
                cut += u64::from(early.cut_short);
            }
        }
        assert!(cut > 50 && crowded > 50, "{cut} {crowded}");
    }
}

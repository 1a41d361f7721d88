//! Jaccard similarity (resemblance, Broder 1997): the number of elements that two sets share, divided by the number of elements in their
//! union.

/// Returns |A n B| / |A u B| for two sorted slices of distinct values, or 1 for two empty sets. Takes O(|A| + |B|) time.
///
/// ```text
/// jaccard(&[1, 2, 3], &[2, 3, 4]) == 0.5
/// ```
pub fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let common = common(a, b);
    let all = a.len() + b.len() - common;
    if all == 0 { 1.0 } else { common as f64 / all as f64 }
}

/// Returns how many values two sorted slices share. A repeated value counts once for each time that it occurs in both slices. Takes O(|A| +
/// |B|) time.
///
/// Each step of a merge depends on the previous step. Both slices are therefore split at the middle value of the first slice, and one loop
/// merges both halves, so that the latencies of their steps overlap.
pub fn common<T: Ord + Copy>(a: &[T], b: &[T]) -> usize {
    let Some(&middle) = a.get(a.len() / 2) else { return 0 };
    let (a, upper_a) = a.split_at(a.partition_point(|x| *x < middle));
    let (b, upper_b) = b.split_at(b.partition_point(|x| *x < middle));
    let (mut i, mut j, mut k, mut l, mut common) = (0, 0, 0, 0, 0);
    while i < a.len() && j < b.len() && k < upper_a.len() && l < upper_b.len() {
        let (x, y, upper_x, upper_y) = (a[i], b[j], upper_a[k], upper_b[l]);
        common += usize::from(x == y) + usize::from(upper_x == upper_y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
        k += usize::from(upper_x <= upper_y);
        l += usize::from(upper_y <= upper_x);
    }
    common + merged(&a[i..], &b[j..]) + merged(&upper_a[k..], &upper_b[l..])
}

/// Like [`common`], with a single merge.
fn merged<T: Ord + Copy>(a: &[T], b: &[T]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        common += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    common
}

/// Returns the result of [`common`] for two sorted slices of distinct values if this result is at least `least`. Stops as soon as too many
/// values of the smaller set are missing from the larger set. If the values are hashes and the sets are dissimilar, the comparison stops
/// after a fraction of the smaller set has been read, regardless of the size of the larger set.
pub(crate) fn common_at_least(a: &[u64], b: &[u64], least: usize) -> Option<usize> {
    let (small, large) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let mut may_miss = small.len().checked_sub(least)?;
    let stride = (large.len() / small.len().max(1)).max(1);
    let (mut rest, mut common) = (large, 0);
    for value in small {
        // Advances in strides equal to the average distance between adjacent values, then searches the last stride by bisection.
        let mut reach = stride;
        while reach < rest.len() && rest[reach - 1] < *value {
            reach += stride;
        }
        rest = &rest[(reach - stride).min(rest.len())..];
        rest = &rest[rest[..stride.min(rest.len())].partition_point(|other| other < value)..];
        if rest.first() == Some(value) {
            common += 1;
        } else {
            may_miss = may_miss.checked_sub(1)?;
        }
    }
    Some(common)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn examples() {
        assert_eq!(jaccard(&[1, 2, 3], &[2, 3, 4]), 0.5);
        assert_eq!(jaccard(&[], &[]), 1.0);
        assert_eq!(jaccard(&[1], &[]), 0.0);
        assert_eq!(jaccard(&[1, 9], &[1, 9]), 1.0);
    }

    proptest::proptest! {
        #[test]
        fn at_least_so_many_or_none(a: BTreeSet<u16>, b: BTreeSet<u16>, least in 0usize..40, narrow in 1u16..2000) {
            let wide = |set: &BTreeSet<u16>| {
                let narrow: BTreeSet<u64> = set.iter().map(|&x| u64::from(x % narrow)).collect();
                narrow.into_iter().collect::<Vec<_>>()
            };
            let (a, b) = (wide(&a), wide(&b));
            let both = common(&a, &b);
            proptest::prop_assert_eq!(common_at_least(&a, &b, least), (both >= least).then_some(both));
        }

        #[test]
        fn two_merges_share_what_one_does(mut a: Vec<u8>, mut b: Vec<u8>, narrow in 1u8..=255) {
            for list in [&mut a, &mut b] {
                list.iter_mut().for_each(|x| *x %= narrow);
                list.sort_unstable();
            }
            proptest::prop_assert_eq!(common(&a, &b), merged(&a, &b));
        }

        #[test]
        fn equals_the_definition(a: BTreeSet<u8>, b: BTreeSet<u8>) {
            let wide = |set: &BTreeSet<u8>| set.iter().map(|&x| u64::from(x)).collect::<Vec<_>>();
            let all = a.union(&b).count();
            let expected = if all == 0 { 1.0 } else { a.intersection(&b).count() as f64 / all as f64 };
            proptest::prop_assert_eq!(jaccard(&wide(&a), &wide(&b)), expected);
        }
    }
}

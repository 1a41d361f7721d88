//! Jaccard similarity (resemblance, Broder 1997): common elements over all elements of two sets.

/// |A n B| / |A u B| of two sorted slices of distinct values; 1 for two empty sets. O(|A| + |B|).
///
/// ```text
/// jaccard(&[1, 2, 3], &[2, 3, 4]) == 0.5
/// ```
pub fn jaccard(a: &[u64], b: &[u64]) -> f64 {
    let common = common(a, b);
    let all = a.len() + b.len() - common;
    if all == 0 { 1.0 } else { common as f64 / all as f64 }
}

/// How many values two sorted slices share, repeated ones as often as both have them. O(|A| + |B|).
pub fn common<T: Ord + Copy>(a: &[T], b: &[T]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        common += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    common
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
        fn equals_the_definition(a: BTreeSet<u8>, b: BTreeSet<u8>) {
            let wide = |set: &BTreeSet<u8>| set.iter().map(|&x| u64::from(x)).collect::<Vec<_>>();
            let all = a.union(&b).count();
            let expected = if all == 0 { 1.0 } else { a.intersection(&b).count() as f64 / all as f64 };
            proptest::prop_assert_eq!(jaccard(&wide(&a), &wide(&b)), expected);
        }
    }
}

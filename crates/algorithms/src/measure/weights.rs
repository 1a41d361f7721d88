//! The distance between two lists of weights for the same items (Wang, Xie, Lei, Li 2000).

/// Returns sum (a - b)^2 / (sum a^2 + sum b^2) over all items: 0 for equal weights, 1 if no item has a nonzero weight in both lists, and 0
/// if all weights are 0. The distance depends on the scale: doubling all weights gives a distance of 0.2. Takes O(n) time.
///
/// ```text
/// weight_distance([(2.0, 1.0), (1.0, 1.0), (1.0, 1.0)]) == 1.0 / 9.0
/// ```
pub(crate) fn weight_distance(weights: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let (mut apart, mut total) = (0.0, 0.0);
    for (a, b) in weights {
        apart += (a - b) * (a - b);
        total += a * a + b * b;
    }
    if total > 0.0 { apart / total } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_distances() {
        let between = |a: &[f64], b: &[f64]| weight_distance(a.iter().copied().zip(b.iter().copied()));
        assert_eq!(between(&[2.0, 1.0, 1.0], &[1.0, 1.0, 1.0]), 1.0 / 9.0);
        assert_eq!(between(&[0.5, 0.25], &[0.5, 0.25]), 0.0);
        assert_eq!(between(&[1.0, 0.0], &[0.0, 1.0]), 1.0);
        assert_eq!(between(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]), 0.2);
        assert_eq!(between(&[0.0], &[0.0]), 0.0);
    }
}

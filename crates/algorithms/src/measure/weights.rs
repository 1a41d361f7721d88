//! The distance of two lists of weights of the same things (Wang, Xie, Lei, Li 2000).

/// sum (a - b)^2 / (sum a^2 + sum b^2), thing by thing: 0 for equal weights, 1 where no thing has both, and 0 for no weight
/// at all. It depends on the scale: twice the weights are 0.2 away. O(n).
///
/// ```text
/// weight_distance([(2.0, 1.0), (1.0, 1.0), (1.0, 1.0)]) == 1.0 / 9.0
/// ```
pub fn weight_distance(weights: impl IntoIterator<Item = (f64, f64)>) -> f64 {
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

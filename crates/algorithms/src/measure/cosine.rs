//! Cosine of the angle between two sparse vectors.

/// Returns the cosine of two vectors, or 0 if either vector has length 0. Each vector holds (term, weight) entries with distinct terms,
/// sorted by term. Sums are computed in the order of terms, so equal vectors give identical results. Takes O(|A| + |B|) time.
pub fn cosine(a: &[(u64, f64)], b: &[(u64, f64)]) -> f64 {
    let (mut i, mut j, mut product) = (0, 0, 0.0);
    while i < a.len() && j < b.len() {
        match a[i].0.cmp(&b[j].0) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                product += a[i].1 * b[j].1;
                i += 1;
                j += 1;
            }
        }
    }
    let square = |vector: &[(u64, f64)]| vector.iter().map(|(_, weight)| weight * weight).sum::<f64>();
    let length = (square(a) * square(b)).sqrt();
    if length == 0.0 { 0.0 } else { (product / length).min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the distances in docs/methods/sim.md.
    #[test]
    fn worked_examples() {
        let one = [(1, 12.0), (2, 10.0), (3, 7.0)];
        let near = [(1, 11.0), (2, 10.0), (3, 8.0)];
        let double = [(1, 24.0), (2, 20.0), (3, 14.0)];
        let third = [(1, 12.0), (2, 10.0), (4, 7.0)];
        let apart = [(5, 1.0), (6, 2.0)];
        let distance = |b: &[(u64, f64)]| 1.0 - cosine(&one, b);
        assert!((distance(&near) - 0.0034).abs() < 5e-5);
        assert!(distance(&double).abs() < 1e-12);
        assert!((distance(&third) - 0.1672).abs() < 5e-5);
        assert_eq!(distance(&apart), 1.0);
        assert_eq!(cosine(&[], &one), 0.0);
    }
}

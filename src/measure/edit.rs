//! Similarity by the smallest number of insertions and deletions: 2 LCS / (|a| + |b|), as Perl's String::Similarity computes it.
//!
//! The value is the one of Myers' O(ND) algorithm; it is computed bit-parallel with an early stop (rapidfuzz, `indel`).

use rapidfuzz::distance::indel;

/// 2 LCS / (|a| + |b|) of two sequences, where it reaches `threshold` (0 to 1); 1 for two empty ones.
pub fn lcs_similarity(a: &[u32], b: &[u32], threshold: f64) -> Option<f64> {
    let all = a.len() + b.len();
    if all == 0 {
        return Some(1.0);
    }
    // LCS cannot exceed the shorter sequence, so lengths alone decide most unrelated pairs.
    let bound = 2.0 * a.len().min(b.len()) as f64 / all as f64;
    if bound < threshold {
        return None;
    }
    // One more than the threshold allows, so that rounding never decides; the last line does.
    let most = ((1.0 - threshold) * all as f64).floor() as usize + 1;
    let args = indel::Args::default().score_cutoff(most);
    let edits = indel::distance_with_args(a.iter().copied(), b.iter().copied(), &args)?;
    let similarity = (all - edits) as f64 / all as f64;
    (similarity >= threshold).then_some(similarity)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quadratic(a: &[u32], b: &[u32]) -> f64 {
        let mut table = vec![vec![0usize; b.len() + 1]; a.len() + 1];
        for i in 0..a.len() {
            for j in 0..b.len() {
                table[i + 1][j + 1] = if a[i] == b[j] { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
            }
        }
        let all = a.len() + b.len();
        if all == 0 { 1.0 } else { 2.0 * table[a.len()][b.len()] as f64 / all as f64 }
    }

    proptest::proptest! {
        #[test]
        fn equals_the_quadratic_definition(a in proptest::collection::vec(0u32..4, 0..40),
                                           b in proptest::collection::vec(0u32..4, 0..40), t in 0.0f64..1.0) {
            let exact = quadratic(&a, &b);
            let expected = (exact >= t).then_some(exact);
            proptest::prop_assert_eq!(lcs_similarity(&a, &b, t), expected);
        }
    }

    #[test]
    fn known_values() {
        let letters = |word: &str| word.chars().map(u32::from).collect::<Vec<_>>();
        assert_eq!(lcs_similarity(&letters("abcd"), &letters("abxd"), 0.5), Some(0.75));
        assert_eq!(lcs_similarity(&letters("abcd"), &letters("abxd"), 0.8), None);
        assert_eq!(lcs_similarity(&[], &[], 0.9), Some(1.0));
    }
}

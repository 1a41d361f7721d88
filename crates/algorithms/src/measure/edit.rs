//! Similarity by the minimum number of insertions and deletions: 2 LCS / (|a| + |b|), as Perl's String::Similarity computes it.
//!
//! The value equals the result of Myers' O(ND) algorithm, but it is computed with bit-parallel operations within the band that the
//! threshold allows ([`super::subsequence`]). A [`Profile`] gives an upper bound at the cost of two lookups.

use super::subsequence::{Decided, common_in_order};

/// The maximum number of steps in one comparison; this many steps take about a second. Any two sequences of 200,000 elements stay below
/// this number at any threshold (their widest band has 626 million blocks). Longer sequences stay below this number if they are nearly
/// identical or have few elements in common.
pub(crate) const MOST_STEPS: u64 = 700_000_000;

/// Returns 2 LCS / (|a| + |b|) of two sequences if it reaches `threshold` (0 to 1). The similarity of two empty sequences is 1.
///
/// # Errors
/// Returns [`Undecided`](super::Undecided) for sequences so long and different that the comparison would take more steps than `MOST_STEPS`.
pub fn lcs_similarity(a: &[u32], b: &[u32], threshold: f64) -> Decided<f64> {
    lcs_similarity_within(a, b, threshold, MOST_STEPS)
}

fn lcs_similarity_within(a: &[u32], b: &[u32], threshold: f64, most_steps: u64) -> Decided<f64> {
    let all = a.len() + b.len();
    if all == 0 {
        return Ok(Some(1.0));
    }
    // The LCS cannot exceed the shorter sequence, so the lengths alone rule out most unrelated pairs.
    if !may_reach(a.len().min(b.len()), all, threshold) {
        return Ok(None);
    }
    // This is one less than the threshold requires, so that rounding in this step never rejects a pair; the last line compares exactly.
    let least = ((threshold * all as f64 / 2.0).floor() as usize).saturating_sub(1);
    let common = common_in_order(a, b, least, most_steps)?;
    let similarity = common.map(|common| 2.0 * common as f64 / all as f64);
    Ok(similarity.filter(|similarity| *similarity >= threshold))
}

/// Returns whether two sequences may reach the threshold, given the maximum number of elements that they share (`common`) and the total
/// number of their elements (`all`).
pub(crate) fn may_reach(common: usize, all: usize, threshold: f64) -> bool {
    all == 0 || 2.0 * common as f64 / all as f64 >= threshold
}

/// Counts the elements of a sequence in each of 256 hash classes.
///
/// In each class, two sequences share at most as many elements as the smaller of their two counts, so the sum of these minima is an upper
/// bound on the LCS. The bound rejects most pairs of unrelated Chinese texts without an alignment, but few pairs of Russian or English
/// texts, which all use the same letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Profile(pub [u32; 256]);

impl Profile {
    /// Returns the profile of a sequence. Takes O(n) time.
    pub(crate) fn of(elements: impl IntoIterator<Item = u32>) -> Profile {
        let mut counts = [0; 256];
        // Multiplying by the golden ratio spreads neighboring values, such as the letters of an alphabet, over the upper bits.
        elements.into_iter().for_each(|element| counts[(element.wrapping_mul(0x9E37_79B9) >> 24) as usize] += 1);
        Profile(counts)
    }
}

/// Returns an upper bound on the LCS of two sequences with these profiles.
pub(crate) fn most_common(a: &[u32], b: &[u32]) -> usize {
    a.iter().zip(b).map(|(&a, &b)| u64::from(a.min(b))).sum::<u64>() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quadratic(a: &[u32], b: &[u32]) -> usize {
        let mut table = vec![vec![0usize; b.len() + 1]; a.len() + 1];
        for i in 0..a.len() {
            for j in 0..b.len() {
                table[i + 1][j + 1] = if a[i] == b[j] { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
            }
        }
        table[a.len()][b.len()]
    }

    fn agree(a: &[u32], b: &[u32], threshold: f64) -> Result<(), proptest::test_runner::TestCaseError> {
        let (common, all) = (quadratic(a, b), a.len() + b.len());
        let exact = if all == 0 { 1.0 } else { 2.0 * common as f64 / all as f64 };
        let expected = (exact >= threshold).then_some(exact);
        proptest::prop_assert_eq!(lcs_similarity(a, b, threshold), Ok(expected));
        // A step limit never changes a result; it can only leave a pair undecided.
        for most_steps in [0, 1 << 10, 1 << 12, 1 << 14] {
            let bounded = lcs_similarity_within(a, b, threshold, most_steps);
            proptest::prop_assert!(bounded.is_err() || bounded == Ok(expected), "{:?}", bounded);
        }
        let bound = most_common(&Profile::of(a.iter().copied()).0, &Profile::of(b.iter().copied()).0);
        proptest::prop_assert!(bound >= common, "{} < {}", bound, common);
        proptest::prop_assert!(may_reach(bound, all, threshold) || exact < threshold);
        Ok(())
    }

    /// Generates a sequence and an edited copy of it; the similarity is near or above typical thresholds.
    fn edited() -> impl proptest::strategy::Strategy<Value = (Vec<u32>, Vec<u32>)> {
        use proptest::prelude::*;
        let change = (0usize..400, 0u32..3, 0u32..60);
        (proptest::collection::vec(0u32..60, 0..400), proptest::collection::vec(change, 0..60)).prop_map(
            |(a, changes)| {
                let mut b = a.clone();
                for (at, how, letter) in changes {
                    let at = at.min(b.len());
                    match how {
                        0 => b.insert(at, letter * 1_000),
                        1 if at < b.len() => drop(b.remove(at)),
                        _ if at < b.len() => b[at] = letter,
                        _ => {}
                    }
                }
                (a, b)
            },
        )
    }

    proptest::proptest! {
        #[test]
        fn equals_the_quadratic_definition(a in proptest::collection::vec(0u32..4, 0..40),
                                           b in proptest::collection::vec(0u32..4, 0..40), t in 0.0f64..1.0) {
            agree(&a, &b, t)?;
        }

        /// The texts are long enough for many blocks of 64 positions, of which a band covers only some.
        #[test]
        fn equals_the_quadratic_definition_on_edited_texts((a, b) in edited(), t in 0.6f64..1.0) {
            agree(&a, &b, t)?;
        }
    }

    #[test]
    fn known_values() {
        let letters = |word: &str| word.chars().map(u32::from).collect::<Vec<_>>();
        assert_eq!(lcs_similarity(&letters("abcd"), &letters("abxd"), 0.5), Ok(Some(0.75)));
        assert_eq!(lcs_similarity(&letters("abcd"), &letters("abxd"), 0.8), Ok(None));
        assert_eq!(lcs_similarity(&[], &[], 0.9), Ok(Some(1.0)));
        let bound = |a: &str, b: &str| most_common(&Profile::of(letters(a)).0, &Profile::of(letters(b)).0);
        assert_eq!((bound("abcd", "dcba"), bound("aab", "abb"), bound("", "a")), (4, 2, 0));
    }
}

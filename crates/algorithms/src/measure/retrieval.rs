//! Precision, recall, their harmonic mean F, and gamma: the share of found items that are correct, and the share of correct items that were
//! found.
//!
//! A figure whose denominator is 0 is undefined rather than 0 or 1: an algorithm that reports nothing has no precision.

/// Holds precision, recall, F and gamma. Each figure is `None` if it is undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Retrieval {
    /// Precision P: correct items divided by found items.
    pub precision: Option<f64>,
    /// Recall R: correct found items divided by all relevant items.
    pub recall: Option<f64>,
    /// F = 2 P R / (P + R); undefined if P or R is undefined, or if both are 0.
    pub f: Option<f64>,
    /// gamma = P R / (P + R) = F / 2, at most 0.5: the measure of the 2011 paper on purified pages.
    pub gamma: Option<f64>,
}

impl Retrieval {
    /// Computes the figures from the numbers of correct, found and relevant items; an item is correct if it is both found and relevant.
    ///
    /// ```text
    /// Retrieval::of_counts(3, 4, 6): P = 3/4, R = 1/2, F = 3/5, gamma = 3/10
    /// ```
    pub fn of_counts(correct: u64, found: u64, relevant: u64) -> Retrieval {
        let over = |all: u64| (all > 0).then(|| correct as f64 / all as f64);
        Retrieval::of(over(found), over(relevant))
    }

    /// Computes the figures from precision and recall.
    pub fn of(precision: Option<f64>, recall: Option<f64>) -> Retrieval {
        let gamma = match (precision, recall) {
            (Some(p), Some(r)) if p + r > 0.0 => Some(p * r / (p + r)),
            _ => None,
        };
        Retrieval { precision, recall, f: gamma.map(|gamma| 2.0 * gamma), gamma }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_by_hand() {
        let some = Retrieval::of_counts(3, 4, 6);
        assert_eq!((some.precision, some.recall), (Some(0.75), Some(0.5)));
        assert!((some.f.unwrap() - 0.6).abs() < 1e-15 && (some.gamma.unwrap() - 0.3).abs() < 1e-15);
        let all = Retrieval::of_counts(5, 5, 5);
        assert_eq!((all.precision, all.recall, all.f, all.gamma), (Some(1.0), Some(1.0), Some(1.0), Some(0.5)));
        // The table in the 2007 study has F = 0.95 for a recall of 0.96 and a precision of 0.95, and F = 0.73 for 0.60 and 0.94.
        let f = |r, p| (Retrieval::of(Some(p), Some(r)).f.unwrap() * 100.0).round() as u32;
        assert_eq!((f(0.96, 0.95), f(0.60, 0.94), f(0.84, 0.80)), (95, 73, 82));
    }

    #[test]
    fn without_a_denominator_nothing_is_said() {
        assert_eq!(Retrieval::of_counts(0, 0, 0), Retrieval::default());
        let nothing_found = Retrieval::of_counts(0, 0, 9);
        assert_eq!((nothing_found.precision, nothing_found.recall, nothing_found.f), (None, Some(0.0), None));
        let nothing_true = Retrieval::of_counts(0, 9, 0);
        assert_eq!((nothing_true.precision, nothing_true.recall, nothing_true.gamma), (Some(0.0), None, None));
        let all_wrong = Retrieval::of_counts(0, 3, 9);
        assert_eq!((all_wrong.precision, all_wrong.recall, all_wrong.f), (Some(0.0), Some(0.0), None));
    }

    proptest::proptest! {
        #[test]
        fn f_lies_between_the_two(correct in 1u64..50, more_found in 0u64..50, more_true in 0u64..50) {
            let it = Retrieval::of_counts(correct, correct + more_found, correct + more_true);
            let (p, r, f) = (it.precision.unwrap(), it.recall.unwrap(), it.f.unwrap());
            proptest::prop_assert!(p.min(r) - 1e-12 <= f && f <= p.max(r) + 1e-12);
            // Another formula for F: 2 correct / (found + true).
            let other = 2.0 * correct as f64 / (2 * correct + more_found + more_true) as f64;
            proptest::prop_assert!((f - other).abs() < 1e-12 && it.gamma == Some(f / 2.0));
        }
    }
}

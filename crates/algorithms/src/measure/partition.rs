//! The similarity of two partitions of the same documents: B-cubed (Bagga, Baldwin 1998) and the adjusted Rand index (Hubert, Arabie
//! 1985).
//!
//! Both are sums over cells, where a cell is a set of documents that have both their true cluster and their predicted cluster in common.
//! Lists of labels are therefore not needed: a caller that sorts the documents by (predicted, true) passes one cell at a time, and memory
//! does not grow with the number of documents. Documents that are alone in their clusters count like all other documents.
//!
//! Pairwise measures are dominated by giant clusters, in which the number of pairs grows with the square of the size; B-cubed weights all
//! documents equally.

use super::Retrieval;

/// Holds the sums over all cells of a true and a predicted partition.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Partitions {
    documents: u128,
    /// The number of ordered pairs of documents that are together in both partitions.
    together: u128,
    /// The number of ordered pairs of documents that are together in the true partition.
    together_true: u128,
    /// The number of ordered pairs of documents that are together in the predicted partition.
    together_predicted: u128,
    precision: f64,
    recall: f64,
}

impl Partitions {
    /// Adds a cell: the documents that one true cluster and one predicted cluster have in common. The arguments are the sizes of the cell,
    /// the true cluster and the predicted cluster. Every document must be in exactly one cell; a document that is alone is a cluster of
    /// one. The same cells in the same order give identical results.
    pub fn add(&mut self, size: u64, true_size: u64, predicted_size: u64) {
        let n = u128::from(size);
        self.documents += n;
        self.together += n * n.saturating_sub(1);
        self.together_true += n * u128::from(true_size).saturating_sub(1);
        self.together_predicted += n * u128::from(predicted_size).saturating_sub(1);
        let square = size as f64 * size as f64;
        self.precision += square / predicted_size as f64;
        self.recall += square / true_size as f64;
    }

    /// Adds this many documents that are alone in both partitions.
    pub fn add_alone(&mut self, documents: u64) {
        self.documents += u128::from(documents);
        self.precision += documents as f64;
        self.recall += documents as f64;
    }

    /// Returns the B-cubed precision, recall and F. Precision is the mean, over all documents, of the share of a document's predicted
    /// cluster that is also in its true cluster. Recall is the mean, over all documents, of the share of a document's true cluster that is
    /// also in its predicted cluster. Precision and recall are undefined if there are no documents.
    pub fn b_cubed(&self) -> Retrieval {
        let mean = |sum: f64| (self.documents > 0).then(|| sum / self.documents as f64);
        Retrieval::of(mean(self.precision), mean(self.recall))
    }

    /// Returns the adjusted Rand index: 1 for identical partitions, 0 on average for independent partitions, at least -1. If all documents
    /// are alone in both partitions, or all are in one cluster in both, the denominator of the formula is 0 and the index is 1. The index
    /// is undefined if there are no documents.
    ///
    /// The sums are 128-bit integers, exact up to about five billion documents, and floating-point numbers beyond that.
    pub fn ari(&self) -> Option<f64> {
        if self.documents == 0 {
            return None;
        }
        // There are twice as many ordered pairs as unordered pairs; the factor cancels out.
        let all = self.documents * (self.documents - 1);
        let (t, p) = (self.together_true, self.together_predicted);
        let exact = || {
            let signed = |value: u128| i128::try_from(value).ok();
            let expected = signed(t.checked_mul(p)?)?;
            let above = signed(self.together.checked_mul(all)?)?.checked_sub(expected)?;
            let below = signed((t + p).checked_mul(all)?)?.checked_sub(expected.checked_mul(2)?)?;
            Some((2.0 * above as f64, below as f64))
        };
        let (above, below) = exact().unwrap_or_else(|| {
            let expected = t as f64 * (p as f64 / all as f64);
            (2.0 * (self.together as f64 - expected), (t + p) as f64 - 2.0 * expected)
        });
        Some(if below == 0.0 { 1.0 } else { above / below })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the sums for two lists with one label per document.
    fn of_labels(truth: &[u64], predicted: &[u64]) -> Partitions {
        let sizes = |labels: &[u64]| {
            let mut labels = labels.to_vec();
            labels.sort_unstable();
            labels
        };
        let (true_labels, predicted_labels) = (sizes(truth), sizes(predicted));
        let size = |sorted: &[u64], label: u64| {
            (sorted.partition_point(|&other| other <= label) - sorted.partition_point(|&other| other < label)) as u64
        };
        let mut cells: Vec<(u64, u64)> = predicted.iter().copied().zip(truth.iter().copied()).collect();
        cells.sort_unstable();
        let mut sums = Partitions::default();
        for cell in cells.chunk_by(|a, b| a == b) {
            let (predicted, truth) = cell[0];
            sums.add(cell.len() as u64, size(&true_labels, truth), size(&predicted_labels, predicted));
        }
        sums
    }

    fn near(came: Option<f64>, expected: f64) {
        assert!(came.is_some_and(|came| (came - expected).abs() < 1e-12), "{came:?} is not {expected}");
    }

    /// The true partition is {0 1 2} {3 4} {5}, and the predicted partition is {0 1} {2 3 4} {5}.
    #[test]
    fn worked_by_hand() {
        let sums = of_labels(&[7, 7, 7, 8, 8, 9], &[1, 1, 2, 2, 2, 3]);
        let b_cubed = sums.b_cubed();
        // P is the mean of 1, 1, 1/3, 2/3, 2/3 and 1; R is the mean of 2/3, 2/3, 1/3, 1, 1 and 1.
        near(b_cubed.precision, (4.0 + 2.0 / 3.0) / 6.0);
        near(b_cubed.recall, (4.0 + 2.0 / 3.0) / 6.0);
        near(b_cubed.f, 7.0 / 9.0);
        // There are 15 pairs: 4 are true, 4 are predicted, and 2 are both: (2 - 16/15) / (4 - 16/15) = 14/44.
        near(sums.ari(), 14.0 / 44.0);
    }

    #[test]
    fn equal_and_trivial_partitions() {
        for labels in [&[1, 2, 3, 4][..], &[5, 5, 5], &[5, 5, 6], &[1]] {
            let sums = of_labels(labels, labels);
            assert_eq!((sums.ari(), sums.b_cubed().f), (Some(1.0), Some(1.0)), "{labels:?}");
        }
        let opposite = of_labels(&[1, 1, 1, 1], &[1, 2, 3, 4]);
        assert_eq!(opposite.ari(), Some(0.0));
        assert_eq!((opposite.b_cubed().precision, opposite.b_cubed().recall), (Some(1.0), Some(0.25)));
        let nothing = Partitions::default();
        assert_eq!((nothing.ari(), nothing.b_cubed()), (None, Retrieval::default()));
        let mut alone = Partitions::default();
        alone.add_alone(7);
        assert_eq!((alone.ari(), alone.b_cubed().f), (Some(1.0), Some(1.0)));
    }

    #[test]
    fn large_counts_are_no_trouble() {
        for clusters in [1u64 << 10, 1 << 33] {
            let mut sums = Partitions::default();
            // Every true cluster of four is split into two predicted clusters of two.
            (0..1024).for_each(|_| sums.add(2 * clusters, 4 * clusters, 2 * clusters));
            near(sums.b_cubed().precision, 1.0);
            near(sums.b_cubed().recall, 0.5);
            let ari = sums.ari().unwrap();
            assert!((ari - 2.0 / 3.0).abs() < 0.01, "{ari}");
        }
    }

    /// Computes the figures from their definitions, document by document and pair by pair, in O(n^2) time.
    fn naive(truth: &[u64], predicted: &[u64]) -> (f64, f64, f64) {
        let n = truth.len();
        let share = |of: &[u64], d: usize| {
            let size = (0..n).filter(|&e| of[e] == of[d]).count();
            let common = (0..n).filter(|&e| truth[e] == truth[d] && predicted[e] == predicted[d]).count();
            common as f64 / size as f64
        };
        let mean = |of: &[u64]| (0..n).map(|d| share(of, d)).sum::<f64>() / n as f64;
        let count = |both: &dyn Fn(usize, usize) -> bool| {
            (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).filter(|&(i, j)| both(i, j)).count() as f64
        };
        let together = count(&|i, j| truth[i] == truth[j] && predicted[i] == predicted[j]);
        let (a, b) = (count(&|i, j| truth[i] == truth[j]), count(&|i, j| predicted[i] == predicted[j]));
        let all = (n * (n - 1) / 2) as f64;
        let expected = if all > 0.0 { a * b / all } else { 0.0 };
        let below = (a + b) / 2.0 - expected;
        (mean(predicted), mean(truth), if below.abs() < 1e-12 { 1.0 } else { (together - expected) / below })
    }

    proptest::proptest! {
        #[test]
        fn equal_the_definitions(labels in proptest::collection::vec((0u64..6, 0u64..6), 1..40), alone in 0usize..5) {
            let (mut truth, mut predicted): (Vec<u64>, Vec<u64>) = labels.into_iter().unzip();
            let mut sums = of_labels(&truth, &predicted);
            sums.add_alone(alone as u64);
            (0..alone as u64).for_each(|n| {
                truth.push(100 + n);
                predicted.push(100 + n);
            });
            let (precision, recall, ari) = naive(&truth, &predicted);
            let b_cubed = sums.b_cubed();
            proptest::prop_assert!((b_cubed.precision.unwrap() - precision).abs() < 1e-12);
            proptest::prop_assert!((b_cubed.recall.unwrap() - recall).abs() < 1e-12);
            proptest::prop_assert!((sums.ari().unwrap() - ari).abs() < 1e-9, "{:?} {ari}", sums.ari());
            // The true and the predicted partition are interchangeable.
            let turned = of_labels(&predicted, &truth);
            proptest::prop_assert!((turned.ari().unwrap() - ari).abs() < 1e-9);
            proptest::prop_assert!((turned.b_cubed().recall.unwrap() - precision).abs() < 1e-12);
        }
    }
}

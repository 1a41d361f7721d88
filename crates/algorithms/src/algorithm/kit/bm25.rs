//! Computes TF in the BM25 variant of the 2007 study: tf / (k ((1 - b) + b dl / avgdl) + tf), without the factor k + 1 in the numerator.

use crate::algorithm::contract::{Kind, ParamSpec, Params};
use crate::corpus::CorpusStats;

/// The `k` parameter.
pub(crate) const K: ParamSpec =
    ParamSpec { name: "k", kind: Kind::Real(0.0, 100.0), default: "2", help: "BM25: saturation of repeated words" };

/// The `b` parameter.
pub(crate) const B: ParamSpec =
    ParamSpec { name: "b", kind: Kind::Real(0.0, 1.0), default: "0.75", help: "BM25: influence of document length" };

/// Computes TF for one corpus.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bm25 {
    k: f64,
    b: f64,
    mean_length: f64,
}

impl Bm25 {
    /// Returns the settings from the parameters [`K`] and [`B`].
    pub(crate) fn new(params: &Params, stats: &CorpusStats) -> Bm25 {
        Bm25 { k: params.real(K.name), b: params.real(B.name), mean_length: stats.mean_length() }
    }

    /// Returns the TF, from 0 to 1, of a word that occurs `tf` times among `length` words. The order of operations is fixed, so that equal
    /// counts give bit-identical results.
    #[inline]
    pub(crate) fn tf(&self, tf: u32, length: usize) -> f64 {
        let tf = f64::from(tf);
        let relative_length = length as f64 / self.mean_length;
        tf / (self.k * ((1.0 - self.b) + self.b * relative_length) + tf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_values() {
        let bm25 = Bm25 { k: 2.0, b: 0.75, mean_length: 10.0 };
        assert_eq!(bm25.tf(2, 10), 0.5);
        // The text has half the mean length: 2 (0.25 + 0.375) = 1.25.
        assert_eq!(bm25.tf(5, 5), 0.8);
        assert!(bm25.tf(9, 10) > bm25.tf(8, 10) && bm25.tf(9, 10) > bm25.tf(9, 11));
    }
}

//! The S-curve of banding: the probability that the bands of `minhash` let a pair with a given similarity through, and the number of pairs
//! that they therefore missed.
//!
//! Source: Indyk, Motwani 1998. Two sets with Jaccard similarity s agree in one minimum with probability s, in all r minima of a band with
//! probability s^r, and in at least one of b bands with probability 1 - (1 - s^r)^b.

use super::tally::{BINS, bin_range};
use dupsift_algorithms::algorithm::kit::margin::MARGIN;
use dupsift_algorithms::recipe::Recipe;
use dupsift_engine::job::run_report::AlgorithmReport;

/// Describes one use of `minhash`.
pub struct Banding {
    /// The number of bands.
    pub bands: i32,
    /// The number of rows in a band.
    pub rows: i32,
    /// The threshold of the verification, if the verification measures the same similarity.
    pub threshold: Option<f64>,
    /// Whether the similarities are Jaccard similarities, either measured or estimated.
    pub jaccard: bool,
    /// Whether a margin excluded pairs that the bands let through.
    pub margin: bool,
}

impl Banding {
    /// Parses the recipe of an algorithm; returns `None` if the algorithm is not `minhash`.
    pub fn of(recipe: &str) -> Option<Banding> {
        let chosen = Recipe::parse_algorithms(recipe).ok()?.into_iter().next()?;
        if chosen.algorithm.name() != "minhash" {
            return None;
        }
        let check = chosen.params.verify("verify");
        Some(Banding {
            bands: chosen.params.count("bands") as i32,
            rows: chosen.params.count("rows") as i32,
            threshold: check.filter(|(name, _)| *name == "jaccard").map(|(_, threshold)| threshold),
            jaccard: check.is_none_or(|(name, _)| name == "jaccard"),
            margin: chosen.params.margin(MARGIN.name).is_some(),
        })
    }

    /// Returns the probability that a pair with this similarity becomes a candidate.
    pub fn lets_through(&self, similarity: f64) -> f64 {
        1.0 - (1.0 - similarity.powi(self.rows)).powi(self.bands)
    }

    /// Returns the number of pairs above the threshold, and the number expected from the curve.
    ///
    /// No pair below the threshold passes verification, so all pairs in the bin that contains the threshold are above it.
    fn expected(&self, scores: &[u64; BINS]) -> (u64, f64) {
        let from = self.threshold.unwrap_or(0.0);
        let bins = scores.iter().enumerate().map(|(bin, &found)| (bin_range(bin), found));
        // The last bin is for similarities of exactly 1 and has no width.
        let bins = bins.filter(|((low, high), found)| *found > 0 && (*high > from + 1e-9 || low == high));
        bins.fold((0, 0.0), |(all, expected), ((low, high), found)| {
            (all + found, expected + found as f64 / self.lets_through((low.max(from) + high) / 2.0).max(1e-9))
        })
    }

    /// Returns the threshold, the number of pairs found above it, and the number expected from the curve. Returns `None` if pairs may also
    /// be missing for reasons other than the bands.
    pub fn missed(&self, one: &AlgorithmReport, scores: &[u64; BINS]) -> Option<(f64, u64, f64)> {
        let whole = !self.margin && one.pairs_written == one.pairs && one.left_out == 0;
        let threshold = self.threshold.filter(|_| whole)?;
        let (found, expected) = self.expected(scores);
        (found > 0).then_some((threshold, found, expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::number::share;

    #[test]
    fn the_curve_is_the_published_one() {
        let banding = Banding::of("minhash:bands=14,rows=8,verify=jaccard:0.7").unwrap();
        let at = [0.5, 0.7, 0.8, 0.9].map(|s| share(banding.lets_through(s)));
        assert_eq!(at, ["0.053", "0.565", "0.924", "0.999"]);
        assert_eq!((banding.lets_through(0.0), banding.lets_through(1.0)), (0.0, 1.0));
        assert_eq!(banding.threshold, Some(0.7));
        let other = Banding::of("minhash:bands=20,rows=5,verify=lcs:0.8,as=loose").unwrap();
        assert!(!other.jaccard && other.threshold.is_none());
        assert!(Banding::of("simhash").is_none() && Banding::of("nonsense:").is_none());
    }

    #[test]
    fn what_is_missed_follows_from_the_curve() {
        let banding = Banding::of("minhash:bands=1,rows=1,verify=jaccard:0.5").unwrap();
        let mut scores = [0; BINS];
        (scores[8], scores[10], scores[BINS - 1]) = (1000, 21, 4);
        // One band with one row lets a pair through with a probability equal to its similarity: 21 / 0.525 + 4.
        let (found, expected) = banding.expected(&scores);
        assert!(found == 25 && (expected - 44.0).abs() < 1e-6, "{found} {expected}");
    }

    #[test]
    fn pairs_count_from_a_threshold_within_a_bin() {
        let banding = Banding::of("minhash:bands=1,rows=1,verify=jaccard:0.72").unwrap();
        let mut scores = [0; BINS];
        // Pairs in the bin from 0.70 to 0.75 start at 0.72, with a mean of 0.735.
        (scores[14], scores[15], scores[BINS - 1]) = (147, 31, 2);
        let (found, expected) = banding.expected(&scores);
        assert!(found == 180 && (expected - 242.0).abs() < 1e-6, "{found} {expected}");
        let at_one = Banding::of("minhash:bands=1,rows=1,verify=jaccard:1").unwrap();
        assert_eq!(at_one.expected(&scores), (2, 2.0));
    }

    #[test]
    fn nothing_is_said_of_missed_pairs_where_others_are_missing() {
        let mut scores = [0; BINS];
        scores[BINS - 1] = 4;
        let report = |written, left_out| AlgorithmReport {
            pairs: 4,
            pairs_written: written,
            left_out,
            ..AlgorithmReport::default()
        };
        let banding = Banding::of("minhash:verify=jaccard:0.7").unwrap();
        assert_eq!(banding.missed(&report(4, 0), &scores), Some((0.7, 4, 4.0)));
        assert_eq!(banding.missed(&report(3, 0), &scores), None);
        assert_eq!(banding.missed(&report(4, 1), &scores), None);
        assert_eq!(banding.missed(&report(4, 0), &[0; BINS]), None);
        let margin = Banding::of("minhash:verify=jaccard:0.7,margin=0.1").unwrap();
        assert_eq!(margin.missed(&report(4, 0), &scores), None);
    }
}

//! Computes the probability that a pair with a given similarity becomes a MinHash candidate, and chooses the number and size of the
//! bands for a threshold.
//!
//! Source: Indyk, Motwani 1998. If two sets have Jaccard similarity s, one minimum agrees with probability s, all r minima of a band with
//! probability s^r, and at least one of b bands with probability 1 - (1 - s^r)^b.
//!
//! `for_threshold` chooses bands for a threshold T so that a pair with similarity T becomes a candidate with a probability of at least
//! 0.95. More rows per band mean fewer false candidates, so the function uses the largest number of rows for which 128 minima are enough.
//! The number of bands is the smallest that reaches this probability:
//!
//! ```text
//! T = 0.8, 8 rows: 0.8^8 = 0.168, and (1 - 0.168)^17 = 0.044 is the first below 0.05: 17 x 8 = 136 minima, too many
//!          7 rows: 0.8^7 = 0.210, and (1 - 0.210)^13 = 0.047:                         13 x 7 =  91 minima: these
//! ```
//!
//! | T | bands x rows | s = 0.7 | 0.8 | 0.9 |
//! | --- | --- | --- | --- | --- |
//! | 0.5 | 23 x 3 | 1.00 | 1.00 | 1.00 |
//! | 0.7 | 17 x 5 | 0.96 | 1.00 | 1.00 |
//! | 0.8 | 13 x 7 | 0.67 | 0.95 | 1.00 |
//! | 0.9 | 10 x 12 | 0.13 | 0.51 | 0.96 |

/// The maximum number of minima per document.
const MOST_MINIMA: usize = 128;
/// The share of pairs that may be missed if their similarity equals the threshold.
const MISSED: f64 = 0.05;

/// The lowest threshold (rounded) for which `MOST_MINIMA` minima are enough.
pub(crate) const LOWEST: f64 = 0.05;

/// Holds the number of bands and the number of minima per band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Banding {
    /// The number of bands. Two documents are candidates if they agree in at least one band.
    pub bands: usize,
    /// The number of minima per band. Two documents agree in a band if all its minima are equal.
    pub rows: usize,
}

impl Banding {
    /// Returns the bands for a threshold from [`LOWEST`] to 1.
    pub(crate) fn for_threshold(threshold: f64) -> Banding {
        let fits = |rows: usize| {
            let bands = (1..=MOST_MINIMA / rows).find(|&bands| Banding { bands, rows }.misses(threshold) <= MISSED)?;
            Some(Banding { bands, rows })
        };
        (1..=MOST_MINIMA).rev().find_map(fits).unwrap_or(Banding { bands: MOST_MINIMA, rows: 1 })
    }

    /// Returns the probability that a pair with this similarity becomes a candidate.
    pub fn lets_through(self, similarity: f64) -> f64 {
        1.0 - self.misses(similarity)
    }

    fn misses(self, similarity: f64) -> f64 {
        power(1.0 - power(similarity, self.rows), self.bands)
    }
}

/// Computes the power by multiplication only, so that the result is identical on every machine.
fn power(base: f64, exponent: usize) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_above_is_true() {
        let rows = [
            (0.5, (23, 3), [1.0, 1.0, 1.0]),
            (0.7, (17, 5), [0.96, 1.0, 1.0]),
            (0.8, (13, 7), [0.67, 0.95, 1.0]),
            (0.9, (10, 12), [0.13, 0.51, 0.96]),
        ];
        for (threshold, (bands, rows), expected) in rows {
            let banding = Banding::for_threshold(threshold);
            assert_eq!(banding, Banding { bands, rows }, "{threshold}");
            let found = [0.7, 0.8, 0.9].map(|s| (banding.lets_through(s) * 100.0).round() / 100.0);
            assert_eq!(found, expected, "{threshold}");
        }
    }

    #[test]
    fn every_threshold_has_bands_that_keep_the_promise() {
        for step in 5..=100 {
            let threshold = f64::from(step) / 100.0;
            let banding = Banding::for_threshold(threshold);
            assert!(banding.bands * banding.rows <= MOST_MINIMA, "{threshold}: {banding:?}");
            assert!(banding.lets_through(threshold) >= 1.0 - MISSED, "{threshold}: {banding:?}");
            // One band fewer would miss too many pairs.
            let fewer = Banding { bands: banding.bands - 1, ..banding };
            assert!(fewer.lets_through(threshold) < 1.0 - MISSED, "{threshold}: {banding:?}");
        }
        assert_eq!(Banding::for_threshold(LOWEST), Banding { bands: 59, rows: 1 });
        assert_eq!(Banding::for_threshold(1.0), Banding { bands: 1, rows: 128 });
    }
}

//! Estimates the number of duplicates from the judged pairs of a sample, with confidence intervals.
//!
//! **The estimate.** Pairs with the same probability form a stratum. The number of pairs in a stratum is known. The estimated number of
//! duplicates is this number times the share of duplicates among the judged pairs of the stratum (post-stratification: Holt and Smith
//! 1979). The estimates of all strata are added up. The number of duplicates in a subset of the pool, such as the pairs of one algorithm,
//! is estimated in the same way.
//!
//! **The interval.** The confidence level is 95%. The interval for the share of duplicates in a stratum is Wilson's (1927), corrected for a
//! finite population. The intervals of sums, and of the ratio of found to missed duplicates, are computed by the recovery of variances from
//! the intervals of the parts (MOVER: Zou and Donner 2008, Donner and Zou 2012). A stratum without judged pairs counts as free of
//! duplicates, but its interval includes all of its pairs. If all pairs are judged, the interval contains only the value.
//!
//! Pairs of copies and pairs within one large cluster are not independent; the intervals ignore this.

use dupsift_core::float;

/// Counts the pairs in one part of one stratum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    /// The total number of pairs.
    pub pairs: u64,
    /// The number of judged pairs.
    pub judged: u64,
    /// The number of judged pairs whose documents are duplicates.
    pub duplicates: u64,
}

impl Cell {
    /// Returns the sum of this cell and another cell.
    pub(crate) fn plus(self, other: Cell) -> Cell {
        Cell {
            pairs: self.pairs + other.pairs,
            judged: self.judged + other.judged,
            duplicates: self.duplicates + other.duplicates,
        }
    }

    /// Returns this cell minus a part of it.
    pub(crate) fn minus(self, part: Cell) -> Cell {
        Cell {
            pairs: self.pairs - part.pairs,
            judged: self.judged - part.judged,
            duplicates: self.duplicates - part.duplicates,
        }
    }
}

/// Holds a part of the pool: a cell for each stratum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part(pub Vec<Cell>);

impl Part {
    /// Returns the number of pairs.
    pub(crate) fn pairs(&self) -> u64 {
        self.0.iter().map(|cell| cell.pairs).sum()
    }

    /// Returns the number of judged pairs.
    pub(crate) fn judged(&self) -> u64 {
        self.0.iter().map(|cell| cell.judged).sum()
    }

    /// Returns the estimated number of duplicates.
    pub(crate) fn duplicates(&self) -> Number {
        let (mut value, mut below, mut above) = (0.0, 0.0, 0.0);
        for cell in &self.0 {
            let share = cell.share();
            let pairs = cell.pairs as f64;
            value += pairs * share.value;
            below += (pairs * (share.value - share.low)).powi(2);
            above += (pairs * (share.high - share.value)).powi(2);
        }
        let pairs = self.pairs() as f64;
        Number { value, low: (value - below.sqrt()).max(0.0), high: (value + above.sqrt()).min(pairs) }
    }

    /// Returns this part minus a subset of it.
    pub(crate) fn without(&self, part: &Part) -> Part {
        self.each(part, Cell::minus)
    }

    /// Combines the cells of both parts with a function.
    pub(crate) fn each(&self, other: &Part, of: impl Fn(Cell, Cell) -> Cell) -> Part {
        Part(self.0.iter().zip(&other.0).map(|(&a, &b)| of(a, b)).collect())
    }
}

/// Holds a number with its 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// The estimate.
    pub value: f64,
    /// The lower limit.
    pub low: f64,
    /// The upper limit.
    pub high: f64,
}

impl Number {
    /// Returns this number divided by a known number of pairs, or `None` if there are no pairs.
    pub fn over(&self, pairs: u64) -> Option<Number> {
        let share = |value: f64| value / pairs as f64;
        (pairs > 0).then(|| Number { value: share(self.value), low: share(self.low), high: share(self.high) })
    }

    /// Returns this number divided by the sum of this number and another, independently estimated number, or `None` if both are 0.
    pub fn of_both(&self, other: &Number) -> Option<Number> {
        let all = self.value + other.value;
        if all <= 0.0 {
            return None;
        }
        let value = self.value / all;
        // The share r = x / (x + y) solves (1 - r) x = r y; r is in the interval if the interval of (1 - r) x - r y contains 0.
        let end = |apart: &dyn Fn(f64) -> f64| {
            let (mut from, mut to) = (0.0, 1.0);
            for _ in 0..60 {
                let middle = (from + to) / 2.0;
                if apart(middle) > 0.0 { from = middle } else { to = middle }
            }
            from
        };
        let difference = |r: f64| (1.0 - r) * self.value - r * other.value;
        let reach = |r: f64, own: f64, others: f64| float::hypot((1.0 - r) * own, r * others);
        let (own_low, own_high) = (self.value - self.low, self.high - self.value);
        let (other_low, other_high) = (other.value - other.low, other.high - other.value);
        let low = end(&|r| difference(r) - reach(r, own_low, other_high));
        let high = end(&|r| difference(r) + reach(r, own_high, other_low));
        // If both numbers are certain, so is the share.
        let exact = |end: f64, first: f64, second: f64| if first == 0.0 && second == 0.0 { value } else { end };
        Some(Number {
            value,
            low: exact(low, own_low, other_high).min(value),
            high: exact(high, own_high, other_low).max(value),
        })
    }
}

const Z: f64 = 1.959_963_984_540_054;

impl Cell {
    /// Returns the share of duplicates among the pairs of the cell.
    fn share(&self) -> Number {
        wilson(self.duplicates, self.judged, self.pairs)
    }
}

/// Estimates a share of a population from a random sample: `seen` is the size of the sample, and `hits` is the number of items in the
/// sample that have the property in question. `population` is the size of the population; `u64::MAX` means that the population is infinite.
pub(crate) fn wilson(hits: u64, seen: u64, population: u64) -> Number {
    if seen == 0 {
        return Number { value: 0.0, low: 0.0, high: if population > 0 { 1.0 } else { 0.0 } };
    }
    let (count, all) = (seen as f64, population as f64);
    let value = hits as f64 / count;
    if seen >= population {
        return Number { value, low: value, high: value };
    }
    let count = count * (all - 1.0) / (all - count);
    let (square, scale) = (Z * Z / count, 1.0 / (1.0 + Z * Z / count));
    let middle = (value + square / 2.0) * scale;
    let half = Z * scale * (value * (1.0 - value) / count + square / (4.0 * count)).sqrt();
    // The results of the judged items are certain.
    let least = hits as f64 / all;
    let most = 1.0 - (seen - hits) as f64 / all;
    Number { value, low: (middle - half).max(least).min(value), high: (middle + half).min(most).max(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_shares() {
        // An infinite population gives the textbook interval. If all items are seen, the interval has length 0. If only part of a small
        // population is seen, the interval is narrower, and the judged items are certain.
        let open = wilson(9, 10, u64::MAX);
        assert!((open.low - 0.5958).abs() < 1e-4 && (open.high - 0.9821).abs() < 1e-4, "{open:?}");
        assert_eq!(wilson(9, 10, 10), Number { value: 0.9, low: 0.9, high: 0.9 });
        let few = wilson(9, 10, 12);
        assert!(few.low > open.low && few.low >= 9.0 / 12.0 && few.high <= 11.0 / 12.0, "{few:?}");
        assert_eq!(wilson(0, 0, 7), Number { value: 0.0, low: 0.0, high: 1.0 });
        let unseen = wilson(0, 2_000, 100_000);
        assert!(unseen.value == 0.0 && unseen.high > 0.001 && unseen.high < 0.003, "{unseen:?}");
    }
}

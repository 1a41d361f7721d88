//! Computes recall, precision and F for each algorithm and for combinations of algorithms, from judged pairs.
//!
//! Only duplicates in the pool are counted; the pool contains all pairs that at least one algorithm found. This is the pooling of Spärck
//! Jones and van Rijsbergen 1975, which the 2007 study also uses. Duplicates that no algorithm found are missed; the `compare` oracle
//! covers them.
//!
//! **The sample.** Each pair has one random number, a hash of the seed and its two documents. The pair is judged if this number is below
//! the rate of at least one algorithm that found the pair. The probability that a pair is judged is therefore known beforehand: it is the
//! largest of these rates. An algorithm with few pairs has a rate of 1. The samples of different algorithms overlap to the extent that
//! their pairs overlap (permanent random numbers: Brewer, Early and Joyce 1972).
//!
//! [`crate::confidence`] estimates the number of duplicates in any subset of the pool from its judged pairs.

use std::collections::BTreeMap;

use crate::confidence::{Cell, Part};
use dupsift_core::hash::{combine, mix64};

/// Selects the pairs that are judged.
#[derive(Clone, Debug)]
pub(crate) struct Sampling {
    /// The share of each algorithm's pairs that is sampled.
    rates: Vec<f64>,
    /// The distinct rates, in descending order.
    strata: Vec<f64>,
    seed: u64,
}

impl Sampling {
    /// Returns the sampling, given the number of pairs that each algorithm found. `most` is the approximate maximum number of pairs that
    /// are judged for each algorithm.
    pub(crate) fn new(pairs: &[u64], most: u64, seed: u64) -> Sampling {
        let rate = |&pairs: &u64| if pairs <= most { 1.0 } else { most as f64 / pairs as f64 };
        let rates: Vec<f64> = pairs.iter().map(rate).collect();
        let mut strata = rates.clone();
        strata.sort_unstable_by(|a, b| b.total_cmp(a));
        strata.dedup();
        Sampling { rates, strata, seed }
    }

    /// Returns whether a pair is judged; the bits in `found` represent the algorithms that found it.
    pub(crate) fn takes(&self, a: u64, b: u64, found: u64) -> bool {
        let hash = mix64(combine(combine(self.seed, a), b));
        ((hash >> 11) as f64 / (1u64 << 53) as f64) < self.rate(found)
    }

    fn rate(&self, found: u64) -> f64 {
        bits(found).map(|algorithm| self.rates[algorithm]).fold(0.0, f64::max)
    }

    fn stratum(&self, found: u64) -> usize {
        let rate = self.rate(found);
        self.strata.iter().position(|stratum| *stratum == rate).unwrap_or(0)
    }
}

/// The maximum number of finder combinations that are counted before they are added to the sums.
const MOST_PENDING: usize = 1 << 16;

/// Counts the pairs in the pool by the algorithms that found them.
///
/// The tally counts the pairs that each set of up to three algorithms has in common. The number of pairs that at least one of up to three
/// algorithms found follows from these counts. Memory use therefore depends on the number of algorithms (n^3 / 6 sums of 24 bytes per
/// stratum: 140 KB for 30 algorithms and one stratum), not on the number of pairs or the number of distinct sets of finders.
pub(crate) struct Tally {
    /// `related[i]` holds the bits of the algorithms related to algorithm i, including itself. By definition, these algorithms find all or
    /// some of the pairs of algorithm i.
    related: Vec<u64>,
    sampling: Sampling,
    /// The counts for each set of finders. In practice, there are few distinct sets of finders.
    pending: BTreeMap<u64, Cell>,
    /// The counts of the pairs that all algorithms in a set found, for each set of up to three algorithms and each stratum.
    common: Vec<Cell>,
    /// The counts of the pairs that only one algorithm or its related algorithms found, for each algorithm and stratum.
    alone: Vec<Cell>,
    all: Part,
}

impl Tally {
    /// Returns an empty tally.
    pub(crate) fn new(sampling: Sampling) -> Tally {
        let (algorithms, strata) = (sampling.rates.len(), sampling.strata.len());
        Tally {
            related: (0..algorithms).map(|at| 1 << at).collect(),
            pending: BTreeMap::new(),
            common: vec![Cell::default(); choose(algorithms + 2, 3) * strata],
            alone: vec![Cell::default(); algorithms * strata],
            all: Part(vec![Cell::default(); strata]),
            sampling,
        }
    }

    /// Records, as bits, which algorithms include one another. By default, no algorithm includes another algorithm.
    pub(crate) fn relate(&mut self, related: Vec<u64>) {
        self.related.iter_mut().zip(related).for_each(|(known, more)| *known |= more);
    }

    /// Counts a pair in the pool.
    pub(crate) fn pair(&mut self, found: u64) {
        self.add(found, Cell { pairs: 1, ..Cell::default() });
    }

    /// Counts the verdict on a pair; the pair itself is counted separately.
    pub(crate) fn verdict(&mut self, found: u64, duplicate: bool) {
        self.add(found, Cell { judged: 1, duplicates: duplicate.into(), ..Cell::default() });
    }

    fn add(&mut self, found: u64, cell: Cell) {
        let pending = self.pending.entry(found).or_default();
        *pending = pending.plus(cell);
        if self.pending.len() > MOST_PENDING {
            self.settle();
        }
    }

    /// Adds the pending counts to the sums. The methods below return only settled counts.
    pub(crate) fn settle(&mut self) {
        for (found, cell) in std::mem::take(&mut self.pending) {
            let (stratum, strata) = (self.sampling.stratum(found), self.sampling.strata.len());
            let add =
                |cells: &mut [Cell], at: usize| cells[at * strata + stratum] = cells[at * strata + stratum].plus(cell);
            let finders: Vec<usize> = bits(found).collect();
            self.all.0[stratum] = self.all.0[stratum].plus(cell);
            for &alone in finders.iter().filter(|&&at| found & !self.related[at] == 0) {
                add(&mut self.alone, alone);
            }
            for (at, &third) in finders.iter().enumerate() {
                add(&mut self.common, place(&[third]));
                for (at, &second) in finders[..at].iter().enumerate() {
                    add(&mut self.common, place(&[second, third]));
                    for &first in &finders[..at] {
                        add(&mut self.common, place(&[first, second, third]));
                    }
                }
            }
        }
    }

    /// Returns the counts of the complete pool.
    pub(crate) fn all(&self) -> &Part {
        &self.all
    }

    /// Returns the pairs that only this algorithm or related algorithms found.
    pub(crate) fn alone(&self, algorithm: usize) -> Part {
        self.part(&self.alone, algorithm)
    }

    /// Returns the pairs that all of these algorithms found. `of` holds one to three algorithms in ascending order.
    pub(crate) fn common(&self, of: &[usize]) -> Part {
        self.part(&self.common, place(of))
    }

    /// Returns the pairs that at least one of these algorithms found. `of` holds one to three algorithms in ascending
    /// order.
    pub(crate) fn union(&self, of: &[usize]) -> Part {
        match *of {
            [a, b] => self.common(&[a]).each(&self.common(&[b]), Cell::plus).without(&self.common(of)),
            // The union of a and b, plus the pairs of c that neither a nor b found.
            [a, b, c] => {
                let of_third = self.common(&[c]).each(&self.common(of), Cell::plus);
                let own = of_third.each(&self.common(&[a, c]), Cell::minus).without(&self.common(&[b, c]));
                self.union(&[a, b]).each(&own, Cell::plus)
            }
            _ => self.common(of),
        }
    }

    fn part(&self, cells: &[Cell], at: usize) -> Part {
        let strata = self.sampling.strata.len();
        Part(cells[at * strata..(at + 1) * strata].to_vec())
    }
}

fn bits(found: u64) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(found), |left| Some(left & left.wrapping_sub(1)))
        .take_while(|left| *left != 0)
        .map(|left| left.trailing_zeros() as usize)
}

/// Returns the index of a set of one to three numbers, in ascending order, among all such sets. The index is the rank of the set among sets
/// of three numbers (in the combinatorial number system); two extra numbers pad smaller sets.
fn place(set: &[usize]) -> usize {
    let mut three = [0, 1, 2];
    let from = 3 - set.len();
    three[from..].iter_mut().zip(set).for_each(|(to, number)| *to = number + 2);
    choose(three[0], 1) + choose(three[1], 2) + choose(three[2], 3)
}

/// Returns the number of subsets that a set of n elements has; `of` is the size of the subsets.
fn choose(n: usize, of: usize) -> usize {
    (0..of).fold(1, |product, taken| product * n.saturating_sub(taken) / (taken + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confidence::Number;
    use dupsift_core::hash::splitmix64;
    use std::collections::BTreeSet;

    /// Holds a pool with the ground truth. Each pair is (a, b, finders, duplicate).
    type Pool = Vec<(u64, u64, u64, bool)>;

    /// Returns the pool that three algorithms produce: a precise algorithm, a broad algorithm, and an algorithm that finds nearly
    /// everything.
    fn pool(pairs: u64) -> Pool {
        let chance = |n: u64, of: u64| splitmix64(7, n) % of;
        let pair = |n: u64| {
            let duplicate = chance(3 * n, 20) == 0;
            let precise = u64::from(duplicate && chance(3 * n + 1, 3) > 0 || chance(3 * n + 1, 400) == 0);
            let broad = u64::from(duplicate && chance(3 * n + 2, 8) > 0 || chance(3 * n + 2, 9) == 0);
            (n, n + 1, precise | broad << 1 | u64::from(!n.is_multiple_of(50)) << 2, duplicate)
        };
        (0..pairs).map(pair).filter(|pair| pair.2 != 0).collect()
    }

    fn counted(pool: &Pool, most: u64, seed: u64) -> Tally {
        let pairs = [0, 1, 2].map(|bit| pool.iter().filter(|pair| pair.2 >> bit & 1 == 1).count() as u64);
        let sampling = Sampling::new(&pairs, most, seed);
        let mut tally = Tally::new(sampling.clone());
        for &(a, b, found, duplicate) in pool {
            tally.pair(found);
            if sampling.takes(a, b, found) {
                tally.verdict(found, duplicate);
            }
        }
        tally.settle();
        tally
    }

    fn true_share(pool: &Pool, part: impl Fn(u64) -> bool) -> (u64, u64) {
        let inside = || pool.iter().filter(|pair| part(pair.2));
        (inside().count() as u64, inside().filter(|pair| pair.3).count() as u64)
    }

    #[test]
    fn all_judged_is_counted_and_certain() {
        let pool = pool(3_000);
        let tally = counted(&pool, 3_000, 0);
        let check = |part: Part, inside: &dyn Fn(u64) -> bool| {
            let (pairs, duplicates) = true_share(&pool, inside);
            let number = duplicates as f64;
            assert_eq!((part.pairs(), part.judged()), (pairs, pairs));
            assert_eq!(part.duplicates(), Number { value: number, low: number, high: number });
            let missed = tally.all().without(&part).duplicates();
            let recall = part.duplicates().of_both(&missed).unwrap();
            assert!(recall.low == recall.value && recall.high == recall.value);
        };
        check(tally.all().clone(), &|_| true);
        for a in 0..3 {
            check(tally.common(&[a]), &|found| found >> a & 1 == 1);
            check(tally.alone(a), &|found| found == 1 << a);
            for b in a + 1..3 {
                let both = 1 << a | 1 << b;
                check(tally.common(&[a, b]), &|found| found & both == both);
                check(tally.union(&[a, b]), &|found| found & both != 0);
            }
        }
        check(tally.common(&[0, 1, 2]), &|found| found == 7);
        check(tally.union(&[0, 1, 2]), &|_| true);
    }

    /// Over many seeds, the mean is within three standard errors of the truth, and the share of intervals that contain the truth is close
    /// to the confidence level.
    #[test]
    fn a_sample_is_right_on_average() {
        let pool = pool(20_000);
        let seeds = 300;
        type Of = fn(&Tally) -> Part;
        type Inside = fn(u64) -> bool;
        let parts: [(Of, Inside); 5] = [
            (|tally| tally.all().clone(), |_| true),
            (|tally| tally.common(&[1]), |found| found & 2 != 0),
            (|tally| tally.common(&[2]), |found| found & 4 != 0),
            (|tally| tally.union(&[0, 1]), |found| found & 3 != 0),
            (|tally| tally.alone(2), |found| found == 4),
        ];
        for (of, inside) in parts {
            let (all, truth) = (pool.iter().filter(|pair| pair.3).count() as f64, true_share(&pool, inside).1 as f64);
            let (mut sum, mut squares, mut held, mut recall_held) = (0.0, 0.0, 0, 0);
            for seed in 0..seeds {
                let tally = counted(&pool, 700, seed);
                let part = of(&tally);
                let number = part.duplicates();
                assert!(part.judged() < part.pairs(), "nothing was sampled");
                sum += number.value;
                squares += number.value * number.value;
                held += usize::from(number.low <= truth && truth <= number.high);
                let missed = tally.all().without(&part).duplicates();
                let recall = number.of_both(&missed).unwrap();
                recall_held += usize::from(recall.low <= truth / all && truth / all <= recall.high);
            }
            let count = seeds as f64;
            let (mean, error) = (sum / count, ((squares / count - (sum / count).powi(2)).max(0.0) / count).sqrt());
            assert!((mean - truth).abs() <= 3.0 * error + 1e-9, "{mean} for {truth}, standard error {error}");
            assert!(held as f64 > 0.92 * count && recall_held as f64 > 0.92 * count, "{held} {recall_held}");
        }
    }

    #[test]
    fn a_sample_takes_about_as_many_as_it_should_and_those_of_the_rarer_finder_whole() {
        let pool = pool(20_000);
        let tally = counted(&pool, 2_000, 5);
        let precise = tally.common(&[0]);
        assert_eq!(precise.judged(), precise.pairs());
        let alone = tally.alone(2);
        let expected = alone.pairs() as f64 * 2_000.0 / tally.common(&[2]).pairs() as f64;
        assert!((alone.judged() as f64 - expected).abs() < 5.0 * expected.sqrt(), "{} for {expected}", alone.judged());
    }

    #[test]
    fn what_holds_another_does_not_count_beside_it() {
        let pool: Pool = vec![(0, 1, 0b011, true), (0, 2, 0b010, false), (1, 2, 0b110, true), (2, 3, 0b111, true)];
        let alone = |related: Option<Vec<u64>>| {
            let mut tally = Tally::new(Sampling::new(&[2, 4, 2], 10, 0));
            related.into_iter().for_each(|related| tally.relate(related));
            pool.iter().for_each(|pair| tally.pair(pair.2));
            tally.settle();
            [0, 1, 2].map(|at| tally.alone(at).pairs())
        };
        assert_eq!(alone(None), [0, 1, 0]);
        // The second algorithm includes the first.
        assert_eq!(alone(Some(vec![0b010, 0b001, 0])), [1, 2, 0]);
    }

    #[test]
    fn settling_often_changes_nothing() {
        let pool = pool(2_000);
        let once = counted(&pool, 300, 1);
        let mut often = Tally::new(once.sampling.clone());
        for &(a, b, found, duplicate) in &pool {
            often.pair(found);
            often.settle();
            if often.sampling.takes(a, b, found) {
                often.verdict(found, duplicate);
            }
        }
        often.settle();
        assert!(once.common == often.common && once.alone == often.alone && once.all == often.all);
    }

    #[test]
    fn every_set_has_a_place_of_its_own() {
        let mut places = BTreeSet::new();
        for c in 0..12 {
            assert!(places.insert(place(&[c])));
            for b in 0..c {
                assert!(places.insert(place(&[b, c])));
                assert!((0..b).all(|a| places.insert(place(&[a, b, c]))));
            }
        }
        assert!(places.last().is_some_and(|&last| last < choose(14, 3)));
    }
}

//! compare: from judged pairs of many algorithms to recall, precision and F of each, and of several together.
//!
//! The duplicates are those of the pool, all pairs that any of the algorithms found (the method of the 2007 study, pooling:
//! Spärck Jones and van Rijsbergen 1975). What none of them found is not seen; the oracle of `compare` is for that.
//!
//! **The sample.** A pair has one random number, a hash of the seed and its two documents. It is judged if that number is below
//! the rate of one of the algorithms that found it, so with a probability known beforehand, the largest of their rates; an
//! algorithm with few pairs has the rate 1. Samples of different algorithms overlap as far as their pairs do (permanent
//! random numbers: Brewer, Early and Joyce 1972).
//!
//! **The estimate.** Pairs of one probability are a stratum. How many pairs a stratum has is known, so the duplicates in it are
//! estimated by its pairs times the share of duplicates among those judged (post-stratification: Holt and Smith 1979), and
//! strata are added. The same is done for any part of the pool, such as the pairs of one algorithm.
//!
//! **The interval.** 95 %: Wilson's (1927) for the share of a stratum, with the correction for a finite population; sums, and the
//! ratio of the duplicates found to those missed, by the recovery of variances from the intervals of the parts (MOVER: Zou
//! and Donner 2008, Donner and Zou 2012). A stratum of which no pair was judged counts as without duplicates, and its interval
//! says that all of its pairs may be some. Where all is judged, the interval is the value.
//!
//! Pairs of copies, or of one large cluster, are not independent; the intervals do not know that.

use std::collections::BTreeMap;

use crate::hash::{combine, mix64};

/// Which pairs are judged.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// By algorithm: the share of its pairs that is judged for its own sake.
    rates: Vec<f64>,
    /// The different rates, the largest first.
    strata: Vec<f64>,
    seed: u64,
}

impl Sampling {
    /// For algorithms with so many pairs each, about `most` of which are judged where there are more.
    pub fn new(pairs: &[u64], most: u64, seed: u64) -> Sampling {
        let rate = |&pairs: &u64| if pairs <= most { 1.0 } else { most as f64 / pairs as f64 };
        let rates: Vec<f64> = pairs.iter().map(rate).collect();
        let mut strata = rates.clone();
        strata.sort_unstable_by(|a, b| b.total_cmp(a));
        strata.dedup();
        Sampling { rates, strata, seed }
    }

    /// Whether a pair that the algorithms of these bits found is judged.
    pub fn takes(&self, a: u64, b: u64, found: u64) -> bool {
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

/// Pairs of one part of one stratum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// All of them.
    pub pairs: u64,
    /// Those that were judged.
    pub judged: u64,
    /// Those of the judged that are duplicates.
    pub duplicates: u64,
}

impl Cell {
    fn plus(self, other: Cell) -> Cell {
        Cell {
            pairs: self.pairs + other.pairs,
            judged: self.judged + other.judged,
            duplicates: self.duplicates + other.duplicates,
        }
    }

    /// Without a part of it.
    fn minus(self, part: Cell) -> Cell {
        Cell {
            pairs: self.pairs - part.pairs,
            judged: self.judged - part.judged,
            duplicates: self.duplicates - part.duplicates,
        }
    }
}

/// Part of the pool: a cell for each stratum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part(Vec<Cell>);

impl Part {
    /// Its pairs.
    pub fn pairs(&self) -> u64 {
        self.0.iter().map(|cell| cell.pairs).sum()
    }

    /// Its judged pairs.
    pub fn judged(&self) -> u64 {
        self.0.iter().map(|cell| cell.judged).sum()
    }

    /// How many duplicates it has.
    pub fn duplicates(&self) -> Number {
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

    /// What is in this part and not in that part of it.
    pub fn without(&self, part: &Part) -> Part {
        self.each(part, Cell::minus)
    }

    fn each(&self, other: &Part, of: impl Fn(Cell, Cell) -> Cell) -> Part {
        Part(self.0.iter().zip(&other.0).map(|(&a, &b)| of(a, b)).collect())
    }
}

/// A number with the ends of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// The estimate.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Number {
    /// This number over `pairs`, which are known; none of none.
    pub fn over(&self, pairs: u64) -> Option<Number> {
        let share = |value: f64| value / pairs as f64;
        (pairs > 0).then(|| Number { value: share(self.value), low: share(self.low), high: share(self.high) })
    }

    /// This number over the sum of it and another one, both estimated apart; none where both are 0.
    pub fn of_both(&self, other: &Number) -> Option<Number> {
        let all = self.value + other.value;
        if all <= 0.0 {
            return None;
        }
        let value = self.value / all;
        // With x of the one and y of the other, the share r solves (1 - r) x = r y; r is in the interval where 0 is in that of
        // the difference.
        let end = |apart: &dyn Fn(f64) -> f64| {
            let (mut from, mut to) = (0.0, 1.0);
            for _ in 0..60 {
                let middle = (from + to) / 2.0;
                if apart(middle) > 0.0 { from = middle } else { to = middle }
            }
            from
        };
        let difference = |r: f64| (1.0 - r) * self.value - r * other.value;
        let reach = |r: f64, own: f64, others: f64| ((1.0 - r) * own).hypot(r * others);
        let (own_low, own_high) = (self.value - self.low, self.high - self.value);
        let (other_low, other_high) = (other.value - other.low, other.high - other.value);
        let low = end(&|r| difference(r) - reach(r, own_low, other_high));
        let high = end(&|r| difference(r) + reach(r, own_high, other_low));
        // Where both numbers are certain, so is the share.
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
    /// The share of duplicates among its pairs.
    fn share(&self) -> Number {
        wilson(self.duplicates, self.judged, self.pairs)
    }
}

/// The share of `hits` in `seen`, as an estimate of the share in all of a population of that size (`u64::MAX`: without end), of
/// which `seen` were drawn at random.
pub fn wilson(hits: u64, seen: u64, population: u64) -> Number {
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
    // What was seen is certain.
    let least = hits as f64 / all;
    let most = 1.0 - (seen - hits) as f64 / all;
    Number { value, low: (middle - half).max(least).min(value), high: (middle + half).min(most).max(value) }
}

/// Combinations of finders that are counted before they are added to the sums.
const MOST_PENDING: usize = 1 << 16;

/// Counts of the pool, by who found what.
///
/// What up to three algorithms have in common is counted, from which any union of them follows; so memory is bounded by the
/// number of algorithms (n^3 / 6 sums of 24 bytes a stratum: 140 KB for 30 of them with one) and not by the pairs, or by the
/// number of different sets of finders.
pub struct Tally {
    algorithms: usize,
    sampling: Sampling,
    /// By set of finders; few in practice.
    pending: BTreeMap<u64, Cell>,
    /// By set of up to three algorithms and stratum: pairs that all of these found.
    common: Vec<Cell>,
    /// By algorithm and stratum: pairs that it alone found.
    alone: Vec<Cell>,
    all: Part,
}

impl Tally {
    /// Nothing yet.
    pub fn new(sampling: Sampling) -> Tally {
        let (algorithms, strata) = (sampling.rates.len(), sampling.strata.len());
        Tally {
            algorithms,
            pending: BTreeMap::new(),
            common: vec![Cell::default(); choose(algorithms + 2, 3) * strata],
            alone: vec![Cell::default(); algorithms * strata],
            all: Part(vec![Cell::default(); strata]),
            sampling,
        }
    }

    /// Counts a pair of the pool.
    pub fn pair(&mut self, found: u64) {
        self.add(found, Cell { pairs: 1, ..Cell::default() });
    }

    /// Counts the verdict on a pair, which is counted as a pair besides.
    pub fn verdict(&mut self, found: u64, duplicate: bool) {
        self.add(found, Cell { judged: 1, duplicates: duplicate.into(), ..Cell::default() });
    }

    fn add(&mut self, found: u64, cell: Cell) {
        let pending = self.pending.entry(found).or_default();
        *pending = pending.plus(cell);
        if self.pending.len() > MOST_PENDING {
            self.settle();
        }
    }

    /// Adds what is pending to the sums. The counts below speak of what was settled.
    pub fn settle(&mut self) {
        for (found, cell) in std::mem::take(&mut self.pending) {
            let (stratum, strata) = (self.sampling.stratum(found), self.sampling.strata.len());
            let add =
                |cells: &mut [Cell], at: usize| cells[at * strata + stratum] = cells[at * strata + stratum].plus(cell);
            let finders: Vec<usize> = bits(found).collect();
            self.all.0[stratum] = self.all.0[stratum].plus(cell);
            if let [only] = finders[..] {
                add(&mut self.alone, only);
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

    /// The whole pool.
    pub fn all(&self) -> &Part {
        &self.all
    }

    /// The pairs that this algorithm alone found.
    pub fn alone(&self, algorithm: usize) -> Part {
        self.part(&self.alone, algorithm)
    }

    /// The pairs that all of these found: one to three algorithms, ascending.
    pub fn common(&self, of: &[usize]) -> Part {
        self.part(&self.common, place(of))
    }

    /// The pairs that at least one of these found: one to three algorithms, ascending.
    pub fn union(&self, of: &[usize]) -> Part {
        match *of {
            [a, b] => self.common(&[a]).each(&self.common(&[b]), Cell::plus).without(&self.common(of)),
            // What the first two have, and of the third what neither of them has.
            [a, b, c] => {
                let of_third = self.common(&[c]).each(&self.common(of), Cell::plus);
                let own = of_third.each(&self.common(&[a, c]), Cell::minus).without(&self.common(&[b, c]));
                self.union(&[a, b]).each(&own, Cell::plus)
            }
            _ => self.common(of),
        }
    }

    /// How many algorithms.
    pub fn algorithms(&self) -> usize {
        self.algorithms
    }

    fn part(&self, cells: &[Cell], at: usize) -> Part {
        let strata = self.sampling.strata.len();
        Part(cells[at * strata..(at + 1) * strata].to_vec())
    }
}

fn bits(found: u64) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(found), |left| Some(left & (left - 1)))
        .take_while(|left| *left != 0)
        .map(|left| left.trailing_zeros() as usize)
}

/// The place of a set of one to three numbers, ascending, among all such sets: that of a set of three among the sets of three
/// (the combinatorial number system), for which two numbers fill up the sets that are smaller.
fn place(set: &[usize]) -> usize {
    let mut three = [0, 1, 2];
    let from = 3 - set.len();
    three[from..].iter_mut().zip(set).for_each(|(to, number)| *to = number + 2);
    choose(three[0], 1) + choose(three[1], 2) + choose(three[2], 3)
}

/// How many sets of so many there are of n.
fn choose(n: usize, of: usize) -> usize {
    (0..of).fold(1, |product, taken| product * n.saturating_sub(taken) / (taken + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::splitmix64;
    use std::collections::BTreeSet;

    /// A pool with the truth: (a, b, finders, duplicate).
    type Pool = Vec<(u64, u64, u64, bool)>;

    /// Three algorithms: a precise one, a broad one, and one that finds nearly everything.
    fn pool(pairs: u64) -> Pool {
        let chance = |n: u64, of: u64| splitmix64(7, n) % of;
        let pair = |n: u64| {
            let duplicate = chance(3 * n, 20) == 0;
            let precise = u64::from(duplicate && chance(3 * n + 1, 3) > 0 || chance(3 * n + 1, 400) == 0);
            let broad = u64::from(duplicate && chance(3 * n + 2, 8) > 0 || chance(3 * n + 2, 9) == 0);
            (n, n + 1, precise | broad << 1 | u64::from(n % 50 > 0) << 2, duplicate)
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

    /// Over many seeds the mean is the truth within three standard errors, and the intervals hold it about as often as they say.
    #[test]
    fn a_sample_tells_the_truth_on_the_average() {
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

    #[test]
    fn intervals_of_shares() {
        // Without end: the textbook interval; all seen: none; some seen of few: narrower, and what was seen is certain.
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

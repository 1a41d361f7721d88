//! Implements a counting Bloom filter, which estimates how often each key was inserted. The filter uses a few bytes per key, and its
//! estimates are never too low.
//!
//! Source: Fan, Cao, Almeida, Broder 2000, Summary cache. The filter has m 4-bit counters and k positions per key; the count of a key is
//! the minimum of its counters. For n keys and a false-positive rate p:
//!
//! ```text
//! m = ceil(-n ln p / (ln 2)^2)    k = round(m / n ln 2)        p = 0.001: 14.4 counters (7.2 bytes) per key, k = 10
//! ```
//!
//! A counter that reaches 15 stays at 15, so that no deletion can make a count too low. Insertions commute: threads may insert
//! concurrently, and the result does not depend on their order.

use std::f64::consts::LN_2;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dupsift_core::float;
use dupsift_core::hash::mix64;

/// The number of counters per word.
const IN_A_WORD: u64 = 16;
/// The value at which a counter saturates.
const FULL: u64 = 15;
/// The maximum number of positions per key; additional positions would cost more than they are worth.
const MOST_HASHES: u32 = 30;

/// A counting Bloom filter.
#[derive(Debug)]
pub struct CountingBloom {
    words: Vec<AtomicU64>,
    counters: u64,
    hashes: u32,
}

/// Returns the number of counters for this many keys and this false-positive rate.
fn counters_for(keys: f64, rate: f64) -> f64 {
    (-keys * float::ln(rate.clamp(1e-12, 0.5)) / (LN_2 * LN_2)).ceil()
}

/// Returns the false-positive rate per key at which the probability of at least one false positive among this many keys is `rate`.
pub fn rate_of_each(rate: f64, keys: u64) -> f64 {
    if keys == 1 { rate } else { -float::exp_m1(float::ln(1.0 - rate) / keys as f64) }
}

/// Returns the probability of at least one false positive among this many keys if each key has this false-positive rate.
pub fn rate_of_any(rate: f64, keys: u64) -> f64 {
    if keys == 1 { rate } else { 1.0 - float::pow(1.0 - rate, keys as f64) }
}

impl CountingBloom {
    /// Returns the size, in bytes, of the counters that this many keys require at this false-positive rate.
    pub fn bytes_for(keys: u64, rate: f64) -> u64 {
        (counters_for(keys.max(1) as f64, rate) / 2.0).ceil() as u64
    }

    /// Returns the number of keys that fit in this many bytes of counters at this false-positive rate.
    pub fn keys_within(bytes: u64, rate: f64) -> u64 {
        (bytes as f64 * 2.0 / counters_for(1e9, rate) * 1e9) as u64
    }

    /// Creates an empty filter for about `keys` keys. The filter's false-positive rate is `rate` (above 0, below 1), or higher if a filter
    /// with this rate would exceed `most_bytes`.
    ///
    /// # Panics
    /// Panics if memory cannot be allocated. If the size comes from user input, call [`CountingBloom::try_new`] instead.
    pub fn new(keys: u64, rate: f64, most_bytes: usize) -> CountingBloom {
        match CountingBloom::try_new(keys, rate, most_bytes) {
            Some(filter) => filter,
            None => panic!("not enough memory for a filter with {keys} keys"),
        }
    }

    /// Works like `new`, but returns `None` if memory cannot be allocated.
    pub fn try_new(keys: u64, rate: f64, most_bytes: usize) -> Option<CountingBloom> {
        let keys = keys.max(1) as f64;
        let wanted = counters_for(keys, rate);
        let most = (most_bytes as f64 * 2.0).max(IN_A_WORD as f64);
        let words = (wanted.min(most) as u64).div_ceil(IN_A_WORD).max(1);
        let counters = words.checked_mul(IN_A_WORD)?;
        let hashes = (counters as f64 / keys * LN_2).round() as u32;
        let len = usize::try_from(words).ok()?;
        let mut words = Vec::new();
        words.try_reserve_exact(len).ok()?;
        words.extend((0..len).map(|_| AtomicU64::new(0)));
        Some(CountingBloom { words, counters, hashes: hashes.clamp(1, MOST_HASHES) })
    }

    /// Restores a filter from the output of [`CountingBloom::numbers`]. Returns `None` if the numbers are invalid, or if memory cannot be
    /// allocated. The numbers are read one at a time, so that a large filter is never held in memory twice. The caller must have checked
    /// the length that the iterator reports.
    pub fn of_numbers(mut numbers: impl ExactSizeIterator<Item = u64>) -> Option<CountingBloom> {
        let hashes = u32::try_from(numbers.next()?).ok().filter(|hashes| (1..=MOST_HASHES).contains(hashes))?;
        if numbers.len() == 0 {
            return None;
        }
        let mut words = Vec::new();
        words.try_reserve_exact(numbers.len()).ok()?;
        words.extend(numbers.map(AtomicU64::new));
        Some(CountingBloom { counters: words.len() as u64 * IN_A_WORD, words, hashes })
    }

    /// Returns the complete filter as numbers.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        std::iter::once(self.hashes.into()).chain(self.words.iter().map(|word| word.load(Relaxed)))
    }

    /// Returns the number of items in [`CountingBloom::numbers`].
    pub fn count_of_numbers(&self) -> u64 {
        1 + self.words.len() as u64
    }

    /// Returns the size of the counters in bytes.
    pub fn bytes(&self) -> u64 {
        self.counters / 2
    }

    /// Returns the false-positive rate after this many keys have been inserted: (1 - e^(-kn/m))^k.
    pub fn false_positives(&self, keys: u64) -> f64 {
        let hashes = f64::from(self.hashes);
        float::pow(-float::exp_m1(-hashes * keys as f64 / self.counters as f64), hashes)
    }

    /// Inserts a key once.
    pub fn insert(&self, key: u64) {
        for at in self.positions(key) {
            let shift = at % IN_A_WORD * 4;
            let more = |word: u64| (word >> shift & FULL < FULL).then(|| word + (1 << shift));
            // An error means that the counter is full, so the counter stays unchanged.
            let _ = self.word(at).fetch_update(Relaxed, Relaxed, more);
        }
    }

    /// Reverts one insertion of a key. Returns `false` and does nothing if the key is not present. Do not remove a key that was never
    /// inserted: the key may be a false positive, and removing it could make other keys disappear.
    pub fn remove(&self, key: u64) -> bool {
        if self.count(key) == 0 {
            return false;
        }
        for at in self.positions(key) {
            let shift = at % IN_A_WORD * 4;
            let less = |word: u64| (1..FULL).contains(&(word >> shift & FULL)).then(|| word - (1 << shift));
            let _ = self.word(at).fetch_update(Relaxed, Relaxed, less);
        }
        true
    }

    /// Returns an upper bound on how many times the key was inserted minus how many times it was removed. The bound saturates at 15. If the
    /// bound is 0, the key is not present.
    pub fn count(&self, key: u64) -> u8 {
        let counter = |at: u64| self.word(at).load(Relaxed) >> (at % IN_A_WORD * 4) & FULL;
        self.positions(key).map(counter).min().unwrap_or(0) as u8
    }

    fn word(&self, at: u64) -> &AtomicU64 {
        &self.words[(at / IN_A_WORD) as usize]
    }

    /// Returns the key's positions, computed by double hashing (Kirsch, Mitzenmacher 2006): equally spaced points on a circle of 2^64,
    /// scaled to the counters.
    fn positions(&self, key: u64) -> impl Iterator<Item = u64> {
        let (first, step) = (mix64(key), mix64(!key) | 1);
        let counters = u128::from(self.counters);
        (0..u64::from(self.hashes)).map(move |i| {
            let point = first.wrapping_add(step.wrapping_mul(i));
            ((u128::from(point) * counters) >> 64) as u64
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::hash::splitmix64;

    #[test]
    fn sizes_are_those_of_the_formula() {
        let filter = CountingBloom::new(1_000_000, 1e-3, usize::MAX);
        assert!((7_180_000..7_200_000).contains(&filter.bytes()), "{}", filter.bytes());
        assert_eq!(filter.hashes, 10);
        // Each key uses 14.4 half-byte counters.
        assert_eq!(CountingBloom::bytes_for(1_000_000, 1e-3), 7_188_794);
        assert_eq!(CountingBloom::keys_within(7_188_794, 1e-3), 1_000_000);
        assert!(CountingBloom::bytes_for(u64::MAX, 1e-3) > 1 << 62);
        assert!((filter.false_positives(1_000_000) / 1e-3 - 1.0).abs() < 0.01);
        let small = CountingBloom::new(1_000_000, 1e-3, 1 << 20);
        assert_eq!((small.bytes(), small.hashes), (1 << 20, 1));
        assert!(small.false_positives(1_000_000) < 0.4);
    }

    #[test]
    fn counts_are_never_too_low_and_seldom_too_high() {
        let filter = CountingBloom::new(20_000, 1e-3, usize::MAX);
        let key = |n: u64| splitmix64(1, n);
        std::thread::scope(|scope| {
            // The four threads together insert key n exactly `n % 4` times.
            for thread in 0..4 {
                let filter = &filter;
                scope.spawn(move || (0..20_000).filter(|n| n % 4 > thread).for_each(|n| filter.insert(key(n))));
            }
        });
        let mut high = 0;
        for n in 0..20_000 {
            let count = u64::from(filter.count(key(n)));
            assert!(count >= n % 4, "{n}");
            high += u64::from(count > n % 4);
        }
        assert!(high < 100, "{high}");
        let strangers = (20_000..120_000).filter(|&n| filter.count(key(n)) > 0).count();
        assert!(strangers < 150, "{strangers}");
    }

    #[test]
    fn what_is_removed_is_gone_and_the_rest_stays() {
        let filter = CountingBloom::new(1_000, 1e-6, usize::MAX);
        let key = |n: u64| splitmix64(2, n);
        (0..1_000).for_each(|n| filter.insert(key(n)));
        (0..500).for_each(|n| assert!(filter.remove(key(n))));
        assert!((0..500).all(|n| filter.count(key(n)) == 0 && !filter.remove(key(n))));
        assert!((500..1_000).all(|n| filter.count(key(n)) == 1));
        // A full counter stays full: the key is still found, and no other key is lost.
        (0..40).for_each(|_| filter.insert(7));
        (0..40).for_each(|_| assert!(filter.remove(7)));
        assert_eq!(filter.count(7), 15);
    }

    #[test]
    fn it_can_be_written_down() {
        let filter = CountingBloom::new(100, 1e-2, usize::MAX);
        (0..100).for_each(|n| filter.insert(n));
        let numbers: Vec<u64> = filter.numbers().collect();
        assert_eq!(numbers.len() as u64, filter.count_of_numbers());
        let again = CountingBloom::of_numbers(numbers.into_iter()).unwrap();
        assert!((0..200).all(|n| filter.count(n) == again.count(n)));
        assert!(
            [&[][..], &[3], &[0, 1], &[31, 1]]
                .iter()
                .all(|numbers| CountingBloom::of_numbers(numbers.iter().copied()).is_none())
        );
    }
}

//! prefilter: uses a counting Bloom filter to remove signature rows that match no other row.
//!
//! A first pass inserts the group (position and key) of every row into a filter; the second pass keeps only rows whose group was inserted
//! at least twice. A filter never undercounts, so no pair is lost. Grouping is exact, so no pair is added. Most documents are unique, and
//! their rows are neither sorted nor written to disk.

use crate::recipe::bound::Bound;
use dupsift_core::hash::combine;
use dupsift_core::row::{Row, Signatures};
use dupsift_spill::bloom::CountingBloom;

/// The share of unmatched rows that pass by chance, if there is enough memory.
const RATE: f64 = 1e-3;

/// Holds the filters of all algorithms.
pub struct Prefilter {
    filters: Vec<Option<CountingBloom>>,
}

impl Prefilter {
    /// Returns empty filters for `documents` documents. The filters take at most `most_bytes` bytes in total. An algorithm with a second
    /// round has no filter, because its unmatched rows are needed.
    pub fn new(bound: &[Bound<'_>], documents: u64, most_bytes: usize) -> Prefilter {
        let rows = |bound: &Bound<'_>| match bound.scheme.probe_shape() {
            Some(_) => 0,
            None => documents.saturating_mul(bound.scheme.rows_per_document),
        };
        let all: u64 = bound.iter().map(rows).sum();
        let filter = |rows: u64| {
            let share = most_bytes as f64 * rows as f64 / all.max(1) as f64;
            (rows > 0).then(|| CountingBloom::new(rows, RATE, share as usize))
        };
        Prefilter { filters: bound.iter().map(|bound| filter(rows(bound))).collect() }
    }

    /// Inserts the groups of the rows that an algorithm emitted for a document. The first pass calls this for each document.
    pub fn insert(&self, algorithm: usize, signatures: &Signatures) {
        if let Some(filter) = &self.filters[algorithm] {
            // A document that emits a group twice must not match itself.
            let mut groups: Vec<u64> = signatures.rows(0).map(|row| group(&row)).collect();
            groups.sort_unstable();
            groups.dedup();
            groups.into_iter().for_each(|group| filter.insert(group));
        }
    }

    /// Returns whether a row may match a row of another document.
    pub fn keeps(&self, algorithm: usize, row: &Row<'_>) -> bool {
        self.filters[algorithm].as_ref().is_none_or(|filter| filter.count(group(row)) >= 2)
    }

    /// Returns the description of an algorithm's filter for run.json, or `None` if it has no filter. `rows` is the number of rows so far.
    pub fn note(&self, algorithm: usize, rows: u64) -> Option<String> {
        let filter = self.filters[algorithm].as_ref()?;
        let rate = filter.false_positives(rows);
        Some(format!(
            "prefilter with {} bytes of counters; a unique row passes with a probability of at most {rate:.1e}",
            filter.bytes()
        ))
    }
}

fn group(row: &Row<'_>) -> u64 {
    combine(combine(row.position.into(), (row.key >> 64) as u64), row.key as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Corpus;
    use crate::corpus::CorpusStats;
    use crate::recipe::Recipe;

    #[test]
    fn rows_that_meet_pass_and_single_ones_do_not() {
        let algorithms = Recipe::parse_algorithms("three_plus_five,simhash").unwrap();
        let recipe = Recipe { count_copies: true, ..Recipe::new(algorithms) };
        let stats = CorpusStats::none();
        let bound = recipe.bind(&Corpus::new(1000, &stats), &[]).unwrap();
        let prefilter = Prefilter::new(&bound, 1000, 1 << 20);
        let emit = |keys: &[(u32, u128)]| {
            let mut out = Signatures::default();
            keys.iter().for_each(|&(position, key)| out.push(position, key, 0, &[]));
            prefilter.insert(0, &out);
        };
        emit(&[(0, 5), (0, 5), (1, 6)]);
        emit(&[(1, 6), (1, 5)]);
        let keeps = |algorithm, position, key| {
            prefilter.keeps(algorithm, &Row { position, key, order: 0, doc: 0, sketch: &[] })
        };
        assert_eq!([keeps(0, 0, 5), keeps(0, 1, 6), keeps(0, 1, 5), keeps(0, 0, 6)], [false, true, false, false]);
        // simhash needs its unmatched rows for the second round.
        assert!(keeps(1, 0, 5) && prefilter.note(1, 10).is_none() && prefilter.note(0, 10).is_some());
    }
}

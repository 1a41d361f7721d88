//! Merges the pairs of several algorithms into one sequence. Each pair occurs once, in order, with the algorithms that found it.

use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::Finished;
use dupsift_core::error::{Error, Result};
use dupsift_tables::PairFound;

/// Holds a pair that at least one algorithm found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pooled {
    /// The smaller document number.
    pub a: u64,
    /// The larger document number.
    pub b: u64,
    /// Bit i is set if algorithm i found the pair.
    pub found: u64,
}

/// The maximum number of algorithms that can be pooled. Each algorithm has one bit.
pub(crate) const MOST_POOLED: usize = 64;

/// Merges tables of pairs.
pub struct Pool<P> {
    tables: Vec<P>,
    /// The next pair of each table that is not exhausted, and the index of the table.
    next: BinaryHeap<Reverse<(u64, u64, usize)>>,
}

impl<P: Iterator<Item = Result<PairFound>>> Pool<P> {
    /// Merges sequences, each of which is in (a, b) order.
    ///
    /// # Errors
    /// Returns an error if there are more than [`MOST_POOLED`] sequences, or if the first row of a sequence cannot be read.
    pub fn new(tables: Vec<P>) -> Result<Pool<P>> {
        if tables.len() > MOST_POOLED {
            return Err(Error::usage(format!(
                "{} algorithms cannot be compared in one run; expected at most {MOST_POOLED}",
                tables.len()
            )));
        }
        let mut pool = Pool { tables, next: BinaryHeap::new() };
        for (table, pairs) in pool.tables.iter_mut().enumerate() {
            if let Some(pair) = pairs.next().transpose()? {
                pool.next.push(Reverse((pair.a, pair.b, table)));
            }
        }
        Ok(pool)
    }

    fn pooled(&mut self) -> Result<Option<Pooled>> {
        let Some(&Reverse((a, b, _))) = self.next.peek() else { return Ok(None) };
        let mut found = 0;
        while let Some(mut top) = self.next.peek_mut()
            && (top.0.0, top.0.1) == (a, b)
        {
            let table = top.0.2;
            found |= 1 << table;
            // The next pair of a table replaces the previous pair of that table, and usually stays near the top of the
            // heap.
            match self.tables[table].next().transpose()? {
                Some(pair) => *top = Reverse((pair.a, pair.b, table)),
                None => drop(PeekMut::pop(top)),
            }
        }
        Ok(Some(Pooled { a, b, found }))
    }
}

impl<P: Iterator<Item = Result<PairFound>>> Iterator for Pool<P> {
    type Item = Result<Pooled>;

    fn next(&mut self) -> Option<Result<Pooled>> {
        self.pooled().transpose()
    }
}

/// Counts the pairs that both algorithms found, for each combination of two algorithms. The diagonal contains the number of pairs of each
/// algorithm.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Agreement(pub Vec<Vec<u64>>);

impl Agreement {
    /// Creates empty counts for this many algorithms.
    pub fn new(algorithms: usize) -> Agreement {
        Agreement(vec![vec![0; algorithms]; algorithms])
    }

    /// Counts one pooled pair.
    pub fn add(&mut self, found: u64) {
        let mut rest = found;
        while rest != 0 {
            let (row, mut columns) = (rest.trailing_zeros() as usize, found);
            while columns != 0 {
                self.0[row][columns.trailing_zeros() as usize] += 1;
                columns &= columns - 1;
            }
            rest &= rest - 1;
        }
    }

    /// Returns the share of `a`'s pairs that `b` also found; `None` if `a` has no pairs.
    pub fn share(&self, a: usize, b: usize) -> Option<f64> {
        (self.0[a][a] > 0).then(|| self.0[a][b] as f64 / self.0[a][a] as f64)
    }

    /// Returns the Jaccard similarity between the pairs of two algorithms; `None` if neither algorithm has any pairs.
    pub fn jaccard(&self, a: usize, b: usize) -> Option<f64> {
        let all = self.0[a][a] + self.0[b][b] - self.0[a][b];
        (all > 0).then(|| self.0[a][b] as f64 / all as f64)
    }
}

impl Finished {
    /// Returns the pairs of all algorithms in the run. The bits are in the order of the algorithms in the record. Groups larger than
    /// `--max-group` contribute only their written pairs.
    ///
    /// # Errors
    /// Returns the errors of [`Finished::pairs`].
    pub fn pool(&self) -> Result<Pool<impl Iterator<Item = Result<PairFound>> + use<>>> {
        Pool::new(self.report.algorithms.iter().map(|one| self.pairs(&one.label)).collect::<Result<Vec<_>>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_comes_once_with_who_found_it() {
        let table = |pairs: &[(u64, u64)]| -> std::vec::IntoIter<Result<PairFound>> {
            let rows = pairs.iter().map(|&(a, b)| Ok(PairFound { a, b, similarity: 1.0 }));
            rows.collect::<Vec<_>>().into_iter()
        };
        let tables = vec![table(&[(0, 1), (2, 3)]), table(&[]), table(&[(0, 1), (0, 2), (2, 3), (5, 6)])];
        let pooled: Vec<(u64, u64, u64)> =
            Pool::new(tables).unwrap().map(Result::unwrap).map(|pair| (pair.a, pair.b, pair.found)).collect();
        assert_eq!(pooled, [(0, 1, 5), (0, 2, 4), (2, 3, 5), (5, 6, 4)]);
        let mut agreement = Agreement::new(3);
        pooled.iter().for_each(|pair| agreement.add(pair.2));
        assert_eq!(agreement.0, [[2, 0, 2], [0, 0, 0], [2, 0, 4]]);
        assert_eq!((agreement.share(2, 0), agreement.share(0, 2), agreement.share(1, 0)), (Some(0.5), Some(1.0), None));
        assert_eq!((agreement.jaccard(0, 2), agreement.jaccard(1, 1)), (Some(0.5), None));
        assert!(Pool::new((0..65).map(|_| table(&[])).collect()).is_err());
    }
}

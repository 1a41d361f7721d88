//! Ranks of terms. The rank of a term is its position among all terms of the corpus, sorted by df (rarest first), then by hash.
//!
//! ```text
//! rank of a term = terms with a lower df + terms with the same df and a lower hash
//! terms 10, 20, 30, 40 of df 3, 1, 3, 1:  ranks 2, 0, 3, 1
//! ```
//!
//! The terms of a table are sorted by hash, so the number of terms with each df is enough to compute all ranks. A rank takes five bytes in
//! a mapped file, at the position of its term. A short list maps ranks to df values, because there are few distinct df values.

use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;
use std::path::Path;

use memmap2::Mmap;

use super::stretches::{STRETCH, Spread, by_stretches};
use super::term_file::{map, nameless};
use dupsift_core::error::{Error, Result};

/// The number of bytes in a rank, enough for 10^12 terms.
const BYTES: usize = 5;
/// Values for a df below this limit are stored in an array and need no search.
const LOW: usize = 1 << 10;
/// The number of the most common terms whose df is in a separate list (half a megabyte).
const COMMON: u64 = if cfg!(test) { 100 } else { 1 << 16 };
/// The number of steps that are checked one by one before a binary search.
const NEAR: usize = 8;

/// Holds a number for each df.
#[derive(Clone)]
struct ByDf {
    low: Vec<u64>,
    high: BTreeMap<u64, u64>,
}

impl ByDf {
    fn new() -> ByDf {
        ByDf { low: vec![0; LOW], high: BTreeMap::new() }
    }

    fn of(&mut self, df: u64) -> &mut u64 {
        match self.low.get_mut(df as usize) {
            Some(found) => found,
            None => self.high.entry(df).or_default(),
        }
    }

    /// Iterates over the nonzero numbers with their df, in ascending order of df.
    fn each(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let low = self.low.iter().enumerate().map(|(df, &value)| (df as u64, value));
        low.filter(|(_, value)| *value > 0).chain(self.high.iter().map(|(&df, &value)| (df, value)))
    }
}

/// Holds the ranks of the terms of a table.
pub(crate) struct Ranks {
    file: Option<Mmap>,
    /// The first rank of each df that occurs, and the df.
    steps: Vec<(u64, u64)>,
    /// The df of each of the most common terms, which have the last ranks.
    common: Vec<u64>,
}

impl Ranks {
    /// Returns the ranks of an empty table.
    pub(crate) const fn none() -> Ranks {
        Ranks { file: None, steps: Vec::new(), common: Vec::new() }
    }

    /// Writes the ranks of terms that are sorted by hash. `len` is the number of terms, and `df` returns the df of the term at a position.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub(crate) fn write(
        path: &Path,
        len: usize,
        spread: Spread<'_>,
        df: impl Fn(usize) -> u64 + Sync,
    ) -> Result<Ranks> {
        let mut counts = by_stretches(len, spread, |stretch| {
            let mut counts = ByDf::new();
            stretch.for_each(|at| *counts.of(df(at)) += 1);
            counts
        });
        let steps = begin(&mut counts);
        let file = nameless(path)?;
        let write = |stretch: std::ops::Range<usize>| {
            let (first, mut next) = (stretch.start, counts[stretch.start / STRETCH].clone());
            let mut bytes = Vec::with_capacity(stretch.len() * BYTES);
            for at in stretch {
                let rank = next.of(df(at));
                bytes.extend_from_slice(&rank.to_le_bytes()[..BYTES]);
                *rank += 1;
            }
            file.write_all_at(&bytes, (first * BYTES) as u64)
        };
        let written = by_stretches(len, spread, write).into_iter().collect::<std::io::Result<()>>();
        written.map_err(Error::io("write the term table", path))?;
        let mut of = Dfs { steps: &steps, df: 1, first_common: u64::MAX, common: &[] };
        let first = len as u64 - COMMON.min(len as u64);
        let common = (first..len as u64).map(|rank| of.of(rank)).collect();
        Ok(Ranks { file: map(&file, path)?, steps, common })
    }

    /// Returns the rank of the term at a position in the table.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> u64 {
        let ranks = self.file.as_deref().map_or(&[][..], |file| file.as_chunks::<BYTES>().0);
        let [a, b, c, d, e] = ranks[at];
        u64::from_le_bytes([a, b, c, d, e, 0, 0, 0])
    }

    /// Returns a lookup that finds the df of terms in ascending order of rank.
    pub(crate) fn dfs(&self) -> Dfs<'_> {
        let len = self.file.as_ref().map_or(0, |file| file.len() / BYTES);
        Dfs { steps: &self.steps, df: 1, first_common: (len - self.common.len()) as u64, common: &self.common }
    }
}

/// Replaces each count with the rank of the first term that it counts. `counts` holds the number of terms with each df in each stretch.
/// Returns the first rank of each df.
fn begin(counts: &mut [ByDf]) -> Vec<(u64, u64)> {
    let mut next = ByDf::new();
    counts.iter().flat_map(ByDf::each).for_each(|(df, count)| *next.of(df) += count);
    let mut terms = 0;
    let first = |(df, count)| {
        terms += count;
        (terms - count, df)
    };
    let steps: Vec<(u64, u64)> = next.each().map(first).collect();
    steps.iter().for_each(|&(first, df)| *next.of(df) = first);
    for counts in counts {
        let own: Vec<(u64, u64)> = counts.each().collect();
        for (df, count) in own {
            let next = next.of(df);
            *counts.of(df) = std::mem::replace(next, *next + count);
        }
    }
    steps
}

/// Looks up the df of terms in ascending order of rank.
#[derive(Clone)]
pub(crate) struct Dfs<'r> {
    /// The remaining steps.
    steps: &'r [(u64, u64)],
    df: u64,
    first_common: u64,
    common: &'r [u64],
}

impl Dfs<'_> {
    /// Returns the df of the term with this rank, which must not be lower than the previous rank. Returns 1 for a rank beyond the last
    /// rank.
    #[inline]
    pub(crate) fn of(&mut self, rank: u64) -> u64 {
        if rank >= self.first_common {
            return self.common.get((rank - self.first_common) as usize).copied().unwrap_or(1);
        }
        if self.steps.first().is_some_and(|step| step.0 <= rank) {
            self.go_on(rank);
        }
        self.df
    }

    fn go_on(&mut self, rank: u64) {
        let near = self.steps.iter().take(NEAR).take_while(|step| step.0 <= rank).count();
        let passed = if near < NEAR { near } else { self.steps.partition_point(|step| step.0 <= rank) };
        self.df = self.steps[passed - 1].1;
        self.steps = &self.steps[passed..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::hash::splitmix64;

    fn one_thread(count: usize, each: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(each);
    }

    fn ranks(dfs: &[u64]) -> Ranks {
        let folder = tempfile::tempdir().unwrap();
        Ranks::write(&folder.path().join("ranks"), dfs.len(), &one_thread, |at| dfs[at]).unwrap()
    }

    #[test]
    fn a_worked_example() {
        let ranks = ranks(&[3, 1, 3, 1]);
        assert_eq!((0..4).map(|at| ranks.get(at)).collect::<Vec<_>>(), [2, 0, 3, 1]);
        assert_eq!(ranks.steps, [(0, 1), (2, 3)]);
        let mut dfs = ranks.dfs();
        assert_eq!([0, 1, 2, 3].map(|rank| dfs.of(rank)), [1, 1, 3, 3]);
        assert_eq!(ranks.dfs().of(3), 3);
    }

    /// Compares the ranks with the result of sorting, over several stretches and with frequencies below and above the search limit.
    #[test]
    fn ranks_are_places_in_the_order_of_df_and_hash() {
        for (seed, len) in [(1, 0), (2, 1), (3, 299), (4, 300), (5, 2_000)] {
            let df = |at: u64| match splitmix64(seed, at) % 4 {
                0 | 1 => 1 + splitmix64(seed + 9, at) % 5,
                2 => 1 + splitmix64(seed + 9, at) % 3_000,
                _ => 1 << (splitmix64(seed + 9, at) % 40),
            };
            let of: Vec<u64> = (0..len).map(df).collect();
            let ranks = ranks(&of);
            let mut order: Vec<usize> = (0..of.len()).collect();
            order.sort_by_key(|&at| (of[at], at));
            let (mut all, mut some) = (ranks.dfs(), ranks.dfs());
            for (rank, &at) in order.iter().enumerate() {
                assert_eq!((ranks.get(at), all.of(rank as u64)), (rank as u64, of[at]));
                if splitmix64(seed, rank as u64).is_multiple_of(40) {
                    assert_eq!(some.of(rank as u64), of[at]);
                }
            }
            assert_eq!(all.of(len), 1);
        }
    }
}

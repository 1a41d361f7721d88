//! Finds consecutive runs that always occur together.

use std::ops::Range;

/// Describes a block with its runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runs {
    /// The runs of the block, as indices into the list of hashes.
    pub hashes: Range<usize>,
    /// The number of occurrences of the block.
    pub copies: usize,
}

/// Calls `each` with the index of a block and the range of hashes of a share: consecutive runs that occur more than once, and of which each
/// occurs only together with the others. A run must occur at most once in a block, and all blocks that contain a run must be given. The
/// hash of its first run identifies a share.
///
/// # Errors
/// Returns any error from `each`.
pub fn shared<E>(
    hashes: &[u128],
    blocks: &[Runs],
    mut each: impl FnMut(usize, Range<usize>) -> Result<(), E>,
) -> Result<(), E> {
    /// The number of the runs that occur only once.
    const UNIQUE: usize = 0;
    // The number of each run, the same for equal runs, and the number of occurrences of each of these.
    let (mut numbers, mut copies) = (vec![UNIQUE; hashes.len()], vec![1]);
    let mut sorted: Vec<(u128, usize, usize)> = Vec::with_capacity(hashes.len());
    for block in blocks {
        sorted.extend(block.hashes.clone().map(|at| (hashes[at], at, block.copies)));
    }
    sorted.sort_unstable();
    for equal in sorted.chunk_by(|a, b| a.0 == b.0) {
        let count = equal.iter().map(|one| one.2).sum::<usize>();
        if count > 1 {
            equal.iter().for_each(|one| numbers[one.1] = copies.len());
            copies.push(count);
        }
    }
    // The run that follows a run wherever it occurs; `UNIQUE` if there is none.
    let mut next: Vec<Option<usize>> = vec![None; copies.len()];
    for block in blocks {
        for at in block.hashes.clone() {
            let follows = if at + 1 < block.hashes.end { numbers[at + 1] } else { UNIQUE };
            let known = &mut next[numbers[at]];
            *known = Some(if known.is_none_or(|known| known == follows) { follows } else { UNIQUE });
        }
    }
    let joins = |one: usize, other: usize| other != UNIQUE && next[one] == Some(other) && copies[one] == copies[other];
    for (number, block) in blocks.iter().enumerate() {
        let mut from = block.hashes.start;
        for part in numbers[block.hashes.clone()].chunk_by(|&one, &other| joins(one, other)) {
            let to = from + part.len();
            if part[0] != UNIQUE {
                each(number, from..to)?;
            }
            from = to;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{HashMap, HashSet};

    /// Returns the shares of blocks of runs, each with its block.
    fn shares(blocks: &[(Vec<u128>, usize)]) -> Vec<(usize, Vec<u128>)> {
        let (mut hashes, mut all, mut out) = (Vec::new(), Vec::new(), Vec::new());
        for (runs, copies) in blocks {
            all.push(Runs { hashes: hashes.len()..hashes.len() + runs.len(), copies: *copies });
            hashes.extend(runs);
        }
        let done = shared(&hashes, &all, |block, runs| Ok::<_, ()>(out.push((block, hashes[runs].to_vec()))));
        done.expect("no error");
        out
    }

    #[test]
    fn shares_end_where_one_of_their_occurrences_ends() {
        let of = |runs: &[u128], copies| (runs.to_vec(), copies);
        assert_eq!(
            shares(&[of(&[1, 2, 3, 4, 5], 1), of(&[9, 2, 3, 4], 1), of(&[3, 4, 5], 1)]),
            [(0, vec![2]), (0, vec![3, 4]), (0, vec![5]), (1, vec![2]), (1, vec![3, 4]), (2, vec![3, 4]), (2, vec![5])]
        );
        // A block that occurs twice shares all its runs with itself.
        assert_eq!(shares(&[of(&[1, 2], 2), of(&[2, 3], 1)]), [(0, vec![1]), (0, vec![2]), (1, vec![2])]);
        assert!(shares(&[of(&[1, 2], 1), of(&[3], 1), of(&[], 1)]).is_empty());
    }

    proptest! {
        #[test]
        fn runs_of_a_share_occur_only_together(
            blocks in proptest::collection::vec((proptest::collection::vec(0..9u128, 0..9), 1..3usize), 0..6),
        ) {
            let distinct = |runs: Vec<u128>| {
                let mut known = HashSet::new();
                runs.into_iter().filter(|run| known.insert(*run)).collect::<Vec<_>>()
            };
            let blocks: Vec<_> = blocks.into_iter().map(|(runs, copies)| (distinct(runs), copies)).collect();
            let mut counts: HashMap<u128, usize> = HashMap::new();
            blocks.iter().for_each(|(runs, copies)| runs.iter().for_each(|run| *counts.entry(*run).or_default() += copies));
            let found = shares(&blocks);
            for (number, (runs, _)) in blocks.iter().enumerate() {
                let of_block = found.iter().filter(|one| one.0 == number).flat_map(|one| one.1.clone());
                let expected: Vec<u128> = runs.iter().copied().filter(|run| counts[run] > 1).collect();
                prop_assert_eq!(of_block.collect::<Vec<_>>(), expected);
            }
            // A run determines its share.
            let mut known: HashMap<u128, &[u128]> = HashMap::new();
            for (_, share) in &found {
                for run in share {
                    prop_assert_eq!(*known.entry(*run).or_insert(share), &share[..]);
                }
            }
        }
    }
}

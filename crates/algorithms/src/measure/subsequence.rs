//! Computes the length of the longest common subsequence with bit-parallel operations, even for long sequences.
//!
//! Source: Hyyrö 2004 (Bit-parallel LCS-length computation revisited), within the band of Ukkonen 1985. The bits of `ones` are 0 at the
//! positions where the subsequence grows. An element of the second sequence changes only the blocks of 64 positions in which the first
//! sequence contains it, and the blocks that a carry passes through. A text of many different words therefore takes a few steps per word,
//! regardless of the width of the band. Narrow bands are tried first, because they are enough to find near-duplicates. Pairs with too many
//! differences are abandoned as soon as that is clear.
//!
//! Cost: O(n) to O(n^2 / 64) steps, never more than the caller allows. A pair whose comparison would take more steps is [`Undecided`].

use hashbrown::HashMap;

/// Reports that a comparison was stopped because it would take too many steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undecided;

/// Holds the result of a comparison, or `None` if it is below a threshold.
pub type Decided<T> = Result<Option<T>, Undecided>;

/// The minimum number of off-diagonal elements that the first band covers: a few blocks.
const NARROW: usize = 1024;
/// The factor by which each band is wider than the previous band.
const WIDEN: usize = 2;
/// Elements below this value, mainly letters, are numbered without a lookup.
const LETTERS: usize = 1 << 11;
/// The number of steps per row, not counting the steps for its blocks.
const ROW_STEPS: u64 = 4;
/// The number of steps to number an element and enter it in the tables. A new element also costs a wait for memory.
const ENTRY_STEPS: u64 = 16;
const NUMBER_STEPS: u64 = 128;
/// The number of steps up to which positions and numbers fit in 32 bits.
const STEPS_OF_32_BITS: u64 = 1 << 34;

/// Returns the length of the longest common subsequence if it is at least `least`.
///
/// # Errors
/// Returns [`Undecided`] if the computation would take more steps than `most_steps`. A step takes about a nanosecond.
pub(crate) fn common_in_order(a: &[u32], b: &[u32], least: usize, most_steps: u64) -> Decided<usize> {
    let (first, second) = if a.len() < b.len() { (b, a) } else { (a, b) };
    if second.len() < least {
        return Ok(None);
    }
    let begin = first.iter().zip(second).take_while(|(x, y)| x == y).count();
    let (first, second) = (&first[begin..], &second[begin..]);
    let end = first.iter().rev().zip(second.iter().rev()).take_while(|(x, y)| x == y).count();
    let (first, second) = (&first[..first.len() - end], &second[..second.len() - end]);
    let (edges, most_steps) = (begin + end, most_steps.min(STEPS_OF_32_BITS));
    let (least, mut steps) = (least.saturating_sub(edges), 0);
    let Some(numbered) = Numbered::new(first, second, least, &mut steps, most_steps)? else { return Ok(None) };
    let table = Table::new(&numbered);
    let all = numbered.first.len() + numbered.second.len();
    let widest = all - 2 * least;
    let mut band = widest;
    while band / WIDEN >= NARROW {
        band /= WIDEN;
    }
    loop {
        // Narrow bands are tried only if they leave enough steps for the widest band.
        let left = most_steps.saturating_sub(steps);
        let last = numbered.most_steps(widest);
        if last <= left && numbered.most_steps(band) > left - last {
            band = widest;
        }
        // A subsequence of at least this length leaves out no more elements of the two sequences than the band covers.
        let within = (all - band).div_ceil(2);
        match table.common(&numbered.second, within, &mut steps, most_steps)? {
            Some(common) => return Ok(Some(edges + common)),
            None if band == widest => return Ok(None),
            None => band = if band * WIDEN > widest / WIDEN { widest } else { band * WIDEN },
        }
    }
}

/// Holds two sequences without the elements that only one of them contains. The remaining elements are numbered.
struct Numbered {
    first: Vec<u32>,
    second: Vec<u32>,
    /// The number of assigned numbers, including numbers that do not remain in the sequences.
    numbers: usize,
}

impl Numbered {
    /// Numbers the common elements. Returns `None` if the number of elements that the two sequences have in common, in any order, is below
    /// `least`.
    fn new(
        first: &[u32],
        second: &[u32],
        least: usize,
        steps: &mut u64,
        most_steps: u64,
    ) -> Result<Option<Numbered>, Undecided> {
        *steps += (first.len() + second.len()) as u64 * ENTRY_STEPS;
        let mut numbers = Numbers::new(second.len());
        let mut by_number = Vec::with_capacity(second.len());
        for some in second.chunks(1 << 16) {
            if *steps + u64::from(numbers.count) * NUMBER_STEPS > most_steps {
                return Err(Undecided);
            }
            by_number.extend(some.iter().map(|element| numbers.of(*element)));
        }
        *steps += u64::from(numbers.count) * NUMBER_STEPS;
        let first: Vec<u32> = first.iter().filter_map(|element| numbers.known(*element)).collect();
        let (mut second, numbers) = (by_number, numbers.count as usize);
        // `counts[number]` holds how often the element with this number occurs in the first and in the second sequence.
        let mut counts = vec![(0u32, 0u32); numbers];
        first.iter().for_each(|&number| counts[number as usize].0 += 1);
        second.iter().for_each(|&number| counts[number as usize].1 += 1);
        let common: u64 = counts.iter().map(|&(first, second)| u64::from(first.min(second))).sum();
        second.retain(|&number| counts[number as usize].0 > 0);
        Ok((common >= least as u64).then_some(Numbered { first, second, numbers }))
    }

    /// Returns the maximum number of steps for all rows, given the number of elements that the band covers.
    fn most_steps(&self, band: usize) -> u64 {
        let blocks = (band / 64 + 2).min(self.first.len().div_ceil(64));
        // One more step per row checks whether `least` can still be reached.
        self.second.len() as u64 * (ROW_STEPS + 1 + blocks as u64)
    }
}

/// Numbers elements in the order of their first occurrence.
struct Numbers {
    letters: [u32; LETTERS],
    others: HashMap<u32, u32>,
    count: u32,
}

impl Numbers {
    fn new(elements: usize) -> Numbers {
        let others = HashMap::with_capacity(elements.min(LETTERS));
        Numbers { letters: [u32::MAX; LETTERS], others, count: 0 }
    }

    fn of(&mut self, element: u32) -> u32 {
        let number = match self.letters.get_mut(element as usize) {
            Some(number) => number,
            None => self.others.entry(element).or_insert(self.count),
        };
        *number = (*number).min(self.count);
        self.count += u32::from(*number == self.count);
        *number
    }

    fn known(&self, element: u32) -> Option<u32> {
        match self.letters.get(element as usize) {
            Some(&number) => (number < u32::MAX).then_some(number),
            None => self.others.get(&element).copied(),
        }
    }
}

/// Holds the positions of the elements in the first sequence.
struct Table {
    /// The number of positions; `blocks` is the number of blocks of 64 positions.
    places: usize,
    blocks: usize,
    /// The index at which the entries of each number begin, followed by the end of the last number's entries. A number that occurs in most
    /// blocks has an entry for every block.
    begins: Vec<u32>,
    /// The block of each entry, in ascending order for each number; `mask` holds the positions of the element in that block.
    block: Vec<u32>,
    mask: Vec<u64>,
}

impl Table {
    fn new(numbered: &Numbered) -> Table {
        let blocks = numbered.first.len().div_ceil(64);
        let at = |place: usize| (place / 64) as u32;
        let mut begins = vec![0u32; numbered.numbers + 1];
        let mut last = vec![u32::MAX; numbered.numbers];
        for (place, &number) in numbered.first.iter().enumerate() {
            begins[number as usize + 1] += u32::from(last[number as usize] != at(place));
            last[number as usize] = at(place);
        }
        for number in 0..numbered.numbers {
            let entries = begins[number + 1] as usize;
            let entries = if 2 * entries > blocks { blocks } else { entries };
            begins[number + 1] = begins[number] + entries as u32;
        }
        let all = begins[numbered.numbers] as usize;
        let mut table = Table { places: numbered.first.len(), blocks, begins, block: vec![0; all], mask: vec![0; all] };
        let mut ends = table.begins.clone();
        for (place, &number) in numbered.first.iter().enumerate() {
            let (begin, end) = (table.begins[number as usize] as usize, ends[number as usize] as usize);
            let entry = match table.is_full(number) {
                true => begin + place / 64,
                false if end > begin && table.block[end - 1] == at(place) => end - 1,
                false => end,
            };
            table.block[entry] = at(place);
            table.mask[entry] |= 1 << (place % 64);
            ends[number as usize] = entry as u32 + 1;
        }
        table
    }

    fn is_full(&self, number: u32) -> bool {
        let number = number as usize;
        (self.begins[number + 1] - self.begins[number]) as usize == self.blocks
    }

    /// Returns the length of the longest common subsequence with the second sequence if it is at least `least`.
    fn common(&self, second: &[u32], least: usize, steps: &mut u64, most_steps: u64) -> Decided<usize> {
        if least > self.places.min(second.len()) {
            return Ok(None);
        }
        // Positions farther from their row than this cannot contribute to a subsequence of length `least`.
        let (left, right) = (self.places - least, second.len() - least);
        let mut state = State { ones: vec![u64::MAX; self.blocks], top: 0 };
        // `from[number]` is the first entry of the number within the band; the entries advance with the rows.
        let mut from = self.begins.clone();
        let (mut settled, mut found, mut next_look) = (0, 0, 64);
        for (row, &number) in second.iter().enumerate() {
            let (begin, end) = (row.saturating_sub(right) / 64, ((row + left) / 64).min(self.blocks - 1));
            let entries = self.begins[number as usize] as usize..self.begins[number as usize + 1] as usize;
            *steps += ROW_STEPS;
            *steps += if self.is_full(number) {
                state.all(begin, &self.mask[entries][begin..=end])
            } else {
                let mut at = from[number as usize] as usize;
                while at < entries.end && (self.block[at] as usize) < begin {
                    at += 1;
                }
                from[number as usize] = at as u32;
                let entries = at..entries.end;
                state.some(end, &self.block[entries.clone()], &self.mask[entries])
            };
            if row == next_look {
                if *steps > most_steps {
                    return Err(Undecided);
                }
                found += zeros(&state.ones[settled..begin]);
                settled = begin;
                let width = state.top.max(begin) - begin;
                // Each remaining row adds at most one element.
                if found + zeros(&state.ones[begin..=begin + width]) + (second.len() - row - 1) < least {
                    return Ok(None);
                }
                *steps += width as u64;
                next_look = row + width.max(64);
            }
        }
        let common = zeros(&state.ones);
        Ok((common >= least).then_some(common))
    }
}

fn zeros(ones: &[u64]) -> usize {
    ones.iter().map(|ones| ones.count_zeros() as usize).sum()
}

/// Holds the bits after the rows processed so far.
struct State {
    ones: Vec<u64>,
    /// The last block that may contain a 0.
    top: usize,
}

impl State {
    /// Processes a row with entries for all blocks from `begin` on; returns the number of steps.
    fn all(&mut self, begin: usize, masks: &[u64]) -> u64 {
        let mut carry = false;
        for (ones, mask) in self.ones[begin..].iter_mut().zip(masks) {
            carry = matched(ones, *mask, carry);
        }
        self.top = self.top.max(begin + masks.len() - 1);
        masks.len() as u64
    }

    /// Processes a row with entries for some blocks and ignores the entries after `end`; returns the number of steps.
    fn some(&mut self, end: usize, blocks: &[u32], masks: &[u64]) -> u64 {
        let (mut carry, mut next, mut steps) = (false, 0, 0);
        for (&block, &mask) in blocks.iter().zip(masks) {
            let block = block as usize;
            if block > end {
                break;
            }
            if carry {
                (carry, steps) = self.run_through(next..block, steps);
            }
            carry = matched(&mut self.ones[block], mask, carry);
            next = block + 1;
            steps += 1;
        }
        if carry {
            // After the last 0, a carry changes nothing.
            (_, steps) = self.run_through(next..self.top + 1, steps);
        }
        self.top = self.top.max(next.saturating_sub(1));
        steps
    }

    /// Passes a carry through blocks without a match; returns whether the carry leaves the last block, and the number of steps.
    fn run_through(&mut self, blocks: std::ops::Range<usize>, mut steps: u64) -> (bool, u64) {
        for block in blocks {
            let (sum, over) = self.ones[block].overflowing_add(1);
            self.ones[block] |= sum;
            steps += 1;
            if !over {
                return (false, steps);
            }
        }
        (true, steps)
    }
}

/// Updates a block with matches and an incoming carry; returns the outgoing carry.
#[inline(always)]
fn matched(ones: &mut u64, mask: u64, carry: bool) -> bool {
    let both = *ones & mask;
    let (sum, over) = ones.overflowing_add(both);
    let (sum, over_by_carry) = sum.overflowing_add(carry.into());
    *ones = sum | (*ones - both);
    over | over_by_carry
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::hash::splitmix64;

    /// Returns random elements with this many distinct values.
    fn random(seed: u64, length: usize, kinds: u64) -> Vec<u32> {
        (0..length as u64).map(|at| (splitmix64(seed, at) % kinds) as u32 * 1_000).collect()
    }

    fn quadratic(a: &[u32], b: &[u32]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut diagonal = 0;
            for (at, y) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if x == y { diagonal + 1 } else { above.max(row[at]) };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    /// Tries sequences that span many blocks, small and large alphabets, and all thresholds, so that several bands are needed.
    #[test]
    fn equals_the_definition_in_every_band() {
        for (kinds, changes) in [(2, 300), (2, 2_000), (40, 900), (100_000, 1_500), (100_000, 0)] {
            let a = random(kinds, 2_500, kinds);
            let mut b = a.clone();
            for change in 0..changes {
                let at = splitmix64(7, change) as usize % b.len();
                match change % 3 {
                    0 => b[at] = (change % kinds) as u32 * 1_000,
                    1 => drop(b.remove(at)),
                    _ => b.insert(at, (change % kinds) as u32 * 1_000),
                }
            }
            let common = quadratic(&a, &b);
            for least in [0, 1, common / 2, common - common / 8, common - 1, common, common + 1, common + 200, 2_500] {
                let expected = (common >= least).then_some(common);
                assert_eq!(common_in_order(&a, &b, least, u64::MAX), Ok(expected), "{kinds} {changes} {least}");
                assert_eq!(common_in_order(&b, &a, least, u64::MAX), Ok(expected), "{kinds} {changes} {least}");
            }
        }
    }

    #[test]
    fn what_the_widest_band_may_cost_is_enough_and_near_duplicates_need_much_less() {
        let (a, b) = (random(1, 20_000, 2), random(2, 20_000, 2));
        let most = 20_000 * (20_000 / 64 + 2 + ROW_STEPS + 1) + 40_000 * ENTRY_STEPS + 2 * NUMBER_STEPS;
        let common = common_in_order(&a, &b, 0, u64::MAX).unwrap().unwrap();
        assert_eq!(common_in_order(&a, &b, 0, most), Ok(Some(common)));
        assert_eq!(common_in_order(&a, &b, common, most), Ok(Some(common)));
        assert_eq!(common_in_order(&a, &b, common + 1, most), Ok(None));
        assert_eq!(common_in_order(&a, &b, 0, most / 4), Err(Undecided));
        let mut near = a.clone();
        near.remove(5_000);
        near.insert(15_000, 7);
        assert_eq!(common_in_order(&a, &near, 15_000, most / 4), Ok(Some(19_999)));
        // The lengths, and the words that occur in only one sequence, determine the result before any row is processed.
        assert_eq!(common_in_order(&a, &b[..9_999], 10_000, 0), Ok(None));
        assert_eq!(common_in_order(&a, &random(3, 20_000, 1)[..], 15_000, most / 4), Ok(None));
        // There are too many elements to number within the step limit.
        let many = |seed| (0..200_000u64).map(|at| splitmix64(seed, at) as u32).collect::<Vec<u32>>();
        assert_eq!(common_in_order(&many(1), &many(2), 150_000, 200_000 * NUMBER_STEPS / 2), Err(Undecided));
        assert_eq!(common_in_order(&many(1), &many(2), 150_000, 1 << 30), Ok(None));
    }
}

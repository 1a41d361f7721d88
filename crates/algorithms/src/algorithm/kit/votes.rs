//! Counts votes for 64 bits in parallel. Each 64-bit number in a list votes for the bits that are set in it; the bits with a majority
//! win.
//!
//! The counts are stored in bit planes: plane p holds bit p of all 64 counts. Eight numbers are added together by full adders on whole
//! words (the Harley-Seal tree), so each number costs about five operations on any processor.

/// Holds 64 counts.
#[derive(Clone, Debug)]
pub(crate) struct Votes {
    /// The bit planes. Plane p holds bit p of each count.
    planes: [u64; PLANES],
    /// The number of values that were added.
    total: u64,
}

/// The maximum number of bits in a count. A document cannot have 2^38 features.
const PLANES: usize = 38;

/// Reports which of the 64 bits won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The bits that are set in more than half of the numbers.
    pub more: u64,
    /// The bits that are set in exactly half of the numbers.
    pub even: u64,
}

impl Default for Votes {
    fn default() -> Votes {
        Votes { planes: [0; PLANES], total: 0 }
    }
}

impl Votes {
    /// Adds every number of the list.
    pub(crate) fn add(&mut self, numbers: &[u64]) {
        self.total += numbers.len() as u64;
        let (eights, rest) = numbers.as_chunks::<8>();
        for n in eights {
            let [mut ones, mut twos, mut fours, ..] = self.planes;
            let twos_of = [add_two(&mut ones, n[0], n[1]), add_two(&mut ones, n[2], n[3])];
            let fours_of = add_two(&mut twos, twos_of[0], twos_of[1]);
            let twos_of = [add_two(&mut ones, n[4], n[5]), add_two(&mut ones, n[6], n[7])];
            let more_fours = add_two(&mut twos, twos_of[0], twos_of[1]);
            let eight = add_two(&mut fours, fours_of, more_fours);
            (self.planes[0], self.planes[1], self.planes[2]) = (ones, twos, fours);
            self.carry(3, eight);
        }
        rest.iter().for_each(|&number| self.carry(0, number));
    }

    /// Adds 2^plane to the count of each bit that is set in `carry`.
    #[inline]
    fn carry(&mut self, plane: usize, mut carry: u64) {
        for plane in &mut self.planes[plane..] {
            if carry == 0 {
                break;
            }
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
    }

    /// Compares each count with half of the numbers, from the highest plane down.
    pub(crate) fn outcome(&self) -> Outcome {
        let half = self.total / 2;
        let (mut more, mut even) = (0, u64::MAX);
        for (at, &plane) in self.planes.iter().enumerate().rev() {
            let half = if half >> at & 1 == 1 { u64::MAX } else { 0 };
            more |= even & plane & !half;
            even &= !(plane ^ half);
        }
        // If the number of votes is odd, no count is exactly half of it.
        Outcome { more, even: if self.total.is_multiple_of(2) { even } else { 0 } }
    }
}

/// Applies `map` to all numbers, and returns the bits that are set in more than half of the results. Bits that are set
/// in exactly half of the results are included if `even` is true.
pub(crate) fn majority(numbers: &[u64], even: bool, map: impl Fn(u64) -> u64) -> u64 {
    let mut votes = Votes::default();
    let mut mapped = [0; 256];
    for part in numbers.chunks(mapped.len()) {
        mapped.iter_mut().zip(part).for_each(|(to, &number)| *to = map(number));
        votes.add(&mapped[..part.len()]);
    }
    let outcome = votes.outcome();
    if even { outcome.more | outcome.even } else { outcome.more }
}

/// Adds two numbers to a plane bit by bit. Returns the carry.
#[inline]
fn add_two(plane: &mut u64, a: u64, b: u64) -> u64 {
    let either = a ^ b;
    let carry = a & b | either & *plane;
    *plane ^= either;
    carry
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_are_those_of_counting(numbers in proptest::collection::vec(any::<u64>(), 0..600), cut in 0..600_usize) {
            let numbers: Vec<u64> = numbers.iter().map(|n| n | n << 1 & 0xFFFF).collect();
            let (first, second) = numbers.split_at(cut.min(numbers.len()));
            let mut votes = Votes::default();
            votes.add(first);
            votes.add(second);
            let Outcome { more, even } = votes.outcome();
            for bit in 0..64 {
                let count = numbers.iter().filter(|&&n| n >> bit & 1 == 1).count();
                prop_assert_eq!(more >> bit & 1 == 1, 2 * count > numbers.len());
                prop_assert_eq!(even >> bit & 1 == 1, 2 * count == numbers.len());
            }
            prop_assert_eq!(majority(&numbers, false, |n| n), more);
            let mut turned = Votes::default();
            turned.add(&numbers.iter().map(|n| n.rotate_left(7)).collect::<Vec<_>>());
            let turned = turned.outcome();
            prop_assert_eq!(majority(&numbers, true, |n| n.rotate_left(7)), turned.more | turned.even);
        }
    }
}

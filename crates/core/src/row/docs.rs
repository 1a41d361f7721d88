//! Document numbers in an array: four bytes each where all fit, else eight.
//!
//! Corpora of more than 4 billion documents are rare, and what grows with the documents is read at random, so half the
//! bytes are half the pages.

/// Some document numbers, to read.
#[derive(Clone, Copy, Debug)]
pub enum Docs<'d> {
    /// A single one.
    One(u64),
    /// Numbers that fit four bytes.
    Narrow(&'d [u32]),
    /// Any numbers.
    Wide(&'d [u64]),
}

impl<'d> Docs<'d> {
    /// No documents.
    pub const NONE: Docs<'static> = Docs::Wide(&[]);

    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Docs::One(_) => 1,
            Docs::Narrow(docs) => docs.len(),
            Docs::Wide(docs) => docs.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The document at a place below [`Docs::len`].
    #[inline]
    pub fn get(&self, at: usize) -> u64 {
        match self {
            Docs::One(doc) => *doc,
            Docs::Narrow(docs) => docs[at].into(),
            Docs::Wide(docs) => docs[at],
        }
    }

    /// One after the other.
    pub fn iter(self) -> impl Iterator<Item = u64> + use<'d> {
        (0..self.len()).map(move |at| self.get(at))
    }
}

/// An array of numbers, to read and write; all 0 at the start as a rule.
#[derive(Debug)]
pub enum Slots<'s> {
    /// Of four bytes each.
    Narrow(&'s mut [u32]),
    /// Of eight bytes each.
    Wide(&'s mut [u64]),
}

impl Slots<'_> {
    /// The number at a place of the array.
    #[inline]
    pub fn get(&self, at: u64) -> u64 {
        match self {
            Slots::Narrow(slots) => slots[at as usize].into(),
            Slots::Wide(slots) => slots[at as usize],
        }
    }

    /// Sets the number at a place; it must fit the array.
    #[inline]
    pub fn set(&mut self, at: u64, value: u64) {
        match self {
            Slots::Narrow(slots) => {
                debug_assert!(value <= u32::MAX.into());
                slots[at as usize] = value as u32;
            }
            Slots::Wide(slots) => slots[at as usize] = value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_widths_hold_the_same_numbers() {
        let (mut narrow, mut wide) = ([0u32; 4], [0u64; 4]);
        for mut slots in [Slots::Narrow(&mut narrow), Slots::Wide(&mut wide)] {
            slots.set(2, u32::MAX.into());
            slots.set(0, 7);
            assert_eq!((slots.get(0), slots.get(1), slots.get(2)), (7, 0, u32::MAX.into()));
        }
        let expected = [7, 0, u32::MAX.into(), 0];
        for docs in [Docs::Narrow(&narrow), Docs::Wide(&wide)] {
            assert!(docs.iter().eq(expected) && docs.len() == 4 && !docs.is_empty());
        }
        assert!(Docs::One(9).iter().eq([9]) && Docs::NONE.is_empty());
    }
}

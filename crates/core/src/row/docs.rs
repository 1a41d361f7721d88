//! Stores document numbers in an array, using four bytes per number if all numbers fit and eight bytes otherwise.
//!
//! Corpora of more than 4 billion documents are rare. Arrays with one element per document are accessed in random order, so halving their
//! size also halves the number of memory pages in use.

/// A read-only list of document numbers.
#[derive(Clone, Copy, Debug)]
pub enum Docs<'d> {
    /// A single document number.
    One(u64),
    /// Four-byte numbers.
    Narrow(&'d [u32]),
    /// Eight-byte numbers.
    Wide(&'d [u64]),
}

impl<'d> Docs<'d> {
    /// The empty list.
    pub const NONE: Docs<'static> = Docs::Wide(&[]);

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        match self {
            Docs::One(_) => 1,
            Docs::Narrow(docs) => docs.len(),
            Docs::Wide(docs) => docs.len(),
        }
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the document at the given index, which must be less than [`Docs::len`].
    #[inline]
    pub fn get(&self, at: usize) -> u64 {
        match self {
            Docs::One(doc) => *doc,
            Docs::Narrow(docs) => docs[at].into(),
            Docs::Wide(docs) => docs[at],
        }
    }

    /// Iterates over the documents.
    pub fn iter(self) -> impl Iterator<Item = u64> + use<'d> {
        (0..self.len()).map(move |at| self.get(at))
    }
}

/// A mutable array of numbers that are usually all 0 at first.
#[derive(Debug)]
pub enum Slots<'s> {
    /// Four-byte numbers.
    Narrow(&'s mut [u32]),
    /// Eight-byte numbers.
    Wide(&'s mut [u64]),
}

impl Slots<'_> {
    /// Returns the number at the given index.
    #[inline]
    pub fn get(&self, at: u64) -> u64 {
        match self {
            Slots::Narrow(slots) => slots[at as usize].into(),
            Slots::Wide(slots) => slots[at as usize],
        }
    }

    /// Sets the number at the given index; the number must fit in an element of the array.
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

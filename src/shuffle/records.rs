//! The sorted records of one partition, as one slice.

use std::ops::Range;

use memmap2::Mmap;

/// The records of one partition in byte order: in memory, or in a mapped work file where they exceeded the allowance.
#[derive(Debug)]
pub struct Records {
    pub(super) held: Held,
    pub(super) width: usize,
    pub(super) group_width: usize,
}

/// Where the bytes are.
#[derive(Debug)]
pub(super) enum Held {
    Heap(Vec<u8>),
    File(Mmap),
}

impl Records {
    /// All records one after the other: `len() * width()` bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.held {
            Held::Heap(bytes) => bytes,
            Held::File(map) => map,
        }
    }

    /// The number of records.
    pub fn len(&self) -> usize {
        self.bytes().len() / self.width
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }

    /// Bytes of a record.
    pub fn width(&self) -> usize {
        self.width
    }

    /// One record, counted from 0.
    ///
    /// # Panics
    /// If there are not that many.
    pub fn record(&self, at: usize) -> &[u8] {
        &self.bytes()[at * self.width..][..self.width]
    }

    /// The numbers of the records of each group, group by group: those with equal leading `group_width` bytes.
    pub fn groups(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let (bytes, width, group_width) = (self.bytes(), self.width, self.group_width);
        let mut start = 0;
        std::iter::from_fn(move || {
            let mut rest = bytes.get(start * width..)?.chunks_exact(width);
            let first = &rest.next()?[..group_width];
            let group = start..start + 1 + rest.take_while(|record| record[..group_width] == *first).count();
            start = group.end;
            Some(group)
        })
    }

    /// Whether the records stand in a work file and not in memory of the process.
    pub fn is_mapped(&self) -> bool {
        matches!(self.held, Held::File(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_runs_of_equal_leading_bytes() {
        let of = |bytes: &[u8], group_width| {
            let records = Records { held: Held::Heap(bytes.to_vec()), width: 4, group_width };
            assert_eq!((records.len(), records.is_empty(), records.width()), (bytes.len() / 4, bytes.is_empty(), 4));
            records.groups().collect::<Vec<_>>()
        };
        let bytes = b"aaaaaaabaabbabbbbbbbbbbb";
        assert_eq!(of(bytes, 1), [0..4, 4..6]);
        assert_eq!(of(bytes, 2), [0..3, 3..4, 4..6]);
        assert_eq!(of(bytes, 4), [0..1, 1..2, 2..3, 3..4, 4..6]);
        assert!(of(b"", 2).is_empty());
        let records = Records { held: Held::Heap(bytes.to_vec()), width: 4, group_width: 4 };
        assert_eq!((records.record(1), records.record(5)), (&b"aaab"[..], &b"bbbb"[..]));
    }
}

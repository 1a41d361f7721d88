//! The sort of fixed-width records in memory, in byte order.
//!
//! Records up to 128 bytes are sorted where they stand, as arrays of a width that the compiler knows: the first eight bytes
//! compare as one big-endian number, which nearly always decides. A width that is not among the known ones is spread to the
//! next with zeros, which change no order, and drawn together again. Wider records are costly to move: a list of (first
//! 24 bytes, place) is sorted instead, and then each record moves once. The algorithm is that of the standard library (a
//! quicksort with a bound): radix sorts gained nothing at these sizes. Equal records are the same bytes, so stability has
//! no meaning.

use std::cmp::Ordering;

/// The bytes of memory that sorting takes for each record, the record included.
pub(super) fn bytes_per_record(width: usize) -> usize {
    known_width(width).unwrap_or(width + size_of::<Place>())
}

/// The bytes that the buffer given to [`sort`] must have for so many records.
pub(super) fn buffer_bytes(records: usize, width: usize) -> usize {
    records * known_width(width).unwrap_or(width)
}

/// The first eight bytes of a record as a number in the same order; a shorter record is padded with zeros.
#[inline]
pub(super) fn prefix(record: &[u8]) -> u64 {
    match record.first_chunk::<8>() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let mut first = [0; 8];
            first[..record.len()].copy_from_slice(record);
            u64::from_be_bytes(first)
        }
    }
}

/// Sorts the records that fill the first bytes of a buffer of [`buffer_bytes`]; the bytes after them are scratch.
pub(super) fn sort(buffer: &mut [u8], records: usize, width: usize) {
    match known_width(width) {
        Some(known) if known == width => sort_known(&mut buffer[..records * width], width),
        Some(known) => {
            spread(buffer, records, width, known);
            sort_known(&mut buffer[..records * known], known);
            for record in 0..records {
                buffer.copy_within(record * known..record * known + width, record * width);
            }
        }
        None => sort_by_place(&mut buffer[..records * width], width),
    }
}

/// Moves records apart, last one first, with zeros between them.
fn spread(buffer: &mut [u8], records: usize, width: usize, known: usize) {
    for record in (0..records).rev() {
        let to = record * known;
        buffer.copy_within(record * width..(record + 1) * width, to);
        buffer[to + width..to + known].fill(0);
    }
}

macro_rules! known_widths {
    ($($width:literal)*) => {
        /// The least known width that holds a record; `None` if the record is too wide for all.
        fn known_width(width: usize) -> Option<usize> {
            [$($width),*].into_iter().find(|&known| known >= width)
        }

        fn sort_known(bytes: &mut [u8], width: usize) {
            match width {
                $($width => sort_in_place::<$width>(bytes),)*
                _ => sort_by_place(bytes, width),
            }
        }
    };
}

known_widths! {
    4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 36 40 44 48 56 64 80 96 112 128
}

fn sort_in_place<const W: usize>(bytes: &mut [u8]) {
    bytes.as_chunks_mut::<W>().0.sort_unstable_by(compare);
}

#[inline(always)]
fn compare<const W: usize>(a: &[u8; W], b: &[u8; W]) -> Ordering {
    let (first_a, first_b) = (prefix(a), prefix(b));
    if first_a != first_b || W <= 8 { first_a.cmp(&first_b) } else { a[8..].cmp(&b[8..]) }
}

/// The first 24 bytes of a record as numbers in the same order, and the number of the record.
type Place = ([u64; 3], usize);

fn sort_by_place(bytes: &mut [u8], width: usize) {
    let of = |(place, record): (usize, &[u8])| {
        let word = |at: usize| record.get(at..).map_or(0, prefix);
        ([word(0), word(8), word(16)], place)
    };
    let mut places: Vec<Place> = bytes.chunks_exact(width).enumerate().map(of).collect();
    {
        // Nearly all comparisons end within the list; what is left touches the records.
        let rest = |place: usize| bytes[place * width..][..width].get(24..);
        places.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| rest(a.1).cmp(&rest(b.1))));
    }
    permute(bytes, width, &mut places);
}

/// Brings record `places[i].1` to place `i`, for every `i`, cycle by cycle; uses up the list.
fn permute(bytes: &mut [u8], width: usize, places: &mut [Place]) {
    let mut aside = vec![0; width];
    for start in 0..places.len() {
        if places[start].1 == start {
            continue;
        }
        aside.copy_from_slice(&bytes[start * width..][..width]);
        let mut to = start;
        loop {
            let from = std::mem::replace(&mut places[to].1, to);
            if from == start {
                break;
            }
            bytes.copy_within(from * width..(from + 1) * width, to * width);
            to = from;
        }
        bytes[to * width..][..width].copy_from_slice(&aside);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sorted_by_std(bytes: &[u8], width: usize) -> Vec<u8> {
        let mut records: Vec<&[u8]> = bytes.chunks_exact(width).collect();
        records.sort();
        records.concat()
    }

    proptest! {
        /// Bytes of few values, so that prefixes and whole records repeat; scratch that is not zero.
        #[test]
        fn sorts_as_the_standard_library_does(
            width in 4..180_usize,
            values in 1..=255_u8,
            bytes in proptest::collection::vec(any::<u8>(), 0..6000),
        ) {
            let records = bytes.len() / width;
            let mut bytes: Vec<u8> = bytes[..records * width].iter().map(|byte| byte % values).collect();
            let expected = sorted_by_std(&bytes, width);
            let mut by_place = bytes.clone();
            sort_by_place(&mut by_place, width);
            bytes.resize(buffer_bytes(records, width), 0xAB);
            sort(&mut bytes, records, width);
            prop_assert!(bytes[..records * width] == expected && by_place == expected);
        }
    }

    #[test]
    fn the_prefix_keeps_the_order_of_short_records() {
        assert_eq!(prefix(&[1, 2, 3, 4]), 0x0102_0304_0000_0000);
        assert_eq!(prefix(&[0, 0, 0, 0, 0, 0, 0, 9, 7]), 9);
    }

    #[test]
    fn the_memory_of_a_record() {
        assert_eq!([4, 24, 33, 128, 129].map(bytes_per_record), [4, 24, 36, 128, 161]);
        assert_eq!([4, 24, 33, 128, 129].map(|width| buffer_bytes(10, width)), [40, 240, 360, 1280, 1290]);
    }
}

//! Sorts fixed-width records in memory, in byte order.
//!
//! Eight bytes of each record, read as a big-endian number, select one of up to 4096 buckets. The range of the numbers is divided evenly,
//! which suits both hashes and document numbers. Each record is moved once into a bucket of a few dozen records. To sort a bucket, 8-byte
//! words are sorted; each word contains the rest of a record's number and the record's position. Then each record is moved to its final
//! position. Records with the same number, such as the records of a hot key, are sorted by the next eight bytes in the same way. Large
//! buckets are split again. Buckets that are still large after several rounds are sorted by the standard library's quicksort, which bounds
//! the cost for any input. Equal records have the same bytes, so stability does not matter.

use std::cmp::Ordering;

/// Returns the number of bytes of memory that sorting uses per record, including the record.
pub(super) fn bytes_per_record(width: usize) -> usize {
    2 * width
}

/// The maximum number of records that are sorted directly by the standard library.
const FEW: usize = 48;
/// The approximate number of records per bucket.
const BUCKET: usize = 32;
/// The maximum number of buckets; the ends of this many buckets still fit in the L1 cache.
const MOST_BUCKETS: usize = 4096;
/// A bucket with more than this many records is split again.
const LARGE: usize = 2048;
/// The maximum number of times that buckets are split again.
const MOST_ROUNDS: u32 = 12;

/// Returns the first eight bytes of a record as a number. The numbers have the same order as the bytes. A shorter record is padded with
/// zeros.
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

/// Returns eight bytes starting at `from` as a number. The numbers have the same order as the bytes. Bytes beyond the end of the record
/// count as zeros.
#[inline(always)]
fn number(record: &[u8], from: usize) -> u64 {
    match record.get(from..from + 8) {
        Some(bytes) => prefix(bytes),
        None => match record.last_chunk::<8>() {
            Some(last) => u64::from_be_bytes(*last) << (8 * (from + 8 - record.len())),
            None => prefix(&record[from..]),
        },
    }
}

macro_rules! known_widths {
    ($($width:literal)*) => {
        /// Sorts the records in a buffer; `scratch` has the same length and arbitrary content.
        pub(super) fn sort(records: &mut [u8], scratch: &mut [u8], width: usize) {
            match width {
                $($width => sort_from::<$width>(records, scratch, width, 0, 0),)*
                _ => sort_from::<0>(records, scratch, width, 0, 0),
            }
        }

        /// Sorts a few records in place.
        fn sort_in_place(bytes: &mut [u8], width: usize) {
            match width {
                $($width => bytes.as_chunks_mut::<$width>().0.sort_unstable_by(compare),)*
                _ => sort_by_place(bytes, width),
            }
        }
    };
}

// Moves and comparisons are specialized for these widths; for all other widths, each of them is a call. Rows of repeated passages have 34
// bytes.
known_widths! { 4 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 28 32 34 36 40 48 64 80 96 112 128 }

/// Sorts records that are equal up to byte `from`. `W` is the width, or 0 if it is unknown at compile time.
fn sort_from<const W: usize>(records: &mut [u8], scratch: &mut [u8], width: usize, from: usize, round: u32) {
    let width = if W == 0 { width } else { W };
    let count = records.len() / width;
    if count <= FEW || round >= MOST_ROUNDS {
        return sort_in_place(records, width);
    }
    let numbers = || records.chunks_exact(width).map(|record| number(record, from));
    let (low, high) = numbers().fold((u64::MAX, 0), |(low, high), number| (low.min(number), high.max(number)));
    if low == high {
        // If the records are completely equal, there is nothing to sort.
        if from + 8 < width {
            sort_from::<W>(records, scratch, width, from + 8, 0);
        }
        return;
    }
    let cut = Cut::new(low, high, count);
    let mut ends = vec![0u32; cut.buckets + 1];
    numbers().for_each(|number| ends[cut.bucket(number) + 1] += 1);
    for bucket in 0..cut.buckets {
        ends[bucket + 1] += ends[bucket];
    }
    // In this loop, `ends[b]` is the position for the next record of bucket b. After the loop, `ends[b]` is the end of the bucket.
    for record in records.chunks_exact(width) {
        let end = &mut ends[cut.bucket(number(record, from))];
        scratch[*end as usize * width..][..width].copy_from_slice(record);
        *end += 1;
    }
    let mut keys = Vec::new();
    let mut begin = 0;
    for (bucket, &end) in ends[..cut.buckets].iter().enumerate() {
        let bytes = begin * width..end as usize * width;
        let (to, filled) = (&mut records[bytes.clone()], &mut scratch[bytes]);
        match end as usize - begin {
            0 => {}
            1 => to.copy_from_slice(filled),
            2..=LARGE => sort_bucket::<W>(to, filled, width, from, cut.low_of(bucket), cut.bits, &mut keys),
            _ => {
                to.copy_from_slice(filled);
                sort_from::<W>(to, filled, width, from, round + 1);
            }
        }
        begin = end as usize;
    }
}

/// Divides a range of numbers evenly into buckets.
struct Cut {
    low: u64,
    buckets: usize,
    /// The ratio of buckets to numbers, multiplied by 2^64.
    scale: u64,
    /// The number of bits that distinguish the numbers in one bucket.
    bits: u32,
}

impl Cut {
    fn new(low: u64, high: u64, count: usize) -> Cut {
        let range = u128::from(high - low) + 1;
        let buckets = (count / BUCKET)
            .next_power_of_two()
            .clamp(2, MOST_BUCKETS)
            .min(usize::try_from(range).unwrap_or(usize::MAX));
        let scale = u64::try_from(((buckets as u128) << 64) / range).unwrap_or(u64::MAX).max(1);
        let most = (1u128 << 64) / u128::from(scale) + 1;
        Cut { low, buckets, scale, bits: 128 - most.leading_zeros() }
    }

    #[inline(always)]
    fn bucket(&self, number: u64) -> usize {
        ((u128::from(number - self.low) * u128::from(self.scale)) >> 64) as usize
    }

    /// Returns the lowest number in a bucket.
    fn low_of(&self, bucket: usize) -> u64 {
        self.low + ((bucket as u128) << 64).div_ceil(u128::from(self.scale)) as u64
    }
}

/// Sorts the records of a bucket. Each record is represented by a word that consists of the record's number minus `low`, which has `bits`
/// bits, and the record's position.
#[inline(always)]
fn sort_bucket<const W: usize>(
    to: &mut [u8],
    filled: &mut [u8],
    width: usize,
    from: usize,
    low: u64,
    bits: u32,
    keys: &mut Vec<u64>,
) {
    let count = filled.len() / width;
    let place_bits = usize::BITS - (count - 1).leading_zeros();
    // If the number and the position do not fit in a word, the lowest bits of the number are dropped. Numbers that differ only in these
    // bits are then treated as equal.
    let dropped = (bits + place_bits).saturating_sub(u64::BITS);
    keys.clear();
    keys.extend(
        filled
            .chunks_exact(width)
            .enumerate()
            .map(|(place, record)| ((number(record, from) - low) >> dropped) << place_bits | place as u64),
    );
    keys.sort_unstable();
    let mask = (1 << place_bits) - 1;
    for (key, to) in keys.iter().zip(to.chunks_exact_mut(width)) {
        to.copy_from_slice(&filled[(key & mask) as usize * width..][..width]);
    }
    let mut at = 0;
    while at + 1 < count {
        let start = at;
        at += 1;
        while at < count && keys[at] >> place_bits == keys[start] >> place_bits {
            at += 1;
        }
        if at - start > 1 {
            let run = start * width..at * width;
            let from = if dropped == 0 { from + 8 } else { from };
            if from < width {
                sort_run::<W>(&mut to[run.clone()], &mut filled[run], width, from);
            }
        }
    }
}

/// Sorts records with the same number. Usually, few records have the same number unless the key is hot.
#[cold]
fn sort_run<const W: usize>(records: &mut [u8], scratch: &mut [u8], width: usize, from: usize) {
    sort_from::<W>(records, scratch, width, from, 0);
}

#[inline(always)]
fn compare<const W: usize>(a: &[u8; W], b: &[u8; W]) -> Ordering {
    let (first_a, first_b) = (prefix(a), prefix(b));
    if first_a != first_b || W <= 8 { first_a.cmp(&first_b) } else { a[8..].cmp(&b[8..]) }
}

/// The first 24 bytes of a record, as numbers that have the same order as the bytes, and the index of the record.
type Place = ([u64; 3], usize);

/// Sorts records whose width is unknown at compile time, by sorting a list of positions and then moving each record once.
fn sort_by_place(bytes: &mut [u8], width: usize) {
    let of = |(place, record): (usize, &[u8])| {
        let word = |at: usize| record.get(at..).map_or(0, prefix);
        ([word(0), word(8), word(16)], place)
    };
    let mut places: Vec<Place> = bytes.chunks_exact(width).enumerate().map(of).collect();
    {
        // Nearly all comparisons need only the list; the remaining comparisons also read the records.
        let rest = |place: usize| bytes[place * width..][..width].get(24..);
        places.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| rest(a.1).cmp(&rest(b.1))));
    }
    permute(bytes, width, &mut places);
}

/// Moves record `places[i].1` to position `i`, for every `i`, cycle by cycle; overwrites the list.
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

    fn check(mut bytes: Vec<u8>, width: usize) {
        let expected = sorted_by_std(&bytes, width);
        let mut by_place = bytes.clone();
        sort_by_place(&mut by_place, width);
        let mut scratch = vec![0xAB; bytes.len()];
        sort(&mut bytes, &mut scratch, width);
        assert!(bytes == expected && by_place == expected, "width {width}");
    }

    proptest! {
        /// Uses scratch space that is not zero, and bytes with few distinct values, so that prefixes and complete records repeat.
        #[test]
        fn sorts_as_the_standard_library_does(
            width in 4..180_usize,
            values in 1..=255_u8,
            bytes in proptest::collection::vec(any::<u8>(), 0..20_000),
        ) {
            let records = bytes.len() / width;
            check(bytes[..records * width].iter().map(|byte| byte % values).collect(), width);
        }
    }

    /// Tests evenly distributed numbers, numbers that repeatedly concentrate at one end, one hot number among other numbers, a single
    /// number, and a full bucket that covers a wide range and whose numbers differ in their lowest bits. There are enough records for
    /// buckets to be split again, and widths with and without specialized code are tested.
    #[test]
    fn sorts_numbers_however_they_are_spread() {
        let mixed = |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let spreads: [fn(u64, u64) -> u64; 6] = [
            |_, hash| hash,
            |n, hash| hash >> (n % 64),
            |n, hash| if n % 3 > 0 { 7 << 40 } else { hash },
            |_, _| 5,
            |n, _| n % 4 * (u64::MAX / 3),
            |n, hash| if n % 16 > 0 { hash } else { 5 << 60 | (n >> 4 & 63 ^ 63) },
        ];
        for width in [7, 8, 12, 13, 25, 33, 125] {
            for spread in spreads {
                let record = |n: u64| {
                    let mut record = vec![0; width];
                    let key = spread(n, mixed(n)).to_be_bytes();
                    record[..8.min(width)].copy_from_slice(&key[..8.min(width)]);
                    let end = mixed(n ^ 9).to_be_bytes();
                    record[8.min(width)..].iter_mut().zip(end.iter().cycle()).for_each(|(to, from)| *to = *from);
                    record
                };
                check((0..30_000).flat_map(record).collect(), width);
            }
        }
    }

    #[test]
    fn numbers_keep_the_order_also_at_the_end_of_a_record() {
        assert_eq!(prefix(&[1, 2, 3, 4]), 0x0102_0304_0000_0000);
        assert_eq!(prefix(&[0, 0, 0, 0, 0, 0, 0, 9, 7]), 9);
        let record = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
        assert_eq!((number(&record, 0), number(&record, 2)), (prefix(&record), prefix(&record[2..])));
        assert_eq!((number(&record, 8), number(&record[..5], 4)), (0x090A << 48, 5 << 56));
    }
}

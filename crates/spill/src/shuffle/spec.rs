//! Defines the parameters of a shuffle, and determines the partition of each record.

use std::ops::RangeInclusive;

use dupsift_core::error::{Error, Result};

/// The supported widths of a record, in bytes.
pub(crate) const WIDTHS: RangeInclusive<usize> = 4..=512;

/// The maximum number of partitions in a shuffle.
pub const MAX_PARTITIONS: usize = 1024;

/// The number of buckets for group hashes; with [`Order::Hash`], a partition consists of a whole number of buckets.
pub const BUCKETS: usize = 1 << BUCKET_BITS;
const BUCKET_BITS: u32 = 12;

/// The way in which records are distributed over partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A mixed hash of the group's bytes selects the partition. Records are distributed evenly for all kinds of keys, but partitions are
    /// not in order.
    Hash,
    /// The big-endian number in the leading `range_width` bytes selects the partition. A partition covers a contiguous range of numbers, so
    /// the records are also sorted across partitions.
    Range {
        /// The exclusive upper bound of the numbers.
        below: u64,
    },
}

/// The parameters of a shuffle.
#[derive(Clone, Debug)]
pub struct Spec {
    /// A description of the records, for temporary file names and messages.
    pub name: String,
    /// The size of a record in bytes, within [`WIDTHS`].
    pub width: usize,
    /// The number of leading bytes that form the group of a record, from 1 to `width`.
    pub group_width: usize,
    /// The way in which records are distributed over partitions.
    pub order: Order,
    /// The size, in bytes, of the leading number for [`Order::Range`]: 4 or 8, but no more than the size of the group. Ignored for
    /// [`Order::Hash`].
    pub range_width: usize,
    /// The number of partitions, from 1 to [`MAX_PARTITIONS`].
    pub partitions: usize,
}

impl Spec {
    /// Checks that the parameters are consistent.
    pub(super) fn check(&self) -> Result<()> {
        let fail = |why: String| Err(Error::Internal(format!("the shuffle {:?} cannot be created: {why}", self.name)));
        if !WIDTHS.contains(&self.width) {
            let (least, most) = WIDTHS.into_inner();
            return fail(format!("records must have {least} to {most} bytes, got {}", self.width));
        }
        if !(1..=self.width).contains(&self.group_width) {
            return fail(format!("group keys must have 1 to {} bytes, got {}", self.width, self.group_width));
        }
        if !(1..=MAX_PARTITIONS).contains(&self.partitions) {
            return fail(format!(
                "the number of partitions must be from 1 to {MAX_PARTITIONS}, got {}",
                self.partitions
            ));
        }
        if let Order::Range { .. } = self.order
            && (!matches!(self.range_width, 4 | 8) || self.range_width > self.group_width)
        {
            // If the number were longer than the group, a group could be split between two partitions.
            return fail(format!(
                "in a group key of {} bytes, the number that determines the partition must have 4 or 8 bytes, got {}",
                self.group_width, self.range_width
            ));
        }
        Ok(())
    }

    /// Returns the rule that assigns a record to its partition.
    pub(super) fn router(&self) -> Router {
        match self.order {
            Order::Hash => Router::Hash { group_width: self.group_width, partitions: self.partitions },
            Order::Range { below } => Router::Range {
                number_width: self.range_width,
                below,
                // The scale is partitions * 2^64 / below, so that each record requires a multiplication instead of a division. The quotient
                // is below 2^64 only if there are more numbers than partitions; otherwise, each number has its own partition.
                scale: (below > self.partitions as u64)
                    .then(|| (((self.partitions as u128) << 64) / u128::from(below)) as u64),
            },
        }
    }
}

/// The rule that assigns a record to its partition.
#[derive(Clone, Copy, Debug)]
pub(super) enum Router {
    Hash { group_width: usize, partitions: usize },
    Range { number_width: usize, below: u64, scale: Option<u64> },
}

impl Router {
    /// Returns the partition of a record, or the record's number as an error if it is outside the declared range.
    #[inline]
    pub(super) fn partition(&self, record: &[u8]) -> std::result::Result<usize, u64> {
        match *self {
            Router::Hash { group_width, partitions } => {
                Ok((bucket(&record[..group_width]) * partitions) >> BUCKET_BITS)
            }
            Router::Range { number_width, below, scale } => {
                let number = leading_number(&record[..number_width]);
                match scale {
                    _ if number >= below => Err(number),
                    Some(scale) => Ok(((u128::from(number) * u128::from(scale)) >> 64) as usize),
                    None => Ok(number as usize),
                }
            }
        }
    }
}

/// Returns the bucket of a group, below [`BUCKETS`].
#[inline]
pub(super) fn bucket(group: &[u8]) -> usize {
    bucket_by(mix_bytes(group))
}

/// Returns the hash of a group.
#[inline]
pub(super) fn hash(group: &[u8]) -> u64 {
    mix_bytes(group)
}

/// Returns the bucket of a group that has this hash.
#[inline]
pub(super) fn bucket_by(hash: u64) -> usize {
    (hash >> (u64::BITS - BUCKET_BITS)) as usize
}

/// Returns the big-endian number in up to eight bytes.
fn leading_number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, &byte| (number << 8) | u64::from(byte))
}

/// Returns a hash whose top bits are evenly distributed for any bytes.
#[inline]
fn mix_bytes(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut hash = 0x9E37_79B9_7F4A_7C15;
    for word in words {
        hash = mix64(hash ^ u64::from_le_bytes(*word));
    }
    if !rest.is_empty() {
        let mut word = [0; 8];
        word[..rest.len()].copy_from_slice(rest);
        hash = mix64(hash ^ u64::from_le_bytes(word));
    }
    hash
}

/// Applies the finalizer of SplitMix64.
#[inline]
const fn mix64(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(order: Order, width: usize, group_width: usize, range_width: usize, partitions: usize) -> Spec {
        Spec { name: "rows".into(), width, group_width, order, range_width, partitions }
    }

    #[test]
    fn numbers_that_do_not_fit_together_are_refused() {
        let range = Order::Range { below: 10 };
        assert!(spec(Order::Hash, 4, 1, 0, 1).check().is_ok());
        assert!(spec(Order::Hash, 512, 512, 0, 1024).check().is_ok());
        assert!(spec(range, 16, 8, 8, 7).check().is_ok());
        for bad in [
            spec(Order::Hash, 3, 1, 0, 1),
            spec(Order::Hash, 513, 1, 0, 1),
            spec(Order::Hash, 8, 0, 0, 1),
            spec(Order::Hash, 8, 9, 0, 1),
            spec(Order::Hash, 8, 8, 0, 0),
            spec(Order::Hash, 8, 8, 0, 1025),
            spec(range, 8, 8, 5, 1),
            spec(range, 8, 4, 8, 1),
        ] {
            let message = bad.check().expect_err("refused").to_string();
            assert!(message.starts_with("the shuffle \"rows\" cannot be created: "), "{message}");
        }
    }

    /// Checks that ranges are contiguous, monotonic, within bounds, and nearly equal in size, even if the numbers cannot be divided evenly.
    #[test]
    fn ranges_are_contiguous_and_even() {
        for (below, partitions) in [(1, 1), (1, 8), (7, 8), (8, 8), (9, 8), (1000, 7), (1001, 1000), (4096, 64)] {
            let router = spec(Order::Range { below }, 8, 8, 8, partitions).router();
            let of: Vec<usize> =
                (0..below).map(|n| router.partition(&n.to_be_bytes()).expect("within the range")).collect();
            assert!(of.is_sorted() && of[of.len() - 1] < partitions, "{below} over {partitions}");
            let most = (0..partitions).map(|p| of.iter().filter(|&&q| q == p).count()).max();
            assert!(most <= Some((below as usize).div_ceil(partitions) + 1), "{below} over {partitions}: {most:?}");
            assert_eq!(router.partition(&below.to_be_bytes()), Err(below));
        }
        let router = spec(Order::Range { below: u64::MAX }, 8, 8, 8, 1024).router();
        assert_eq!(router.partition(&(u64::MAX - 1).to_be_bytes()), Ok(1023));
        let router = spec(Order::Range { below: 1 << 32 }, 8, 4, 4, 16).router();
        assert_eq!(router.partition(&[0xFF, 0xFF, 0xFF, 0xFF, 9, 9, 9, 9]), Ok(15));
        assert_eq!(spec(Order::Range { below: 0 }, 8, 8, 8, 4).router().partition(&[0; 8]), Err(0));
    }

    /// Checks that keys that vary in only 16 bits, in the first or the last bytes, fill all partitions evenly.
    #[test]
    fn poor_keys_are_spread_evenly() {
        for shift in [0, 48] {
            let router = spec(Order::Hash, 16, 8, 0, 60).router();
            let mut counts = [0; 60];
            for key in 0..60_000_u64 {
                let mut record = [0; 16];
                record[..8].copy_from_slice(&(key << shift).to_be_bytes());
                counts[router.partition(&record).expect("a hash has no range")] += 1;
            }
            assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
        }
    }
}

//! Defines runs: sorted rows in a named file, which another process can load.
//!
//! Rows are distributed over [`BUCKETS`] buckets by the hash of their group, and they are in byte order within each bucket. Therefore, all
//! rows of a group are adjacent. Whatever the number of partitions, a partition of a shuffle consists of a whole number of buckets, so a
//! reader may use a different number of partitions than the writer.
//!
//! ```text
//! offset
//!      0   8        "dupsrun2"
//!      8   4        bytes per row
//!     12   4        bytes of its group, the leading ones
//!     16   8        rows
//!     24   4        rows per block of its filter, 32; 0 if it has no filter
//!     28   4,097*8  for each bucket, the number of rows before it; then of all rows
//! 32,804   4        CRC-32 of all bytes before it
//! 32,808            the rows, bucket by bucket
//!         12 each   the fence of each piece, which is as many complete rows as fit into 4 KiB:
//!                   8 bytes: the first bytes of its first row's group, padded with zeros;
//!                   4 bytes: CRC-32 of the number of the piece (8 bytes) and its rows
//!          4        CRC-32 of the header and all fences
//!      4,096 each   the filter, if there is one ([`filter`])
//! ```
//!
//! Numbers are little-endian. Rows are stored as plain bytes; numbers in them are not converted. The bucket of a row is the top 12 bits of
//! the hash of its group: h = 9e3779b97f4a7c15; for every 8 bytes (the last of them padded with zeros), h = mix(h xor these bytes as a
//! little-endian number), where mix(x) is the last step of SplitMix64: x ^= x >> 30, x *= bf58476d1ce4e5b9, x ^= x >> 27, x *=
//! 94d049bb133111eb, x ^= x >> 31.
//!
//! Fences (fence pointers, as in log-structured merge trees: O'Neil et al. 1996) show which pieces cannot contain a group, so a reader can
//! skip these pieces without reading them. A piece is also skipped if the filter shows that its bucket does not contain the group.
//!
//! A run is written under a temporary name and renamed when it is complete ([`saved_file`](super::saved_file)). Rows are never
//! returned before the checksum of their piece has been verified.

mod fence;
mod filter;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::ops::Range;

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

pub use super::spec::BUCKETS;
use filter::BLOCK_ROWS;
pub use read::Run;
pub use write::RunWriter;

/// The suffix of a run's file name.
pub const RUN: &str = ".run";

const MAGIC: [u8; 8] = *b"dupsrun2";
const TABLE: usize = (BUCKETS + 1) * 8;
/// The number of bytes before the rows.
const HEADER: usize = size_of::<Fixed>() + TABLE + 4;
/// The maximum number of bytes in a piece of rows. A row has at most 512 bytes.
const PIECE: usize = 4 << 10;

/// Returns the buckets of one partition out of `partitions`, as in a shuffle.
///
/// ```text
/// buckets_of(1, 3) == 1366..2731
/// ```
pub fn buckets_of(partition: usize, partitions: usize) -> Range<usize> {
    let start = |partition: usize| (partition * BUCKETS).div_ceil(partitions.max(1)).min(BUCKETS);
    start(partition)..start(partition + 1)
}

/// Returns the bucket of a group, below [`BUCKETS`].
pub fn bucket_of(group: &[u8]) -> usize {
    super::spec::bucket(group)
}

/// The beginning of the file, before the table of buckets.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Fixed {
    magic: [u8; 8],
    width: U32,
    group_width: U32,
    rows: U64,
    /// The number of rows per block of the filter; 0 if there is no filter.
    block_rows: U32,
}

/// The header, before the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Header {
    width: usize,
    group_width: usize,
    /// Whether there is a filter.
    filtered: bool,
    /// The number of rows before each bucket, followed by the total number of rows.
    starts: Vec<u64>,
}

impl Header {
    fn rows(&self) -> u64 {
        self.starts[BUCKETS]
    }

    /// Returns the number of rows per piece.
    fn piece_rows(&self) -> u64 {
        piece_rows(self.width)
    }

    /// Returns the range of row numbers in a bucket.
    fn rows_of(&self, bucket: usize) -> Range<u64> {
        self.starts[bucket]..self.starts[bucket + 1]
    }

    /// Returns the number of pieces.
    fn pieces(&self) -> u64 {
        self.rows().div_ceil(self.piece_rows())
    }

    /// Returns the total size of all rows in bytes; `None` if the size is impossible.
    fn bytes(&self) -> Option<u64> {
        self.rows().checked_mul(self.width as u64).filter(|&bytes| bytes < 1 << 62)
    }

    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER);
        let fixed = Fixed {
            magic: MAGIC,
            width: (self.width as u32).into(),
            group_width: (self.group_width as u32).into(),
            rows: self.rows().into(),
            block_rows: (if self.filtered { BLOCK_ROWS } else { 0 }).into(),
        };
        bytes.extend_from_slice(fixed.as_bytes());
        self.starts.iter().for_each(|start| bytes.extend_from_slice(&start.to_le_bytes()));
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// Decodes a header; if it is invalid, returns the reason as an error.
    fn decode(bytes: &[u8]) -> Result<Header, String> {
        let parts =
            Fixed::ref_from_prefix(bytes).ok().filter(|(fixed, _)| fixed.magic == MAGIC).and_then(|(fixed, rest)| {
                let (starts, rest) = <[U64]>::ref_from_prefix_with_elems(rest, BUCKETS + 1).ok()?;
                Some((fixed, starts, U32::ref_from_bytes(rest).ok()?))
            });
        let Some((fixed, starts, expected)) = parts else { return Err("it does not begin like a run".to_owned()) };
        let (found, expected) = (crc32fast::hash(&bytes[..HEADER - 4]), expected.get());
        if found != expected {
            return Err(format!("its header has checksum {found:08x} instead of {expected:08x}"));
        }
        let header = Header {
            width: fixed.width.get() as usize,
            group_width: fixed.group_width.get() as usize,
            filtered: fixed.block_rows == BLOCK_ROWS,
            starts: starts.iter().map(|start| start.get()).collect(),
        };
        let fits = super::WIDTHS.contains(&header.width) && (1..=header.width).contains(&header.group_width);
        if !fits
            || ![0, BLOCK_ROWS].contains(&fixed.block_rows.get())
            || header.starts[0] != 0
            || !header.starts.is_sorted()
            || fixed.rows != header.rows()
            || header.bytes().is_none()
        {
            return Err("the numbers of its header do not fit together".to_owned());
        }
        Ok(header)
    }
}

/// Returns how many complete rows of this width fit in a piece.
fn piece_rows(width: usize) -> u64 {
    (PIECE / width) as u64
}
